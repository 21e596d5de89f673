// Challenges: each is checked against what stands on the page, and says what it found.

/** Words whose translation a page can look for, by the target language: the beginnings it may have. */
const LEXICON = {
  de: { red: ["rot"], blue: ["blau"], green: ["grün"], yellow: ["gelb"], white: ["weiß"], black: ["schwarz"], brown: ["braun"], orange: ["orange"], three: ["drei"], four: ["vier"], five: ["fünf"], dog: ["hund"], horse: ["pferd"], ball: ["ball", "bälle"], bicycle: ["fahrrad", "fahrräder"], snow: ["schnee"], beach: ["strand"], guitar: ["gitarre"] },
  fr: { red: ["roug"], blue: ["bleu"], green: ["vert"], yellow: ["jaune"], white: ["blanc"], black: ["noir"], brown: ["brun", "marron"], orange: ["orange"], three: ["trois"], four: ["quatre"], five: ["cinq"], dog: ["chien"], horse: ["cheval", "chevaux"], ball: ["ball"], bicycle: ["vélo", "bicyclette"], snow: ["neige", "enneig"], beach: ["plage"], guitar: ["guitare"] },
};

/** For each piece the number of its word. */
const wordsOf = (pieces) => labels(pieces).reduce((list, { joined }) => [...list, (list.at(-1) ?? -1) + (joined ? 0 : 1)], []);

/** Words that one translation has and the other has not, of those the page knows. */
function forgotten(known, search, encdec) {
  const has = (text, forms) => text.split(/[^\p{L}]+/u).some((word) => forms.some((form) => word.includes(form)));
  return search.words.map((word) => word.text)
    .filter((word) => known[word] && has(search.text, known[word]) && !has(encdec.text, known[word]));
}

/** Two target words of which the later one looks at least two words further left; null for none. */
function crossing({ source, target, alpha }) {
  const [from, to] = [wordsOf(source), wordsOf(target)];
  const most = alpha.slice(0, -1).map((row) => row.indexOf(Math.max(...row)));
  for (let i = 0; i < most.length; i += 1) {
    for (let later = i + 1; later < most.length; later += 1) {
      const sure = alpha[i][most[i]] >= 0.5 && alpha[later][most[later]] >= 0.5 && source[most[i]] !== END_MARK;
      if (sure && to[later] > to[i] && from[most[i]] - from[most[later]] >= 2) return [i, later, most];
    }
  }
  return null;
}

/** How far the rows of weights moved: the largest total variation of a step. */
function moved(before, after) {
  return Math.max(...after.alpha.slice(0, before.alpha.length).map((row, i) => (
    row.reduce((so, weight, j) => so + Math.abs(weight - before.alpha[i][j]), 0) / 2)));
}

const CHALLENGES = [
  {
    name: "It forgets",
    task: "Find the shortest sentence in which RNNencdec leaves out one of these words, while RNNsearch writes it:",
    needs: ({ search, encdec, lexicon }) => search && encdec && lexicon,
    check({ search, encdec, lexicon, changed, own }) {
      if (!own) return "Type a sentence of your own.";
      if (changed) return "Only an untouched translation counts: undo your changes.";
      const lost = forgotten(lexicon, search.found, encdec.found);
      if (!lost.length) return null;
      return { said: `Solved: RNNencdec forgot “${lost[0]}” in a sentence of ${search.found.words.length} words and marks.`, size: search.found.words.length };
    },
  },
  {
    name: "It crosses",
    task: "Find a sentence whose map crosses: one word looks at a place, and a word written after it at a place two or more words further left.",
    needs: ({ search }) => search,
    check({ search, changed, own }) {
      if (!own) return "Type a sentence of your own.";
      const found = crossing(search.found);
      if (!found || changed) return changed ? "Only an untouched map counts: undo your changes." : null;
      const [i, later, most] = found;
      const word = (list, k) => labels(list)[k].text;
      return { said: `Solved: “${word(search.found.target, i)}” looks at “${word(search.found.source, most[i])}”, and after it “${word(search.found.target, later)}” looks back at “${word(search.found.source, most[later])}”.` };
    },
  },
  {
    name: "It does not care",
    task: "Change weights so that half of a row lies elsewhere, and the translation stays the same, word for word.",
    needs: ({ search }) => search,
    check({ search, holds }) {
      if (!holds) return null;
      const far = moved(search.plain, search.found);
      if (far < 0.5) return `So far ${shown(far)} of a row's weight has moved: move 0.50.`;
      if (search.found.text !== search.plain.text) return "Now the translation is another one.";
      return { said: `Solved: ${shown(far)} of a row's weight moved, and not a word changed.` };
    },
  },
];

/** The list of challenges for a pair of languages; `show(state)` looks whether one is solved. */
function challengeList(pair) {
  const [from, to] = pair.split("-");
  const lexicon = from === "en" ? LEXICON[to] : undefined;
  const lines = CHALLENGES.map((one) => {
    const answer = make("p", { class: "live-answer" }, "Not yet.");
    const words = one.name === "It forgets" && lexicon ? ` ${Object.keys(lexicon).join(", ")}.` : "";
    return { ...one, answer, item: make("li", {}, make("b", {}, one.name), `. ${one.task}${words}`, answer) };
  });
  const element = make("details", { class: "live-challenges" }, make("summary", {}, "Three challenges, checked as you go"),
    make("ol", {}, ...lines.map((one) => one.item)));
  let shortest = Infinity;
  function look(line, state) {
    line.item.hidden = !line.needs(state);
    const solved = line.answer.classList.contains("solved");
    if (line.item.hidden || (solved && line.name !== "It forgets")) return;
    const found = line.check(state);
    if (!found?.said && !solved) line.answer.textContent = found ?? "Not yet.";
    if (!found?.said || (found.size ?? 0) >= shortest) return;
    if (found.size) shortest = found.size;
    line.answer.textContent = found.said + (found.size ? " Can you find a shorter one?" : "");
    line.answer.classList.add("solved");
  }
  return { pair, element, show: (state) => lines.forEach((line) => look(line, { ...state, lexicon })) };
}
