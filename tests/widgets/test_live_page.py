"""The page that an export writes: what a reader does there, and what a lost part costs."""

import base64
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from course_lib.corpora.tokenization import detokenize, tokenize
from course_lib.search import translate
from course_lib.training import Run, load_run
from course_lib.widgets.live import live
from course_lib.widgets.modules import module
from course_lib.widgets.standalone import ONE_FILE, PAGE, export_web
from tests.widgets.conftest import Open
from tests.widgets.live_models import own_run
from tests.widgets.live_page import SENTENCE, ask, more, numbers, resize, written

SMALLEST = 24


@pytest.fixture(scope="module")
def greeting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of published models: they are sure of their words."""
    out = tmp_path_factory.mktemp("greeting")
    names = "multi30k-en-de-laptop", "multi30k-en-de-laptop-rnnencdec", "multi30k-en-fr-laptop"
    export_web([load_run(name, "cpu") for name in names], out)
    return out


@pytest.fixture
def page(context: BrowserContext, greeting: Path) -> Page:
    """The page of published models, open."""
    page = context.new_page()
    page.goto((greeting / PAGE).as_uri())
    return page


@pytest.mark.parametrize("file", [PAGE, ONE_FILE])
def test_it_writes_what_the_library_writes(
    opened: Open, runs: list[Run], folder: Path, tmp_path: Path, file: str
) -> None:
    alone = folder / PAGE
    if file == ONE_FILE:
        alone = tmp_path / "sent-by-mail.html"
        shutil.copy(folder / ONE_FILE, alone)
    page = opened(alone)
    models = numbers(page)["models"]
    for run, name in zip(runs, ("RNNsearch", "RNNencdec"), strict=True):
        words = run.source_vocabulary.encode(tokenize(SENTENCE, "en"))
        penalty = run.config.recipe.length_penalty
        (expected,) = translate(run.model, [words], 5, penalty)
        assert models[name]["numbers"] == [*expected.tokens, 2]
        decoded = run.target_vocabulary.decode(expected.tokens)
        assert models[name]["text"] == detokenize(decoded, "de")
        if expected.alpha is not None:
            for found, row in zip(models[name]["alpha"], expected.alpha.tolist(), strict=True):
                assert found == pytest.approx(row, abs=1e-4)


def exact(found: Any) -> Any:
    """What a page found, as it can be compared: numbers to three digits."""
    if isinstance(found, int | float) and not isinstance(found, bool):
        return pytest.approx(found, abs=1e-3)
    if isinstance(found, list):
        return [exact(one) for one in found]
    if isinstance(found, dict):
        return {key: exact(one) for key, one in found.items()}
    return found


WATCHED = """() => {
  globalThis.shares = [];
  const bar = document.querySelector(".live progress");
  new MutationObserver(() => shares.push(bar.value)).observe(bar, { attributes: true });
}"""


def test_a_sentence_stands_there_translated_before_a_model_is_loaded(
    context: BrowserContext, greeting: Path
) -> None:
    page = context.new_page()
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.goto((greeting / PAGE).as_uri())
    page.locator(".live-target .now").first.wait_for()
    assert [url for url in asked if url.endswith(".js")] == []
    first = numbers(page)
    page.evaluate(WATCHED)
    page.get_by_role("button", name="translate").click()
    page.locator(".live-target .now").first.wait_for()
    assert [url for url in asked if url.endswith(".js")] != []
    shares = page.evaluate("shares")
    assert len(set(shares)) > 5
    assert shares == sorted(shares)
    assert len(page.workers) == 2
    # The library reports what the page's own script does.
    assert numbers(page) == exact(first)
    assert page.locator(".live-answer.solved").count() == 0
    glosses = page.locator(".live-gloss").all_inner_texts()
    assert ["dog" in gloss for gloss in glosses] == [True, False]

    page.get_by_label("languages").select_option("en-fr")
    page.locator(".live-target .now").first.wait_for()
    run = load_run("multi30k-en-fr-laptop", "cpu")
    words = run.source_vocabulary.encode(tokenize(first["text"], "en"))
    (french,) = translate(run.model, [words], 5, run.config.recipe.length_penalty)
    assert numbers(page)["models"]["RNNsearch"]["numbers"] == [*french.tokens, 2]


def test_challenges_are_checked(page: Page) -> None:
    forgets, crosses, careless = page.locator(".live-answer").all()
    expect(forgets).to_have_text("Type a sentence of your own.")
    ask(page, "A dog and a horse.")
    for answer in (forgets, crosses, careless):
        expect(answer).to_have_text("Not yet.")
    ask(page, "A guitar on a green chair in the snow.")
    expect(forgets).to_contain_text("RNNencdec forgot “snow” in a sentence of 10 words")
    ask(page, "A black dog and a red dog.")
    expect(forgets).to_contain_text("RNNencdec forgot “red” in a sentence of 8 words")
    expect(crosses).to_have_text("Not yet.")
    ask(page, "Two men in blue shirts are watching a black dog that is jumping over a fence.")
    expect(crosses).to_contain_text("looks back at “jumping”")
    expect(forgets).to_contain_text("8 words")
    page.get_by_label("for", exact=True).select_option("every word")
    page.get_by_role("button", name="spread evenly").click()
    expect(careless).to_have_text("Now the translation is another one.")
    page.get_by_role("button", name="undo all").click()
    page.get_by_role("button", name="word 3", exact=False).first.click()
    page.get_by_label("for", exact=True).select_option("this word")
    page.get_by_role("button", name="spread evenly").click()
    expect(careless).to_contain_text("not a word changed")


def test_the_first_translation_can_be_taken_in_hand_at_once(page: Page) -> None:
    page.locator(".live-source button").first.click()
    page.get_by_text("left out: two").wait_for()
    left = numbers(page)["models"]["RNNsearch"]
    assert left["words"][0]["out"]
    assert len(left["alpha"][0]) == len(left["source"]) == len(left["words"])


def test_the_old_translation_stays_out_of_reach_until_the_new_one_is_there(page: Page) -> None:
    page.locator(".live-target .now").first.wait_for()
    old = written(page, "RNNsearch")
    page.get_by_label("Your sentence").fill("A dog and a horse.")
    page.get_by_role("button", name="translate").click()
    assert written(page, "RNNsearch") == old
    assert page.locator(".live-target[inert], .live-source[inert]").count() == 3
    assert page.locator(".stepper-arcs path, .live-target .now").count() == 0
    page.locator(".live-target .now").first.wait_for()
    assert written(page, "RNNsearch") != old
    assert page.locator(".live [inert]").count() == 0


ENDS = """all => all.map(arc => {
  const end = arc.getPointAtLength(arc.getTotalLength()).matrixTransform(arc.getScreenCTM());
  return [end.x, end.y] })"""


def test_arcs_end_at_the_word_and_both_texts_stand_before_the_details(page: Page) -> None:
    for width in (1200, 380):
        resize(page, width)
        chip = page.locator(".live-texts h3 .chip").first
        ends = page.locator(".stepper-arcs path").evaluate_all(ENDS)
        if width == 380:  # the words stand in several rows: shades instead
            assert not ends
            assert not chip.is_visible()
            pieces = page.locator(".live-piece").count()
            assert page.locator(".live-piece.shaded").count() == pieces
        else:
            place = chip.bounding_box()
            assert ends
            assert place
            for x, y in ends:
                assert place["x"] < x < place["x"] + place["width"]
                assert y == pytest.approx(place["y"], abs=1)
        texts, next_words = (
            [one.bounding_box() for one in page.locator(place).all()]
            for place in (".live-target", ".stepper-next")
        )
        assert max(one["y"] + one["height"] for one in texts if one) < min(
            one["y"] for one in next_words if one
        )


def test_steps_go_both_ways_and_show_their_row(opened: Open) -> None:
    page = opened()
    page.get_by_role("button", name="to the beginning").click()
    assert page.locator(".live-target .chip.to-come").count() == len(
        written(page, "RNNsearch") + written(page, "RNNencdec")
    )
    page.get_by_role("button", name="next word").click()
    page.locator(".live-target .now").first.focus()
    page.keyboard.press("ArrowRight")
    rows = numbers(page)["models"]["RNNsearch"]["alpha"]
    shown = [float(text) for text in page.locator(".live-piece i").all_inner_texts()]
    assert shown == pytest.approx(rows[1], abs=0.0051)
    assert page.locator(".map-row:not(.later)").count() == 2
    looked_at = sum(weight >= 0.02 for weight in rows[1])
    assert page.locator(".stepper-arcs path").count() == looked_at
    page.keyboard.press("ArrowLeft")
    assert page.locator(".map-row:not(.later)").count() == 1


def test_an_example_can_be_taken_again(opened: Open) -> None:
    page = opened()
    examples = page.get_by_label("or take")
    first = examples.locator("option").nth(1).inner_text()
    examples.select_option(first)
    page.get_by_label("Your sentence").fill(SENTENCE)
    assert examples.input_value() == ""
    examples.select_option(first)
    assert page.get_by_label("Your sentence").input_value() == first


def map_letters(page: Page) -> float:
    """How high the map's letters, 12 pixels when it was made, are now."""
    shrunk = "one => one.getBoundingClientRect().width / one.getAttribute('width')"
    return 12 * page.locator(".live-map svg").evaluate(shrunk)


def test_the_map_of_a_caption_is_not_shrunk_on_a_desktop(opened: Open) -> None:
    page = opened(text=SENTENCE)
    resize(page, 1200)
    assert map_letters(page) > 11


def test_the_map_of_a_long_sentence_can_be_read(opened: Open) -> None:
    page = opened(text="the strong dog is coming back " * 4)
    for width in (1200, 380):
        resize(page, width)
        assert map_letters(page) >= 7
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(".live-map").press("ArrowRight")
    page.wait_for_function("document.querySelector('.live-map').scrollLeft > 0")


COUNTED = """
globalThis.listening = 0;
for (const [name, by] of [["addEventListener", 1], ["removeEventListener", -1]]) {
  const real = globalThis[name].bind(globalThis);
  globalThis[name] = (kind, ...rest) => {
    if (kind === "resize") listening += by;
    real(kind, ...rest);
  };
}"""


def test_a_tree_that_is_drawn_anew_leaves_nothing_behind(
    context: BrowserContext, opened: Open
) -> None:
    context.add_init_script(COUNTED)
    page = opened()
    more(page)
    page.get_by_text("The beam's tree").click()
    page.locator(".live-tree .beam-card").first.wait_for()
    for place in range(2):
        page.locator(".live-source button").nth(place).click()
        expect(page.locator(".live-source .out")).to_have_count(place + 1)
    assert page.evaluate("listening") == 1


def test_map_and_tree_and_table(opened: Open) -> None:
    page = opened()
    more(page)
    for name, begins in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"map as {name}").click()
        assert Path(download.value.path()).read_bytes().startswith(begins)
    page.get_by_text("The beam's tree").click()
    expect(page.locator(".live-tree .beam-card.wins").last).to_contain_text("</s>")
    tree = numbers(page)["models"]["RNNsearch"]["tree"]
    assert page.locator(".live-tree .beam-card").count() == len(tree["nodes"])
    assert page.locator(".live-tree .beam-card.wins").count() == len(tree["best"])
    page.get_by_text("The same as a table").click()
    rows = numbers(page)["models"]["RNNsearch"]["alpha"]
    cells = page.locator(".live-numbers").first.locator("tbody tr").first.locator("td")
    shown = [float(text) for text in cells.all_inner_texts()[2:]]
    assert shown == pytest.approx(rows[0], abs=0.0051)


@pytest.mark.parametrize("harm", ["missing", "damaged", "cut short"])
def test_a_lost_part_costs_one_line_and_one_model(
    context: BrowserContext, folder: Path, tmp_path: Path, harm: str
) -> None:
    shutil.copytree(folder, tmp_path / "web")
    part = tmp_path / "web" / "search-0.js"
    text = part.read_text()
    if harm == "missing":
        part.unlink()
    elif harm == "cut short":
        part.write_text(text[: len(text) // 2])
    else:
        part.write_text(text.replace(text[2000:2004], "AAAA"))
    page = context.new_page()
    page.goto((tmp_path / "web" / PAGE).as_uri())
    page.get_by_label("Your sentence").fill(SENTENCE)
    page.get_by_role("button", name="translate").click()
    status = page.locator("section[aria-label=RNNsearch] .live-status")
    expect(status).to_contain_text("missing" if harm == "missing" else "damaged")
    assert "search-" in status.inner_text()
    page.locator("section[aria-label=RNNencdec] .live-target .now").wait_for()
    assert written(page, "RNNencdec")
    if harm == "missing":
        part.write_text(text)
        page.get_by_role("button", name="translate").click()
        page.locator("section[aria-label=RNNsearch] .live-target .now").wait_for()


def test_a_model_that_fails_at_work_costs_one_line_and_one_model(
    context: BrowserContext, folder: Path, opened: Open, tmp_path: Path
) -> None:
    page = opened()
    page.get_by_label("Your sentence").fill("漢 " * 1000)
    page.get_by_role("button", name="translate").click()
    for model in ("RNNsearch", "RNNencdec"):
        status = page.locator(f"section[aria-label={model}] .live-status")
        expect(status).to_contain_text("at most, and these are 2000")
    ask(page, SENTENCE)
    assert written(page, "RNNsearch")

    html = (folder / ONE_FILE).read_text(encoding="utf-8")
    looks = "if (!keys) return"
    assert html.count(looks) == 1
    (tmp_path / PAGE).write_text(html.replace(looks, "if (keys) throw new Error('lost'); return"))
    page = context.new_page()
    page.goto((tmp_path / PAGE).as_uri())
    ask(page, SENTENCE)
    expect(page.locator("section[aria-label=RNNsearch] .live-status")).to_have_text("lost")
    assert written(page, "RNNencdec")
    assert page.locator(".live [inert]").count() == 0


def test_nothing_typed_is_nothing_written(opened: Open) -> None:
    page = opened(text="   \n", ask=False)
    page.get_by_role("button", name="translate").click()
    expect(page.locator(".live-stage")).to_be_hidden()
    for place in (".live-changes", "[aria-live]"):
        expect(page.locator(place).first).to_contain_text("type a sentence")


PRESS = """(field, how) => field.dispatchEvent(new KeyboardEvent("keydown", {
  key: "Enter", bubbles: true, cancelable: true, ...how }))"""


def test_enter_that_chooses_letters_asks_nothing(opened: Open) -> None:
    page = opened()
    page.wait_for_url("**#live=*")  # which is written a moment after the sentence was asked
    field = page.get_by_label("Your sentence")
    field.fill("the dog")
    asked = page.url
    for how in ({"isComposing": True}, {"keyCode": 229}):
        assert field.evaluate(PRESS, how), "the composition has the key to itself"
    assert page.url == asked
    assert not field.evaluate(PRESS, {}), "a key of its own asks, and ends no line"
    page.wait_for_url(lambda url: url != asked)


def test_a_translation_is_selected_and_copied(opened: Open) -> None:
    page = opened()
    side = page.locator("section[aria-label=RNNsearch]")
    text = side.locator(".live-text").inner_text()
    assert text
    side.locator(".live-text").click(click_count=3)
    assert text in page.evaluate("String(getSelection())")
    page.evaluate("getSelection().removeAllRanges()")
    # A page that may not write to the clipboard selects what is to be taken by hand.
    refuse = "() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }"
    page.evaluate(f"navigator.clipboard && ({refuse})()")
    side.get_by_role("button", name="copy").click()
    page.wait_for_function("text => String(getSelection()) === text", arg=text)


def test_words_never_seen_are_marked_and_only_these(opened: Open, runs: list[Run]) -> None:
    page = opened(text="the xylophone 漢 dog strongdog")
    for name, why in (
        *(("the", "leave out"), ("dog", "leave out"), ("xylophone", "Never seen in training")),
        *(("漢", "cannot read"), ("strongdog", "Never seen in training")),
    ):
        named = re.compile(rf"^{name}(\.|$)")
        word = page.locator(".live-source").get_by_role("button", name=named)
        assert why in (word.get_attribute("title") or ""), name
        assert ("strange" in (word.get_attribute("class") or "")) == (why != "leave out")


def test_it_plays_by_itself_unless_less_motion_is_wished(browser: Browser, folder: Path) -> None:
    page = browser.new_page()
    page.clock.install()  # it has come to its end before a busy machine looks
    page.goto((folder / PAGE).as_uri())
    page.get_by_label("Your sentence").fill(SENTENCE)
    page.get_by_role("button", name="translate").click()
    expect(page.get_by_role("button", name="pause")).to_be_visible()
    page.clock.run_for(60_000)
    expect(page.get_by_role("button", name="play")).to_be_visible()
    page.close()


@pytest.mark.parametrize(("theme", "width"), [("light", 1200), ("dark", 380)])
def test_nothing_stands_in_anybodys_way(
    opened: Open, grave: Callable[..., list[str]], theme: Any, width: int
) -> None:
    page = opened()
    page.emulate_media(color_scheme=theme)
    resize(page, width)
    page.get_by_role("button", name="spread evenly").click()
    expect(page.locator(".live-changes")).to_contain_text("weights held")
    more(page)
    page.get_by_text("The beam's tree").click()
    page.get_by_text("The same as a table").click()
    page.get_by_text("Drag single weights").click()
    assert grave(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = page.locator(".live :is(button, select, input, textarea, summary)").evaluate_all(
        "all => all.filter(one => one.checkVisibility() && !one.closest('.live-tree')).map(one => {"
        " const box = one.getBoundingClientRect();"
        " return [one.getAttribute('aria-label') ?? one.textContent, box.width, box.height] })"
    )
    assert [box for box in boxes if min(box[1:]) < SMALLEST] == []


def test_paper_and_a_browser_without_scripts_have_the_picture(
    browser: Browser, folder: Path, opened: Open
) -> None:
    page = opened()
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator(".moving-still img").is_visible()
    look = page.evaluate(
        "(({ color, backgroundColor: ground }) => [color, ground])(getComputedStyle(document.body))"
    )
    assert look == ["rgb(35, 38, 43)", "rgb(253, 253, 251)"], "paper is light"
    assert not page.locator(".moving-live").is_visible()
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto((folder / PAGE).as_uri())
    assert plain.locator(".moving-still img").is_visible()
    context.close()


RENDERED = """async ({values, data}) => {
  const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
  values.data = { [values.packs[0].name]: new DataView(bytes.buffer) };
  globalThis.traits = pageModel(values);
  figure.render({ model: traits, el: document.querySelector("main") });
}"""


def test_a_notebook_hands_the_models_over_and_reads_what_was_found(
    context: BrowserContext, runs: list[Run]
) -> None:
    made = live(runs[0], text=SENTENCE)
    values = {key: getattr(made, key) for key in made.keys if not key.startswith("_")}
    values = {
        key: value
        for key, value in values.items()
        if key not in ("data", "layout", "tabbable", "tooltip")
    }
    page = context.new_page()
    script = module("live").replace("export default", "const figure =")
    page.set_content(f"<!doctype html><meta charset=utf-8><main></main><script>{script}</script>")
    data = base64.b64encode(made.data["search"]).decode()
    page.evaluate(RENDERED, {"values": values, "data": data})
    page.get_by_role("button", name="translate").click()
    page.locator(".live-target .now").wait_for()
    found = page.evaluate("traits.get('found').RNNsearch")
    assert found["text"] == numbers(page)["models"]["RNNsearch"]["text"]
    assert len(found["alpha"]) == len(found["target"])
    # A notebook's address is not the figure's to write.
    assert page.get_by_role("button", name="copy the address").count() == 0
    assert "#live" not in page.url


def test_the_page_is_small_before_a_model_is_loaded(folder: Path, greeting: Path) -> None:
    for page in (folder / PAGE, greeting / PAGE):
        assert page.stat().st_size < 400_000


WHERE = """() => {
  const placesOf = (css) => [...document.querySelectorAll(css)].map((one) => (
    one.getBoundingClientRect().left));
  const dots = [...document.querySelectorAll(".map-row > text")].flatMap((one) => {
    const dot = one.textContent.indexOf("·");
    const letter = one.textContent.search(/[\\u05d0-\\u05ea]/);
    const at = (place) => one.getExtentOfChar(place).x;
    return dot >= 0 && letter > dot ? [at(dot) > at(letter)] : [];
  });
  return { read: placesOf(".live-source .chip"), written: placesOf(".live-target .chip"), dots };
}"""
"""Where words stand, and whether the dot of a piece stands right of its letters."""


def test_what_is_written_from_right_to_left_stands_so(
    tmp_path: Path, context: BrowserContext
) -> None:
    words = {"dog": "כלב", "cat": "חתול", "horse": "סוס", "bird": "ציפור", "fish": "דג"}
    pairs = [(f"{x} {y}", f"{words[x]} {words[y]}") for x in words for y in words if x != y]
    run = own_run(tmp_path, "en-he", pairs, 44)
    export_web([run], tmp_path / "web")
    page = context.new_page()
    page.goto((tmp_path / "web" / PAGE).as_uri())
    ask(page, "dog cat")
    found = page.evaluate(WHERE)
    assert found["read"] == sorted(found["read"])
    assert found["written"][:3] == sorted(found["written"][:3], reverse=True)
    assert len(found["written"]) > 2
    assert found["dots"]
    assert all(found["dots"])
    expect(page.locator(".live-text")).to_have_css("direction", "rtl")
    expect(page.get_by_label("Your sentence")).to_have_css("direction", "ltr")
