"""The attention stepper: the recorded numbers on the screen, and the model's own behind them."""

import json
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Page

from course_lib.errors import CourseError
from course_lib.evaluation.steps import decoding_steps
from course_lib.files import sha256_of
from course_lib.models import ModelConfig, build_model
from course_lib.training import load_run
from course_lib.widgets import AttentionStepper
from course_lib.widgets.stepper import recorded_steps

Open = Callable[..., Page]
GIVEN = Path(__file__).resolve().parents[2] / "exercises" / "heatmap_analysis" / "model"


@pytest.fixture
def content(recorded: dict[str, Path]) -> dict[str, Any]:
    text = recorded["attention_stepper"].read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def shown(number: float, digits: str) -> str:
    """A number as the page prints it: rounded as a browser does, with a real minus sign."""
    text = str(Decimal(number).quantize(Decimal(digits), ROUND_HALF_UP))
    return text.replace("-", "−") if float(text) else digits.replace("1", "0")


def test_the_recorded_toy_translations_are_the_given_models_own(content: dict[str, Any]) -> None:
    assert content["runs"]["toy RNNsearch"]["model_sha256"] == sha256_of(
        GIVEN / "model.safetensors"
    )
    run = load_run(GIVEN, "cpu")
    toy = [s for s in content["figure"]["sentences"] if not s["label"].startswith("Multi30k")]
    assert len(toy) == 3
    for sentence in toy:
        [kept] = sentence["models"]
        again = recorded_steps(run, sentence["source"][:-1], kept["name"])
        assert again["target"] == kept["target"]
        for key, atol in (("alpha", 2e-3), ("energies", 2e-2)):
            assert np.allclose(again[key], kept[key], atol=atol)
        assert kept["gold"], "its translation is the reference"


def test_every_step_of_every_sentence_is_on_the_screen(
    open_figure: Open, content: dict[str, Any]
) -> None:
    page = open_figure("attention_stepper")
    for sentence in content["figure"]["sentences"]:
        page.get_by_label("sentence").select_option(label=sentence["label"])
        for model in sentence["models"]:
            page.get_by_label("model", exact=True).select_option(model["name"])
            page.get_by_label("beside it").select_option("")
            page.locator(".stepper").press("Home")
            for i in range(len(model["target"])):
                page.get_by_role("button", name="next word").click()
                seen = page.evaluate(
                    "() => [['.source .role-weight', '.source .role-energy',"
                    " '.stepper-next td:nth-child(2)', '.stepper-next th', '.target .now']].flat()"
                    ".map(s => [...document.querySelectorAll(s)].map(e => e.textContent))"
                )
                weights, energies, probabilities, words, now = seen
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
    [model] = sentence["models"]
    panel = page.locator(".stepper-panel canvas")
    for key, step in (("End", len(model["target"])), ("Home", 0), ("ArrowDown", 1)):
        panel.press(key)
        assert page.get_by_text(f"{step} of {len(model['target'])}").is_visible()
    panel.press("ArrowRight")
    panel.press("ArrowRight")
    reading = page.locator(".stepper-reading")
    weight = shown(model["alpha"][0][1], "0.001")
    assert f"{model['target'][0]} looks at {sentence['source'][1]}: α = {weight}" in (
        reading.inner_text()
    )
    page.get_by_role("button", name="play").click()
    page.get_by_text(f"3 of {len(model['target'])}").wait_for(timeout=10_000)
    page.get_by_role("button", name="pause").click()
    page.wait_for_function("() => document.querySelector('[aria-live]').textContent")
    said = page.locator("[aria-live=polite]").inner_text()
    assert said.startswith("RNNsearch writes")
    slider = page.get_by_role("slider", name="words written")
    slider.press("End")
    box = panel.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] - 4, box["y"] + box["height"] - 4)
    assert "</s> looks at </s>" in reading.inner_text()
    assert "Outlined" not in reading.inner_text()


def test_two_models_are_compared(open_figure: Open, content: dict[str, Any]) -> None:
    captions = [s for s in content["figure"]["sentences"] if s["label"].startswith("Multi30k")]
    page = open_figure("attention_stepper")
    page.get_by_label("sentence").select_option(label=captions[0]["label"])
    page.locator(".stepper-panel canvas").first.press("End")
    titles = page.locator(".stepper-panel .moving-title").all_inner_texts()
    assert titles == ["RNNsearch", "RNNencdec"]
    lines = page.locator(".stepper-words.target").all_inner_texts()
    for line, model in zip(lines, captions[0]["models"], strict=True):
        assert line.split() == model["target"]


def test_the_chapter_says_what_was_recorded(content: dict[str, Any]) -> None:
    separable, *_, caption, _ = content["figure"]["sentences"]
    looked = {}
    for sentence in (separable, caption):
        model = sentence["models"][0]
        best = np.array(model["alpha"]).argmax(axis=1)
        looked |= {
            word: sentence["source"][j] for word, j in zip(model["target"], best, strict=True)
        }
    assert (looked["zurück"], looked["kommt"], looked["kocht"]) == ("back", "coming", "cooking")
    searching, fixed = caption["models"]
    assert searching["target"][:3] == ["ein", "kleinkind", "kocht"]
    assert fixed["target"][:3] == ["ein", "kleinkind", "spricht"]
    assert fixed["alpha"] is None


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
    figure = AttentionStepper(run, "the dog sleeps .")
    assert figure.selected == {"word": None, "alpha": None, "energies": None, "next": []}
    figure.step = 2
    kept = figure.sentences[0]["models"][0]
    assert figure.selected["word"] == kept["target"][1]
    assert sum(figure.selected["alpha"]) == pytest.approx(1, abs=0.01)
    with pytest.raises(CourseError, match="nothing to translate"):
        AttentionStepper(run)
