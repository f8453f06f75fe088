// Scores on samples left out: a curve over the number of features for each λ2.
if (data.cv) {
  const { size, strands, best, one_se: sparse, chosen, metric, heights } = data.cv;
  const main = (chosen ?? best ?? [0, 0])[0];
  const several = strands.length > 1;
  const ridge = (s) => `λ2 = ${show(strands[s].lambda2, 3)}`;
  /** What is to be said of a point. */
  const words = (s, k) =>
    [[best, "best"], [sparse, "1 SE"], [chosen, "this model"]].filter(([at]) => at && at[0] === s && at[1] === k).map(([, word]) => word).join(", ");
  /** The points that matter, each once. */
  const points = [best, sparse, chosen].filter((at, n, all) => at && all.findIndex((o) => o && o[0] === at[0] && o[1] === at[1]) === n);
  const shift = (sign) => strands[main].mean.map((m, k) => (m === null ? null : m + sign * (strands[main].error[k] ?? 0)));
  /** The sizes that the curve of the model has: a band cannot bridge the others. */
  const own = size.map((_, k) => k).filter((k) => strands[main].mean[k] !== null);

  const uprights = () => {
    const shades = [colour("bound"), colour("objective"), colour("text")];
    const least = Math.min(...points.map((at) => at[1]));
    // The words stand on the outer sides, so that neighbours do not write over each other.
    const left = (n) => points.length > 1 && points[n][1] === least && points.slice(0, n).every((at) => at[1] !== least);
    return points.map(([s, k], n) => upright(size[k], words(s, k), shades[n], { align: left(n) ? "right" : "left" }));
  };

  const curve = (s) => {
    const shade = colour(`hue${s}`);
    const bold = s === main;
    const rings = points.filter((at) => at[0] === s).map((at) => ({ coord: [size[at[1]], strands[s].mean[at[1]]] }));
    return {
      type: "line",
      name: ridge(s),
      data: size.map((x, k) => [x, strands[s].mean[k]]),
      connectNulls: true,
      color: shade,
      symbol: "circle",
      showSymbol: true,
      symbolSize: size.length > 120 ? 3 : bold ? 6 : 4,
      lineStyle: { width: bold ? 2.8 : 1.3, opacity: bold ? 1 : 0.75 },
      itemStyle: { opacity: bold ? 1 : 0.75 },
      emphasis: { disabled: true },
      z: bold ? 5 : 3,
      markLine: bold ? marks(uprights()) : undefined,
      markPoint: {
        silent: true,
        symbol: "circle",
        symbolSize: 15,
        animation: false,
        itemStyle: { color: "transparent", borderColor: colour("text"), borderWidth: 2 },
        label: { show: false },
        data: rings,
      },
    };
  };

  const amount = (s, k) => {
    const { mean, error } = strands[s];
    return mean[k] === null ? "–" : `${show(mean[k])} ± ${show(error[k], 2)}`;
  };
  const title = (k) => `${show(size[k])} ${size[k] === 1 ? "feature" : "features"}`;
  const lines = (k) => {
    const known = strands.map((_, s) => s).filter((s) => strands[s].mean[k] !== null);
    const mark = (s) => (several ? colour(`hue${s}`) : undefined);
    const label = (s) => [several ? ridge(s) : "mean", words(s, k)].filter(Boolean).join(", ");
    return known.map((s) => [label(s), amount(s, k), mark(s)]);
  };

  charts.cv = {
    option: () => {
      const xs = own.map((k) => size[k]);
      const [low, high] = [shift(-1), shift(1)].map((values) => own.map((k) => values[k]));
      const room = heights ? 0.04 * (heights[1] - heights[0]) : 0;
      return frame({
        x: { name: "number of features", min: "dataMin", max: "dataMax", minInterval: 1 },
        y: { name: metric, ...(room > 0 ? { min: heights[0] - room, max: heights[1] + room, axisLabel: { showMinLabel: false, showMaxLabel: false } } : {}) },
        tooltip: { formatter: (list) => tip(title(size.indexOf(list[0].value[0])), lines(size.indexOf(list[0].value[0]))) },
        series: [...strands.map((_, s) => curve(s)), ...band(xs, low, high, fade(colour(`hue${main}`), 0.16))],
      });
    },
    table: () => ({
      head: ["Features", ...(several ? strands.map((_, s) => `${metric}, ${ridge(s)}`) : [`Mean ${metric}`]), several ? `Standard error, ${ridge(main)}` : "Standard error", "Choice"],
      rows: size.map((x, k) => [
        x,
        ...strands.map((strand) => strand.mean[k]),
        strands[main].error[k],
        strands.map((_, s) => (words(s, k) ? `${words(s, k)}${several ? ` (${ridge(s)})` : ""}` : "")).filter(Boolean).join("; "),
      ]),
    }),
  };
}
