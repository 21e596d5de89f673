// A trained encoder reads and its decoder writes, frame by frame; each state is drawn as the numbers it is.

const PACE = 1100; // milliseconds a frame while it plays
// Heights, downwards: the middles of states and the base lines of words.
const [READ, NOTE, BUS, WRITE, WORDS, RIGHT, COUNT] = [54, 112, 149, 195, 250, 275, 300];
const [HALF, STEP] = [16, 19]; // half of a state's square, and of a step's box around it
const across = (column) => 22 + 43 * column;


/** One number between −1 and 1 as a cell: of its role's colour above zero, grey below, fainter towards zero. */
function cell(x, y, side, number) {
  return draw("rect", { x, y, width: side, height: side, class: number < 0 ? "below" : "above", "fill-opacity": Math.sqrt(Math.abs(number)) });
}

/** 64 numbers, in rows of eight, around a middle. */
function square(x, y, numbers) {
  const side = HALF / 4;
  const cells = numbers.map((number, k) => cell(x - HALF + side * (k % 8), y - HALF + side * Math.floor(k / 8), side, number));
  const whole = (kind) => draw("rect", { x: x - HALF, y: y - HALF, width: 2 * HALF, height: 2 * HALF, class: kind });
  return draw("g", { class: "state" }, whole("ground"), ...cells, whole("frame"));
}

/** What a sentence's picture is made of: pairs of the frame in which a part appears, and the part. */
function partsOf({ source, target, right, read, written }, arrow) {
  const [note, first] = [source.length, source.length + 2];
  const part = (frame, role, ...nodes) => [frame, draw("g", { class: `role-${role}` }, ...nodes)];
  const reading = source.flatMap((word, k) => {
    const x = across(k + 1);
    return [
      part(k + 1, "ink", text(x, 15, word), arrow("ink", `M${x} 20V${READ - HALF - 2}`)),
      part(k + 1, "annotation", square(x, READ, read[k]), text(x + 13, READ - HALF - 5, numbered("h", k + 1), "name"),
        ...(k ? [arrow("annotation", `M${x - 43 + HALF} ${READ}H${x - HALF - 1}`)] : []))];
  });
  const [x, top] = [across(note), NOTE - HALF - 6];
  const paper = `M${x - 22} ${top}H${x + 22}V${top + 38}L${x + 14} ${top + 46}H${x - 22}ZM${x + 22} ${top + 38}H${x + 14}V${top + 46}`;
  const way = (column, end) => arrow("context", `M${x} ${top + 46}V${BUS}H${across(column)}V${end}`);
  const writing = written.slice(1).flatMap((state, k) => {
    const [i, here] = [k + 1, across(k + 1)];
    return [
      part(first + i, "context", way(i, WRITE - STEP - 1)),
      part(first + i, "state", draw("rect", { x: here - STEP, y: WRITE - STEP, width: 2 * STEP, height: 2 * STEP, rx: 5 }), square(here, WRITE, state),
        text(here + 13, WRITE - STEP - 5, numbered("s", i), "name"), arrow("state", `M${here - 43 + HALF} ${WRITE}H${here - STEP - 1}`)),
      part(first + i, "word", arrow("word", `M${here - 32} ${WORDS - 13}L${here - 12} ${WRITE + STEP + 2}`, "3 3"), arrow("word", `M${here} ${WRITE + STEP}V${WORDS - 15}`)),
      target[k] === right[k] ? part(first + i, "word", text(here, WORDS, target[k]))
        : part(first + i, "wrong", text(here, WORDS, target[k]), draw("path", { d: `M${here - 12} ${WORDS + 6}q3 -4.5 6 0t6 0 6 0 6 0` }))];
  });
  return [...reading,
    part(note + 1, "context", arrow("context", `M${x} ${READ + HALF}V${top - 1}`), draw("path", { class: "paper", d: paper }), square(x, NOTE, read.at(-1)), text(x - 28, NOTE + 5, `c = ${numbered("h", note)}`, "before")),
    part(first, "context", way(0, WRITE - HALF - 1)), part(first, "state", square(across(0), WRITE, written[0]), text(across(0) + 13, WRITE - STEP - 5, "s₀", "name")),
    part(first + 1, "word", text(across(0), WORDS, "<s>")), ...writing,
    part(first + 1, "quiet", text(across(0), RIGHT, "right:")), ...right.map((word, k) => part(first + k + 1, "quiet", text(across(k + 1), RIGHT, word))),
    part(first + target.length, "ink", text(220, COUNT, `${rightWords({ target, right })} words right`, "count"))];
}

/** How many words, the end mark aside, stand where they should. */
function rightWords({ target, right }) {
  const words = right.slice(0, -1);
  return `${words.filter((word, k) => word === target[k]).length} of ${words.length}`;
}

/** What happens in a frame. */
function sentenceOf(frame, { source, target, right }) {
  const [j, i] = [frame, frame - source.length - 2];
  if (j === 0) return "Nothing is read yet.";
  if (j <= source.length) return `Reading “${source[j - 1]}”: ${numbered("h", j)} is made from the word${j > 1 ? ` and ${numbered("h", j - 1)}.` : "; nothing was read before."}`;
  if (i < 0) return "The last state is the note, c: all that the decoder gets to know of the sentence.";
  if (i === 0) return "The decoder's first state, s₀, is made from c.";
  const step = `Step ${i} reads ${numbered("s", i - 1)}, c and the word before, “${i > 1 ? target[i - 2] : "<s>"}”. It writes “${target[i - 1]}” and leaves ${numbered("s", i)}`;
  return target[i - 1] === right[i - 1] ? `${step}.` : `${step}; right would be “${right[i - 1]}”.`;
}

function render({ model, el }) {
  el.classList.add("moving", "read-write");
  const put = setter(model);
  const sentences = model.get("sentences");
  const last = ({ source, target }) => source.length + 2 + target.length;
  const choice = sentenceChoice(sentences.map(({ source }) => source.slice(0, -1).join(" ")), (k) => { put("chosen", k); put("frame", last(sentences[k])); });
  const steps = new Steps((frame) => put("frame", frame), PACE, "frame", "frames");
  const heads = Object.fromEntries(["ink", "annotation", "context", "state", "word"].map((role) => [role, arrowhead(role, 7, 7)]));
  const arrow = (role, d, dashes) => draw("path", { class: "way", d, "marker-end": `url(#${heads[role].id})`, "stroke-dasharray": dashes });
  const drawing = draw("g");
  const scale = [-1, -0.6, -0.2, 0, 0.2, 0.6, 1].map((number, k) => cell(36 + 11 * k, NOTE - 13, 11, number));
  const picture = draw("svg", { viewBox: "0 0 440 306", role: "img" }, draw("defs", {}, ...Object.values(heads)),
    draw("g", { class: "role-annotation" }, ...scale, draw("rect", { x: 36, y: NOTE - 13, width: 77, height: 11 }), text(0, READ - HALF - 5, "Encoder", "name")),
    draw("g", { class: "role-quiet" }, text(12, NOTE - 3, "−1", "name"), text(117, NOTE - 3, "1", "name"), text(0, NOTE + 13, "one cell = one number", "name")),
    draw("g", { class: "role-state" }, text(0, BUS - 6, "Decoder", "name")), drawing);
  const happened = make("p", { class: "read-write-says" });
  el.append(choice.line, picture, happened, steps.element);
  const say = announcer(el);
  steps.listen(el);

  let parts = [];
  function choose() {
    parts = partsOf(sentences[model.get("chosen")], arrow);
    drawing.replaceChildren(...parts.map(([, node]) => node));
    choice.check(model.get("chosen"));
    show();
  }
  function show() {
    const sentence = sentences[model.get("chosen")];
    const frame = Math.min(model.get("frame"), last(sentence));
    for (const [when, node] of parts) {
      node.classList.toggle("later", when > frame);
      node.classList.toggle("now", when === frame);
    }
    steps.show(frame, last(sentence));
    happened.textContent = sentenceOf(frame, sentence);
    picture.setAttribute("aria-label", `Read: ${sentence.source.slice(0, frame).join(" ")}. Written: ${sentence.target.slice(0, Math.max(0, frame - sentence.source.length - 2)).join(" ")}.`);
    say(frame === last(sentence) ? `${happened.textContent} ${rightWords(sentence)} words are right.` : happened.textContent);
  }
  choose();
  const ends = [watch(model, ["chosen"], choose), watch(model, ["frame"], show)];
  return () => {
    steps.stop();
    ends.forEach((end) => end());
  };
}

export default { render };
