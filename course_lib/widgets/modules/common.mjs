// What every moving figure is made of. A notebook takes one file for a figure, so this text is
// joined in front of the figure's own module (course_lib/widgets/modules.py).

// The namespace as the browser knows it: an address in the page would look like a request.
const SVG = new DOMParser().parseFromString("<svg></svg>", "text/html").querySelector("svg").namespaceURI;

/** An HTML element; `on…` attributes are listeners, everything else is set as it is. */
function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** An SVG element. */
function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** New children; a button that had the focus hands it to the one in its place. */
function refill(element, children) {
  const buttons = () => [...element.querySelectorAll("button")];
  const place = buttons().indexOf(document.activeElement);
  element.replaceChildren(...children);
  if (place >= 0) buttons()[place]?.focus({ preventScroll: true });
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** A number as the book prints it: fixed digits, a real minus sign, never a negative zero. */
function shown(number, digits = 2) {
  const text = number.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text.replace("-", "−");
}

/** Changes a value for both sides: the figure and, in a notebook, Python. */
function setter(model) {
  return (key, value) => {
    if (model.get(key) === value) return;
    model.set(key, value);
    model.save_changes();
  };
}

/** Calls the listener when one of these values changes; what it returns ends that. */
function watch(model, keys, listener) {
  keys.forEach((key) => model.on(`change:${key}`, listener));
  return () => keys.forEach((key) => model.off(`change:${key}`, listener));
}

/** A slider with its label and, behind it, what `show(place, text)` says of where it stands. */
function slider(label, range, oninput, listeners = {}) {
  const id = fresh("slider");
  const input = make("input", { type: "range", id, ...range, oninput: () => oninput(Number(input.value)), ...listeners });
  const value = make("output", { for: id });
  const show = (place, text, said = text) => {
    input.value = place;
    value.textContent = text;
    input.setAttribute("aria-valuetext", said);
  };
  return { input, line: make("div", { class: "moving-slider" }, make("label", { for: id }, label), input, value), show };
}

/** A list to choose from, with its label. */
function choice(label, onchange) {
  const id = fresh("choice");
  const select = make("select", { id, onchange });
  return { select, line: make("div", { class: "moving-choice" }, make("label", { for: id }, label), select) };
}

/** Buttons of which one is pressed; a name is a text, or a list of texts and elements. */
function buttons(label, names, choose) {
  const all = names.map((name, k) => make("button", { type: "button", onclick: () => choose(k) }, ...[name].flat()));
  return { line: make("div", { class: "moving-buttons", role: "group", "aria-label": label }, make("span", {}, label), ...all),
    press: (at) => all.forEach((button, k) => button.setAttribute("aria-pressed", k === at)) };
}

/** Whether a key is the browser's: with these it goes a page back, or to the page's end. */
const isShortcut = ({ altKey, ctrlKey, metaKey }) => altKey || ctrlKey || metaKey;

/** "h_1" with its index set low. */
function subscripted(text, low = (index) => make("sub", {}, index)) {
  const parts = document.createDocumentFragment();
  parts.append(...text.split(/_(\w)/).map((part, k) => (k % 2 ? low(part) : part)));
  return parts;
}

/** A typed number with two digits, between -9.9 and 9.9. */
const within = (value) => Math.max(-9.9, Math.min(9.9, Math.round(value * 100) / 100));

/** Numbers to edit: `field(name, value, change)` makes one, `show()` gives all their values again. */
function numberFields(step) {
  const all = [];
  const field = (name, value, change) => {
    const input = make("input", {
      type: "number", step, "aria-label": name, inputmode: "decimal",
      oninput: () => { if (input.value !== "" && Number.isFinite(input.valueAsNumber)) change(within(input.valueAsNumber)); },
      onblur: () => { input.value = value(); }, // what is computed with, if something else was typed
    });
    all.push({ input, value });
    return input;
  };
  const show = () => all.forEach(({ input, value }) => {
    // not under somebody's fingers: "0." would become "0"
    if (document.activeElement !== input) input.value = value();
  });
  return { field, show };
}

/** The model's 2 x 2 matrix `key`, a `field` for each of its numbers. */
function matrixInputs(model, put, key, field) {
  return make("fieldset", { class: "moving-matrix" }, make("legend", {}, subscripted(key)),
    ...[0, 1].flatMap((row) => [0, 1].map((column) => field(
      `${key}, row ${row + 1}, column ${column + 1}`, () => model.get(key)[row][column],
      (value) => put(key, model.get(key).map((line, r) => line.map((old, c) => (r === row && c === column ? value : old)))),
    ))));
}

const RIGHT_TO_LEFT = new Set(["Adlm", "Arab", "Hebr", "Mand", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa"]);

/** Says which language the words of these elements are in, and which way it is written; nothing of words of none. */
function inLanguage(tag, ...elements) {
  const dir = tag && RIGHT_TO_LEFT.has(new Intl.Locale(tag).maximize().script) ? "rtl" : "ltr";
  for (const element of elements) {
    for (const [name, value] of Object.entries({ lang: tag, dir })) {
      if (tag) element.setAttribute(name, value);
      else element.removeAttribute(name);
    }
  }
}

/** Words of another language, as a part of an English sentence. */
function foreign(tag, words) {
  const part = make("span", {}, words);
  inLanguage(tag, part);
  return part;
}

/** What an element says, copied: texts, and the elements that tell their language. */
const copied = (element) => element.cloneNode(true).childNodes;

/** A sentence for screen readers, said once the hand rests: `say(...parts)`, texts and elements. */
function announcer(root) {
  const place = make("p", { class: "moving-said", "aria-live": "polite" });
  root.append(place);
  let waiting;
  return (...parts) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => place.replaceChildren(...parts), 150);
  };
}

/** exp(e_j - max) / sum, for a plain list. */
function softmax(energies) {
  const most = Math.max(...energies);
  const powers = energies.map((energy) => Math.exp(energy - most));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

const START = "▁"; // in front of a piece that begins a word, where words stand in pieces

/** A piece that goes on with a word: its dot is where the word has begun, in letters from right to left too. */
const goingOn = (piece) => `${/^\P{L}*[\u0590-\u08ff\ufb1d-\ufefc]/u.test(piece) ? "\u200f" : ""}·${piece}`;

/** Tokens as they are written: pieces that go on with a word bear a dot and are `joined` to it. */
function labels(tokens) {
  const cut = tokens.some((token) => token.startsWith(START));
  return tokens.map((token, k) => {
    const joined = cut && k > 0 && !token.startsWith(START) && !/^<.+>$/.test(token);
    return { text: joined ? goingOn(token) : (cut && token.slice(token.startsWith(START))) || token, joined };
  });
}

/** One token as it is written beside others: a piece that goes on with a word has its dot, wherever it stands. */
function alone(token, tokens) {
  return labels(tokens.some((one) => one.startsWith(START)) ? [START, token] : [token]).at(-1).text;
}

/** The heatmaps' colours: white, the weights' orange, brown; 0 to 1 in even steps of lightness. */
const SCALE = [[0, [255, 255, 255]], [0.42, [230, 159, 0]], [1, [106, 53, 0]]];
function colour(weight) {
  const upper = SCALE.findIndex(([place]) => place >= weight);
  if (upper <= 0) return `rgb(${SCALE[upper === 0 ? 0 : 2][1]})`;
  const [[from, low], [to, high]] = [SCALE[upper - 1], SCALE[upper]];
  const share = (weight - from) / (to - from);
  return `rgb(${low.map((channel, k) => Math.round(channel + share * (high[k] - channel)))})`;
}

/** An id no other figure of the page has. */
let figures = 0;
const fresh = (stem) => `moving-${stem}-${(figures += 1)}-${Math.random().toString(36).slice(2, 7)}`;

/** In a page without a kernel: the values of a traitlets model, from JSON that lies in the page. */
function pageModel(values) {
  const listeners = new Map();
  return {
    get: (key) => values[key],
    set(key, value) {
      values[key] = value;
      for (const listener of listeners.get(`change:${key}`) ?? []) listener();
    },
    on(event, listener) {
      listeners.set(event, [...(listeners.get(event) ?? []), listener]);
    },
    off(event, listener) {
      listeners.set(event, (listeners.get(event) ?? []).filter((other) => other !== listener));
    },
    save_changes() {},
  };
}

/** Put the figure into the page in place of its picture; what fails leaves the picture there. */
function intoPage(figure, name) {
  for (const place of document.querySelectorAll(`[data-moving="${name}"]`)) {
    const values = JSON.parse(place.querySelector("script[type='application/json']").textContent);
    const el = make("div", { class: "moving-live" });
    place.append(el); // first: a figure measures itself
    try {
      figure.render({ model: pageModel(values), el });
      place.classList.add("moves");
    } catch (error) {
      el.remove();
      throw error;
    }
  }
}
