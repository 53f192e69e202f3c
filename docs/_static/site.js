// Names and roles for screen readers that the theme leaves out.
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll("nav summary")) {
    const link = summary.closest("li").querySelector("a");
    summary.setAttribute("aria-label", `Pages of ${link.textContent.trim()}`);
  }
  for (const button of document.querySelectorAll(".search-button-field")) {
    button.removeAttribute("aria-label");
  }
  // The parameters of a signature, a line for each: a list without terms.
  for (const list of document.querySelectorAll("dt.sig > dl")) {
    list.setAttribute("role", "none");
    for (const entry of list.children) entry.setAttribute("role", "none");
  }
});
