"""The bottleneck explorer: the recorded numbers on the screen, and the models behind them."""

from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from course_lib.corpora import load_corpus
from course_lib.evaluation.accuracy import accuracy_by_length, tokens_right
from course_lib.files import sha256_of
from course_lib.records import read_record, record_path
from course_lib.search import translate
from course_lib.training import Run, load_run
from course_lib.widgets import BottleneckExplorer
from tests.widgets.conftest import Open

BOOK = Path(__file__).resolve().parents[2] / "book"
GIVEN = record_path("bottleneck-explorer").parent / "explorer"
SEEN_ON_SCREEN = """sizes => sizes.map(([size, lengths]) => {
  const [length, width] = document.querySelectorAll('input[type=range]');
  const set = (slider, value) => {
    slider.value = value;
    slider.dispatchEvent(new Event('input'));
  };
  set(width, size);
  return lengths.map(at => {
    set(length, at);
    const texts = (selector, part = document) =>
      [...part.querySelectorAll(selector)].map(one => one.textContent);
    return {
      shares: texts('.explorer-card b'),
      each: texts('.explorer-each'),
      where: texts('.explorer-where')[0],
      rows: [...document.querySelectorAll('dd')].map(row => ({
        words: texts('.token', row), wrong: texts('.token.wrong', row),
      })),
      notes: texts('.explorer-note'),
    };
  });
})"""


@pytest.fixture(scope="module")
def content() -> dict[str, Any]:
    return read_record("bottleneck-explorer")


def whole(number: float) -> str:
    """Without decimals, rounded as a browser does."""
    return str(Decimal(number).quantize(Decimal(1), ROUND_HALF_UP))


def test_every_length_of_every_size_is_on_the_screen(
    open_figure: Open, content: dict[str, Any]
) -> None:
    figure = content["figure"]
    page = open_figure("bottleneck")
    places = list(range(len(figure["lengths"])))
    seen = page.evaluate(SEEN_ON_SCREEN, [[at, places] for at in range(len(figure["sizes"]))])
    for at, rows in enumerate(seen):
        for k, shown in enumerate(rows):
            trainings = [[run[k] for run in by_size[at]] for by_size in figure["accuracy"].values()]
            assert shown["shares"] == [f"{whole(sum(each) / len(each))}%" for each in trainings]
            for text, each in zip(shown["each"], trainings, strict=True):
                assert text.split(": ")[-1].split(", ") == [whole(one) for one in each] or (
                    len(each) == 1 and text == "one training"
                )
            length, size = figure["lengths"][k], figure["sizes"][at]
            said = f"{figure['sentences'][k]} sentences of {length} words, {size} numbers a state"
            assert shown["where"].startswith(said)
            assert ("Training ended at 20 words" in shown["where"]) == (length > 20)
            example = figure["examples"][k]
            source, reference, *written = shown["rows"]
            assert source == {"words": example["source"], "wrong": []}
            assert reference == {"words": example["reference"], "wrong": []}
            for row, by_size, note in zip(
                written, example["written"].values(), shown["notes"][2:], strict=True
            ):
                right = tokens_right(by_size[at], example["reference"])
                assert note == f" {right} of {length} right"
                assert len(row["words"]) == max(length, len(by_size[at]))
                assert len(row["words"]) - len(row["wrong"]) == right
                assert all(word.endswith((" (wrong) ", " (missing) ")) for word in row["wrong"])


def test_keys_and_pointing_move_it_and_screen_readers_hear_it(
    open_figure: Open, content: dict[str, Any]
) -> None:
    lengths = content["figure"]["lengths"]
    page = open_figure("bottleneck")
    length = page.get_by_role("slider", name="source length")
    size = page.get_by_role("slider", name="state size")
    length.press("Home")
    assert length.get_attribute("aria-valuetext") == f"{lengths[0]} words"
    length.press("ArrowRight")
    assert length.get_attribute("aria-valuetext") == f"{lengths[1]} words"
    length.press("End")
    assert "longer than any in training" in (length.get_attribute("aria-valuetext") or "")
    size.press("Home")
    assert size.get_attribute("aria-valuetext") == f"{content['figure']['sizes'][0]} numbers"
    chart = page.get_by_role("img", name="Tokens right against source length")
    assert "never seen in training" in (chart.get_attribute("aria-label") or "")
    box = chart.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] - 20, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 2, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    assert length.input_value() == "0"
    said = f"{lengths[0]} words, {content['figure']['sizes'][0]} numbers a state"
    page.locator("[aria-live=polite]", has_text=said).wait_for(state="attached")


def test_the_widget_reads_out_what_is_shown(content: dict[str, Any]) -> None:
    widget = BottleneckExplorer.recorded(record_path("bottleneck-explorer"))
    figure = content["figure"]
    widget.length, widget.size = figure["lengths"][-1], figure["sizes"][-1]
    selected = widget.selected
    assert selected["source"] == figure["examples"][-1]["source"]
    assert selected["written"]["RNNsearch"] == figure["examples"][-1]["written"]["RNNsearch"][-1]
    last = [training[-1] for training in figure["accuracy"]["RNNencdec"][-1]]
    assert selected["tokens"]["RNNencdec"] == pytest.approx(np.mean(last))
    with pytest.raises(Exception, match=r"length is one of \[4, 5"):
        widget.length = 3
    with pytest.raises(Exception, match="size is one of"):
        widget.size = 65


def test_the_chapter_says_what_was_recorded(content: dict[str, Any]) -> None:
    figure = content["figure"]

    def right(name: str, size: int, length: int) -> str:
        [training] = figure["accuracy"][name][figure["sizes"].index(size)]
        return whole(training[figure["lengths"].index(length)])

    text = " ".join((BOOK / "01-bottleneck.md").read_text(encoding="utf-8").split())
    smallest, *between, last = (right("RNNencdec", size, 16) for size in figure["sizes"])
    assert f"has {smallest}%, {'%, '.join(between)}% and {last}% of the words right" in text
    assert min(figure["accuracy"]["RNNsearch"][0][0][: 20 - 4 + 1]) > 99.5
    assert f"falls to {right('RNNsearch', 64, 30)} at 30" in text
    falls = [right("RNNencdec", 64, length) for length in (16, 20, 30)]
    assert f"is at {falls[0]} at 16 words, at {falls[1]} at 20 and at {falls[2]} at 30" in text
    assert figure["updates"] == 2500
    assert figure["trained"] == [4, 20]
    assert {told["changes"]["corpus.train"] for told in content["runs"].values()} == {40_000}


# --- the models behind it -------------------------------------------------------------------------


def given(content: dict[str, Any]) -> dict[tuple[str, int], Run]:
    """The models that lie beside the numbers."""
    figure = content["figure"]
    return {
        (name, at): load_run(GIVEN / f"{name.lower()}-n{size}", "cpu")
        for name in figure["accuracy"]
        for at, size in enumerate(figure["sizes"])
    }


def translated(run: Run, sources: list[list[str]]) -> list[list[str]]:
    encoded = [run.source_vocabulary.encode(words) for words in sources]
    return [run.target_vocabulary.decode(one.tokens) for one in translate(run.model, encoded, k=1)]


def test_the_translations_are_the_recorded_models_own(content: dict[str, Any]) -> None:
    torch.set_num_threads(1)
    examples = content["figure"]["examples"]
    for (name, at), run in given(content).items():
        told = content["runs"][f"{name} n{content['figure']['sizes'][at]} seed0"]
        assert told["model_sha256"] == sha256_of(run.path / "model.safetensors")
        assert told["changes"] == run.config.changes
        written = translated(run, [example["source"] for example in examples])
        assert written == [example["written"][name][at] for example in examples]


@pytest.mark.parametrize("at", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2, 3))])
def test_the_models_still_get_as_much_right(content: dict[str, Any], at: int) -> None:
    """Those of one size, measured again."""
    torch.set_num_threads(1)
    figure = content["figure"]
    some = load_run(GIVEN / f"rnnsearch-n{figure['sizes'][at]}", "cpu").config
    seen = load_corpus(some.corpus, some.pair, **some.corpus_options)
    assert seen.sha256["generator"] == content["sentences_sha256"]["seen"]
    longer = load_corpus(some.corpus, some.pair, **content["longer"])
    assert longer.sha256["generator"] == content["sentences_sha256"]["longer"]
    sources, targets = (
        getattr(seen.splits["test"], side) + getattr(longer.splits["test"], side)
        for side in ("source", "target")
    )
    for name in figure["accuracy"]:
        run = load_run(GIVEN / f"{name.lower()}-n{figure['sizes'][at]}", "cpu")
        rows = accuracy_by_length(translated(run, sources), targets, list(map(len, sources)))
        assert [row["lower"] for row in rows] == figure["lengths"]
        assert [row["sentences"] for row in rows] == figure["sentences"]
        shares = [row["tokens"] for row in rows]
        assert figure["accuracy"][name][at][0] == pytest.approx(shares, abs=0.5)
