// Small mends to every page. Nothing here is needed to read the book.

// What scrolls sideways must be reachable from the keyboard: equations, code, tables.
const SCROLLING = "mjx-container[display], .bd-article pre, .pst-scrollable-table-container, .side-by-side td";

function markScrolling() {
  for (const element of document.querySelectorAll(SCROLLING)) {
    if (element.scrollWidth > element.clientWidth + 1) {
      element.tabIndex = 0;
    } else if (element.getAttribute("tabindex") === "0") {
      element.removeAttribute("tabindex");
    }
  }
}

// A formula that is wider than its place is set smaller, so that nothing of it is cut off.
function fitFormulas() {
  for (const formula of document.querySelectorAll(".bd-article mjx-container")) formula.style.fontSize = "";
  for (const formula of document.querySelectorAll(".bd-article mjx-container")) {
    const displayed = formula.hasAttribute("display");
    const place = displayed ? formula : formula.closest("td, th, li, dd, p, div");
    const { paddingLeft, paddingRight } = getComputedStyle(place);
    const room = place.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    const wanted = displayed ? formula.scrollWidth : formula.offsetWidth;
    if (room > 0 && wanted > room) formula.style.fontSize = `${Math.floor((98 * room) / wanted)}%`;
  }
}

// A table too wide for its page, or of class "cards" on a phone, becomes a stack of cards.
function stackTables() {
  const phone = matchMedia("(max-width: 44rem)").matches;
  for (const table of document.querySelectorAll(".bd-article table:has(thead):not(.side-by-side, .proof table)")) {
    table.classList.remove("stacked");
    const wide = table.offsetWidth > table.parentElement.clientWidth + 1;
    if (!wide && !(phone && table.classList.contains("cards"))) continue;
    table.classList.add("stacked");
    if (table.querySelector(".column-name")) continue;
    const names = [...table.tHead.rows[0].cells];
    for (const cell of table.querySelectorAll("tbody tr > :not(:first-child)")) {
      if (cell.textContent.trim() === "") continue;
      const name = document.createElement("span");
      name.className = "column-name";
      const heading = names[cell.cellIndex];
      name.append(...(heading.querySelector("p") ?? heading).cloneNode(true).childNodes, ": ");
      (cell.querySelector("p") ?? cell).prepend(name);
    }
  }
}

function settle() {
  stackTables();
  fitFormulas();
  markScrolling();
}

// Paper has no folds. What was closed is closed again afterwards.
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const fold of opened) fold.open = true;
});
addEventListener("afterprint", () => {
  for (const fold of opened) fold.open = false;
});

// The theme's side column is no landmark; without a name a screen reader cannot skip it.
const column = document.getElementById("pst-primary-sidebar");
column?.setAttribute("role", "complementary");
column?.setAttribute("aria-label", "The book");

addEventListener("resize", settle);
document.addEventListener("toggle", settle, true);
addEventListener("load", () => (globalThis.MathJax?.startup?.promise ?? Promise.resolve()).then(settle));
