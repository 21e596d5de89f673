"""Weight tying: one table in several places, trained, stored, counted and searched as one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from course_lib.errors import CourseError
from course_lib.models import ModelConfig, RNNsearch, build_model, parameter_table
from course_lib.models.parameters import count_parameters
from course_lib.search import translate
from course_lib.training.checkpoint import load_weights, save_weights
from tests.models.tiny import PAIRS, batch_of

CONFIG = ModelConfig(9, 9, embedding=6, hidden=8, alignment=5, readout=6)
TABLES = {"output": ("decoder.E", "decoder.W_o"), "all": ("encoder.E", "decoder.E", "decoder.W_o")}


def tied(tying: str) -> RNNsearch:
    return build_model(replace(CONFIG, tying=tying)).double()


@pytest.mark.parametrize("tying", TABLES)
def test_the_gradient_is_the_sum_of_the_places(tying: str) -> None:
    model, apart = tied(tying), build_model(CONFIG).double()
    apart.load_state_dict(
        {**model.state_dict(), **{f"{n}.weight": model.get_parameter(f"{n}.weight")
        for n in TABLES[tying]}}
    )  # fmt: skip
    batch = batch_of(PAIRS)
    losses = [one.loss(batch)[0] for one in (model, apart)]
    torch.testing.assert_close(*losses)
    for loss in losses:
        loss.backward()
    places = [apart.get_parameter(f"{name}.weight").grad for name in TABLES[tying]]
    together = model.get_parameter(f"{TABLES[tying][0]}.weight").grad
    torch.testing.assert_close(together, torch.stack(places).sum(dim=0))
    assert all(place.any() for place in places)


@pytest.mark.parametrize("changes", [{}, {"reverse_source": True, "unit": "torch"}], ids=str)
@pytest.mark.parametrize("tying", TABLES)
def test_one_table_is_stored_and_counted_once_and_comes_back(
    tying: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    plain = replace(CONFIG, **changes)
    model = build_model(replace(plain, tying=tying)).double()
    fresh = build_model(replace(plain, tying=tying), seed=1).double()
    stored = model.state_dict()
    assert {f"{name}.weight" for name in TABLES[tying]} & stored.keys() == {
        f"{TABLES[tying][0]}.weight"
    }
    size = 9 * 6
    assert count_parameters(build_model(plain)) - count_parameters(model) == size * (
        len(TABLES[tying]) - 1
    )
    table = parameter_table(model)
    assert sum(table.values()) == count_parameters(model)
    assert size in [count for part, count in table.items() if "one table" in part]
    save_weights(tmp_path / "weights", model)
    load_weights(tmp_path / "weights", fresh)
    for name in TABLES[tying]:
        assert torch.equal(
            fresh.get_parameter(f"{name}.weight"), model.get_parameter(f"{name}.weight")
        )
    sources = [source for source, _ in PAIRS]
    found = [[h.tokens for h in translate(one, sources, k=3)] for one in (model, fresh)]
    assert found[0] == found[1]


@pytest.mark.parametrize("tying", TABLES)
@pytest.mark.parametrize("decoder", ["paper", "luong"])
def test_a_readout_is_as_wide_as_the_table_that_multiplies_it(tying: str, decoder: str) -> None:
    one, other = (
        build_model(replace(CONFIG, tying=tying, decoder=decoder, readout=readout)).double()
        for readout in (6, 5)
    )
    torch.testing.assert_close(one.loss(batch_of(PAIRS)), other.loss(batch_of(PAIRS)))


def test_a_file_without_the_table_is_refused(tmp_path: Path) -> None:
    model = tied("all")
    tensors = model.state_dict()
    del tensors["encoder.E.weight"]
    with pytest.raises(RuntimeError, match=r"encoder\.E\.weight"):
        model.load_state_dict(tensors)


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        ({"tying": "all", "target_vocabulary": 8}, "tying=output"),
        ({"tying": "both"}, "Choose none or output or all"),
    ],
)
def test_tables_that_cannot_be_one(changes: dict[str, object], remedy: str) -> None:
    with pytest.raises(CourseError, match=remedy):
        replace(CONFIG, **changes)
