"""The unit with which a trained forward encoder reads, and real sentences for it to read.

For `course_lib.evaluation.gradients`, which asks what a unit leaves of a gradient.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from course_lib.corpora.vocabulary import EOS
from course_lib.models.encoders import DeepEncoder, PackedEncoder
from course_lib.models.rnnsearch import GatedUnit, RNNsearch
from course_lib.models.units import UNITS, state_size


def reading_unit(model: RNNsearch) -> GatedUnit:
    """The unit of a forward encoder of one layer, "paper", "tanh" or "lstm"."""
    config, encoder = model.config, model.encoder
    if isinstance(encoder, DeepEncoder):
        return encoder.lowest_ahead
    assert isinstance(encoder, PackedEncoder)
    unit = UNITS[config.unit](config.embedding, config.hidden).to(encoder.E.weight)
    w, u, b_w, b_u = (
        getattr(encoder.rnn, f"{part}_l0").detach()
        for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    unit.load_state_dict({"W.weight": w, "U.weight": u, "W.bias": b_w + b_u})
    return unit


@torch.no_grad()
def sentence_ends(
    model: RNNsearch, sources: Sequence[Sequence[int]], words: int
) -> tuple[Tensor, Tensor]:
    """The last words of real sentences, and the states in which a model comes to them.

    Args:
        model: its `reading_unit` reads the words before the last ones.
        sources: word numbers without end marks; the end mark is added, as in training, and counts.
        words: how many words each end has; shorter sentences are left out.

    Returns:
        (B, words, m) embedded words and (B, S) states.
    """
    unit, inputs, states = reading_unit(model), [], []
    for sentence in ([*source, EOS] for source in sources if len(source) + 1 >= words):
        embedded = model.encoder.E(torch.tensor(sentence))
        state = embedded.new_zeros(1, state_size(unit))
        for projected in unit.W(embedded[:-words])[:, None]:
            state = unit(projected, state)
        inputs.append(embedded[-words:])
        states.append(state)
    return torch.stack(inputs), torch.cat(states)


@torch.no_grad()
def update_gate(unit: GatedUnit, inputs: Tensor, state: Tensor) -> Tensor:
    """How much of the paper's new state is let in at each word, z of (B, T, n), 0 to 1.

    Args:
        unit: the paper's.
        inputs: (B, T, m) embedded words.
        state: (B, n), before the first of them.
    """
    n, gates = unit.U.in_features, []
    for projected in unit.W(inputs).unbind(dim=1):
        z, _ = torch.sigmoid(projected[:, : 2 * n] + unit.U_gates(state)).chunk(2, dim=-1)
        gates.append(z)
        state = unit(projected, state)
    return torch.stack(gates, dim=1)
