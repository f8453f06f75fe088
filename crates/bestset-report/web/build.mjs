// Makes what the crate embeds: a small build of ECharts, and a font with the letters that plots need.
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import subsetFont from "subset-font";

const here = dirname(fileURLToPath(import.meta.url));
const assets = join(here, "..", "assets");
const root = (name) => join(here, "node_modules", name);
const version = async (name) => JSON.parse(await readFile(join(root(name), "package.json"), "utf8")).version;

async function charts() {
  const banner = `/* Apache ECharts ${await version("echarts")}, Apache License 2.0, see LICENSE-echarts; custom build, web/charts.js */`;
  await build({
    entryPoints: [join(here, "charts.js")],
    bundle: true,
    minify: true,
    format: "iife",
    globalName: "echarts",
    target: "es2020",
    legalComments: "none",
    banner: { js: banner },
    outfile: join(assets, "echarts.min.js"),
  });
  const licence = await readFile(join(root("echarts"), "LICENSE"));
  const notice = await readFile(join(root("echarts"), "NOTICE"));
  await writeFile(join(assets, "LICENSE-echarts"), Buffer.concat([licence, Buffer.from("\n"), notice]));
}

/** Latin with accents, Greek, sub- and superscripts, punctuation, signs of mathematics, arrows. */
function letters() {
  const ranges = [[0x20, 0x7e], [0xa0, 0x17f], [0x370, 0x3ff], [0x2010, 0x2027], [0x2030, 0x203a], [0x2070, 0x209c],
    [0x20ac, 0x20ac], [0x2190, 0x2193], [0x2200, 0x22ff]];
  return ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, k) => String.fromCodePoint(from + k))).join("");
}

async function fonts() {
  for (const weight of ["400Regular", "700Bold"]) {
    const source = await readFile(join(root("@expo-google-fonts/inter"), weight, `Inter_${weight}.ttf`));
    const font = await subsetFont(source, letters(), { targetFormat: "truetype" });
    await writeFile(join(assets, `Inter-${weight.replace(/^\d+/, "")}.ttf`), font);
  }
  await writeFile(join(assets, "LICENSE-Inter"), await readFile(join(root("@expo-google-fonts/inter"), "LICENSE_FONT")));
}

await charts();
await fonts();
