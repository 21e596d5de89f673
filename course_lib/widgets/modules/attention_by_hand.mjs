// One step of additive attention on three annotations of two numbers, with all of its arithmetic.

const REACH = 2; // the plane shows -REACH to REACH
const SIZE = 260;
const STEP = 0.1;

const dot = (x, y) => x.reduce((sum, value, k) => sum + value * y[k], 0);
const times = (matrix, vector) => matrix.map((row) => dot(row, vector));
/** A number that somebody typed, with all of its digits: one, or two where there are two. */
const typed = (value) => shown(value, Math.abs(10 * value - Math.round(10 * value)) < 1e-9 ? 1 : 2);

/** The paper's three lines; everything between input and result as well. */
function attend({ state, annotations, W_a, U_a, v }) {
  const fromState = times(W_a, state);
  const sums = annotations.map((h) => times(U_a, h).map((value, k) => value + fromState[k]));
  const tangents = sums.map((sum) => sum.map(Math.tanh));
  const energies = tangents.map((tangent) => dot(v, tangent));
  const weights = softmax(energies);
  const context = [0, 1].map((k) => dot(weights, annotations.map((h) => h[k])));
  return { sums, tangents, energies, weights, context };
}

function render({ model, el }) {
  const keys = ["state", "annotations", "W_a", "U_a", "v"];
  const read = () => Object.fromEntries(keys.map((key) => [key, structuredClone(model.get(key))]));
  const start = read();
  const put = setter(model);

  el.classList.add("moving", "by-hand");
  const plane = draw("svg", {
    viewBox: `${-SIZE / 2} ${-SIZE / 2} ${SIZE} ${SIZE}`, class: "by-hand-plane", role: "group",
    "aria-label": "The annotations, the state and the context as arrows. Move an arrow with the arrow keys, or edit its numbers.",
  });
  const inputs = make("div", { class: "by-hand-inputs" });
  const results = make("div", { class: "by-hand-results" });
  el.append(make("div", { class: "by-hand-top" }, plane, inputs), results);
  const say = announcer(el);

  // --- the plane -----------------------------------------------------------------------------
  const unit = SIZE / 2 / (REACH + 0.25);
  for (let line = -REACH; line <= REACH; line += 1) {
    const place = line * unit;
    const kind = line === 0 ? "axis" : "grid";
    plane.append(
      draw("line", { x1: place, x2: place, y1: -REACH * unit, y2: REACH * unit, class: kind }),
      draw("line", { y1: place, y2: place, x1: -REACH * unit, x2: REACH * unit, class: kind }),
    );
    if (line !== 0) {
      plane.append(
        draw("text", { x: place, y: 12, class: "tick", "text-anchor": "middle" }, shown(line, 0)),
        draw("text", { x: -5, y: -place + 4, class: "tick", "text-anchor": "end" }, shown(line, 0)),
      );
    }
  }

  const vectors = [
    { label: "c", role: "context" },
    ...[0, 1, 2].map((j) => ({ label: `h_${j + 1}`, role: "annotation", key: "annotations", j })),
    { label: "s", role: "state", key: "state" },
  ];
  const get = (vector) => (vector.key === "state" ? model.get("state") : model.get("annotations")[vector.j]);
  const move = (vector, point) => {
    const value = point.map(within);
    if (vector.key === "state") put("state", value);
    else put("annotations", model.get("annotations").map((h, j) => (j === vector.j ? value : h)));
  };
  for (const vector of vectors) {
    vector.line = draw("line", { class: `arrow role-${vector.role}` });
    vector.end = draw("circle", { r: vector.key ? 9 : 6, class: `end role-${vector.role}` });
    vector.text = draw("text", { class: `role-${vector.role}` }, subscripted(vector.label, lowSVG));
    vector.group = draw("g", { class: vector.key ? "handle" : "result" }, vector.line, vector.end, vector.text);
    if (vector.key) {
      Object.entries({ tabindex: 0, role: "slider", "aria-roledescription": "vector", "aria-valuemin": -REACH, "aria-valuemax": REACH })
        .forEach(([name, value]) => vector.group.setAttribute(name, value));
      vector.group.addEventListener("keydown", (event) => {
        const by = { ArrowRight: [STEP, 0], ArrowLeft: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] }[event.key];
        if (isShortcut(event) || (!by && event.key !== "Home")) return;
        event.preventDefault();
        const scale = event.shiftKey ? 5 : 1;
        const home = vector.key === "state" ? start.state : start.annotations[vector.j];
        move(vector, by ? get(vector).map((value, k) => value + scale * by[k]) : home);
      });
      vector.group.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        vector.group.focus();
        vector.group.setPointerCapture(event.pointerId);
        const follow = (at) => {
          const box = plane.getBoundingClientRect();
          const scale = SIZE / box.width / unit;
          const x = (at.clientX - box.left - box.width / 2) * scale;
          const y = -(at.clientY - box.top - box.height / 2) * scale;
          move(vector, [x, y].map((value) => Math.max(-REACH, Math.min(REACH, Math.round(value * 20) / 20))));
        };
        vector.group.addEventListener("pointermove", follow);
        const release = () => vector.group.removeEventListener("pointermove", follow);
        vector.group.addEventListener("pointerup", release, { once: true });
        vector.group.addEventListener("pointercancel", release, { once: true });
      });
    }
    plane.append(vector.group);
  }
  plane.append(vectors[0].group); // c above all others, whose ends it would otherwise hide behind

  // --- the numbers ---------------------------------------------------------------------------
  const fields = numberFields(STEP);
  const pair = (label, role, key, j) => make("div", { class: "by-hand-vector" },
    make("span", { class: `role-${role}`, "aria-hidden": "true" }, subscripted(label)),
    ...[0, 1].map((k) => fields.field(`${label}, component ${k + 1}`, () => get({ key, j })[k], (value) => {
      move({ key, j }, get({ key, j }).map((old, at) => (at === k ? value : old)));
    })));
  const matrix = (key) => matrixInputs(model, put, key, fields.field);
  inputs.append(
    make("div", { class: "by-hand-vectors" },
      pair("s", "state", "state"),
      ...[0, 1, 2].map((j) => pair(`h_${j + 1}`, "annotation", "annotations", j))),
    make("div", { class: "by-hand-weights" }, matrix("W_a"), matrix("U_a"),
      make("fieldset", { class: "moving-matrix" }, make("legend", {}, subscripted("v_a")),
        ...[0, 1].map((k) => fields.field(`v, component ${k + 1}`, () => model.get("v")[k],
          (value) => put("v", model.get("v").map((old, at) => (at === k ? value : old))))))),
    make("div", { class: "moving-buttons" },
      make("button", { type: "button", onclick: () => put("state", model.get("state").map((value) => within(-value))) }, "Turn the state round"),
      make("button", { type: "button", onclick: () => keys.forEach((key) => put(key, structuredClone(start[key]))) }, "Back to the start")),
  );

  // --- the arithmetic ------------------------------------------------------------------------
  const rows = [0, 1, 2].map((j) => {
    const row = { sum: make("td", { class: "sum" }), tangents: make("td"), energy: make("td", { class: "role-energy" }), weight: make("td", { class: "role-weight" }), bar: make("span", { class: "bar" }) };
    const name = make("th", { scope: "row", class: "role-annotation" }, subscripted(`h_${j + 1}`));
    row.line = make("tr", {}, name, row.sum, row.tangents, row.energy, row.weight, make("td", { class: "bars", "aria-hidden": "true" }, row.bar));
    return row;
  });
  const context = make("p", { class: "by-hand-context" });
  const heads = [["", "W_a s + U_a h_j", "sum"], ["", "v_a · tanh(…)"], ["energy ", "e_j"], ["weight ", "α_j"]];
  results.append(
    make("div", { class: "moving-scroll", tabindex: 0, role: "region", "aria-label": "The arithmetic" },
      make("table", {},
        make("thead", {}, make("tr", {}, make("td"),
          ...heads.map(([word, symbol, kind]) => make("th", { scope: "col", class: kind }, make("span", { class: "wide" }, word), subscripted(symbol))),
          make("td"))),
        make("tbody", {}, ...rows.map((row) => row.line))), context),
  );

  function update() {
    const values = read();
    const found = attend(values);
    const points = [found.context, ...values.annotations, values.state];
    vectors.forEach((vector, k) => {
      const [x, y] = points[k].map((value, axis) => Math.max(-REACH, Math.min(REACH, value)) * unit * (axis ? -1 : 1));
      vector.line.setAttribute("x2", x);
      vector.line.setAttribute("y2", y);
      vector.end.setAttribute("cx", x);
      vector.end.setAttribute("cy", y);
      // the names stand apart where ends meet: the annotations' above, the state's below
      vector.text.setAttribute("x", x + (vector.role === "context" ? -18 : 11));
      vector.text.setAttribute("y", y + (vector.role === "state" ? 19 : -8));
      if (vector.key) {
        const said = points[k].map((value) => shown(value)).join(", ");
        vector.group.setAttribute("aria-label", vector.label.replace("_", " "));
        vector.group.setAttribute("aria-valuetext", said);
        vector.group.setAttribute("aria-valuenow", points[k][0]);
      }
    });
    fields.show();
    const winner = found.weights.indexOf(Math.max(...found.weights));
    rows.forEach((row, j) => {
      row.sum.textContent = `(${found.sums[j].map((value) => shown(value)).join(", ")})`;
      row.tangents.textContent = values.v.map((weight, k) => `${typed(weight)} · ${shown(found.tangents[j][k], 3)}`).join(" + ");
      row.energy.textContent = shown(found.energies[j], 4);
      row.weight.textContent = shown(found.weights[j], 4);
      row.bar.style.width = `${found.weights[j] * 100}%`;
      row.line.classList.toggle("wins", j === winner);
    });
    const mix = found.weights.map((weight, j) => `${shown(weight, 4)} · (${values.annotations[j].map(typed).join(", ")})`);
    context.replaceChildren(make("span", { class: "role-context" }, "c"), ` = ${mix.join(" + ")} = `,
      make("strong", { class: "role-context" }, `(${found.context.map((value) => shown(value, 4)).join(", ")})`));
    say(`Weights ${found.weights.map((weight) => shown(weight)).join(", ")}. h ${winner + 1} has the largest. Context ${found.context.map((value) => shown(value)).join(", ")}.`);
  }
  update();
  return watch(model, keys, update);
}

const lowSVG = (index) => draw("tspan", { dy: 3, "font-size": "0.75em" }, index);

export default { render };
