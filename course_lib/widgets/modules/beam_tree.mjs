// A recorded beam search, step by step: what it kept, what it finished, what it dropped and when.

const FATES = ["kept", "finished", "dropped"];
const NARROW = 54; // to so many pixels a column may give way; in less, long words could not be read
const PADDING = 8;
const GAP = [5, 24]; // between two columns, for the lines: at least, and at most where there is room
const LINE = 52; // a card and the space below it
const DROPPED = 29; // one that was dropped, on one line, and the space below it

/** What a function says of how many pixels a text takes in a font. */
function measure(font) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = font;
  return (text) => pen.measureText(text).width;
}

/** The log-probability on a card; the list below has it with a digit more. */
const onCard = ([, step, , logProb]) => (step ? shown(logProb, 1) : "");

/** How wide the cards of each column are: as the longest word that stays in it, or its numbers.
 * If the columns do not fit into `room`, the widest give way, and the letters of long words in
 * them stand closer; if that is not enough, the field scrolls and nothing gives way. */
function cardWidths(columns, nodes, room, { wordWidth, numberWidth }) {
  const natural = columns.map((column) => Math.ceil(PADDING + Math.max(...column.map((number) => nodes[number])
    .filter((node) => node[4] < 2).map((node) => Math.max(wordWidth(node[2]), numberWidth(onCard(node)))))));
  const widths = (widest) => natural.map((width) => Math.min(width, widest));
  const total = (widest) => widths(widest).reduce((sum, width) => sum + width + GAP[0], 0);
  const most = Math.max(...natural);
  let widest = most;
  while (widest > NARROW && total(widest) > room) widest -= 1;
  return widths(total(widest) > room ? most : widest);
}

function render({ model, el }) {
  el.classList.add("moving", "beam");
  const put = setter(model);
  const searches = model.get("searches");
  const choose = (label, key, text = String) => {
    const values = [...new Set(searches.map((one) => one[key]))];
    const { select, line } = choice(label, () => {
      put(key, values[select.selectedIndex]);
      put("step", last()); // the winner is what two settings are compared by
    });
    select.append(...values.map((value) => make("option", {}, text(value))));
    line.hidden = values.length < 2;
    return { key, select, values, line };
  };
  const choices = [choose("sentence", "source"), choose("model", "model"), choose("beam width k", "k"), choose("length penalty λ", "length_penalty", (value) => shown(value, 1))];
  const steps = slider("step", { min: 0 }, (step) => put("step", step));
  const back = make("button", { type: "button", onclick: () => put("step", Math.max(0, model.get("step") - 1)) }, "back");
  const on = make("button", { type: "button", onclick: () => put("step", Math.min(last(), model.get("step") + 1)) }, "next word");
  const lines = draw("svg", { class: "beam-lines", "aria-hidden": "true" });
  const field = make("div", { class: "beam-field" }, lines);
  const scroll = make("div", { class: "moving-scroll beam-scroll", tabindex: 0, role: "region", "aria-label": "The search" }, field);
  const reading = make("p", { class: "beam-reading" });
  const whole = make("ol", { class: "beam-whole", "aria-label": "What is kept, in full" });
  el.append(make("div", { class: "moving-controls" }, ...choices.map((one) => one.line)),
    make("div", { class: "moving-controls" }, make("div", { class: "moving-buttons" }, back, on), steps.line),
    scroll, reading, whole);
  const say = announcer(el);

  let search;
  let cards = [];
  let focused = null;
  let places = []; // of each column: its left end and the width of its cards
  const last = () => Math.max(...search.nodes.map((node) => node[1]));
  const score = (node) => (node[1] ? node[3] / node[1] ** search.length_penalty : 0);
  const path = (number) => (number === 0 || number === null ? [] : [...path(search.nodes[number][0]), number]);
  const text = (number) => path(number).map((k) => search.nodes[k][2]).join(" ");

  /** Where each node stands: a column a step, best total first, the dropped ones below a gap. */
  function load() {
    const wanted = Object.fromEntries(choices.map(({ key }) => [key, model.get(key)]));
    search = searches.find((one) => Object.entries(wanted).every(([key, value]) => one[key] === value)) ?? searches[0];
    choices.forEach(({ key, select, values }) => { select.selectedIndex = values.indexOf(search[key]); });
    steps.input.max = last();
    focused = null;
    const fonts = getComputedStyle(el).fontFamily || "sans-serif"; // wider or narrower, as the page has them
    const pens = { wordWidth: measure(`600 10.7px ${fonts}`), numberWidth: measure(`10.6px ${fonts}`) };
    const columns = [];
    search.nodes.forEach((node, number) => { (columns[node[1]] ??= []).push(number); });
    const rows = (numbers) => numbers.sort((a, b) => search.nodes[b][3] - search.nodes[a][3]);
    cards = [];
    const room = scroll.clientWidth || 700;
    const widths = cardWidths(columns, search.nodes, room, pens);
    const left = room / widths.length - widths.reduce((sum, width) => sum + width, 0) / widths.length;
    const gap = Math.max(GAP[0], Math.min(GAP[1], Math.floor(left)));
    let right = 0;
    places = widths.map((width) => {
      const x = right;
      right += width + gap;
      return { x, width };
    });
    const below = LINE * Math.max(...columns.map((column) => column.filter((number) => search.nodes[number][4] < 2).length));
    let height = 0;
    columns.forEach((column, step) => {
      const { x, width } = places[step];
      const stays = rows(column.filter((number) => search.nodes[number][4] < 2));
      const drops = rows(column.filter((number) => search.nodes[number][4] === 2));
      [...stays, ...drops].forEach((number, row) => {
        const node = search.nodes[number];
        const dropped = node[4] === 2;
        // a dropped one, with the word before it, may be wider than its column: below all others nothing stands beside it
        const before = dropped ? `${search.nodes[node[0]][2]} ` : "";
        const wide = dropped ? Math.ceil(3 * PADDING + pens.wordWidth(before + node[2]) + pens.numberWidth(onCard(node))) : width;
        const left = !dropped ? x : right > room ? Math.max(0, x + width - wide) : Math.min(x, room - wide);
        const y = dropped ? below + (row - stays.length) * DROPPED + 16 : row * LINE + 6;
        const high = dropped ? DROPPED : LINE;
        height = Math.max(height, y + high);
        const name = `${node[2]}, ${step ? `log p ${shown(node[3])}, ${FATES[node[4]]}` : "the beginning"}`;
        const card = make("button", {
          type: "button", class: `beam-card ${FATES[node[4]]}`, "aria-label": name, style: `left:${left}px;top:${y}px;width:${wide}px`,
          onmouseenter: () => focus(number), onfocus: () => focus(number), onclick: () => put("step", Math.max(1, step)),
        }, make("b", {}, before, dropped ? make("s", {}, node[2]) : node[2]), make("span", {}, onCard(node)));
        const squeeze = (width - PADDING) / pens.wordWidth(node[2]);
        if (!dropped && squeeze < 1) card.firstChild.style.transform = `scaleX(${squeeze})`;
        cards[number] = { card, x: left, end: left + wide, y: y + (high - 6) / 2 };
      });
    });
    field.replaceChildren(lines, ...cards.map((one) => one.card));
    inLanguage(model.get("language"), ...cards.map(({ card }) => card.firstChild));
    field.style.width = `${right}px`;
    field.style.height = `${height}px`;
    lines.setAttribute("width", right);
    lines.setAttribute("height", height);
    lines.replaceChildren(...search.nodes.map((node, number) => {
      if (number === 0) return draw("path");
      const [from, to] = [cards[node[0]], cards[number]];
      return draw("path", { d: `M${from.end} ${from.y}C${from.end + gap / 2} ${from.y} ${to.x - gap / 2} ${to.y} ${to.x} ${to.y}`, class: FATES[node[4]] });
    }));
    if (model.get("step") > last()) put("step", last());
    show();
  }

  function show() {
    const step = Math.min(model.get("step"), last());
    const end = step >= last();
    const winner = new Set(end ? search.best : []);
    steps.show(step, `${step} of ${last()}`);
    search.nodes.forEach((node, number) => {
      const { card } = cards[number];
      const later = node[1] > step;
      // what was dropped is shown in its own step; afterwards only that it was
      card.hidden = later;
      card.classList.toggle("past", node[4] === 2 && node[1] < step);
      card.classList.toggle("wins", winner.has(number));
      const line = lines.children[number];
      line.classList.toggle("later", later);
      line.classList.toggle("past", node[4] === 2 && node[1] < step);
      line.classList.toggle("wins", winner.has(number));
    });
    // with many cards the lines cannot be followed: each beginning in full
    const stays = search.nodes.map((node, number) => number)
      .filter((number) => number && search.nodes[number][1] === step && search.nodes[number][4] < 2)
      .sort((a, b) => search.nodes[b][3] - search.nodes[a][3]);
    read(focused !== null && search.nodes[focused][1] <= step ? focused : end ? search.best.at(-1) : stays[0] ?? null);
    whole.replaceChildren(...stays
      .map((number) => make("li", {}, foreign(model.get("language"), text(number)), ` (${shown(search.nodes[number][3])})`)));
    const fates = FATES.map((fate, k) => `${search.nodes.filter((node) => node[1] === step && node[4] === k).length} ${fate}`);
    say(...(step ? [`Step ${step}: ${fates.join(", ")}.`, ...(end ? [" The winner: ", foreign(model.get("language"), text(search.best.at(-1))), "."] : [])] : ["Nothing is written yet."]));
    // last: to ask where things are lays the page out
    const { x, width } = places[step];
    const [left, room] = [scroll.scrollLeft, scroll.clientWidth];
    if (x + width + GAP[0] > left + room || x < left) scroll.scrollLeft = x + width + GAP[0] - room;
  }

  const focus = (number) => { focused = number; read(number); };

  function read(number) {
    const chosen = new Set(path(number));
    cards.forEach(({ card }, k) => card.classList.toggle("on-path", chosen.has(k)));
    [...lines.children].forEach((line, k) => line.classList.toggle("on-path", chosen.has(k)));
    if (!number) {
      reading.textContent = "Point at a word for the beginning it ends.";
      return;
    }
    const node = search.nodes[number];
    const ended = node[4] === 1 ? `, score ${shown(node[3])} / ${node[1]}^${shown(search.length_penalty, 1)} = ${shown(score(node), 3)}` : "";
    const won = number === search.best.at(-1) ? " It wins." : "";
    reading.replaceChildren(foreign(model.get("language"), text(number)), `: log p = ${shown(node[3], 3)}${ended}; ${FATES[node[4]]} in step ${node[1]}.${won}`);
  }

  el.addEventListener("keydown", (event) => {
    if (isShortcut(event) || event.target.closest("select, input")) return;
    const act = {
      ArrowRight: () => Math.min(last(), model.get("step") + 1), ArrowLeft: () => Math.max(0, model.get("step") - 1),
      Home: () => 0, End: last,
    }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    put("step", act());
  });

  const ends = [watch(model, choices.map(({ key }) => key), load), watch(model, ["step"], show)];
  load();
  addEventListener("resize", load);
  return () => {
    removeEventListener("resize", load);
    ends.forEach((end) => end());
  };
}

export default { render };
