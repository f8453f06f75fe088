// Opens the built site in Chromium, offline: node docs/site/look.mjs SITE PICTURES [PAGE ...]. Takes pictures in light and dark, on a desk and a phone;
// fails on requests to elsewhere, on errors, on a page that is wider than a phone, on serious findings of axe, and if the search finds nothing.
import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [site, pictures] = process.argv.slice(2, 4).map((path) => resolve(path));
const named = process.argv.slice(4);
// The packages that the report's page is opened with.
const require = createRequire(new URL("../../crates/bestset-report/web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const axe = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");

const pages = ["index", "install", "ten-minutes", "guide/certificate", "guide/choosing", "guide/mathematics", "questions",
  "guide/classes", "guide/families", "guide/check", "guide/proofs", "guide/coming-from", "guide/clusters", "guide/disk",
  "generated/gallery/index", "generated/gallery/plot_diabetes", "generated/gallery/plot_survival", "reference/python", "reference/command-line", "reference/r"];
// Those of the R package, where they were made.
pages.push(...["r/index", "r/articles/bestset", "r/reference/bestset"].filter((name) => existsSync(join(site, "r/articles")) && existsSync(join(site, `${name}.html`))));
if (named.length) pages.splice(0, pages.length, ...named);
const sizes = { desk: { width: 1280, height: 900 }, phone: { width: 375, height: 812 } };
const faults = [];
await mkdir(pictures, { recursive: true });
const flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags });

async function open(name, place, colorScheme, query = "") {
  const context = await browser.newContext({ viewport: sizes[place], colorScheme, reducedMotion: "reduce", offline: true });
  const page = await context.newPage();
  const at = `${name}, ${place}, ${colorScheme}`;
  page.on("pageerror", (error) => faults.push(`${at}: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) faults.push(`${at}: asks for ${request.url()}`);
  });
  await page.goto(pathToFileURL(join(site, `${name}.html`)).href + query);
  return { page, context, at };
}

for (const name of pages) {
  for (const place of Object.keys(sizes)) {
    for (const colorScheme of ["light", "dark"]) {
      const { page, context, at } = await open(name, place, colorScheme);
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (beyond > 1) faults.push(`${at}: ${beyond} pixels wider than the window`);
      await page.addScriptTag({ content: axe });
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      for (const found of violations.filter((v) => ["serious", "critical"].includes(v.impact))) {
        faults.push(`${at}: ${found.id}: ${found.nodes.slice(0, 3).map((node) => node.html.slice(0, 140)).join(" | ")}`);
      }
      await page.screenshot({ path: join(pictures, `${name.replaceAll("/", "-")}-${place}-${colorScheme}.png`) });
      await context.close();
    }
  }
}

for (const [words, wanted] of [["intercept", "questions"], ["gap", "certificate"], ["missing values", "data"], ["survival", "families"],
  ["Ctrl-C", "proofs"], ["two machines", "clusters"], ["cv.bestset", "reference/r"], ["penalty.factor", "reference/r"], ["bestset-check", "guide/check"],
  ["strata", "families"], ["exposure", "families"], ["force a variable", "questions"], ["gap of 3", "certificate"], ["proof file", "guide/check"],
  ["fixed effects", "questions"], ["odds ratios", "classes"], ["GridSearchCV", "questions"], ["Windows", "install"], ["referee", "questions"], ["collinear", "questions"]]) {
  const { page, context } = await open("search", "desk", "light", `?q=${encodeURIComponent(words)}`);
  await page.waitForSelector("#search-results ul.search li a", { timeout: 20000 }).catch(() => {});
  // Results come one by one: all are there when no more have come for a while.
  const shown = () => page.$$eval("#search-results li a", (links) => links.map((link) => link.getAttribute("href")));
  let found = await shown();
  for (let before = -1; found.length !== before; found = await shown()) {
    before = found.length;
    await page.waitForTimeout(500);
  }
  console.log(`search for "${words}": ${found.length} pages`);
  if (!found.some((link) => link.includes(wanted))) faults.push(`search for "${words}" does not find ${wanted}: ${found.slice(0, 5)}`);
  await context.close();
}
await browser.close();
console.log(`${pages.length} pages opened in light and dark, on a desk and a phone; ${faults.length} faults`);
if (faults.length) {
  console.error(faults.join("\n"));
  process.exitCode = 1;
}
