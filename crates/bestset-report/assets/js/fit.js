// How well the model fits: residuals for numbers, curves for classes.

/** Dots, and a straight line from one corner to the other. */
function dots(points, { x, y, line, title, names }) {
  const shade = colour("accent");
  const series = [
    {
      type: "scatter",
      name: "samples",
      data: points,
      symbolSize: points.length > 800 ? 4 : 6,
      itemStyle: { color: fade(shade, points.length > 300 ? 0.4 : 0.65) },
      emphasis: { scale: 1.6 },
      z: 3,
    },
  ];
  if (line)
    series.push({
      type: "line",
      name: "guide",
      data: line,
      symbol: "none",
      silent: true,
      lineStyle: { color: colour("muted"), width: 1.5, type: "dashed" },
    });
  return frame({
    x: { name: x },
    y: { name: y },
    tooltip: {
      trigger: "item",
      formatter: (p) => tip(title, [[names[0], show(p.value[0])], [names[1], show(p.value[1])]]),
    },
    series,
  });
}

/** Bars that touch, one colour for each group. */
function bars(histogram, names, shades, x) {
  // As many digits after the point for all as tell neighbours apart: bars of one width have labels of one step.
  const width = Math.abs(histogram.edges[1] - histogram.edges[0]);
  const digits = Math.min(Math.max(1 - Math.floor(Math.log10(width)), 0), 8);
  const round = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const even = (m) => (width >= 1e-6 && Math.abs(m) < 1e7 ? m.toLocaleString("en-US", round).replace(/-/g, "−") : show(m, 3));
  const middle = histogram.counts[0].map((_, k) => (histogram.edges[k] + histogram.edges[k + 1]) / 2);
  return frame({
    x: { type: "category", data: middle.map(even), name: x, splitLine: { show: false } },
    y: { name: "samples", scale: false, minInterval: 1 },
    tooltip: {
      axisPointer: { type: "shadow" },
      formatter: (list) => {
        const k = list[0].dataIndex;
        return tip(
          `${show(histogram.edges[k], 3)} to ${show(histogram.edges[k + 1], 3)}`,
          names.map((name, g) => [name, show(histogram.counts[g][k]), shades[g]]),
        );
      },
    },
    series: histogram.counts.map((counts, g) => ({
      type: "bar",
      name: names[g],
      stack: "all",
      data: counts,
      barCategoryGap: "6%",
      itemStyle: { color: shades[g], borderRadius: g === histogram.counts.length - 1 ? [2, 2, 0, 0] : 0 },
    })),
  });
}

const binTable = (histogram, names) => ({
  head: ["From", "To", ...names],
  rows: histogram.counts[0].map((_, k) => [histogram.edges[k], histogram.edges[k + 1], ...histogram.counts.map((c) => c[k])]),
});
const pairTable = (head, points) => ({ head, rows: points });
const ends = (values) => {
  const known = values.filter((v) => v !== null);
  return [Math.min(...known), Math.max(...known)];
};

if (data.regression) {
  const { observed, fitted, residual, histogram, quantiles } = data.regression;
  const against = fitted.map((f, i) => [f, observed[i]]);
  const rest = fitted.map((f, i) => [f, residual[i]]);
  const [low, high] = ends(fitted);
  charts.fitted = {
    option: () =>
      dots(against, { x: "predicted", y: "observed", line: [[low, low], [high, high]], title: "Sample", names: ["predicted", "observed"] }),
    table: () => pairTable(["Predicted", "Observed"], against),
  };
  charts.residuals = {
    option: () =>
      dots(rest, { x: "predicted", y: "residual", line: [[low, 0], [high, 0]], title: "Sample", names: ["predicted", "residual"] }),
    table: () => pairTable(["Predicted", "Residual"], rest),
  };
  if (histogram)
    charts["residual-histogram"] = {
      option: () => bars(histogram, ["samples"], [colour("accent")], "residual"),
      table: () => binTable(histogram, ["Samples"]),
    };
  if (quantiles.length) {
    const [from, to] = ends(quantiles.map((q) => q[0]));
    charts.quantiles = {
      option: () =>
        dots(quantiles, {
          x: "normal quantile",
          y: "residual, standard deviations",
          line: [[from, from], [to, to]],
          title: "Quantile",
          names: ["normal", "residual"],
        }),
      table: () => pairTable(["Normal quantile", "Residual"], quantiles),
    };
  }
}

if (data.classification) {
  const { roc, auc, histogram, calibration, probabilities } = data.classification;
  const share = { min: 0, max: 1, scale: false };
  if (roc.length)
    charts.roc = {
      option: () =>
        frame({
          x: { name: "negatives mistaken", ...share },
          y: { name: "positives found", ...share },
          tooltip: {
            formatter: ([p]) => tip(`AUC ${show(auc, 3)}`, [["positives found", show(p.value[1], 3)], ["negatives mistaken", show(p.value[0], 3)]]),
          },
          series: [
            {
              type: "line",
              name: "curve",
              data: roc,
              step: "start",
              symbol: "none",
              color: colour("accent"),
              lineStyle: { width: 2.5 },
              areaStyle: { color: fade(colour("accent"), 0.12), opacity: 1 },
              emphasis: { disabled: true },
            },
            { type: "line", name: "guessing", data: [[0, 0], [1, 1]], symbol: "none", silent: true, lineStyle: { color: colour("muted"), width: 1.5, type: "dashed" } },
          ],
        }),
      table: () => pairTable(["Negatives mistaken", "Positives found"], roc),
    };
  if (histogram)
    charts.scores = {
      option: () => bars(histogram, data.classes, [colour("down"), colour("up")], probabilities ? `probability of ${cut(data.classes[1])}` : "margin"),
      table: () => binTable(histogram, data.classes),
    };
  if (calibration.length > 1) {
    const points = calibration.map((c) => [c.predicted, c.observed, c.count]);
    charts.calibration = {
      option: () =>
        frame({
          x: { name: "predicted probability", ...share },
          y: { name: "observed share", ...share },
          tooltip: {
            trigger: "item",
            formatter: (p) => tip(`${show(p.value[2])} samples`, [["predicted", show(p.value[0], 3)], ["observed", show(p.value[1], 3)]]),
          },
          series: [
            { type: "line", name: "groups", data: points, color: colour("accent"), symbol: "circle", symbolSize: 9, lineStyle: { width: 2 } },
            { type: "line", name: "guide", data: [[0, 0], [1, 1]], symbol: "none", silent: true, lineStyle: { color: colour("muted"), width: 1.5, type: "dashed" } },
          ],
        }),
      table: () => pairTable(["Predicted", "Observed", "Samples"], points),
    };
  }
}
