"""Products a search need not repeat at every step: the same decoder with them made beforehand.

Training meets every target position once and leaves the products where the equations have them. A
search of width k meets every source sentence in k hypotheses at every step.
"""

import copy
from typing import TypeVar

import torch
from torch import Tensor, nn

from course_lib.models.contexts import AttentionContext, FixedContext, Memory
from course_lib.models.decoder import Decoder
from course_lib.models.scores import AdditiveScore, ConcatScore

Module = TypeVar("Module", bound=nn.Module)


def fold(decoder: Decoder, memory: Memory) -> tuple[Decoder, Memory]:
    """A decoder and memory that give the same steps with fewer products.

    C c_i = sum_j alpha_ij C h_j, and likewise for C_o and the second unit's W: the returned
    memory's values are the products [C_o h_j; C h_j], made once a sentence, and the returned
    decoder takes its products of the context from there. It also expects V_o E y where it had E y
    (see `NextWords`). Weights are shared with the decoder given, which stays as it is.
    """
    changed: dict[str, nn.Module] = {}
    if decoder.config.output != "attentional":
        changed["V_o"] = nn.Identity()
    context = decoder.context
    # Exactly these: another context, a reader's own, need not be a weighted sum of the values.
    if type(context) in (FixedContext, AttentionContext):
        products = [decoder.C_o(memory.values)]
        width = products[0].shape[-1]
        changed["C_o"] = Columns(0, width)
        if decoder.config.order == "before":
            products.append(decoder.C(memory.values))
            changed["C"] = Columns(width)
        elif decoder.config.order == "between":
            W = decoder.second.W
            products.append(nn.functional.linear(memory.values, W.weight))
            changed["second"] = with_modules(decoder.second, W=Columns(width, bias=W.bias))
        memory = memory._replace(values=torch.cat(products, dim=-1))
    if isinstance(context, AttentionContext) and memory.keys is not None:
        score = context.score
        if type(score) in (AdditiveScore, ConcatScore):
            assert isinstance(score, AdditiveScore | ConcatScore)
            changed["context"] = with_modules(context, score=LogisticScore(score))
            memory = memory._replace(keys=2 * memory.keys)
    return with_modules(decoder, **changed), memory


class Columns(nn.Module):
    """A product that is made already, but for its bias, and lies in some columns of the input."""

    def __init__(self, start: int, stop: int | None = None, bias: Tensor | None = None) -> None:
        super().__init__()
        self.columns, self.bias = slice(start, stop), bias

    def forward(self, products: Tensor) -> Tensor:
        """(..., all products) to those of the columns."""
        product = products[..., self.columns]
        return product if self.bias is None else product + self.bias


class LogisticScore(nn.Module):
    """The additive score with tanh(x) = 2 sigma(2x) - 1: torch computes that six times faster.

    The energies lose a constant, sum(v_a), which the softmax does not see. The keys are twice those
    of the score it is made from.
    """

    def __init__(self, score: AdditiveScore | ConcatScore) -> None:
        super().__init__()
        W_a = score.W_a.weight
        if isinstance(score, ConcatScore):
            W_a = W_a[:, : score.query_size]
        self.twice_W_a = 2 * W_a
        self.twice_v_a = 2 * score.v_a.weight[0]

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Energies (B, T_x) of the (B, n) query against the (B, T_x, n') doubled keys."""
        hidden = nn.functional.linear(query, self.twice_W_a)[:, None] + keys
        return torch.sigmoid_(hidden) @ self.twice_v_a


def with_modules(module: Module, **changed: nn.Module) -> Module:
    """A copy that shares every weight but has other parts in the places named."""
    copied = copy.copy(module)
    copied._modules = {**module._modules, **changed}
    return copied
