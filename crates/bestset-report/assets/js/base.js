// Data, colours, numbers and the pieces that charts share.
const data = JSON.parse(document.getElementById("report-data").textContent);
/** id → { option(), table(), height? }: filled by the files that follow. */
const charts = {};
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
const narrow = () => innerWidth < 640;

const probe = document.createElement("span");
probe.hidden = true;
document.body.append(probe);
/** The colour of a variable in the theme that is shown, as rgb. */
function colour(name) {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

function fade(rgb, alpha) {
  const [r, g, b] = rgb.match(/[\d.]+/g);
  return `rgba(${r},${g},${b},${alpha})`;
}

/** About so many significant digits, with a real minus sign. */
function show(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (typeof value !== "number") return String(value);
  const size = Math.abs(value);
  let text;
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) text = value.toExponential(Math.max(digits - 2, 1));
  else if (Number.isInteger(value)) text = value.toLocaleString("en-US");
  else text = Number(value.toPrecision(digits)).toLocaleString("en-US", { maximumSignificantDigits: digits });
  return text.replace(/-/g, "−");
}

/** A tick: a round number with all of its digits, or neighbours far from zero would read the same. */
function tick(value) {
  const near = Number(value.toPrecision(6));
  const size = Math.abs(near);
  const text = size !== 0 && (size < 1e-4 || size >= 1e7) ? near.toExponential() : near.toLocaleString("en-US", { maximumSignificantDigits: 6 });
  return text.replace(/-/g, "−");
}

const cut = (name, most = 24) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);
const spread = (count, most) =>
  count <= most ? [...Array(count).keys()] : [...Array(most).keys()].map((k) => Math.floor((k * (count - 1)) / (most - 1)));
const largest = (values) => values.reduce((top, v) => Math.max(top, Math.abs(v ?? 0)), 0);

/** A tooltip made of nodes: names from the data are text, never markup. */
function tip(title, lines) {
  const box = document.createElement("div");
  box.className = "tip";
  const head = document.createElement("b");
  head.textContent = title;
  box.append(head);
  for (const [label, value, mark] of lines) {
    const line = document.createElement("div");
    const name = document.createElement("span");
    if (mark) {
      const dot = document.createElement("i");
      dot.style.background = mark;
      name.append(dot);
    }
    name.append(label);
    const amount = document.createElement("span");
    amount.textContent = value;
    line.append(name, amount);
    box.append(line);
  }
  return box;
}

// Double quotes would end the attribute in a saved SVG.
const fonts = getComputedStyle(document.body).fontFamily.replaceAll('"', "'");

/** What every chart has: room, axes, tooltip, motion. */
function frame({ x, y, grid, tooltip, series, ...rest }) {
  const line = colour("line");
  const text = colour("muted");
  const axis = (given) => ({
    type: "value",
    scale: true,
    nameLocation: "middle",
    nameTextStyle: { color: text, fontSize: 12 },
    axisLine: { onZero: false, lineStyle: { color: line } },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: line, opacity: 0.6 } },
    ...given,
    axisLabel: { color: text, fontSize: 11, hideOverlap: true, formatter: (v) => (typeof v === "number" ? tick(v) : v), ...given.axisLabel },
  });
  return {
    backgroundColor: colour("surface"),
    animation: !still,
    animationDuration: 350,
    textStyle: { fontFamily: fonts, color: colour("text") },
    grid: { left: 14, right: 20, top: 46, bottom: 32, containLabel: true, ...grid },
    // Pointing at a place shows the values there; only pointing at a line itself brings it forward.
    xAxis: axis({ nameGap: 28, splitLine: { show: false }, axisPointer: { triggerEmphasis: false }, ...x }),
    yAxis: axis({ nameGap: 28, nameLocation: "end", nameTextStyle: { color: text, fontSize: 12, align: "left", padding: [0, 0, 0, -30] }, ...y }),
    tooltip: {
      trigger: "axis",
      confine: true,
      transitionDuration: still ? 0 : 0.15,
      backgroundColor: colour("surface"),
      borderColor: line,
      padding: 0,
      textStyle: { color: colour("text"), fontSize: 12 },
      axisPointer: { lineStyle: { color: text } },
      ...tooltip,
    },
    series,
    ...rest,
  };
}

/** Lower and upper as one band: an unseen line, and on it the distance. */
function band(xs, lower, upper, shade, step) {
  const line = { type: "line", stack: "band", stackStrategy: "all", symbol: "none", silent: true, step, lineStyle: { opacity: 0 }, z: 1 };
  const pick = (f) => xs.map((x, k) => [x, lower[k] === null || upper[k] === null ? null : f(k)]);
  return [
    { ...line, name: "band from", data: pick((k) => lower[k]) },
    { ...line, name: "band to", data: pick((k) => upper[k] - lower[k]), areaStyle: { color: shade, opacity: 1 } },
  ];
}

/** Points of falling λ0 from left to right, evenly spaced: each is an answer of its own. */
function priceAxis({ lambda0, size }) {
  const label = (k) => (Number.isInteger(k) && lambda0[k] !== undefined ? `${show(lambda0[k], 2)}\n${show(size[k])}` : "");
  return {
    xs: lambda0.map((_, k) => k),
    axis: {
      name: narrow() ? "λ0 falls →, features below" : "the penalty per feature (λ0) falls →  (below it: features in the answer)",
      nameGap: 45,
      min: 0,
      max: lambda0.length - 1,
      minInterval: 1,
      axisLabel: { formatter: label, lineHeight: 15 },
    },
  };
}

/** A vertical line with a word above it. */
function upright(x, word, shade, { position = "end", align = "left" } = {}) {
  const label = { formatter: word, color: shade, position, align, rotate: 0, distance: 5, fontSize: 11, fontWeight: 600 };
  return { xAxis: x, lineStyle: { color: shade, width: 1.5, type: "dashed" }, label };
}

const marks = (list) => ({ silent: true, symbol: "none", animation: false, data: list });
