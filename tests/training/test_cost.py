"""The cost model against the models themselves: parameters, operations, memory; then its sums."""

import json
import random
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


def test_what_does_not_grow_evenly_or_is_not_counted_is_refused() -> None:
    for changes in ({"encoder": "self-attention"}, {"unit": "lstm"}):
        with pytest.raises(CourseError, match="is not known"):
            cost.counted(ModelConfig(50, 60, **changes), 3, 3)


@pytest.mark.parametrize(("model", "preset"), MODELS)
@settings(max_examples=3)
@given(m=SIZES, n=SIZES, a=SIZES, r=SIZES, lengths=st.tuples(st.integers(3, 9), st.integers(3, 9)))
def test_four_short_minibatches_tell_the_cost_of_longer_ones(
    model: str, preset: str, m: int, n: int, a: int, r: int, lengths: tuple[int, int]
) -> None:
    config = configured(model, preset, m, n, a, r)
    (t_x, t_y), size = lengths, 3
    with FlopCounterMode(display=False) as counter:
        build_model(config).loss(minibatch(config, size, t_x, t_y))
    assert size * cost.of_pair(config, t_x, t_y).operations == counter.get_total_flops()
    assert_kept(config, t_x, t_y)


@pytest.mark.parametrize("changes", [{}, {"dropout": 0.0}, {"decoder": "luong"}, {"layers": 2}])
def test_so_they_do_with_masks_and_for_relatives(changes: dict[str, Any]) -> None:
    for model in ("rnnsearch", "rnnencdec"):
        sizes = {"embedding": 32, "hidden": 40, "alignment": 24, "readout": 32, "dropout": 0.3}
        assert_kept(model_config(model, "cpu", 40, 48, **{**sizes, **changes}), 9, 8)


def assert_kept(config: ModelConfig, t_x: int, t_y: int) -> None:
    """What autograd keeps of six pairs is foretold, but for a few numbers a word."""
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
    few = 4 * 6 * (10 * (t_x + t_y) + 3 * t_x * t_y + 4 * config.hidden + 10)
    assert abs(6 * cost.of_pair(config, t_x, t_y).kept - sum(kept.values())) <= few


def test_the_command_gives_hours_and_money(course: Course) -> None:
    def asked(*words: str) -> dict[str, Any]:
        return json.loads(course("cost", *words, "--json").out)

    found = asked("--words-per-second", "2000", "--price", "1.5")
    assert found["hours"] == pytest.approx(288_000 * 80 * 30 / 2000 / 3600)
    assert found["price"] == pytest.approx(144)
    tflops = found["flops"] / 1e12 / 3600 / 96
    assert asked("--tflops", f"{tflops}")["hours"] == pytest.approx(96)
    assert found["memory_bytes"] == sum(found["memory"].values())
    assert found["parameters"] == cost.parameters(
        model_config("rnnsearch", "paper", 30_004, 30_004)
    )
    pieces = RECIPES["best"].subwords
    tied = model_config("rnnsearch", "best", pieces, pieces)
    found = asked("--preset", "best")  # pieces, and one table for all of them
    assert found["parameters"] == count_parameters(build_model(tied))
    halves, fewer = (asked("--set", x) for x in ("accumulation=2", "batch_size=40"))
    assert halves["memory"] == fewer["memory"] != asked()["memory"]
    text = course("cost", "--tflops", "3", "--set", "batch_size=40").out
    assert "288,000 updates of 40 pairs" in text
    assert "hours" in text
    assert "time" not in course("cost").out


@pytest.mark.parametrize(
    "words",
    [
        ("--price", "2"),
        ("--tflops", "1", "--words-per-second", "1"),
        ("--model", "sutskever"),
        ("--pair", "en-fr"),
    ],
)
def test_what_cannot_be_computed_is_one_line(words: tuple[str, ...], course: Course) -> None:
    assert course("cost", *words).refused("")
