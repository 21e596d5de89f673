"""The cost model against the models themselves: parameters, operations, memory; then its sums."""

import json
import random
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.flop_counter import FlopCounterMode

from course_lib.corpora.batches import Batch, make_batch
from course_lib.errors import CourseError
from course_lib.models import (
    EncoderDecoder,
    ModelConfig,
    build_model,
    count_parameters,
    model_config,
)
from course_lib.training import RECIPES, cost
from tests.conftest import Course

MODELS = [
    (model, preset)
    for model in ("rnnsearch", "rnnencdec")
    for preset in ("smoke", "cpu", "gpu", "best", "paper")
]
SIZED = {preset: model_config("rnnsearch", preset, 4, 4) for _, preset in MODELS}
SIZES = st.integers(1, 6).map(lambda k: 8 * k)


def configured(model: str, preset: str, m: int, n: int, a: int, r: int) -> ModelConfig:
    """A small model; where a preset makes its tables one, they are of one size."""
    one = SIZED[preset].tying == "all"
    sizes = {"embedding": m, "hidden": n, "alignment": a, "readout": m if one else r}
    return model_config(model, preset, 48 if one else 40, 48, **sizes)


def minibatch(config: ModelConfig, size: int, source: int, target: int) -> Batch:
    """Pairs of equal lengths, end marks to be added."""
    draw = random.Random(0)
    words = [
        (
            [draw.randrange(4, config.source_vocabulary) for _ in range(source - 1)],
            [draw.randrange(4, config.target_vocabulary) for _ in range(target - 1)],
        )
        for _ in range(size)
    ]
    return make_batch(words, range(size))


@pytest.mark.parametrize(("model", "preset"), MODELS)
def test_parameters_are_counted_exactly(model: str, preset: str) -> None:
    """`matrices` refuses where they are not; so the sum is held to the built model once more."""
    tables = ("none", "output", "all") if preset == "best" else (SIZED[preset].tying,)
    for tying in tables:
        source = 7859 if tying == "all" else 5921
        config = model_config(model, preset, source, 7859, tying=tying)
        with torch.device("meta"):
            built = EncoderDecoder(config)
        assert cost.parameters(config) == count_parameters(built)
        if tying != "none":
            apart = cost.parameters(replace(config, tying="none"))
            shared = (1 if tying == "output" else 2) * 7859 * config.embedding
            assert apart - cost.parameters(config) == shared


def test_a_model_with_other_parts_is_refused() -> None:
    for changes in (
        {"layers": 2},
        {"context": "general"},
        {"decoder": "paper-tanh-readout", "unit": "lstm"},
    ):
        with pytest.raises(CourseError, match="cost model knows"):
            cost.matrices(ModelConfig(50, 60, **changes))


@pytest.mark.parametrize(("model", "preset"), MODELS)
@settings(max_examples=4)
@given(m=SIZES, n=SIZES, a=SIZES, r=SIZES, lengths=st.tuples(st.integers(3, 7), st.integers(3, 7)))
def test_operations_are_those_that_torch_counts(
    model: str, preset: str, m: int, n: int, a: int, r: int, lengths: tuple[int, int]
) -> None:
    config = configured(model, preset, m, n, a, r)
    (t_x, t_y), size = lengths, 3
    with FlopCounterMode(display=False) as counter:
        build_model(config).loss(minibatch(config, size, t_x, t_y))
    ours = cost.forward_flops(config, size * t_x, size * t_y, size, size * t_x * t_y)
    assert sum(ours.values()) == counter.get_total_flops()


@pytest.mark.parametrize(("model", "preset"), MODELS)
@settings(max_examples=6)
@given(m=SIZES, n=SIZES, a=SIZES, r=SIZES, lengths=st.tuples(st.integers(3, 9), st.integers(3, 9)))
def test_activations_are_those_that_autograd_keeps(
    model: str, preset: str, m: int, n: int, a: int, r: int, lengths: tuple[int, int]
) -> None:
    assert_kept(configured(model, preset, m, n, a, r), *lengths)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"dropout": 0.0},
        {"tying": "output"},
        {"decoder": "conditional"},
    ],
)
def test_masks_are_counted_where_something_is_dropped(changes: dict[str, Any]) -> None:
    for model in ("rnnsearch", "rnnencdec"):
        sizes = {"embedding": 32, "hidden": 40, "alignment": 24, "readout": 32, "dropout": 0.3}
        assert_kept(model_config(model, "cpu", 40, 48, **{**sizes, **changes}), 9, 8)


def assert_kept(config: ModelConfig, t_x: int, t_y: int) -> None:
    """The formula gives what autograd keeps, but for a few numbers a word."""
    network = build_model(config)
    known = {p.untyped_storage().data_ptr() for p in network.parameters()}
    kept: dict[int, int] = {}
    alive = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in known:
            kept[storage.data_ptr()] = storage.nbytes()
            alive.append(tensor)
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        network.loss(minibatch(config, 6, t_x, t_y))
    # Masks, weights and positions, a few numbers a word, are not in the formula.
    few = 4 * 6 * (10 * (t_x + t_y) + 3 * t_x * t_y + 4 * config.hidden + 10)
    assert abs(cost.kept(config, 6, t_x, t_y) - sum(kept.values())) <= few


def test_hours_are_operations_or_words_over_their_rate() -> None:
    config = model_config("rnnsearch", "paper", 30_004, 30_004)
    work = cost.Workload(288_000, 80, *cost.PAPER_WORDS)
    assert work.words == 288_000 * 80 * 30
    by_words = cost.seconds(config, work, words=2_000)
    assert by_words == pytest.approx(345_600)
    rate = work.flops(config) / by_words
    assert cost.seconds(config, work, flops=rate) == pytest.approx(by_words)
    for wrong in ({}, {"flops": 1.0, "words": 1.0}, {"words": 0.0}):
        with pytest.raises(CourseError, match="how fast"):
            cost.seconds(config, work, **wrong)


def test_the_command_gives_hours_and_money(course: Course) -> None:
    def asked(*words: str) -> dict[str, Any]:
        return json.loads(course("cost", *words, "--json").out)

    found = asked("--words-per-second", "2000", "--price", "1.5")
    assert found["hours"] == pytest.approx(96)
    assert found["price"] == pytest.approx(144)
    assert found["memory_bytes"] == sum(found["memory"].values())
    assert found["parameters"] == cost.parameters(
        model_config("rnnsearch", "paper", 30_004, 30_004)
    )
    pieces = RECIPES["best"].subwords
    tied = model_config("rnnsearch", "best", pieces, pieces)
    found = asked("--preset", "best")  # pieces, and one table for all of them
    assert found["parameters"] == count_parameters(build_model(tied))
    text = course("cost", "--tflops", "3", "--set", "batch_size=40").out
    assert "288,000 updates of 40 pairs" in text
    assert "hours" in text
    assert "time" not in course("cost").out


@pytest.mark.parametrize(
    "words",
    [
        ("--price", "2"),
        ("--tflops", "1", "--words-per-second", "1"),
        ("--model", "luong"),
        ("--pair", "en-fr"),
    ],
)
def test_what_cannot_be_computed_is_one_line(words: tuple[str, ...], course: Course) -> None:
    done = course("cost", *words)
    assert done.status == 2
    assert done.err.startswith("course: ")
    assert done.err.count("\n") == 1
