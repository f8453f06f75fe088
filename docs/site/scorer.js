// What is found first: answers and guides before the mathematics and long tables. The numbers are Sphinx's own but for `score`.
const BEHIND = ["guide/mathematics", "guide/benchmarks", "guide/architecture", "guide/proof-format"];
var Scorer = {
  score: ([page, , , , score]) => (page === "questions" ? score + 6 : BEHIND.includes(page) ? score - 6 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
