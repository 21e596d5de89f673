"""Whose training a model is: what its weights and losses show, alone and over a class."""

import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from course_lib.assignments import owner
from course_lib.corpora.vocabulary import BOS, EOS
from course_lib.grading.runs import boxed_inspection
from course_lib.grading.runs.comparison import inspect
from course_lib.models import build_model
from course_lib.training import load_run
from tests.grading.runs.handed_in import (
    BOTH,
    DATA,
    NAME,
    STUDENT,
    Change,
    edit_config,
    edit_result,
    problems,
)


def in_class(place: Path, **folders: Path) -> dict[str, list[str]]:
    """What is said of a class, once each of its submissions has been examined."""
    for student, folder in folders.items():
        boxed_inspection.keep(inspect(folder, student), place, NAME, student)
    return boxed_inspection.same_weights(place, NAME)


def test_a_class_without_runs_is_fine(tmp_path: Path) -> None:
    assert boxed_inspection.same_weights(tmp_path, NAME) == {}


FORGERIES: dict[str, Change] = {}
"""By what is done to a neighbour's runs, under an edited seed, so that they look like one's own."""


def forgery(change: Change) -> Change:
    FORGERIES[change.__name__] = change
    return change


def mixed(place: Path, share: float) -> None:
    """Add so much of one's own draw to every weight."""
    for model in BOTH:
        loaded = load_run(place / model)
        drawn = build_model(loaded.model.config, owner.seed("bela")).state_dict()
        save_file(
            {name: value + share * drawn[name] for name, value in weights_of(place / model)},
            place / model / "model.safetensors",
        )


@forgery
def as_it_is(place: Path) -> None:
    """Nothing but the seed."""


@forgery
def embeddings_redrawn(place: Path) -> None:
    for model in BOTH:
        loaded = load_run(place / model)
        drawn = build_model(loaded.model.config, owner.seed("bela")).state_dict()
        tensors = dict(weights_of(place / model))
        tensors["encoder.E.weight"][BOS] = drawn["encoder.E.weight"][BOS]
        tensors["decoder.E.weight"][EOS] = drawn["decoder.E.weight"][EOS]
        tensors["decoder.W_o.bias"][-1] += 0.01
        save_file(tensors, place / model / "model.safetensors")


@forgery
def two_percent_of_a_draw(place: Path) -> None:
    mixed(place, 0.02)


@forgery
def a_fifth_of_a_draw(place: Path) -> None:
    mixed(place, 0.2)


@forgery
def units_in_another_order(place: Path) -> None:
    """The same function of its inputs, with the alignment model's hidden units turned round."""
    run = place / "rnnsearch"
    tensors = dict(weights_of(run))
    for name in ("W_a.weight", "U_a.weight", "v_a.weight"):
        name = f"decoder.context.score.{name}"
        tensors[name] = tensors[name].flip(1 if name.endswith("v_a.weight") else 0).contiguous()
    save_file(tensors, run / "model.safetensors")


def weights_of(run: Path) -> list[tuple[str, torch.Tensor]]:
    return list(load_file(run / "model.safetensors").items())


@pytest.mark.parametrize("name", FORGERIES)
def test_a_neighbours_runs_are_named_with_a_figure(name: str, folder: Path, tmp_path: Path) -> None:
    """The draw of one's own seed is missing, and whoever trained them is found in the class."""
    FORGERIES[name](folder / "comparison")
    for model in BOTH:
        for edit in (edit_config, edit_result):
            edit(folder / "comparison" / model, seed=owner.seed("bela"))
    found = inspect(folder, "bela")
    assert re.search(
        r"the weights did not begin as the seed .* hold -?0\.[0-4]\d of that draw",
        " ".join(found["facts"]["problems"]["recipe"]),
    )
    said = in_class(tmp_path / "class", reference=DATA, bela=folder)
    assert said.keys() == {"reference", "bela"}
    assert re.search(r"cosine \d\.\d|are \d+\.\d % apart", said["bela"][0])
    assert "is like that of reference" in said["bela"][0]


def test_weights_as_drawn_are_no_training(folder: Path) -> None:
    for model in BOTH:
        loaded = load_run(folder / "comparison" / model)
        drawn = build_model(loaded.model.config, owner.seed(STUDENT)).state_dict()
        save_file(drawn, folder / "comparison" / model / "model.safetensors")
    said = " ".join(problems(folder)["curves"])
    assert re.search(r"rnnsearch has not been trained: its validation loss is \d\.\d\d", said)
