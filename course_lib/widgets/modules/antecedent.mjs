// Which word the last word of a sentence looks at, and which pronoun it writes, whatever nouns the sentence has.

const [TOP, ROW] = [44, 27]; // the first word's height, and from word to word
const [LEFT, RIGHT, MIDDLE] = [146, 238, TOP + 4.5 * ROW]; // where the lines begin and end
const LEAST = 0.05; // a smaller weight's number is left out
const PRONOUNS = ["er", "sie", "es"];

const inGerman = (words) => foreign("de", words);

/** The words in a column, each with its weight, and a line to it from the word that asks. */
function column(words, { antecedent, weights }) {
  const height = (j) => TOP + j * ROW;
  return [text(14, 16, "word", "quiet"), text(96, 16, "weight", "quiet"), text(RIGHT, MIDDLE - 24, "asks", "quiet"),
    ...weights.map((weight, j) => draw("line", { class: "weighs", x1: LEFT, y1: height(j), x2: RIGHT, y2: MIDDLE, "stroke-width": 1 + 13 * weight, opacity: 0.35 + 0.65 * weight })),
    ...words.flatMap((word, j) => [text(14, height(j) + 5, word, weights[j] < LEAST ? "word" : "word strong"),
      ...(weights[j] < LEAST ? [] : [text(96, height(j) + 5, shown(weights[j]), "weight role-weight strong")])]),
    draw("rect", { class: "outline", x: 5, y: height(antecedent) - 13, width: 82, height: 26, rx: 4 }),
    draw("rect", { class: "asks", x: RIGHT, y: MIDDLE - 16, width: 84, height: 32, rx: 4 }),
    text(RIGHT + 42, MIDDLE + 5, words.at(-1), "asker strong")];
}

function render({ model, el }) {
  el.classList.add("moving", "antecedent");
  const put = setter(model);
  const glossed = (nouns) => Object.entries(nouns).map(([noun, german]) => [noun, make("small", { lang: "de" }, german)]);
  const groups = ["animal", "thing", "adjective"].map((key) => {
    const known = model.get(`${key}s`);
    const names = Array.isArray(known) ? known : Object.keys(known);
    const labels = Array.isArray(known) ? known : glossed(known);
    return { ...buttons(key, labels, (k) => put(key, names[k])), at: () => names.indexOf(model.get(key)) };
  });
  groups.push({ ...buttons("first noun", ["animal", "thing"], (k) => put("thing_first", k === 1)), at: () => Number(model.get("thing_first")) });
  const picture = draw("svg", { viewBox: "0 0 330 304", role: "img" });
  const bars = PRONOUNS.map((pronoun) => {
    const [name, fill, share] = [make("span", { lang: "de" }), make("span", { class: "fill" }), make("span", { class: "share" })];
    return { pronoun, name, fill, share, row: make("li", {}, name, make("span", { class: "track" }, fill), share) };
  });
  const [meant, pair] = [make("p", { class: "meant" }), make("p", { class: "pair" })];
  el.append(make("div", { class: "moving-controls" }, ...groups.map((group) => group.line)), picture,
    make("div", {}, make("p", { class: "moving-title" }, "“it” in German"), make("ul", {}, ...bars.map((bar) => bar.row)), meant, pair));
  const say = announcer(el);

  function show() {
    const [animal, thing, adjective] = ["animal", "thing", "adjective"].map((key) => model.get(key));
    const [first, second] = model.get("thing_first") ? [thing, animal] : [animal, thing];
    const sentence = `the ${first} stayed beside the ${second} because it was ${adjective}`;
    const [words, reading] = [sentence.split(" "), model.get("readings")[sentence]];
    const { antecedent, weights, probabilities, right, held_out: heldOut } = reading;
    groups.forEach(({ press, at }) => press(at()));
    picture.replaceChildren(...column(words, reading));
    bars.forEach(({ pronoun, name, fill, share, row }, k) => {
      name.textContent = pronoun === right ? `${pronoun} ✓` : pronoun;
      fill.style.width = `${100 * probabilities[k]}%`;
      share.textContent = shown(probabilities[k]);
      row.classList.toggle("chosen", probabilities[k] === Math.max(...probabilities));
    });
    const noun = words[antecedent];
    const german = { ...model.get("animals"), ...model.get("things") }[noun];
    meant.replaceChildren(`✓ marks the right one: “it” is the ${noun} (outlined), `, inGerman(german), ".");
    pair.textContent = `${heldOut ? "Held out: no sentence" : "Not held out: sentences"} with ${animal} and ${thing} ${heldOut ? "was" : "were"} learned.`;
    const most = weights.indexOf(Math.max(...weights));
    picture.setAttribute("aria-label", `${sentence}: ${words.flatMap((word, j) => (weights[j] < LEAST ? [] : [`${word} has the weight ${shown(weights[j])}`])).join(", ")}`);
    say(`${adjective} looks most at ${words[most]}, ${shown(weights[most])}. `, ...PRONOUNS.flatMap((pronoun, k) => [k ? ", " : "", inGerman(pronoun), ` ${shown(probabilities[k])}`]),
      ". ", ...copied(meant), ` ${pair.textContent}`);
  }
  show();
  return watch(model, ["animal", "thing", "adjective", "thing_first"], show);
}

export default { render };
