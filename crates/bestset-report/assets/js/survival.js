// Survival of groups by risk: steps as observed, dashes as predicted.

if (data.survival) {
  const { groups, time } = data.survival;
  const names = { 1: ["accent"], 2: ["bound", "objective"] }[groups.length] ?? ["bound", "accent", "objective"];
  const at = (corners, t) => corners.reduce((found, c) => (c[0] <= t ? c[1] : found), null);
  const line = (group, corners, shade, rest) => ({
    type: "line",
    name: group.name,
    data: corners,
    step: "end",
    symbol: "none",
    color: shade,
    emphasis: { disabled: true },
    ...rest,
  });
  charts.survival = {
    height: 380,
    option: () => {
      const shades = names.map(colour);
      return frame({
        x: { name: cut(time, 40), min: 0, scale: false },
        y: { name: "share without the event", min: 0, max: 1, scale: false },
        tooltip: {
          formatter: (list) => {
            const t = list[0].axisValue;
            const rows = groups.flatMap((g, k) => [
              [`${g.name}, observed`, show(at(g.observed, t), 3), shades[k]],
              [`${g.name}, predicted`, show(at(g.predicted, t), 3), fade(shades[k], 0.5)],
            ]);
            return tip(`${cut(time)} ${show(t, 4)}`, rows);
          },
        },
        series: groups.flatMap((g, k) => [
          line(g, g.observed, shades[k], { lineStyle: { width: 2.5 }, z: 3 }),
          line(g, g.predicted, shades[k], { lineStyle: { width: 1.5, type: "dashed", opacity: 0.85 }, z: 2 }),
        ]),
      });
    },
    table: () => ({
      head: ["Group", "Time", "Observed", "Predicted"],
      rows: groups.flatMap((g) => g.observed.map(([t, s]) => [g.name, t, s, at(g.predicted, t)])),
    }),
  };
}
