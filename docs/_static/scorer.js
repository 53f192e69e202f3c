// How results of the search are ordered, see searchtools.js of Sphinx. Lessons
// and answers come before pages of the reference, and the general classes before
// the others, which have the same methods.
const words = (new URLSearchParams(window.location.search).get("q") || "")
  .toLowerCase().split(/\s+/).filter(Boolean);

const sections = {
  "getting-started/": 30,
  "how-to/": 40,
  "tutorials/": 40,
  "mathematics/": 10,
};
// A model of any shape, first as a class, then as functions of its arrays.
const general = {
  "phasic.distributions.PhaseType": 30,
  "phasic.distributions.DiscretePhaseType": 28,
  "phasic.math.phase_type": 26,
  "phasic.math.discrete_phase_type": 24,
};

var Scorer = {
  score: ([docname, title, anchor, descr, score, filename, kind]) => {
    if (kind === "object") {
      const owner = title.slice(0, title.lastIndexOf("."));
      const isWhole = words.includes(title.toLowerCase().split(".").pop());
      return score + (general[owner] || 0) + (isWhole ? 20 : 0);
    }
    const heading = title.toLowerCase().split(" > ")[0];
    // "gradient" and "gradients" are one word.
    const isNamed = words.some(
      (word) => heading.includes(word.replace(/s$/, "")) || docname.includes(word));
    const section = Object.keys(sections).find((x) => docname.startsWith(x));
    const isHistory = docname.startsWith("decisions/") || docname === "changelog";
    return score + (isNamed && section ? sections[section] : 0) - (isHistory ? 3 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
