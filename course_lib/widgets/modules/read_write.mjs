// An encoder that reads and a decoder that writes, frame by frame: what is made from what.

const PACE = 1100; // milliseconds a frame while it plays

function render({ model, el }) {
  el.classList.add("moving", "read-write");
  const put = setter(model);
  const [shapes, says] = [model.get("shapes"), model.get("says")];
  const last = says.length;
  const head = fresh("head");
  const marker = (role) => draw("marker", { id: `${head}-${role}`, class: `role-${role}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" },
    draw("path", { class: "head", d: "M0 0.5L7.5 4L0 7.5z" }));
  const nodes = shapes.map((shape) => {
    const group = draw("g", { class: `role-${shape.role}` });
    if (shape.points) {
      group.append(draw("path", { d: `M${shape.points.map((point) => point.join(" ")).join("L")}`, "marker-end": `url(#${head}-${shape.role})`, "stroke-dasharray": shape.dashed ? "4 4" : false }));
    } else {
      const { x, y, kind } = shape;
      if (kind === "circle") group.append(draw("circle", { cx: x, cy: y, r: 19 }));
      if (kind === "box") group.append(draw("rect", { x: x - shape.half, y: y - 18, width: 2 * shape.half, height: 36, rx: 7 }));
      group.append(draw("text", { x, y: y + 5 }, shape.text));
    }
    return group;
  });
  const picture = draw("svg", { viewBox: "0 0 440 300", role: "img", "aria-label": "Encoder and decoder" }, draw("defs", {}, ...[...new Set(shapes.map((shape) => shape.role))].map(marker)), ...nodes);
  const frames = slider("frame", { min: 1, max: last }, (frame) => go(frame));
  const back = make("button", { type: "button", onclick: () => go(model.get("frame") - 1) }, "back");
  const on = make("button", { type: "button", onclick: () => go(model.get("frame") + 1) }, "next");
  const play = make("button", { type: "button", onclick: () => (timer ? stop() : start()) }, "play");
  const reading = make("p", { class: "read-write-says" });
  el.append(picture, reading, make("div", { class: "moving-controls" }, make("div", { class: "moving-buttons" }, back, on, play), frames.line));
  const say = announcer(el);

  let timer = null;
  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "play";
  }
  function start() {
    put("frame", model.get("frame") === last ? 1 : model.get("frame"));
    timer = setInterval(() => (model.get("frame") === last ? stop() : put("frame", model.get("frame") + 1)), PACE);
    play.textContent = "stop";
  }
  function go(frame) {
    stop();
    put("frame", Math.max(1, Math.min(last, frame)));
  }

  function show() {
    const frame = model.get("frame");
    nodes.forEach((node, k) => {
      node.classList.toggle("later", shapes[k].frame > frame);
      node.classList.toggle("now", shapes[k].frame === frame);
    });
    frames.show(frame, `${frame} of ${last}`);
    reading.textContent = says[frame - 1];
    say(says[frame - 1]);
  }

  el.addEventListener("keydown", (event) => {
    const to = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!to || event.target === frames.input) return;
    event.preventDefault();
    go(model.get("frame") + to);
  });
  const end = watch(model, ["frame"], show);
  show();
  return () => {
    stop();
    end();
  };
}

export default { render };
