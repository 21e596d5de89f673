"""The textbook implementation is the same model: from equal weights, equal loss and gradients."""

import random

import pytest
import torch
from torch import Tensor

from benchmarks.textbook import Seq2Seq, collate
from course_lib.corpora.batches import EncodedPair, make_batch
from course_lib.models import ModelConfig, build_model

CONFIG = ModelConfig(20, 30, embedding=12, hidden=8, alignment=10, readout=6, unit="torch")


def pairs_of_lengths(lengths: list[tuple[int, int]]) -> list[EncodedPair]:
    draw = random.Random(0)
    return [
        ([draw.randrange(4, 20) for _ in range(a)], [draw.randrange(4, 30) for _ in range(b)])
        for a, b in lengths
    ]


def arranged(values: dict[str, Tensor]) -> dict[str, Tensor]:
    """The library's parameters (or their gradients) under the textbook's names and shapes.

    Matrices that multiply the parts of one concatenated input stand side by side: the textbook's
    [W C] [y; c] is the paper's W y + C c.
    """
    get = {name.removeprefix("decoder."): value for name, value in values.items()}
    recurrent = {
        name.replace("encoder.rnn.", "encoder."): value
        for name, value in values.items()
        if name.startswith("encoder.rnn.")
    }
    readout = [get[f"{name}.weight"] for name in ("U_o", "V_o", "C_o")]
    return {
        **recurrent,
        "source_embedding.weight": get["encoder.E.weight"],
        "target_embedding.weight": get["E.weight"],
        "initial.weight": get["W_s.weight"],
        "initial.bias": get["W_s.bias"],
        "attention.W.weight": get["attention.W_a.weight"],
        "attention.U.weight": get["attention.U_a.weight"],
        "attention.v.weight": get["attention.v_a.weight"],
        "cell.weight_ih": torch.cat((get["unit.W.weight"], get["C.weight"]), dim=1),
        "cell.bias_ih": get["unit.W.bias"],
        "cell.weight_hh": get["unit.U.weight"],
        "cell.bias_hh": get["unit.U.bias"],
        "deep_output.weight": torch.cat(readout, dim=1),
        "deep_output.bias": get["V_o.bias"],
        "output.weight": get["W_o.weight"],
        "output.bias": get["W_o.bias"],
    }


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-10)], ids=str
)
def test_loss_and_gradients_are_the_librarys(dtype: torch.dtype, tolerance: float) -> None:
    pairs = pairs_of_lengths([(1, 1), (7, 3), (2, 9), (5, 5), (4, 0)])
    model = build_model(CONFIG, seed=1).to(dtype)
    textbook = Seq2Seq(CONFIG).to(dtype)
    textbook.load_state_dict(arranged(dict(model.named_parameters())))

    loss, count = model.loss(make_batch(pairs, range(len(pairs))))
    (loss / count).backward()
    textbook_loss, textbook_count = textbook(*collate(pairs))
    (textbook_loss / textbook_count).backward()

    assert int(count) == int(textbook_count) == sum(len(target) + 1 for _, target in pairs)
    torch.testing.assert_close(textbook_loss, loss, rtol=tolerance, atol=tolerance)
    gradients = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    assert gradients.keys() == dict(model.named_parameters()).keys()
    expected = arranged(gradients)
    for name, parameter in textbook.named_parameters():
        torch.testing.assert_close(
            parameter.grad, expected[name], rtol=tolerance, atol=tolerance, msg=name
        )


def test_the_concatenated_form_has_as_many_parameters() -> None:
    counts = [
        sum(p.numel() for p in model.parameters())
        for model in (Seq2Seq(CONFIG), build_model(CONFIG))
    ]
    assert counts[0] == counts[1]
