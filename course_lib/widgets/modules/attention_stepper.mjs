// One translation, word by word: where the model looks, what it would write, and how sure it is.

const END = "</s>";
const NEXT = 5; // words in the list of the most probable ones
const PACE = 900; // milliseconds a word while it plays
/** One model's side of the figure: strip of words, heatmap, next words. */
function panel(onCell) {
  const strip = { source: make("p", { class: "stepper-words source" }), target: make("p", { class: "stepper-words target" }), arcs: draw("svg", { class: "stepper-arcs", "aria-hidden": "true" }) };
  const place = make("div", { class: "stepper-strip" }, strip.arcs, strip.target, strip.source);
  const canvas = make("canvas", { tabindex: 0, role: "img" });
  const reading = make("p", { class: "stepper-reading" });
  const next = make("tbody");
  const table = make("table", { class: "stepper-next" },
    make("caption", {}, "most probable next words"), next);
  const title = make("p", { class: "moving-title" });
  const note = make("p", { class: "stepper-note" });
  const element = make("section", { class: "stepper-panel" }, title, place, note,
    make("div", { class: "stepper-below" },
      make("div", { class: "stepper-map" }, make("div", { class: "moving-scroll" }, canvas), reading), table));
  const side = { element, data: null, step: 0, at: null, boxes: null, cell: 0, left: 0, top: 0 };

  // A step touches only what it changes, and changes text in place: at 60 words, replacing every
  // number costs more than all the drawing.
  const numbers = [];
  const words = (line, list, role) => line.replaceChildren(...list.map((word, k) => {
    const chip = make("span", { class: `chip role-${role}${word.joined ? " joined" : ""}` }, make("b", {}, word.text));
    if (role === "annotation") {
      numbers[k] = { chip, weight: new Text(), energy: new Text() };
      chip.append(make("i", { class: "role-weight" }, numbers[k].weight), make("i", { class: "role-energy" }, numbers[k].energy));
    } else chip.classList.add("to-come");
    return chip;
  }));
  const write = (text, value) => { if (text.data !== value) text.data = value; };
  const rows = Array.from({ length: NEXT }, () => {
    const [word, probability, bar] = [new Text(), new Text(), make("span", { class: "bar" })];
    const line = make("tr", { hidden: true }, make("th", { scope: "row", class: "role-word" }, word),
      make("td", {}, probability), make("td", { class: "bars", "aria-hidden": "true" }, bar));
    return { line, word, probability, bar };
  });
  next.append(...rows.map((one) => one.line));

  side.load = (data, tokens) => {
    const [from, to] = [labels(data.source ?? tokens), labels(data.target)];
    side.data = data;
    side.source = from.map((word) => word.text);
    side.target = to.map((word) => word.text);
    side.step = 0;
    side.at = null;
    title.textContent = data.name;
    note.textContent = data.alpha ? "" : "One vector for the whole sentence: this model has no weights, so there is nowhere to see it look.";
    words(strip.source, from, "annotation");
    words(strip.target, to, "word");
    table.parentElement.classList.toggle("blind", !data.alpha);
    measure();
  };

  // --- positions are measured once a layout, never while stepping ----------------------------
  function measure() {
    side.boxes = null;
    if (!side.data) return;
    const { target } = side;
    if (!side.data.alpha) return;
    const room = Math.max(160, table.parentElement.clientWidth - (innerWidth < 560 ? 0 : 190));
    const context = canvas.getContext("2d");
    const across = side.source.length;
    side.size = 11;
    context.font = `${side.size}px sans-serif`;
    const widest = (list) => Math.max(...list.map((word) => context.measureText(word).width));
    side.left = Math.min(widest(target), 130) + 6;
    side.top = Math.min(widest(side.source), 110) + 6;
    side.cell = Math.max(6, Math.min(26, Math.floor((room - side.left) / across)));
    side.lines = side.cell >= side.size;
    const width = side.left + side.cell * across + 2;
    const height = side.top + side.cell * target.length + 2;
    const scale = devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.fillStyle = "#fff";
    context.fillRect(0, 0, width, height);
    context.font = `${side.size}px sans-serif`;
    context.textBaseline = "middle";
    context.fillStyle = "#1b1b1b";
    if (side.lines) {
      side.source.forEach((word, j) => {
        context.save();
        context.translate(side.left + (j + 0.5) * side.cell, side.top - 4);
        context.rotate(-Math.PI / 2);
        context.fillText(word, 0, 0, side.top - 6);
        context.restore();
      });
    }
    clear(0);
  }

  /** An empty field from row i on. */
  function clear(i) {
    const context = canvas.getContext("2d");
    const y = side.top + i * side.cell;
    context.fillStyle = "#fff";
    context.fillRect(0, y, canvas.width, canvas.height);
    context.strokeStyle = "#dadce0";
    context.strokeRect(side.left - 0.5, side.top - 0.5, side.cell * side.source.length + 1, side.cell * side.data.target.length + 1);
    side.drawn = i;
  }

  function row(i) {
    const context = canvas.getContext("2d");
    const y = side.top + i * side.cell;
    side.data.alpha[i].forEach((weight, j) => {
      context.fillStyle = colour(weight);
      context.fillRect(side.left + j * side.cell, y, side.cell, side.cell);
    });
    context.strokeStyle = "#1b1b1b";
    for (const [j, at] of side.data.gold ?? []) {
      if (at === i) context.strokeRect(side.left + j * side.cell + 2, y + 2, side.cell - 4, side.cell - 4);
    }
    if (side.lines) {
      context.fillStyle = "#1b1b1b";
      context.textAlign = "right";
      context.fillText(side.target[i], side.left - 4, y + side.cell / 2, side.left - 6);
      context.textAlign = "left";
    }
  }

  function boxes() {
    if (!side.boxes) {
      const origin = place.getBoundingClientRect();
      const middle = (chip, edge) => {
        const box = chip.getBoundingClientRect();
        return [box.left - origin.left + box.width / 2, (edge === "top" ? box.top : box.bottom) - origin.top];
      };
      side.boxes = {
        source: [...strip.source.children].map((chip) => middle(chip, "top")),
        target: [...strip.target.children].map((chip) => middle(chip, "bottom")),
      };
      strip.arcs.setAttribute("width", origin.width);
      strip.arcs.setAttribute("height", origin.height);
    }
    return side.boxes;
  }

  side.show = (step, chosen) => {
    const { alpha, energies, target, next: words } = side.data;
    side.chosen = alpha && chosen >= 0 && chosen < side.source.length ? chosen : null;
    const i = Math.min(step, target.length) - 1;
    const before = side.step - 1;
    const written = strip.target.children;
    for (let k = Math.min(before, i) + 1; k <= Math.max(before, i); k += 1) written[k].classList.toggle("to-come", k > i);
    written[before]?.classList.remove("now");
    written[i]?.classList.add("now");
    side.step = i + 1;
    if (alpha) {
      if (side.drawn > side.step) clear(side.step);
      while (side.drawn < side.step) row(side.drawn++);
      const now = i >= 0 ? alpha[i] : null;
      numbers.slice(0, side.source.length).forEach(({ chip, weight, energy }, j) => {
        chip.style.setProperty("--weight", now ? now[j] : 0);
        chip.classList.toggle("asked", j === side.chosen);
        write(weight, now ? shown(now[j]) : "");
        write(energy, now ? shown(energies[i][j], 1) : "");
      });
      strip.arcs.replaceChildren(...(now ? arcs(now, i) : []));
      canvas.setAttribute("aria-label", `Weights of ${side.step} of ${target.length} target words on ${side.source.length} source words`);
    }
    rows.forEach(({ line, word, probability, bar }, k) => {
      line.hidden = i < 0 || k >= words[i].length;
      if (line.hidden) return;
      const [text, p] = words[i][k];
      line.classList.toggle("chosen", text === target[i]);
      write(word, text.replace(START, ""));
      write(probability, shown(p, 3));
      bar.style.width = `${p * 100}%`;
    });
    point(side.chosen, i);
  };

  function arcs(weights, i) {
    const { source, target } = boxes();
    const [x, y] = target[i];
    return weights.flatMap((weight, j) => {
      if (weight < 0.02) return [];
      const [to, down] = source[j];
      const middle = (y + down) / 2;
      return [draw("path", { d: `M${x} ${y}C${x} ${middle} ${to} ${middle} ${to} ${down}`, "stroke-width": (1 + 6 * weight).toFixed(2), "stroke-opacity": (0.25 + 0.75 * weight).toFixed(2) })];
    });
  }

  /** What is under the pointer, or under the arrow keys: a cell's words and its value. */
  function point(j, i) {
    const { alpha, energies } = side.data;
    side.at = j === null || i < 0 ? null : [i, j];
    reading.textContent = !alpha ? "" : side.at
      ? `${side.target[i]} looks at ${side.source[j]}: α = ${shown(alpha[i][j], 3)}, e = ${shown(energies[i][j], 2)}`
      : `Point at a cell for its value.${side.data.gold ? " Outlined: the gold alignment." : ""}`;
  }
  const cellAt = (event) => {
    const box = canvas.getBoundingClientRect();
    const j = Math.floor((event.clientX - box.left - side.left) / side.cell);
    const i = Math.floor((event.clientY - box.top - side.top) / side.cell);
    return j >= 0 && j < side.source.length && i >= 0 && i < side.step ? [i, j] : null;
  };
  canvas.addEventListener("pointermove", (event) => {
    const found = side.data.alpha && cellAt(event);
    point(found ? found[1] : side.chosen, found ? found[0] : side.step - 1);
  });
  canvas.addEventListener("pointerleave", () => point(side.chosen, side.step - 1));
  canvas.addEventListener("click", (event) => {
    const found = cellAt(event);
    if (found) onCell(found[0] + 1, found[1]);
  });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || !side.data.alpha || !side.step) return;
    event.preventDefault();
    event.stopPropagation();
    const j = side.chosen === null ? 0 : side.chosen + by;
    onCell(side.step, Math.max(0, Math.min(side.source.length - 1, j)));
  });

  side.layout = () => {
    measure();
    side.show(side.step, side.chosen ?? -1);
  };
  side.said = () => {
    const i = side.step - 1;
    if (i < 0) return `${side.data.name}: nothing written yet`;
    const { alpha } = side.data;
    const most = alpha ? alpha[i].indexOf(Math.max(...alpha[i])) : 0;
    const j = side.chosen ?? most;
    return `${side.data.name} writes ${side.target[i]}` + (alpha ? `, looks ${j === most ? "most " : ""}at ${side.source[j]}, ${shown(alpha[i][j])}` : ", has no weights");
  };
  return side;
}

function render({ model, el }) {
  el.classList.add("moving", "stepper");
  const put = setter(model);
  const sentences = model.get("sentences");
  const option = (value, text) => make("option", { value }, text);
  const sentence = choice("sentence", () => {
    put("looked_at", -1);
    put("sentence", sentence.select.selectedIndex);
  });
  sentence.select.append(...sentences.map((one, k) => option(k, one.label)));
  const first = choice("model", () => put("first", first.select.value));
  const second = choice("beside it", () => put("second", second.select.value));

  const button = (name, sign, act) => make("button", { type: "button", "aria-label": name, title: name, onclick: act }, sign);
  const play = button("play", "play", () => toggle());
  const slider = make("input", { type: "range", min: 0, "aria-label": "words written", oninput: () => put("step", Number(slider.value)) });
  const count = make("output", { class: "stepper-count" });
  const go = (step) => put("step", Math.max(0, Math.min(last(), step)));
  const choose = (step, j) => {
    put("looked_at", j);
    go(step);
  };
  const controls = make("div", { class: "moving-controls", role: "group", "aria-label": "Steps" },
    make("div", { class: "moving-buttons" },
      button("to the beginning", "|◀", () => go(0)), button("one word back", "◀", () => go(model.get("step") - 1)), play,
      button("next word", "▶", () => go(model.get("step") + 1)), button("to the end", "▶|", () => go(last()))),
    slider, count);
  const panels = make("div", { class: "stepper-panels" });
  el.append(make("div", { class: "moving-controls" }, sentence.line, first.line, second.line), controls, panels);
  const say = announcer(el);

  let sides = [];
  const now = () => sentences[model.get("sentence")];
  const last = () => Math.max(...sides.map((side) => side.data.target.length));

  // --- playing -------------------------------------------------------------------------------
  let playing = null;
  function stop() {
    clearInterval(playing);
    playing = null;
    play.textContent = "play";
    play.setAttribute("aria-label", "play");
  }
  function toggle() {
    if (playing) return stop();
    if (model.get("step") >= last()) go(0);
    play.textContent = "pause";
    play.setAttribute("aria-label", "pause");
    playing = setInterval(() => {
      go(model.get("step") + 1);
      if (model.get("step") >= last()) stop();
    }, PACE);
  }
  el.addEventListener("keydown", (event) => {
    if (event.target.closest("select, input") || (event.key === " " && event.target.closest("button"))) return;
    const act = {
      ArrowRight: () => go(model.get("step") + 1), ArrowLeft: () => go(model.get("step") - 1),
      ArrowDown: () => go(model.get("step") + 1), ArrowUp: () => go(model.get("step") - 1),
      Home: () => go(0), End: () => go(last()), " ": toggle,
    }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });

  // --- what is shown -------------------------------------------------------------------------
  function load() {
    const { models, source } = now();
    const names = models.map((one) => one.name);
    const kept = (key, otherwise) => (names.includes(model.get(key)) || model.get(key) === "" ? model.get(key) : otherwise);
    const chosen = [kept("first", names[0]) || names[0], kept("second", "")];
    first.select.replaceChildren(...names.map((name) => option(name, name)));
    second.select.replaceChildren(option("", "nothing"), ...names.map((name) => option(name, name)));
    [first.select.value, second.select.value] = chosen;
    sentence.select.value = model.get("sentence");
    panels.replaceChildren();
    sides = chosen.filter(Boolean).map((name) => {
      const side = panel(choose);
      panels.append(side.element);
      side.load(models.find((one) => one.name === name), source);
      return side;
    });
    slider.max = last();
    if (model.get("step") > last()) put("step", last());
    show();
  }
  function show() {
    const step = model.get("step");
    slider.value = step;
    count.textContent = `${step} of ${last()}`;
    slider.setAttribute("aria-valuetext", count.textContent);
    sides.forEach((side) => side.show(step, model.get("looked_at")));
    say(sides.map((side) => side.said()).join(". "));
  }
  const loaded = ["sentence", "first", "second"];
  loaded.forEach((key) => model.on(`change:${key}`, load));
  const moved = ["step", "looked_at"];
  moved.forEach((key) => model.on(`change:${key}`, show));
  load();
  const resized = new ResizeObserver(() => sides.forEach((side) => side.layout()));
  resized.observe(el);
  return () => {
    stop();
    resized.disconnect();
    loaded.forEach((key) => model.off(`change:${key}`, load));
    moved.forEach((key) => model.off(`change:${key}`, show));
  };
}

export default { render };
