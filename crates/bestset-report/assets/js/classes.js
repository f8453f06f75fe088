// Many classes: the curve of each against all others.

if (data.many) {
  const { curves } = data.many;
  const share = { min: 0, max: 1, scale: false };
  /** The share of a class found where so many of the others are mistaken for it. */
  const found = (roc, x) => roc.reduce((best, c) => (c[0] <= x ? Math.max(best, c[1]) : best), 0);
  charts["class-roc"] = {
    height: 380,
    option: () =>
      frame({
        x: { name: "others mistaken for it", ...share },
        y: { name: "share of the class found", ...share },
        tooltip: {
          formatter: ([p]) =>
            tip(`others mistaken ${show(p.value[0], 3)}`, curves.map((c, k) => [`${cut(c.name)} (AUC ${show(c.auc, 3)})`, show(found(c.roc, p.value[0]), 3), colour(`hue${k}`)])),
        },
        series: [
          ...curves.map((c, k) => ({
            type: "line",
            name: c.name,
            data: c.roc,
            step: "start",
            symbol: "none",
            color: colour(`hue${k}`),
            lineStyle: { width: 2.2 },
            emphasis: { disabled: true },
          })),
          { type: "line", name: "guessing", data: [[0, 0], [1, 1]], symbol: "none", silent: true, lineStyle: { color: colour("muted"), width: 1.5, type: "dashed" } },
        ],
      }),
    table: () => ({
      head: ["Class", "Others mistaken", "Found"],
      rows: curves.flatMap((c) => c.roc.map(([x, y]) => [c.name, x, y])),
    }),
  };
}
