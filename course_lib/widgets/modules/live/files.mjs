// What a reader takes along: the address of what is shown, the map as a picture, the numbers.

const KEY = "#live=";

let writing;

/** What an address says, or null; a broken one says nothing. What is not yet written must not replace it. */
function fromAddress(address = location.href) {
  clearTimeout(writing);
  const { hash } = new URL(address);
  if (!hash.startsWith(KEY)) return null;
  try {
    return JSON.parse(decodeURIComponent(hash.slice(KEY.length)));
  } catch {
    return null;
  }
}

/** Put what is shown into the page's address, once the hand rests: browsers stop listening to whoever writes all the time. */
function toAddress(state) {
  clearTimeout(writing);
  writing = setTimeout(() => history.replaceState(null, "", KEY + encodeURIComponent(JSON.stringify(state))), 400);
}

function save(name, content, type) {
  const link = make("a", { href: URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** The map as PNG, twice as fine as it is drawn. */
function savePng(svg) {
  const [width, height] = ["width", "height"].map((key) => 2 * Number(svg.getAttribute(key)));
  const image = new Image();
  image.onload = () => {
    const canvas = make("canvas", { width, height });
    canvas.getContext("2d").drawImage(image, 0, 0, width, height);
    canvas.toBlob((blob) => save("map.png", blob));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
}

/** The row of buttons; `current()` gives the map, or null, and the numbers. */
function fileButtons(current, shares) {
  const said = make("span", { role: "status", class: "live-said" });
  const button = (name, act) => make("button", { type: "button", onclick: act }, name);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      said.textContent = "copied";
    } catch {
      said.textContent = "Copy it from the address bar: it holds your sentence and your changes.";
    }
  };
  const maps = [button("map as PNG", () => savePng(current().map)),
    button("map as SVG", () => save("map.svg", new XMLSerializer().serializeToString(current().map), "image/svg+xml"))];
  const element = make("div", { class: "moving-buttons live-files" }, ...(shares ? [button("copy the address", copy)] : []), ...maps,
    button("numbers as JSON", () => save("translation.json", JSON.stringify(current().numbers, null, 1), "application/json")), said);
  return { element, show: () => maps.forEach((one) => { one.hidden = !current().map; }) };
}
