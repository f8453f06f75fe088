// Coefficients, supports and criteria along the path.
const hues = () => [...Array(8).keys()].map((k) => colour(`hue${k}`));
const pointTitle = (path, k) => `λ0 ${show(path.lambda0[k], 3)}, ${path.size[k]} ${path.size[k] === 1 ? "feature" : "features"}`;

if (data.path) {
  const path = data.path;
  const inside = (k) => path.lines.map((line, j) => [line.name, line.values[k], j]).filter((entry) => entry[1]);
  const listed = (k) => inside(k).map(([name, value]) => `${name} ${show(value, 3)}`).join("; ") || "none";

  charts.path = {
    option: () => {
      const { xs, axis } = priceAxis(path);
      const shades = hues();
      const dashes = ["solid", "dashed", "dotted"];
      // What is in the reported model stands out from what enters later.
      const picked = (line) => path.chosen === null || Boolean(line.values[path.chosen]);
      const last = xs.length - 1;
      const weight = ([, value, j]) => Math.abs(value) + (picked(path.lines[j]) ? 1e9 : 0);
      const named = new Set(inside(last).sort((a, b) => weight(b) - weight(a)).slice(0, 9).map((entry) => entry[2]));
      // A line begins at the zero before its first value and ends at the zero after its last.
      const seen = (v, k) => v[k] || v[k - 1] || v[k + 1];
      const series = path.lines.map((line, j) => ({
        type: "line",
        name: line.name,
        data: xs.map((x, k) => [x, seen(line.values, k) ? line.values[k] : null]),
        color: shades[j % shades.length],
        symbol: "none",
        triggerLineEvent: true,
        animation: false,
        z: picked(line) ? 4 : 2,
        lineStyle: { width: picked(line) ? 2.4 : 1.1, opacity: picked(line) ? 1 : 0.5, type: dashes[Math.floor(j / shades.length) % dashes.length] },
        emphasis: { focus: "series", lineStyle: { width: 3.5, opacity: 1 } },
        blur: { lineStyle: { opacity: 0.15 } },
        endLabel: { show: named.has(j) && !narrow(), formatter: cut(line.name, 18), color: shades[j % shades.length], fontSize: 11, lineHeight: 15 },
        labelLayout: { moveOverlap: "shiftY" },
      }));
      if (path.chosen !== null && series.length)
        series[0].markLine = marks([upright(xs[path.chosen], "this model", colour("text"))]);
      return frame({
        x: axis,
        y: { name: path.unit },
        grid: { bottom: 36, right: narrow() ? 20 : 140 },
        tooltip: {
          formatter: ([p]) => {
            const entries = inside(p.dataIndex).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
            const lines = entries.slice(0, 14).map(([name, value, j]) => [cut(name, 32), show(value), shades[j % shades.length]]);
            if (entries.length > 14) lines.push([`and ${entries.length - 14} more`, ""]);
            return tip(pointTitle(path, p.dataIndex), lines);
          },
        },
        series,
      });
    },
    table: () => ({
      head: ["λ0", "Features", path.unit === "coefficient" ? "Coefficients" : "Coefficients per standard deviation"],
      rows: path.lambda0.map((v, k) => [v, path.size[k], listed(k)]),
    }),
  };

  const rows = path.lines;
  const columns = spread(path.lambda0.length, 120);
  const shown = (line) => columns.filter((k) => line.values[k]).length;
  charts.heat = {
    height: 100 + 20 * rows.length,
    // A row of the table is a row of cells: its first one.
    at: (k) => rows.slice(0, k).reduce((sum, line) => sum + shown(line), 0),
    option: () => {
      const cells = rows.flatMap((line, j) => {
        const top = largest(line.values) || 1;
        // Faint values stay visible: the sign matters more than the size.
        const tint = (v) => Math.sign(v) * (0.35 + (0.65 * Math.abs(v)) / top);
        return columns.map((k, c) => [c, j, line.values[k] ? tint(line.values[k]) : null]).filter((cell) => cell[2] !== null);
      });
      const chosen = path.chosen === null ? -1 : columns.findLastIndex((k) => k <= path.chosen);
      return frame({
        x: {
          type: "category",
          data: columns.map((k) => show(path.lambda0[k], 2)),
          name: "the penalty per feature (λ0) falls →",
          splitLine: { show: false },
        },
        y: {
          type: "category",
          inverse: true,
          data: rows.map((line) => cut(line.name, narrow() ? 14 : 26)),
          axisLabel: { hideOverlap: false, interval: 0 },
          splitLine: { show: false },
        },
        tooltip: {
          trigger: "item",
          formatter: (p) => {
            const k = columns[p.value[0]];
            return tip(rows[p.value[1]].name, [[path.unit, show(rows[p.value[1]].values[k])], ["λ0", show(path.lambda0[k], 3)], ["features", show(path.size[k])]]);
          },
        },
        visualMap: {
          show: false,
          min: -1,
          max: 1,
          dimension: 2,
          inRange: { color: [colour("down"), colour("surface"), colour("up")] },
        },
        series: [
          {
            type: "heatmap",
            name: "coefficients",
            data: cells,
            itemStyle: { borderColor: colour("surface"), borderWidth: columns.length > 60 ? 0.5 : 1 },
            emphasis: { itemStyle: { borderColor: colour("text"), borderWidth: 1 } },
            progressive: 0,
            markLine: chosen < 0 ? undefined : marks([upright(chosen, "this model", colour("text"), { position: "start" })]),
          },
        ],
      });
    },
    table: () => ({
      head: ["Feature", "In how many answers", "First at λ0"],
      rows: rows.map((line) => [line.name, line.values.filter(Boolean).length, path.lambda0[line.values.findIndex(Boolean)]]),
    }),
  };

  if (path.criteria.length) {
    let current = 0;
    charts.criteria = {
      choose: (k) => {
        current = k;
      },
      option: () => {
        const { xs, axis } = priceAxis(path);
        const { name, values, best } = path.criteria[current];
        return frame({
          x: axis,
          y: { name },
          grid: { bottom: 36 },
          tooltip: { formatter: ([p]) => tip(pointTitle(path, p.dataIndex), [[name, show(values[p.dataIndex])]]) },
          series: [
            {
              type: "line",
              name,
              data: xs.map((x, k) => [x, values[k]]),
              color: colour("accent"),
              symbol: "circle",
              symbolSize: 4,
              emphasis: { disabled: true },
              markPoint: {
                silent: true,
                symbol: "circle",
                symbolSize: 14,
                animation: false,
                itemStyle: { color: "transparent", borderColor: colour("text"), borderWidth: 2 },
                label: { show: false },
                data: best === null ? [] : [{ coord: [xs[best], values[best]] }],
              },
            },
          ],
        });
      },
      table: () => ({
        head: ["λ0", "Features", ...path.criteria.map((c) => c.name)],
        rows: path.lambda0.map((v, k) => [v, path.size[k], ...path.criteria.map((c) => c.values[k])]),
      }),
    };
  }
}
