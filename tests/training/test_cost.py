"""The cost model against the models themselves: parameters, operations, memory; then its sums."""

import json
import random
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.flop_counter import FlopCounterMode

from course_lib.cli import main
from course_lib.corpora.batches import Batch, make_batch
from course_lib.errors import CourseError
from course_lib.models import (
    EncoderDecoder,
    ModelConfig,
    build_model,
    count_parameters,
    model_config,
)
from course_lib.training import cost

MODELS = [
    (model, preset)
    for model in ("rnnsearch", "rnnencdec")
    for preset in ("smoke", "cpu", "gpu", "paper")
]
SIZES = st.integers(1, 6).map(lambda k: 8 * k)


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
    config = model_config(model, preset, 5921, 7859)
    with torch.device("meta"):
        built = EncoderDecoder(config)
    assert cost.parameters(config) == count_parameters(built)


def test_a_model_with_other_parts_is_refused() -> None:
    for changes in ({"layers": 2}, {"context": "general"}, {"output": "tanh", "unit": "lstm"}):
        with pytest.raises(CourseError, match="cost model knows"):
            cost.matrices(ModelConfig(50, 60, **changes))


@pytest.mark.parametrize(("model", "preset"), MODELS)
@settings(max_examples=4, deadline=None)
@given(m=SIZES, n=SIZES, a=SIZES, r=SIZES, lengths=st.tuples(st.integers(3, 7), st.integers(3, 7)))
def test_operations_are_those_that_torch_counts(
    model: str, preset: str, m: int, n: int, a: int, r: int, lengths: tuple[int, int]
) -> None:
    sizes = {"embedding": m, "hidden": n, "alignment": a, "readout": r}
    config = model_config(model, preset, 40, 48, **sizes)
    (t_x, t_y), size = lengths, 3
    with FlopCounterMode(display=False) as counter:
        build_model(config).loss(minibatch(config, size, t_x, t_y))
    ours = cost.forward_flops(config, size * t_x, size * t_y, size, size * t_x * t_y)
    assert sum(ours.values()) == counter.get_total_flops()


@pytest.mark.parametrize(("model", "preset"), MODELS)
@settings(max_examples=6, deadline=None)
@given(m=SIZES, n=SIZES, a=SIZES, r=SIZES, lengths=st.tuples(st.integers(3, 9), st.integers(3, 9)))
def test_activations_are_those_that_autograd_keeps(
    model: str, preset: str, m: int, n: int, a: int, r: int, lengths: tuple[int, int]
) -> None:
    sizes = {"embedding": m, "hidden": n, "alignment": a, "readout": r}
    config = model_config(model, preset, 40, 48, **sizes)
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

    t_x, t_y = lengths
    with saved_tensors_hooks(pack, lambda tensor: tensor):
        network.loss(minibatch(config, 6, t_x, t_y))
    # Masks, weights and positions, a few numbers a word, are not in the formula.
    few = 4 * 6 * (10 * (t_x + t_y) + 3 * t_x * t_y + 4 * n + 10)
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


def course(*words: str) -> int:
    sys.argv = ["course", "cost", *words]
    with pytest.raises(SystemExit) as done:
        main()
    return int(done.value.code or 0)


def test_the_command_gives_hours_and_money(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [])
    assert course("--words-per-second", "2000", "--price", "1.5", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["hours"] == pytest.approx(96)
    assert found["price"] == pytest.approx(144)
    assert found["memory_bytes"] == sum(found["memory"].values())
    assert found["parameters"] == cost.parameters(
        model_config("rnnsearch", "paper", 30_004, 30_004)
    )
    assert course("--tflops", "3", "--set", "batch_size=40") == 0
    text = capsys.readouterr().out
    assert "288,000 updates of 40 pairs" in text
    assert "hours" in text
    assert course() == 0
    assert "time" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ("--price", "2"),
        ("--tflops", "1", "--words-per-second", "1"),
        ("--model", "luong"),
        ("--source-words", "0"),
    ],
)
def test_what_cannot_be_computed_is_one_line(
    words: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [])
    assert course(*words) == 2
    said = capsys.readouterr().err
    assert said.startswith("course: ")
    assert said.count("\n") == 1
