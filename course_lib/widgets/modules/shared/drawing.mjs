// What pictures of words and states are drawn of.

/** Words at a place of a picture. */
const text = (x, y, words, kind = "") => draw("text", { x, y, class: kind }, words);

/** A letter with its number set low: h₁. */
const numbered = (letter, k) => `${letter}${"₀₁₂₃₄₅₆₇₈₉"[k]}`;

/** The head of an arrow, for `marker-end`; `refX`, of 8, is what lies on the end of its line. */
function arrowhead(role, refX = 7, side = 8) {
  return draw("marker", { id: fresh("head"), class: `role-${role}`, viewBox: "0 0 8 8", refX, refY: 4, markerWidth: side, markerHeight: side, markerUnits: "userSpaceOnUse", orient: "auto" },
    draw("path", { class: "head", d: "M0 0.5L7.5 4L0 7.5z" }));
}
