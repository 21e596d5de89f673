"""Whose training a model is: what its weights and losses show, alone and over a class."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from course_lib.assignments import owner
from course_lib.grading.runs import boxed_inspection
from course_lib.grading.runs.comparison import inspect
from course_lib.grading.runs.evidence import (
    LEAST_ANSWERS,
    alike,
    packed,
    published_like,
    unpacked,
)
from course_lib.grading.runs.submitted_run import (
    expected_model,
    read_model,
    read_record,
    read_words,
)
from course_lib.models import build_model
from course_lib.pretrained import FOLDER
from course_lib.training import encode_pairs, load_run, mean_loss
from experiments.threats.record import FORGERIES, embeddings_turned, forge, in_another_order
from tests.grading.runs.handed_in import BOTH, DATA, NAME, STUDENT, corpus, problems


@cache
def reference() -> dict[str, Any]:
    """What is found out about the honest pair."""
    return inspect(DATA, STUDENT)


def in_class(place: Path, **found: dict[str, Any]) -> dict[str, list[str]]:
    """What is said of a class, by what was found out about each of its submissions."""
    for student, one in found.items():
        boxed_inspection.keep(one, place, NAME, student)
    return boxed_inspection.same_weights(place, NAME)


def test_a_class_without_runs_is_fine(tmp_path: Path) -> None:
    assert boxed_inspection.same_weights(tmp_path, NAME) == {}


@pytest.mark.parametrize("name", [name for name in FORGERIES if name != "own ends"])
def test_a_forged_pair_is_named_beside_the_one_it_is_made_of(name: str, tmp_path: Path) -> None:
    """However its units lie, and whatever was added; the record has all 100 updates."""
    forgery = FORGERIES[name]._replace(updates=min(FORGERIES[name].updates, 3))
    forge(forgery, DATA, DATA, tmp_path / "bela", "bela")
    found = inspect(tmp_path / "bela", "bela")
    said = in_class(tmp_path / "class", reference=reference(), bela=found)
    assert said.keys() == {"reference", "bela"}
    for remark in said["bela"]:
        assert re.search(r"is like that of reference: .* agree by (0\.[3-9]\d|1\.00) ", remark)


@pytest.mark.parametrize("name", ["copied", "a fifth"])
def test_a_run_that_holds_too_little_of_ones_own_draw_is_not_ones_own(
    name: str, tmp_path: Path
) -> None:
    forge(FORGERIES[name], DATA, DATA, tmp_path, "bela")
    found = problems(tmp_path, "bela")
    assert found.keys() == {"recipe"}
    pattern = r"the weights did not begin as the seed .* hold -?0\.[0-4]\d of that draw"
    assert re.search(pattern, found["recipe"][0])


def test_nobody_is_named_where_two_seeds_drew(folder: Path, tmp_path: Path) -> None:
    """Chance alone; the record has what two trainings share."""
    found = {}
    for student in (STUDENT, "bela"):
        for model in BOTH:
            drawn_only(folder / "comparison" / model, student)
        found[student] = inspect(folder, student)
    assert in_class(tmp_path / "class", **found) == {}


def test_another_version_of_torch_may_have_drawn_otherwise(tmp_path: Path) -> None:
    """Then too little of the draw is a remark, and costs nothing."""
    forge(FORGERIES["other torch"], DATA, DATA, tmp_path, "bela")
    found = inspect(tmp_path, "bela")
    assert not any(found["facts"]["problems"].values())
    assert any("did not begin" in remark for remark in found["remarks"])


def test_a_published_model_is_named_however_it_was_changed() -> None:
    """As it is (in 8 bits, read as handed in), its numbers in another order, with noise; and no
    other model of the same words is."""
    for name in ("multi30k-en-de-laptop-rnnencdec", "multi30k-en-fr"):
        record = read_record(FOLDER / name, name)
        words = read_words(record)
        model = read_model(record, expected_model(record, words))
        own = {name: value.clone() for name, value in model.state_dict().items()}
        for change in (
            lambda value: value,
            lambda value: value.flip(-1),
            lambda value: value + 0.05 * value.std() * torch.randn_like(value),
        ):
            model.load_state_dict({name: change(value) for name, value in own.items()})
            found = published_like(model, words)
            assert found is not None
            assert found[0] == name
            assert re.search(r"agree by (0\.9\d|1\.00) ", found[1])
        assert published_like(build_model(model.config, 1), words) is None


def drawn_only(run: Path, student: str) -> None:
    drawn = build_model(load_run(run).model.config, owner.seed(student)).state_dict()
    save_file(drawn, run / "model.safetensors")


def test_what_every_model_of_a_text_knows_names_nobody() -> None:
    """In a text of few words units of any two models fit, and those of one still fit better."""
    draw = torch.Generator().manual_seed(1)
    known = 2 * torch.randn(300, 4, generator=draw)

    def units() -> tuple[int, int, str]:
        return packed(
            "asked",
            known @ torch.randn(4, 48, generator=draw) + torch.randn(300, 48, generator=draw),
        )

    mine, theirs = units(), units()
    fit = unpacked({"states": mine})["states"][1] @ unpacked({"states": theirs})["states"][1].T
    assert fit.abs().amax(dim=1).median() > 0.72
    models = {"ada": mine, "bela": theirs, "cem": mine}
    said = alike({one: {"rnnsearch": {"states": units}} for one, units in models.items()})
    assert said.keys() == {"ada", "cem"}


@pytest.mark.parametrize("questions", [8, LEAST_ANSWERS])
def test_few_answers_that_agree_name_nobody(questions: int) -> None:
    answers = torch.randn(questions, 24)
    models = {"rnnsearch": {"states": packed("asked", answers)}}
    assert bool(alike({"ada": models, "bela": models})) == (questions == LEAST_ANSWERS)


def test_the_same_model_written_in_another_order_translates_the_same() -> None:
    for model in BOTH:
        run = load_run(DATA / "comparison" / model)
        words = (run.source_vocabulary, run.target_vocabulary)
        pairs = encode_pairs(corpus().splits["val"], words)
        before = mean_loss(run.model, pairs)
        weights = run.model.state_dict()
        turned = embeddings_turned(in_another_order(weights))
        moved = [name for name in weights if weights[name].dim() > 1]
        assert not any(torch.equal(weights[name], turned[name]) for name in moved)
        run.model.load_state_dict(turned)
        assert mean_loss(run.model, pairs) == pytest.approx(before, abs=1e-5)


def test_weights_as_drawn_are_no_training(folder: Path) -> None:
    for model in BOTH:
        drawn_only(folder / "comparison" / model, STUDENT)
    said = " ".join(problems(folder)["curves"])
    assert re.search(r"rnnsearch has not been trained: its validation loss is \d\.\d\d", said)
