"""BLEU of one sentence: for many pairs the screen has what sacrebleu counts and computes."""

from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from matplotlib.text import Text
from playwright.sync_api import Page
from sacrebleu.metrics import BLEU

from course_lib.widgets import FIGURES, SentenceBleu
from course_lib.widgets.sentence_bleu import LONGEST_SENTENCE
from tests.widgets.conftest import Open

READY = {
    "the coffee on the table": "54.8",
    "coffee on the table": "60.7",
    "the the the": "0.0",
    "the table is on coffee there": "0.0",
    "there is coffee on the table": "100.0",
}
COUNTER = BLEU(tokenize="none", force=True, smooth_method="none")


def pairs() -> list[tuple[str, str]]:
    """Drawn from few words, so that runs come again: repeated, too short, too long, or right."""
    generator = np.random.default_rng(0)
    words = np.array(["the", "The", "coffee", "<b>on</b>", "constructor"])
    drawn = [("a b c d e f g h i j k l", "a b c d x f g h i j k l"), ("a", "b"), ("a  b", " b a ")]
    for _ in range(60):
        reference = list(generator.choice(words, generator.integers(1, LONGEST_SENTENCE + 1)))
        start = generator.integers(0, len(reference))
        own = generator.choice(words, generator.integers(0, 4))
        translation = [*reference[start:], *own, *reference[: start // 2]][:LONGEST_SENTENCE]
        drawn.append((" ".join(reference), " ".join(translation)))
    return drawn


PAIRS = pairs()


def rounded(number: float, digits: int) -> str:
    """As on the screen, where a half rounds up: 1/8 is 0.13."""
    return str(Decimal(number).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def write(page: Page, reference: str, translation: str) -> None:
    page.get_by_label("reference", exact=True).fill(reference)
    page.get_by_label("translation", exact=True).fill(translation)


def on_screen(page: Page) -> tuple[list[str], list[str]]:
    """The precisions, and below them the mean, the penalty and BLEU."""
    feet = page.locator(".lanes + .foot").all_text_contents()
    return feet, page.locator(".sentence-bleu-score > b").all_text_contents()


@pytest.mark.parametrize(("reference", "translation"), PAIRS)
def test_the_widget_counts_as_sacrebleu_does(reference: str, translation: str) -> None:
    figure = SentenceBleu(reference=reference, translation=translation)
    there = COUNTER.corpus_score([translation], [[reference]])
    found = [figure.verdicts(n) for n in (1, 2, 3, 4)]
    assert [runs.count("counts") for runs in found] == there.counts
    assert [len(runs) for runs in found] == there.totals
    assert figure.score == pytest.approx(there.score, abs=1e-9)
    assert figure.brevity == pytest.approx(there.bp)


def test_the_pairs_are_of_every_kind() -> None:
    figures = [SentenceBleu(reference=ours, translation=theirs) for ours, theirs in PAIRS]
    verdicts = {one for figure in figures for one in figure.verdicts(3)}
    assert verdicts == {"counts", "clipped", "absent"}
    assert {sum(p == 0 for p in figure.precisions) for figure in figures} == {0, 1, 2, 3, 4}
    assert sum(figure.score > 0 and figure.brevity < 1 for figure in figures) > 5


def test_a_pair_that_is_typed_shows_what_sacrebleu_computes(open_figure: Open) -> None:
    page = open_figure("sentence_bleu")
    for reference, translation in [*PAIRS[:3], *PAIRS[3::4]]:
        write(page, reference, translation)
        there = COUNTER.corpus_score([translation], [[reference]])
        parts = [c / max(t, 1) for c, t in zip(there.counts, there.totals, strict=True)]
        feet, (mean, brevity, score) = on_screen(page)
        assert feet == [
            f"{c}/{t} {'=' if t else 'as'} {rounded(part, 2)}"
            for c, t, part in zip(there.counts, there.totals, parts, strict=True)
        ]
        assert float(mean) == pytest.approx(np.prod(parts) ** 0.25, abs=5.01e-4)
        assert brevity == rounded(there.bp, 3)
        assert score == rounded(there.score, 1)
        zeros = [n for n, part in enumerate(parts, 1) if part == 0]
        note = page.locator(".sentence-bleu-note").text_content()
        assert f"n = {zeros[0]} is 0" in (note or "") if zeros else note == ""


def test_each_run_is_a_bar_along_its_words(open_figure: Open) -> None:
    page = open_figure("sentence_bleu")
    for reference, translation in PAIRS[::6]:
        write(page, reference, translation)
        words = translation.split()
        figure = SentenceBleu(reference=reference, translation=translation)
        assert page.locator(".sentence-bleu li").all_text_contents() == words
        rows = page.locator(".sentence-bleu li").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect()).map(box => [box.top, box.bottom])"
        )
        for n, lanes in enumerate(page.locator(".lanes").all(), 1):
            bars = lanes.locator(".run").evaluate_all(
                "all => all.map(one => { const box = one.getBoundingClientRect(); return ["
                " one.classList[1], one.title.split(':')[0],"
                " box.left, box.right, box.top, box.bottom] })"
            )
            assert [bar[0] for bar in bars] == figure.verdicts(n)
            assert [bar[1] for bar in bars] == [
                " ".join(words[at : at + n]) for at in range(len(words) - n + 1)
            ]
            for at, (*_, left, right, top, bottom) in enumerate(bars):
                assert rows[at][0] < top < rows[at][0] + 8
                assert rows[at + n - 1][1] - 8 < bottom < rows[at + n - 1][1]
                for *_, other_left, other_right, other_top, other_bottom in bars[:at]:
                    apart = right <= other_left or other_right <= left
                    assert apart or top >= other_bottom or other_top >= bottom


def test_the_score_is_drawn_as_the_product(open_figure: Open) -> None:
    page = open_figure("sentence_bleu")
    for translation in READY:
        write(page, SentenceBleu().reference, translation)
        figure = SentenceBleu(translation=translation)
        mean, left = figure.mean, figure.mean * figure.brevity
        widths = page.locator(".track > span").evaluate_all(
            "all => all.map(one => one.offsetWidth / one.parentElement.offsetWidth)"
        )
        np.testing.assert_allclose(widths, [mean, 0, left, mean - left, left, 0], atol=0.01)


def test_ready_translations_come_by_key_and_are_said(open_figure: Open) -> None:
    page = open_figure("sentence_bleu")
    buttons = page.get_by_role("group", name="ready translations").get_by_role("button")
    assert buttons.all_text_contents() == list(READY)
    for text, score in READY.items():
        button = page.get_by_role("button", name=text, exact=True)
        button.press("Enter")
        assert page.get_by_label("translation", exact=True).input_value() == text
        assert on_screen(page)[1][-1] == score
        assert button.get_attribute("aria-pressed") == "true"
    said = page.get_by_text("n = 4: 3 of 3. BLEU 100.0")
    said.wait_for(state="attached")
    assert said.get_attribute("aria-live") == "polite"


def test_what_cannot_be_drawn_is_refused_in_one_line(open_figure: Open) -> None:
    page = open_figure("sentence_bleu")
    before, refused = on_screen(page), page.locator(".sentence-bleu-refused")
    for name in ("reference", "translation"):
        field = page.get_by_label(name, exact=True)
        kept = field.input_value()
        for text, count in (
            ("", 0),
            ("   ", 0),
            ("word " * (LONGEST_SENTENCE + 1), LONGEST_SENTENCE + 1),
        ):
            field.fill(text)
            assert (
                f"The {name} has {count} words, and 1 to {LONGEST_SENTENCE} can be"
                in refused.inner_text()
            )
            assert on_screen(page) == before
            assert field.input_value() == text
        page.get_by_text("The picture stays as it was.").last.wait_for(state="attached")
        field.fill(kept)
        assert refused.text_content() == ""
        assert on_screen(page) == before
    write(page, "", "there is coffee")  # the other field is still taken
    assert page.locator(".sentence-bleu li").count() == 3
    assert "The reference has 0 words" in refused.inner_text()


@pytest.mark.parametrize("name", ["reference", "translation"])
@pytest.mark.parametrize("text", ["", "  ", "word " * (LONGEST_SENTENCE + 1)])
def test_the_widget_refuses_them_too(name: str, text: str) -> None:
    with pytest.raises(Exception, match=f"The {name} has {len(text.split())} words"):
        SentenceBleu(**{name: text})


def test_the_picture_has_the_numbers_of_the_opening_frame(open_figure: Open) -> None:
    picture = FIGURES["sentence_bleu"].picture(**FIGURES["sentence_bleu"].values())
    printed = [text.get_text() for text in picture.findobj(Text)]
    feet, results = on_screen(open_figure("sentence_bleu"))
    assert feet == ["4/5 = 0.80", "3/4 = 0.75", "2/3 = 0.67", "1/2 = 0.50"]
    assert results == ["0.669", "0.819", "54.8"]
    assert {*feet, *results, "fourth root of 0.200", "5 words against 6"} <= set(printed)
