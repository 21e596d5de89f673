"""What a reader changes on the live translators' page, and the address that says it."""

import json
import re
from typing import Any
from urllib.parse import quote, unquote

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.widgets.conftest import Open
from tests.widgets.live_page import SENTENCE, more, numbers


def test_another_word_is_gone_on_from(opened: Open) -> None:
    page = opened()
    before = numbers(page)["models"]
    page.get_by_role("button", name="word 2", exact=False).first.click()
    page.get_by_label("RNNsearch, this word").locator(".stepper-next button").nth(1).click()
    side = page.locator("section[aria-label=RNNsearch]")
    expect(side.locator(".live-before")).to_contain_text("before: ")
    after = numbers(page)["models"]
    first, second = before["RNNsearch"]["numbers"][0], before["RNNsearch"]["next"][1][1][2]
    assert after["RNNsearch"]["numbers"][:2] == [first, second]
    assert after["RNNencdec"]["numbers"] == before["RNNencdec"]["numbers"]
    page.get_by_role("button", name="undo all").click()
    expect(page.locator(".live-changes")).to_be_empty()
    assert numbers(page)["models"] == before


def test_a_word_left_out_is_not_read(opened: Open) -> None:
    page = opened()
    page.get_by_role("button", name=re.compile("^strong")).click()
    expect(page.locator(".live-changes")).to_contain_text("left out: strong")
    left = numbers(page)["models"]
    page.get_by_label("Your sentence").fill(SENTENCE.replace("strong ", ""))
    page.get_by_role("button", name="translate").click()
    expect(page.locator(".live-changes")).to_be_empty()
    shorter = numbers(page)["models"]
    for name in left:
        assert left[name]["numbers"] == shorter[name]["numbers"]


def test_a_change_that_is_overtaken_by_a_question_is_not_waited_for(opened: Open) -> None:
    page = opened()
    page.evaluate(
        """() => {
          document.querySelector(".live-source button").click();
          const buttons = [...document.querySelectorAll("button")];
          buttons.find((one) => one.textContent === "translate").click();
        }"""
    )
    page.locator(".live-target .now").first.wait_for()
    expect(page.locator(".live-changes")).to_be_empty()
    page.get_by_role("button", name=re.compile("^strong")).click()
    expect(page.locator(".live-changes")).to_contain_text("left out: strong")
    page.wait_for_function("document.querySelector('.live-before')?.textContent.includes('before')")


def test_weights_are_taken_in_hand(opened: Open) -> None:
    page = opened()
    page.get_by_role("button", name="word 2", exact=False).first.click()
    page.get_by_role("button", name="spread evenly").click()
    expect(page.locator(".live-changes")).to_contain_text("weights held: word 2")
    rows = numbers(page)["models"]["RNNsearch"]["alpha"]
    assert rows[1] == pytest.approx([1 / len(rows[1])] * len(rows[1]), abs=1e-4)
    assert rows[0] != pytest.approx(rows[1], abs=1e-3)
    page.get_by_text("Drag single weights").click()
    page.get_by_label("weight on the").first.fill("0.9")
    expect(page.locator(".live-piece i").first).to_have_text("0.90")
    held = numbers(page)["models"]["RNNsearch"]["alpha"][1]
    assert sum(held) == pytest.approx(1, abs=1e-3)
    page.get_by_label("copy the weights of").select_option(index=1)
    expect(page.locator(".live-piece i").first).not_to_have_text("0.90")
    copied = numbers(page)["models"]["RNNsearch"]["alpha"]
    assert copied[1] == pytest.approx(copied[0], abs=1e-4)
    page.get_by_label("for", exact=True).select_option("every word")
    page.get_by_label("all on one word").select_option(index=1)
    expect(page.locator(".live-changes")).to_contain_text("every word")
    for row in numbers(page)["models"]["RNNsearch"]["alpha"]:
        assert row == [1] + [0] * (len(row) - 1)


def test_the_address_says_it_all(opened: Open, context: BrowserContext) -> None:
    page = opened()
    more(page)
    page.get_by_label("beam width").fill("3")
    page.get_by_role("button", name="translate").click()
    page.get_by_role("button", name=re.compile("^strong")).click()
    expect(page.locator(".live-changes")).to_contain_text("left out: strong")
    page.get_by_role("button", name="word 2", exact=False).first.click()
    page.locator(".stepper-next button").nth(1).click()
    expect(page.locator(".live-changes")).to_contain_text("2 words that stay")
    page.get_by_role("button", name="spread evenly").click()
    expect(page.locator(".live-changes")).to_contain_text("weights held: word 2")
    before = numbers(page)
    assert all(before["changes"].values())
    # The address follows a moment later; an earlier one has no weights yet.
    page.wait_for_function("""decodeURIComponent(location.hash).includes('"weights":{"2"')""")
    other = context.new_page()
    other.goto(page.evaluate("location.href"))
    expect(other.locator(".live-changes")).to_contain_text("weights held")
    assert numbers(other) == before


FOREIGN: tuple[Any, ...] = (
    {"without": "x", "prefix": {"RNNsearch": [99999]}, "weights": {"every": [1, 2]}},
    {"prefix": {"RNNsearch": [1.5]}, "weights": {"2": "a"}},
    {"prefix": 5, "without": [99], "weights": []},
    None,
)


def test_a_strange_address_changes_nothing(opened: Open, context: BrowserContext) -> None:
    page = opened()
    before = numbers(page)["models"]
    address = page.url.split("#")[0] + "#live="
    for changes in FOREIGN:
        other = context.new_page()
        other.goto(address + quote(json.dumps({"text": SENTENCE, "changes": changes})))
        other.locator(".live-target .now").first.wait_for()
        assert numbers(other)["models"] == before
    broken = context.new_page()
    broken.goto(address + "%7B%22k")
    expect(broken.get_by_role("button", name="translate")).to_be_visible()


def test_another_address_is_read_in_the_same_place(opened: Open) -> None:
    page = opened()
    told = quote(json.dumps({"text": "the dog .", "changes": {"without": [1]}}))
    # The page writes its own address late: here after the reader's, before it hears of that one.
    page.evaluate(
        "(told) => { const own = location.href; location.hash = `live=${told}`;"
        " history.replaceState(null, '', own); }",
        told,
    )
    expect(page.locator(".live-changes")).to_contain_text("left out: dog")
    assert page.get_by_label("Your sentence").input_value() == "the dog ."


DRAGGED = """async () => {
  let written = 0;
  const replace = history.replaceState.bind(history);
  history.replaceState = (...given) => { written += 1; replace(...given); };
  const slider = document.querySelector(".live-slider input");
  for (let k = 2; k <= 100; k += 2) {
    slider.value = k / 100 - 0.5;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((done) => setTimeout(done, 5));
  }
  await new Promise((done) => setTimeout(done, 1000));
  return written;
}"""


def test_the_address_is_written_when_the_hand_rests(opened: Open) -> None:
    """Browsers allow some hundred a minute, and forget the rest."""
    page = opened()
    page.get_by_text("Drag single weights").click()
    assert 1 <= page.evaluate(DRAGGED) <= 20
    assert "0.5" in unquote(page.evaluate("location.href")).split("weights")[1]


def test_what_is_typed_and_not_asked_changes_nothing(opened: Open) -> None:
    page = opened()
    before = numbers(page)
    page.get_by_label("Your sentence").fill("the dog .")
    page.get_by_role("button", name="spread evenly").click()
    expect(page.locator(".live-changes")).to_contain_text("weights held")
    after = numbers(page)
    assert after["text"] == before["text"] == SENTENCE
    source = [one["models"]["RNNsearch"]["source"] for one in (before, after)]
    assert source[0] == source[1]


def test_one_word_always_stays(opened: Open) -> None:
    page = opened(text="the dog")
    page.evaluate("document.querySelectorAll('.live-source button').forEach(one => one.click())")
    expect(page.locator(".live-changes")).to_contain_text("left out: the.")
    last = page.locator(".live-source").get_by_role("button", name="dog")
    expect(last).to_have_attribute("title", "One word has to stay.")
    last.click()
    page.locator(".live-source button").first.click()
    expect(page.locator(".live-changes")).to_be_empty()


def test_the_keyboard_stays_where_it_is(opened: Open) -> None:
    page = opened()
    word = page.locator(".live-source button").nth(1)
    word.press("Enter")
    expect(page.locator(".live-changes")).to_contain_text("left out")
    expect(word).to_be_focused()
    expect(word).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="undo all").press("Enter")
    expect(page.locator(".live-changes")).to_be_empty()
    expect(page.locator(".live-source button").first).to_be_focused()
    other = page.locator(".stepper-next button").nth(1)
    other.press("Enter")
    expect(page.locator(".live-changes")).to_contain_text("stay")
    expect(other).to_be_focused()
    expect(other).to_have_attribute("aria-pressed", "true")
    for place in range(3):
        page.get_by_label("all on one word").press("ArrowDown")
        expect(page.locator(".live-piece i").nth(place)).to_have_text("1.00")


DRAG = """async () => {
  const slider = document.querySelector(".live-sliders input");
  const number = slider.nextElementSibling;
  const late = [];
  slider.focus();
  for (let k = 3; k <= 60; k += 3) {
    slider.value = k / 100;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    if (number.textContent !== (k / 100).toFixed(2)) late.push(k);
    await new Promise((done) => requestAnimationFrame(done));
  }
  return late;
}"""
"""Drags the first weight to 0.6, a step a picture; when its number did not follow at once."""


def test_a_slider_under_the_hand_shows_its_number_at_once(opened: Open) -> None:
    page = opened()
    page.get_by_role("button", name="word 2", exact=False).first.click()
    page.get_by_text("Drag single weights").click()
    assert page.evaluate(DRAG) == []
    # What was asked last is what stands there in the end.
    expect(page.locator(".live-piece i").first).to_have_text("0.60")
    expect(page.locator(".live-sliders output").first).to_have_text("0.60")
    assert numbers(page)["models"]["RNNsearch"]["alpha"][1][0] == pytest.approx(0.6, abs=1e-3)
