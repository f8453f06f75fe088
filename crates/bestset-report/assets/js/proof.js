// The proof over time, along the path and by size: an objective above, a bound below.

/** Objective, bound and the band between them. */
function squeeze(xs, objective, bound, step) {
  const line = { type: "line", symbol: "none", step, lineStyle: { width: 2.5 }, emphasis: { disabled: true } };
  const zip = (values) => xs.map((x, k) => [x, values[k]]);
  return [
    { ...line, name: "objective", data: zip(objective), color: colour("objective"), z: 4 },
    { ...line, name: "lower bound", data: zip(bound), color: colour("bound"), z: 4 },
    ...band(xs, bound, objective, fade(colour("objective"), 0.14), step),
  ];
}

const between = (objective, bound) => (objective === null || bound === null ? null : Math.max(objective - bound, 0));

function squeezeLines(objective, bound) {
  return [
    ["objective", show(objective, 6), colour("objective")],
    ["lower bound", show(bound, 6), colour("bound")],
    ["still open", show(between(objective, bound), 3)],
  ];
}

if (data.trace) {
  const { seconds, objective, bound } = data.trace;
  // Early moments would be squeezed into the edge of a linear axis when the run is long.
  const positive = seconds.map((s) => Math.max(s, 1e-4));
  const long = positive.at(-1) / positive[0] > 200;
  const xs = seconds.map((s, k) => (long ? Math.log10(positive[k]) : s));
  const time = (s) => (s < 1 ? `${show(s * 1000, 2)} ms` : `${show(s, 3)} s`);
  charts.trace = {
    option: () =>
      frame({
        x: { name: "time", min: "dataMin", max: "dataMax", axisLabel: { formatter: (x) => (long ? time(10 ** x) : x < 1 ? `${show(x * 1000, 3)} ms` : `${show(x, 4)} s`) } },
        y: { name: "objective" },
        tooltip: { formatter: ([p]) => tip(time(seconds[p.dataIndex]), squeezeLines(objective[p.dataIndex], bound[p.dataIndex])) },
        series: squeeze(xs, objective, bound, "end"),
      }),
    table: () => ({
      head: ["Seconds", "Objective", "Lower bound", "Still open"],
      rows: seconds.map((s, k) => [s, objective[k], bound[k], between(objective[k], bound[k])]),
    }),
  };
}

if (data.path) {
  const { lambda0, size, objective, bound, chosen } = data.path;
  charts["path-proof"] = {
    option: () => {
      const { xs, axis } = priceAxis(data.path);
      const series = squeeze(xs, objective, bound);
      if (chosen !== null) series[0].markLine = marks([upright(xs[chosen], "this model", colour("text"))]);
      const title = (k) => `λ0 ${show(lambda0[k], 3)}, ${size[k]} features`;
      return frame({
        x: axis,
        y: { name: "objective" },
        grid: { bottom: 36 },
        tooltip: { formatter: ([p]) => tip(title(p.dataIndex), squeezeLines(objective[p.dataIndex], bound[p.dataIndex])) },
        series,
      });
    },
    table: () => ({
      head: ["λ0", "Features", "Objective", "Lower bound", "Still open"],
      rows: lambda0.map((v, k) => [v, size[k], objective[k], bound[k], between(objective[k], bound[k])]),
    }),
  };
}

if (data.subsets) {
  const { size, objective, bound, optimal } = data.subsets;
  charts.subsets = {
    option: () => {
      const series = squeeze(size, objective, bound);
      Object.assign(series[0], { symbol: "circle", symbolSize: 8, showSymbol: true });
      return frame({
        x: { name: "features", minInterval: 1, min: "dataMin", max: "dataMax" },
        y: { name: "objective" },
        tooltip: {
          formatter: ([p]) => {
            const k = p.dataIndex;
            return tip(`${size[k]} features`, [...squeezeLines(objective[k], bound[k]), ["proved best", optimal[k] ? "yes" : "no"]]);
          },
        },
        series,
      });
    },
    table: () => ({
      head: ["Features", "Objective", "Lower bound", "Proved best"],
      rows: size.map((s, k) => [s, objective[k], bound[k], optimal[k] ? "yes" : "no"]),
    }),
  };
}
