// Everything is there: draw, and listen.
document.documentElement.classList.add("script");
drawAll();
markTheme();
document.getElementById("theme").addEventListener("click", switchTheme);
system.addEventListener("change", () => {
  markTheme();
  drawAll();
});
document.querySelectorAll(".chart").forEach(walk);
document.querySelectorAll("details[data-table]").forEach((details) => details.addEventListener("toggle", () => fillTable(details)));
document.querySelectorAll("[data-save]").forEach((button) => button.addEventListener("click", () => save(button.dataset.chart, button.dataset.save)));
document.querySelectorAll(".sortable th button").forEach((button) => button.addEventListener("click", () => sortBy(button.closest("th"))));
document.querySelectorAll("[data-copy]").forEach((button) => button.addEventListener("click", () => copy(button)));
document.getElementById("criterion")?.addEventListener("change", (event) => {
  charts.criteria.choose(Number(event.target.value));
  draw("criteria");
});
document.getElementById("find")?.addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  document.querySelectorAll("#coefficients tbody tr").forEach((row) => {
    row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
  });
});

let wide = !narrow();
new ResizeObserver(() => {
  Object.values(drawn).forEach((chart) => chart.resize());
  // Labels that fit a desk do not fit a phone.
  if (wide === narrow()) {
    wide = !narrow();
    drawAll();
  }
}).observe(document.querySelector("main"));
document.querySelectorAll("details").forEach((details) => details.addEventListener("toggle", () => Object.values(drawn).forEach((c) => c.resize())));
