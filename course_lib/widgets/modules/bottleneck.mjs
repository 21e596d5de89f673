// Tokens right by source length, for both models and a size of the state, and one translation each.

const TALL = 250;
const EDGE = { left: 44, right: 12, top: 26, bottom: 46 };

function render({ model, el }) {
  el.classList.add("moving", "explorer");
  const put = setter(model);
  const [sizes, lengths, [shortest, longest]] = ["sizes", "lengths", "trained"].map((key) => model.get(key));
  const accuracy = model.get("accuracy");
  const names = Object.keys(accuracy);
  const mean = (numbers) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;

  // --- sliders -------------------------------------------------------------------------------
  const among = (values) => ({ min: 0, max: values.length - 1, step: 1 });
  const controls = {
    length: slider("source length", among(lengths), (k) => put("length", lengths[k])),
    size: slider("state size", among(sizes), (k) => put("size", sizes[k])),
  };

  // --- the large numbers ---------------------------------------------------------------------
  const cards = names.map((name) => {
    const [share, each] = [new Text(), new Text()];
    return { name, share, each, element: make("div", { class: `explorer-card ${kind(name)}` },
      make("span", { class: "explorer-name" }, sample(name), name), make("b", {}, share), make("span", { class: "explorer-each" }, each)) };
  });

  // --- the chart: as wide as there is room when it is drawn; later the page scales it ----------
  const WIDE = Math.max(320, Math.min(680, (el.clientWidth || 680) - 26));
  const across = (length) => EDGE.left + ((length - lengths[0]) / (lengths.at(-1) - lengths[0])) * (WIDE - EDGE.left - EDGE.right);
  const down = (percent) => TALL - EDGE.bottom - (percent / 100) * (TALL - EDGE.top - EDGE.bottom);
  const chart = draw("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, class: "explorer-chart", role: "img" });
  const border = across(longest + 0.5);
  const floor = down(0);
  chart.append(draw("rect", { class: "unseen", x: border, y: EDGE.top, width: WIDE - EDGE.right - border, height: floor - EDGE.top }));
  for (const percent of [0, 25, 50, 75, 100]) {
    chart.append(draw("line", { class: "grid", x1: EDGE.left, x2: WIDE - EDGE.right, y1: down(percent), y2: down(percent) }),
      draw("text", { class: "tick", x: EDGE.left - 7, y: down(percent) + 4, "text-anchor": "end" }, percent));
  }
  for (const length of lengths.filter((one) => one % 4 === 0)) {
    chart.append(draw("text", { class: "tick", x: across(length), y: floor + 19, "text-anchor": "middle" }, length));
  }
  const word = (text, x, y, anchor, kind = "tick") => draw("text", { class: kind, x, y, "text-anchor": anchor }, text);
  const cursor = draw("line", { class: "cursor", y1: EDGE.top, y2: floor });
  chart.append(
    word("tokens right (%)", 4, 14, "start"),
    word(`${WIDE < 460 ? "seen" : "seen in training"}: ${shortest} to ${longest}`, border - 7, 14, "end"), word("never seen", border + 7, 14, "start"),
    word("source length (words)", (EDGE.left + WIDE - EDGE.right) / 2, TALL - 5, "middle"), cursor);
  const lines = names.map((name) => {
    const spread = draw("path", { class: "spread" });
    const line = draw("path", { class: "line" });
    const points = lengths.map((length) => mark(name, across(length)));
    const now = mark(name, 0, 7);
    chart.append(draw("g", { class: kind(name) }, spread, line, ...points, now));
    return { name, spread, line, points, now };
  });

  // pointing or dragging chooses a length
  const choose = (event) => {
    const box = chart.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDE;
    const share = (x - EDGE.left) / (WIDE - EDGE.left - EDGE.right);
    const at = Math.round(share * (lengths.length - 1));
    put("length", lengths[Math.max(0, Math.min(lengths.length - 1, at))]);
  };
  let held = false;
  chart.addEventListener("pointerdown", (event) => {
    held = true;
    chart.setPointerCapture(event.pointerId);
    choose(event);
  });
  chart.addEventListener("pointermove", (event) => { if (held) choose(event); });
  for (const end of ["pointerup", "pointercancel"]) chart.addEventListener(end, () => { held = false; });

  // --- the example ---------------------------------------------------------------------------
  const rows = [["source", "annotation"], ["reference", "word"], ...names.map((name) => [name, "word"])].map(([name, role]) => {
    const [words, note] = [make("dd"), make("span", { class: "explorer-note" })];
    return { name, role, words, note, parts: [make("dt", {}, name, note), words] };
  });
  const hidden = (text) => make("span", { class: "moving-said" }, text);
  const token = (text, wanted, role) => make("span", { class: text === wanted ? `token role-${role}` : "token wrong" },
    ...(text === wanted ? [text] : [text ?? "–", hidden(text === undefined ? " (missing) " : " (wrong) ")]));

  const said = make("p", { class: "explorer-where" });
  el.append(make("div", { class: "moving-controls" }, controls.length.line, controls.size.line),
    make("div", { class: "explorer-cards" }, ...cards.map((card) => card.element)), said, chart,
    make("dl", { class: "explorer-example" }, ...rows.flatMap((row) => row.parts)),
    make("p", { class: "explorer-legend" }, "Underlined with waves: not the right word at this place. A dash: nothing was written there."));
  const say = announcer(el);

  function update() {
    const [length, size] = [model.get("length"), model.get("size")];
    const [row, at] = [lengths.indexOf(length), sizes.indexOf(size)];
    const past = length > longest;
    controls.length.show(row, length, `${length} words${past ? ", longer than any in training" : ""}`);
    controls.size.show(at, size, `${size} numbers`);
    const shares = {};
    cards.forEach(({ name, share, each }) => {
      const found = accuracy[name][at].map((training) => training[row]);
      shares[name] = shown(mean(found), 0);
      share.data = `${shares[name]}%`;
      each.data = found.length > 1 ? `${found.length} trainings: ${found.map((one) => shown(one, 0)).join(", ")}` : "one training";
    });
    said.textContent = `${model.get("sentences")[row]} sentences of ${length} words, ${size} numbers a state, ${model.get("updates").toLocaleString("en")} updates.`
      + (past ? ` Training ended at ${longest} words.` : "");
    cursor.setAttribute("x1", across(length));
    cursor.setAttribute("x2", across(length));
    lines.forEach(({ name, spread, line, points, now }) => {
      const trainings = accuracy[name][at];
      const of = lengths.map((_, k) => trainings.map((training) => training[k]));
      const path = (values) => values.map((value, k) => `${across(lengths[k]).toFixed(1)} ${down(value).toFixed(1)}`);
      const [least, most] = [Math.min, Math.max].map((pick) => path(of.map((each) => pick(...each))));
      line.setAttribute("d", `M${path(of.map(mean)).join("L")}`);
      spread.setAttribute("d", `M${[...most, ...least.reverse()].join("L")}Z`);
      points.forEach((point, k) => point.at(down(mean(of[k]))));
      now.at(down(mean(of[row])), across(length));
    });
    chart.setAttribute("aria-label", `Tokens right against source length, ${lengths[0]} to ${lengths.at(-1)} words, ${size} numbers a state. `
      + names.map((name) => `${name}: ${[lengths[0], longest, lengths.at(-1)].map((one) => `${shown(mean(accuracy[name][at].map((training) => training[lengths.indexOf(one)])), 0)}% at ${one}`).join(", ")}`).join(". ")
      + `. Lengths above ${longest} were never seen in training.`);
    const { source, reference, written } = model.get("examples")[row];
    const texts = { source, reference, ...Object.fromEntries(names.map((name) => [name, written[name][at]])) };
    rows.forEach(({ name, role, words, note }) => {
      const wanted = name in written ? reference : texts[name];
      const count = Math.max(texts[name].length, wanted.length);
      words.replaceChildren(...Array.from({ length: count }, (_, k) => token(texts[name][k], wanted[k], role)).flatMap((one) => [one, " "]));
      if (name in written) {
        const right = wanted.filter((one, k) => one === texts[name][k]).length;
        note.textContent = ` ${right} of ${wanted.length} right`;
      }
    });
    say(`${length} words, ${size} numbers a state: ${names.map((name) => `${name} ${shares[name]} per cent`).join(", ")}.${past ? " Longer than any sentence in training." : ""}`);
  }
  update();
  return watch(model, ["length", "size"], update);
}

export default { render };
