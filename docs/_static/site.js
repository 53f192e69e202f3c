// Browsers do not let a page read others of the file system, from which the
// search takes the lines around a word that it found.
if (window.location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

// Names and roles for screen readers that the theme leaves out.
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll("nav summary")) {
    const link = summary.closest("li").querySelector("a");
    summary.setAttribute("aria-label", `Pages of ${link.textContent.trim()}`);
  }
  for (const button of document.querySelectorAll(".search-button-field")) {
    button.setAttribute("aria-label", button.textContent.replace(/\s+/g, " ").trim());
  }
  for (const summary of document.querySelectorAll(".cell summary")) {
    summary.removeAttribute("aria-label");
  }
  // The parameters of a signature, a line for each: a list without terms.
  for (const list of document.querySelectorAll("dt.sig > dl")) {
    list.setAttribute("role", "none");
    for (const entry of list.children) entry.setAttribute("role", "none");
  }
});

// Formulas that are wider than the page scroll; keys have to reach them.
window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  const formulas = document.querySelectorAll(".math, mjx-container[display]");
  const inText = document.querySelectorAll("span.math");
  // A mark stays on the line of the formula that it follows.
  for (const formula of inText) {
    const next = formula.nextSibling;
    const text = next?.nodeType === Node.TEXT_NODE ? next.data : "";
    const [marks] = /^[.,;:)!?]*/.exec(text);
    if (marks) {
      formula.append(marks);
      next.data = text.slice(marks.length);
    }
  }
  const mark = () => {
    for (const formula of inText) {
      const width = formula.querySelector("mjx-math, mjx-container")?.offsetWidth ?? 0;
      const room = formula.closest("p, li, dd, td, th, div").clientWidth;
      formula.classList.toggle("is-wide", width > room);
    }
    for (const formula of formulas) {
      if (formula.scrollWidth > formula.clientWidth + 1) formula.tabIndex = 0;
    }
  };
  mark();
  window.addEventListener("resize", mark);
});
