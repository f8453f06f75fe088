// Opens the pages that tests/report/browser.rs writes, as people would: two themes, a desk and a phone, keys instead of a mouse.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const pages = process.env.PAGES;
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const desk = { width: 1280, height: 900 };
const phone = { width: 375, height: 812 };
/** Charts of each page: series, and points of the first one. */
const full = { trace: [4, 17], cv: [5, 15], path: [14, 20], heat: [1, 175], "path-proof": [4, 20], criteria: [1, 20] };
const expected = {
  regression: { ...full, subsets: [4, 6], fitted: [2, 120], residuals: [2, 120], "residual-histogram": [1, 11], quantiles: [2, 120] },
  classification: { ...full, roc: [2, null], scores: [2, 18], calibration: [2, 10] },
  separated: { ...full, cv: undefined, roc: [2, null], scores: [2, 9], calibration: [2, 9] },
  classes: { ...full, "class-roc": [4, null] },
  survival: { ...full, subsets: [4, 6], survival: [6, 20] },
  bare: {},
  sizes: { subsets: [4, 6] },
  empty: {},
  hostile: { ...full, roc: [2, null], scores: [2, 18], calibration: [2, 10] },
  huge: null,
  extreme: null,
};

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags });
});
after(() => browser?.close());

/** A page, and everything that must not happen on it. */
async function open(name, { viewport = desk, colorScheme = "light", reducedMotion = "reduce" } = {}) {
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion, acceptDownloads: true });
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => faults.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => faults.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
  const url = pathToFileURL(join(pages, `${name}.html`)).href;
  page.on("request", (request) => {
    if (request.url() !== url && !/^(data|blob):/.test(request.url())) faults.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  return { page, faults, close: () => context.close() };
}

const drawings = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll(".chart")].map((place) => {
      const option = echarts.getInstanceByDom(place)?.getOption();
      const shapes = [...place.querySelectorAll("svg path, svg circle, svg rect, svg text")];
      return {
        id: place.dataset.chart,
        series: option?.series.length,
        points: option?.series[0]?.data.length,
        shapes: shapes.length,
        broken: /NaN|Infinity|undefined/.test(place.innerHTML),
        label: place.getAttribute("aria-label"),
        saved: new DOMParser().parseFromString(echarts.getInstanceByDom(place).renderToSVGString(), "image/svg+xml").querySelector("parsererror")?.textContent,
      };
    }),
  );

async function accessible(page) {
  await page.addScriptTag({ content: axe });
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter((v) => ["serious", "critical"].includes(v.impact));
  return serious.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`);
}

for (const [name, charts] of Object.entries(expected)) {
  for (const [place, viewport] of Object.entries({ desk, phone })) {
    // The pages people see in every state, the odd ones in the two that differ most.
    const usual = ["regression", "classification", "classes", "survival"].includes(name);
    for (const colorScheme of usual ? ["light", "dark"] : [place === "desk" ? "light" : "dark"]) {
      test(`${name}, ${place}, ${colorScheme}`, async () => {
        const { page, faults, close } = await open(name, { viewport, colorScheme });
        const drawn = await drawings(page);
        for (const chart of drawn) {
          assert.ok(chart.shapes > 3, `${chart.id} is empty`);
          assert.ok(!chart.broken, `${chart.id} has a shape that is none`);
          assert.equal(chart.saved, undefined, `${chart.id} saved is no SVG`);
          assert.ok(chart.label.length > 20, `${chart.id} has no text alternative`);
          if (charts && charts[chart.id]) {
            const [series, points] = charts[chart.id];
            assert.equal(chart.series, series, `series of ${chart.id}`);
            if (points !== null) assert.equal(chart.points, points, `points of ${chart.id}`);
          }
        }
        if (charts) assert.deepEqual(drawn.map((c) => c.id).sort(), Object.keys(charts).filter((id) => charts[id]).sort());
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${overflow} pixels wider than the window`);
        // A label in a table may break between words, never inside one.
        const torn = await page.evaluate(() => [...document.querySelectorAll("th .key")].filter((k) => k.getClientRects().length > 1 || k.offsetHeight > 40).map((k) => k.textContent));
        assert.deepEqual(torn, [], "a label is torn");
        const [ground] = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
        assert.equal(ground < 128, colorScheme === "dark", "the theme of the system");
        assert.equal(await page.evaluate(() => window.hacked), undefined, "a name was run as a script");
        // Thousands of rows take the checker long and are all alike: once is enough.
        if (name !== "huge" || place === "desk") assert.deepEqual(await accessible(page), []);
        assert.deepEqual(faults, []);
        await close();
      });
    }
  }
}

describe("without a mouse", () => {
  let it;
  before(async () => {
    it = await open("regression");
  });
  after(() => it.close());
  const announced = () => it.page.textContent("#announcer");

  test("the first key leads past the navigation", async () => {
    await it.page.keyboard.press("Tab");
    assert.equal(await it.page.evaluate(() => document.activeElement.className), "skip");
    await it.page.keyboard.press("Enter");
    assert.match(it.page.url(), /#answer$/);
  });

  test("everything that can be used can be reached", async () => {
    const seen = new Set();
    for (let k = 0; k < 120; k += 1) {
      await it.page.keyboard.press("Tab");
      seen.add(await it.page.evaluate(() => document.activeElement.id || document.activeElement.dataset.chart || document.activeElement.textContent));
    }
    for (const id of ["find", "copy-methods", "copy-command", "criterion", "chart-trace", "chart-path", "chart-fitted"]) assert.ok(seen.has(id), `${id} cannot be reached`);
  });

  test("arrows walk along a chart and say where they are", async () => {
    await it.page.focus("#chart-cv");
    await it.page.keyboard.press("ArrowRight");
    assert.match(await announced(), /^Features 0, mean squared error, λ2 = 0\.1 1\.98, mean squared error, λ2 = 0\.3 2\.18/);
    await it.page.keyboard.press("ArrowRight");
    assert.match(await announced(), /^Features 1, mean squared error, λ2 = 0\.1 1\.72, mean squared error, λ2 = 0\.3 –/);
    assert.ok(await it.page.isVisible("#chart-cv .tip"), "the tooltip shows");
    await it.page.keyboard.press("End");
    assert.match(await announced(), /Features 14/);
    await it.page.keyboard.press("Escape");
    await it.page.waitForFunction(() => !document.querySelector("#chart-cv .tip")?.offsetParent || getComputedStyle(document.querySelector("#chart-cv .tip").parentElement).opacity === "0");
  });

  test("rows of the heat map are walked by feature", async () => {
    await it.page.focus("#chart-heat");
    for (let k = 0; k < 3; k += 1) await it.page.keyboard.press("ArrowRight");
    assert.match(await announced(), /^Feature gene_02, In how many answers 17, First at λ0 2\.048/);
    assert.match(await it.page.textContent("#chart-heat .tip"), /^gene_02/);
  });

  test("columns sort both ways", async () => {
    const first = () => it.page.textContent("#coefficients tbody tr:first-child th");
    const head = "#coefficients thead th:nth-child(2) button";
    assert.equal(await first(), "gene_00", "most important first");
    await it.page.focus(head);
    await it.page.keyboard.press("Enter");
    assert.equal(await first(), "gene_00");
    await it.page.keyboard.press("Enter");
    assert.equal(await first(), "gene_01", "the most negative coefficient");
    assert.equal(await it.page.getAttribute("#coefficients thead th:nth-child(2)", "aria-sort"), "ascending");
  });

  test("features are found by name", async () => {
    await it.page.fill("#find", "gene_1");
    assert.equal(await it.page.locator("#coefficients tbody tr:visible").count(), 4);
    await it.page.fill("#find", "");
  });

  test("words explain themselves", async () => {
    await it.page.focus(".tiles .term");
    await it.page.keyboard.press("Enter");
    assert.ok(await it.page.isVisible("#term-gain"));
    await it.page.keyboard.press("Escape");
    assert.ok(!(await it.page.isVisible("#term-gain")));
  });

  test("the data of a chart is a table", async () => {
    await it.page.focus("details[data-table=cv] summary");
    await it.page.keyboard.press("Enter");
    await it.page.waitForSelector("details[data-table=cv] tbody tr");
    assert.equal(await it.page.locator("details[data-table=cv] tbody tr").count(), 15);
  });

  test("criteria can be chosen", async () => {
    await it.page.selectOption("#criterion", "1");
    const name = await it.page.evaluate(() => echarts.getInstanceByDom(document.getElementById("chart-criteria")).getOption().series[0].name);
    assert.equal(name, "AIC");
  });

  test("the theme changes and stays", async () => {
    const ground = () => it.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await it.page.focus("#theme");
    await it.page.keyboard.press("Enter");
    assert.notEqual(await ground(), light);
    assert.equal(await it.page.getAttribute("#theme", "aria-pressed"), "true");
    await it.page.reload();
    assert.notEqual(await ground(), light);
  });

  test("the methods and the command are copied, charts are saved", async () => {
    for (const id of ["copy-methods", "copy-command"]) {
      await it.page.click(`#${id}`);
      await it.page.waitForFunction((id) => document.getElementById(id).textContent === "Copied", id);
    }
    for (const [kind, start] of [["svg", "<svg"], ["png", "\x89PNG"]]) {
      const [download] = await Promise.all([it.page.waitForEvent("download"), it.page.click(`[data-save=${kind}][data-chart=cv]`)]);
      assert.equal(download.suggestedFilename(), `cv.${kind}`);
      const saved = await readFile(await download.path(), "latin1");
      assert.ok(saved.startsWith(start), `${kind}: ${saved.slice(0, 20)}`);
    }
    assert.deepEqual(it.faults, []);
  });
});

test("nothing moves for those who ask for stillness", async () => {
  for (const [reducedMotion, moves] of [["reduce", false], ["no-preference", true]]) {
    const { page, close } = await open("regression", { reducedMotion });
    const animation = await page.evaluate(() => echarts.getInstanceByDom(document.getElementById("chart-trace")).getOption().animation);
    assert.equal(animation, moves);
    await close();
  }
});

test("a name in a tooltip is text", async () => {
  const { page, faults, close } = await open("hostile");
  await page.focus("#chart-path");
  for (let k = 0; k < 9; k += 1) await page.keyboard.press("ArrowRight");
  assert.match(await page.textContent("#chart-path .tip"), /<script>window\.hacked=1/);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.deepEqual(faults, []);
  await close();
});

test("tables of classes are whole on a narrow desk", async () => {
  for (const width of [1280, 1100, 900]) {
    const { page, close } = await open("classes", { viewport: { width, height: 900 } });
    const hidden = await page.evaluate(() => ["Table of coefficients", "Figures of every class", "Classes against predictions"].map((label) => {
      const place = document.querySelector(`[aria-label="${label}"]`);
      return [label, place.scrollWidth - place.clientWidth];
    }));
    assert.deepEqual(hidden.filter(([, beyond]) => beyond > 0), [], `${width} pixels wide`);
    await close();
  }
});
