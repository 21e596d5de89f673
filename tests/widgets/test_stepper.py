"""The attention stepper: the recorded numbers on the screen, and the model's own behind them."""

from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from course_lib.corpora.subwords import WORD_START, Pieces
from course_lib.errors import CourseError
from course_lib.evaluation.decoding_steps import decoding_steps
from course_lib.models import ModelConfig, build_model
from course_lib.records import read_record
from course_lib.training import Run, RunConfig, load_run
from course_lib.widgets import AttentionStepper
from course_lib.widgets.stepper import recorded_steps
from tests.widgets.conftest import Open

GIVEN = Path(__file__).resolve().parents[2] / "exercises" / "heatmap_analysis" / "model"


@pytest.fixture(scope="module")
def content() -> dict[str, Any]:
    return read_record("attention-stepper")


def shown(number: float, digits: str) -> str:
    """A number as the page prints it: rounded as a browser does, with a real minus sign."""
    text = str(Decimal(number).quantize(Decimal(digits), ROUND_HALF_UP))
    return text.replace("-", "−") if float(text) else digits.replace("1", "0")


def numbers(texts: list[str]) -> list[float]:
    return [float(text.replace("−", "-")) for text in texts]


def test_the_recorded_toy_translations_are_the_given_models_own(content: dict[str, Any]) -> None:
    run = load_run(GIVEN, "cpu")
    toy = content["figure"]["sentences"][:3]
    for sentence in toy:
        kept = sentence["models"][0]
        again = recorded_steps(run, sentence["source"][:-1], kept["name"])
        assert again["target"] == kept["target"]
        for key in ("alpha", "energies"):
            assert np.allclose(again[key], kept[key], atol=1e-3)
        assert kept["gold"], "its translation is the reference"


READ = """() => {
  const figure = document.querySelector('.stepper');
  const texts = (at) => [...figure.querySelectorAll(at)].map((found) => found.textContent);
  const [, , , forward] = figure.querySelectorAll('button');
  return texts('.target b').map(() => {
    forward.click();
    return ['.source .role-weight', '.source .role-energy', '.stepper-next td:nth-child(2)',
            '.stepper-next th', '.target .now'].map(texts);
  });
}"""
"""Steps through the one model that is shown; of each step what is on the screen."""


def test_every_step_of_every_sentence_is_on_the_screen(
    open_figure: Open, content: dict[str, Any]
) -> None:
    page = open_figure("attention_stepper")
    for sentence in content["figure"]["sentences"]:
        page.get_by_label("sentence").select_option(label=sentence["label"])
        for model in sentence["models"]:
            page.get_by_label("model", exact=True).select_option(model["name"])
            page.get_by_label("beside it").select_option("")
            page.get_by_role("button", name="to the beginning").click()
            steps = page.evaluate(READ)
            assert len(steps) == len(model["target"])
            for i, (weights, energies, probabilities, words, now) in enumerate(steps):
                assert now == [model["target"][i]]
                assert words == [word for word, _ in model["next"][i]]
                assert probabilities == [shown(p, "0.001") for _, p in model["next"][i]]
                if model["alpha"]:
                    assert weights == [shown(a, "0.01") for a in model["alpha"][i]]
                    assert energies == [shown(e, "0.1") for e in model["energies"][i]]
                else:
                    assert set(weights) == {""}
                    assert page.get_by_text("has no weights, so there").is_visible()


def test_keys_play_slider_and_pointing(open_figure: Open, content: dict[str, Any]) -> None:
    page = open_figure("attention_stepper")
    sentence = content["figure"]["sentences"][0]
    model = sentence["models"][0]
    count = len(model["target"])
    panel = page.locator(".weights-map")
    for key, step in (("End", count), ("Home", 0), ("ArrowDown", 1)):
        panel.press(key)
        assert page.get_by_text(f"{step} of {count}").is_visible()
    panel.press("ArrowRight")
    panel.press("ArrowRight")
    reading = page.locator(".stepper-reading")
    chosen = f"{model['target'][0]} looks at {sentence['source'][1]}: α = "
    assert chosen + shown(model["alpha"][0][1], "0.001") in reading.inner_text()
    assert page.locator(".source .asked b").inner_text() == sentence["source"][1]
    page.clock.install()  # a page that plays goes on while a busy machine looks elsewhere
    panel.press(" ")
    page.clock.run_for(2000)
    assert page.get_by_text(f"3 of {count}").is_visible()
    assert page.evaluate("() => document.getAnimations().length") == 0
    page.get_by_role("button", name="pause").click()
    page.clock.run_for(2000)
    assert page.get_by_text(f"3 of {count}").is_visible()
    said = page.locator("[aria-live=polite]").inner_text()
    assert said.startswith("RNNsearch writes")
    slider = page.get_by_role("slider", name="words written")
    slider.press("End")
    page.locator(".map-row").last.locator("rect").nth(len(sentence["source"]) - 1).hover()
    assert "</s> looks at </s>" in reading.inner_text()
    page.mouse.move(0, 0)
    assert f"</s> looks at {sentence['source'][1]}" in reading.inner_text()


def test_dragging_the_slider_and_touching_a_cell(
    open_figure: Open, content: dict[str, Any]
) -> None:
    sentence = content["figure"]["sentences"][0]
    model = sentence["models"][0]
    page = open_figure("attention_stepper")
    slider = page.get_by_role("slider", name="words written")
    box = slider.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, middle, steps=4)
    seen = page.locator(".stepper-count").inner_text()
    page.mouse.move(box["x"] + box["width"] + 20, middle, steps=4)
    page.mouse.up()
    count = len(model["target"])
    assert seen == f"word {count // 2} of {count}"
    assert page.locator(".stepper-count").inner_text() == f"word {count} of {count}"
    last = len(sentence["source"]) - 1
    page.locator(".map-row").last.locator("rect").nth(last).tap()
    assert "</s> looks at </s>" in page.locator(".stepper-reading").inner_text()
    page.locator(".map-row").nth(count - 4).locator("rect").nth(last).tap()
    assert page.locator(".stepper-count").inner_text() == f"word {count - 3} of {count}"
    assert f"{model['target'][-4]} looks at </s>" in page.locator(".stepper-reading").inner_text()


def test_models_are_compared(open_figure: Open, content: dict[str, Any]) -> None:
    page = open_figure("attention_stepper")
    for sentence in content["figure"]["sentences"][:4]:
        page.get_by_label("sentence").select_option(label=sentence["label"])
        for other in sentence["models"][1:]:
            page.get_by_label("beside it").select_option(other["name"])
            page.locator(".weights-map").first.press("End")
            pair = [sentence["models"][0], other]
            titles = page.locator(".stepper-panel .moving-title").all_inner_texts()
            assert titles == [model["name"] for model in pair]
            lines = page.locator(".stepper-words.target").all_inner_texts()
            assert [line.split() for line in lines] == [model["target"] for model in pair]
            drawn = page.locator(".weights-map:visible").count()
            assert drawn == sum(model["alpha"] is not None for model in pair)


def test_pieces_of_words_are_joined(open_figure: Open) -> None:
    model = {
        "name": "pieces",
        "source": ["▁the", "▁bo", "ston", "</s>"],
        "target": ["▁bo", "ston", "▁", "</s>"],
        "alpha": [[0.25] * 4] * 4,
        "energies": [[0.0] * 4] * 4,
        "next": [[["▁ein", 0.5], ["ston", 0.25]]] * 4,
    }
    sentence = {"label": "one", "source": ["the", "boston", "</s>"], "models": [model]}
    values = {"sentences": [sentence], "sentence": 0, "step": 1, "first": "pieces", "second": ""}
    page = open_figure("attention_stepper", {**values, "looked_at": -1})
    assert page.locator(".source b").all_inner_texts() == ["the", "bo", "·ston", "</s>"]
    assert page.locator(".source .joined").all_inner_texts()[0].startswith("·ston")
    assert page.locator(".target b").all_text_contents() == ["bo", "·ston", "▁", "</s>"]
    assert page.locator(".stepper-next th:visible").all_inner_texts() == ["ein", "ston"]


def test_the_chapter_says_what_was_recorded(content: dict[str, Any]) -> None:
    separable, _, _, _, caption, french = content["figure"]["sentences"]

    def looked(sentence: dict[str, Any], name: str = "RNNsearch") -> dict[str, str]:
        model = next(one for one in sentence["models"] if one["name"] == name)
        best = np.array(model["alpha"]).argmax(axis=1)
        return {w: sentence["source"][j] for w, j in zip(model["target"], best, strict=True)}

    both_ways = looked(separable)
    assert (both_ways["zurück"], both_ways["kommt"]) == ("back", "coming")
    assert both_ways["der"] == "the"
    for forwards in ("dot product, reads forwards", "additive, reads forwards"):
        assert looked(separable, forwards)["der"] == "dog"
    assert len({tuple(model["target"]) for model in separable["models"]}) == 1
    first, other = (np.array(separable["models"][k]["alpha"]) for k in (0, 2))
    words = separable["models"][0]["target"][:-2]  # before the full stop and the end mark
    assert words[abs(first - other).sum(axis=1)[:-2].argmax()] == "der"
    assert looked(caption)["zaun"] == "fence"
    searching, fixed = caption["models"]
    for model, white in ((searching, "zaun"), (fixed, "gebäude")):
        assert ["vor", "einem", "weißen", white] in [model["target"][i : i + 4] for i in range(10)]
    assert fixed["alpha"] is None
    [model] = french["models"]
    assert model["target"][4:7] == ["petite", "statue", "blanche"]
    assert french["source"][5:8] == ["small", "white", "statue"]
    for word, source in (("petite", "small"), ("statue", "statue"), ("blanche", "white")):
        assert looked(french)[word] == source


def test_the_steps_are_those_of_the_decoder() -> None:
    sizes = {"embedding": 6, "hidden": 6, "alignment": 6, "readout": 6}
    for context in ("additive", "fixed"):
        config = ModelConfig(source_vocabulary=9, target_vocabulary=8, context=context, **sizes)
        model = build_model(config, seed=1).train()
        steps = decoding_steps(model, [4, 5, 6], [4, 7], count=8)
        assert model.training
        assert steps.probabilities.shape == (3, 8)
        assert torch.allclose(steps.probabilities.sum(dim=1), torch.ones(3))
        assert (steps.probabilities.diff(dim=1) <= 0).all()
        if context == "fixed":
            assert steps.alpha is None
            assert steps.energies is None
        else:
            assert steps.alpha is not None
            assert steps.energies is not None
            assert steps.alpha.shape == (3, 4)
            assert torch.allclose(steps.alpha, steps.energies.softmax(dim=1))


def test_an_own_model_and_the_selection_in_python() -> None:
    run = load_run(GIVEN, "cpu")
    quoted = AttentionStepper(run, "the dog &apos;s bowl")
    assert quoted.sentences[0]["source"][2] == "'s"
    figure = AttentionStepper(run, "the dog sleeps .")
    source = ["the", "dog", "sleeps", ".", "</s>"]
    nothing = {"alpha": None, "energies": None, "next": []}
    assert figure.selected == {"word": None, "source": source, **nothing, "looked_at": None}
    figure.step, figure.looked_at = 2, 1
    kept = figure.sentences[0]["models"][0]
    assert figure.selected["word"] == kept["target"][1]
    assert figure.selected["looked_at"] == "dog"
    assert sum(figure.selected["alpha"]) == pytest.approx(1, abs=0.001)
    figure.first = "of another sentence"
    assert figure.selected["word"] == kept["target"][1]
    with pytest.raises(CourseError, match="nothing to translate"):
        AttentionStepper(run)


def test_a_model_of_pieces_shows_its_pieces() -> None:
    pieces = Pieces.learn([["the", "dogs", "sleep"], ["the", "donkey", "sleeps"]], size=40)
    sizes = {"embedding": 6, "hidden": 6, "alignment": 6, "readout": 6}
    model = build_model(ModelConfig(len(pieces), len(pieces), **sizes), seed=1)
    run = Run(Path("own"), RunConfig("rnnsearch", "toy"), model.eval(), pieces, pieces)
    figure = AttentionStepper(run, "the donkeys sleep")
    [shown] = figure.sentences[0]["models"]
    assert "".join(shown["source"][:-1]).split(WORD_START) == ["", "the", "donkeys", "sleep"]
    assert len(shown["source"]) == 5
    assert {len(row) for row in shown["alpha"]} == {len(shown["source"])}
    assert figure.selected["source"] == shown["source"]
