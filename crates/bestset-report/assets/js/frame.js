// The page around the charts: theme, tables, copying, saving, the keyboard.
const drawn = {};
const announcer = document.getElementById("announcer");
/** The most rows of a data table: more cannot be read. */
const MOST_ROWS = 1000;

function draw(id) {
  const place = document.getElementById(`chart-${id}`);
  if (!place || !charts[id]) return;
  if (charts[id].height) place.style.height = `${charts[id].height}px`;
  drawn[id] = drawn[id] ?? echarts.init(place, null, { renderer: "svg" });
  drawn[id].setOption(charts[id].option(), true);
  place.querySelector("svg")?.setAttribute("aria-hidden", "true");
}
const drawAll = () => Object.keys(charts).forEach(draw);

function cell(kind, value) {
  const made = document.createElement(kind);
  made.textContent = typeof value === "number" || value === null ? show(value, 6) : value;
  if (typeof value === "number" || value === null) made.className = "number";
  return made;
}

/** The data of a chart, made when it is asked for. */
function fillTable(details) {
  const place = details.querySelector(".scroll");
  if (place.firstChild) return;
  const { head, rows } = charts[details.dataset.table].table();
  const table = document.createElement("table");
  const top = table.createTHead().insertRow();
  head.forEach((name, k) => {
    const made = cell("th", name);
    made.scope = "col";
    if (typeof rows[0]?.[k] === "number") made.className = "number";
    top.append(made);
  });
  const body = table.createTBody();
  rows.slice(0, MOST_ROWS).forEach((row) => body.insertRow().append(...row.map((value) => cell("td", value))));
  place.append(table);
  if (rows.length > MOST_ROWS) {
    const note = document.createElement("p");
    note.className = "note";
    note.textContent = `The first ${show(MOST_ROWS)} of ${show(rows.length)} rows.`;
    place.append(note);
  }
}

/** Arrow keys walk from point to point; each is shown and said. */
function walk(place) {
  const id = place.dataset.chart;
  let at = -1;
  place.addEventListener("keydown", (event) => {
    const { head, rows } = charts[id].table();
    const step = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (event.key === "Escape") drawn[id].dispatchAction({ type: "hideTip" });
    if (step === undefined || !rows.length) return;
    event.preventDefault();
    at = Math.min(Math.max(step, 0), rows.length - 1);
    const dataIndex = charts[id].at ? charts[id].at(at) : at;
    // A series may have nothing here: the first that has something shows the tooltip of all.
    const has = ({ data }) => (Array.isArray(data[dataIndex]) ? data[dataIndex][1] : data[dataIndex]) != null;
    const seriesIndex = Math.max(drawn[id].getOption().series.findIndex(has), 0);
    drawn[id].dispatchAction({ type: "showTip", seriesIndex, dataIndex });
    announcer.textContent = head.map((name, k) => `${name} ${typeof rows[at][k] === "string" ? rows[at][k] : show(rows[at][k])}`).join(", ");
  });
  place.addEventListener("blur", () => {
    at = -1;
    drawn[id]?.dispatchAction({ type: "hideTip" });
  });
}

function download(url, name) {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}

function save(id, kind) {
  const svg = drawn[id].renderToSVGString();
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  if (kind === "svg") return download(url, `${id}.svg`);
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * drawn[id].getWidth(), 2 * drawn[id].getHeight()];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(URL.createObjectURL(blob), `${id}.png`));
  };
  image.src = url;
}

/** Sorts by a column; again for the other way. */
function sortBy(head) {
  const table = head.closest("table");
  const column = head.cellIndex;
  const down = head.getAttribute("aria-sort") !== "descending";
  const down0 = head.dataset.kind === "text" ? head.getAttribute("aria-sort") === "ascending" : down;
  const rows = [...table.tBodies[0].rows];
  const value = (row) => (head.dataset.kind === "text" ? row.cells[column].textContent : Number(row.cells[column].dataset.value ?? NaN));
  rows.sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (typeof x === "string") return x.localeCompare(y, "en", { numeric: true });
    return (Number.isNaN(x) ? -Infinity : x) - (Number.isNaN(y) ? -Infinity : y);
  });
  if (down0) rows.reverse();
  table.tBodies[0].append(...rows);
  table.querySelectorAll("th[aria-sort]").forEach((th) => th.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", down0 ? "descending" : "ascending");
  announcer.textContent = `Sorted by ${head.textContent}, ${down0 ? "descending" : "ascending"}`;
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent);
  } catch {
    // A page from a file may not have a clipboard: the text is at least selected.
    getSelection().selectAllChildren(source);
    document.execCommand("copy");
  }
  button.textContent = "Copied";
  announcer.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

const system = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
function markTheme() {
  document.getElementById("theme").setAttribute("aria-pressed", String(isDark()));
}
function switchTheme() {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("bestset-theme", theme);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  markTheme();
  drawAll();
}
