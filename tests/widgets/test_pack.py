"""What goes into a page, and which runs a page refuses."""

import gzip
from typing import Any

import pytest
import torch
from safetensors.torch import load

from course_lib.errors import CourseError
from course_lib.models.config import ModelConfig
from course_lib.models.quantised import dequantised
from course_lib.widgets.live import live, packs_of
from course_lib.widgets.pack import check_model, pack
from tests.widgets.live_models import VARIANTS, small_run


def test_a_pack_holds_the_runs_weights() -> None:
    run = small_run()
    made = pack(run)
    weights = dequantised(load(gzip.decompress(made.data)))
    # They were in 8 bits before: nothing is lost a second time.
    for name, values in run.model.state_dict().items():
        assert torch.equal(weights[name], values)
    assert pack(run).data == made.data
    assert made.about["parts"] == len(made.scripts)


@pytest.mark.parametrize("name", VARIANTS)
def test_what_the_page_computes_is_taken(name: str) -> None:
    pack(small_run(**VARIANTS[name]))


@pytest.mark.parametrize(
    "changes",
    [
        {"context": "general"},
        {"context": "dot", "encoder": "forward"},
        {"context": "local-m-additive"},
        {"encoder": "self-attention", "context": "additive"},
        {"unit": "lstm"},
        {"layers": 2},
        {"decoder": "luong"},
        {"reverse_source": True},
        {"decoder": "paper-starts-at-zero"},
    ],
)
def test_what_it_does_not_compute_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(CourseError, match="RNNsearch and RNNencdec"):
        check_model(ModelConfig(10, 10, **changes))


def test_runs_of_one_name_stay_apart() -> None:
    assert [one.name for one in packs_of([small_run(), small_run()])] == ["small", "small-1"]


def test_a_notebook_is_sent_the_models() -> None:
    run = small_run()
    figure = live(run, text="a dog .")
    assert figure.data == {"small": pack(run).data}
    assert figure.text == "a dog ."
    assert [one["model"] for one in figure.packs] == ["RNNsearch"]
