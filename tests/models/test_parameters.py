"""Where the parameters lie: counted from the model, and by hand from the equations' shapes."""

from dataclasses import replace

import pytest
import torch

from course_lib.models import (
    ModelConfig,
    assemble,
    count_parameters,
    model_config,
    parameter_table,
)
from tests.models.tiny import EVERYTHING, SELF_ATTENTIVE, label, tiny_model
from tests.reference.translator import Choices


def test_the_papers_sizes_give_its_parameters() -> None:
    """Counted from the equations' shapes: see the table of the paper's Appendix A.2.3."""
    n, m, maxout, aligned, K = 1000, 620, 2 * 500, 1000, 30_004
    unit = 3 * (n * m + n * n + n)
    by_hand = {
        "source embeddings E": K * m,
        "encoder units": 2 * unit,
        "target embeddings E": K * m,
        "alignment model W_a, U_a, v_a": aligned * n + aligned * 2 * n + aligned,
        "initial state W_s": n * n + n,
        "decoder unit W, U": unit,
        "context into the unit C": 3 * n * 2 * n,
        "readout U_o, V_o, C_o": maxout * (n + m + 2 * n) + maxout,
        "vocabulary W_o": K * maxout // 2 + K,
    }
    with torch.device("meta"):
        search = assemble(model_config("rnnsearch", "paper", K, K))
        encdec = assemble(model_config("rnnencdec", "paper", K, K))
    assert parameter_table(search) == by_hand
    assert count_parameters(search) == sum(by_hand.values())
    assert round(count_parameters(search) / 1e6, 1) == 80.4
    assert round(count_parameters(encdec) / 1e6, 1) == 68.6


@pytest.mark.parametrize("choices", [*EVERYTHING, *SELF_ATTENTIVE], ids=label)
def test_the_table_counts_every_parameter_once(choices: Choices) -> None:
    model = tiny_model(choices)
    assert sum(parameter_table(model).values()) == count_parameters(model)


def test_upper_layers_are_units_and_input_feeding_has_a_line_of_its_own() -> None:
    n, m, readout = 5, 3, 2
    config = ModelConfig(9, 9, embedding=m, hidden=n, alignment=4, readout=readout, unit="lstm")
    with torch.device("meta"):
        table = parameter_table(assemble(replace(config, layers=3, decoder="luong")))
    upper = 2 * (4 * n * n + 4 * n + 4 * n * n)
    assert table["decoder unit W, U"] == 4 * n * m + 4 * n + 4 * n * n + upper
    assert table["input feeding into the unit F"] == 4 * n * readout
    assert "context into the unit C" not in table


def test_the_unit_after_the_look_back_has_a_line_of_its_own() -> None:
    n, m = 5, 3
    config = ModelConfig(9, 9, embedding=m, hidden=n, alignment=4, readout=2, decoder="conditional")
    with torch.device("meta"):
        table = parameter_table(assemble(config))
    assert table["decoder unit W, U"] == 3 * n * m + 3 * n * n + 3 * n
    assert table["decoder unit after the look back"] == 3 * n * 2 * n + 3 * n * n + 3 * n
    assert "context into the unit C" not in table
