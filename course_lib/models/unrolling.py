"""Training: all steps of a sentence, whose true words are known, one after the other."""

import torch
from torch import Tensor

from course_lib.models.decoder import Decoder, DecoderState, ReadoutInputs


def unroll(
    decoder: Decoder, target_in: Tensor, state: DecoderState
) -> tuple[ReadoutInputs, Tensor | None]:
    """All steps under teacher forcing.

    What does not depend on the state is computed for all words at once: their products W E y here,
    and the readout by whoever takes what is returned.

    Args:
        decoder: the paper's or a relative.
        target_in: (B, T_y), the words given: begin mark, y_1, ...
        state: the one before the first word.

    Returns:
        what the readout needs, stacked (B, T_y, ...), and the weights, (B, T_y, T_x) or None.
    """
    words = decoder.dropout(decoder.E(target_in))
    products = decoder.unit.project(words)
    steps: list[ReadoutInputs] = []
    alphas: list[Tensor | None] = []
    # unbind, not [:, i]: its gradient is one tensor, not one the size of all for each step.
    for word, product in zip(words.unbind(1), products.unbind(1), strict=True):
        inputs, alpha, state = decoder.advance(word, product, state)
        steps.append(inputs)
        alphas.append(alpha)
    return stacked(steps), stack_weights(alphas)


def unroll_sampled(
    decoder: Decoder, target_in: Tensor, state: DecoderState, given: float
) -> tuple[ReadoutInputs, Tensor | None]:
    """All steps, each previous word the true one with probability `given`, else the model's.

    The model's word is drawn from its own distribution (scheduled sampling: S. Bengio et al., 2015,
    Section 2.4); no gradient goes through the draw. Arguments and results are those of `unroll`,
    which this equals for `given=1`.
    """
    y = target_in[:, 0]
    steps: list[ReadoutInputs] = []
    alphas: list[Tensor | None] = []
    for i in range(target_in.shape[1]):
        if i:
            with torch.no_grad():
                probabilities = torch.softmax(decoder.readout(steps[-1]).float(), dim=-1)
                drawn = torch.multinomial(probabilities, 1).squeeze(1)
            true = torch.rand(len(y), device=y.device) < given
            y = torch.where(true, target_in[:, i], drawn)
        word = decoder.dropout(decoder.E(y))
        inputs, alpha, state = decoder.advance(word, decoder.unit.project(word), state)
        steps.append(inputs)
        alphas.append(alpha)
    return stacked(steps), stack_weights(alphas)


def stacked(steps: list[ReadoutInputs]) -> ReadoutInputs:
    """The inputs of all steps along a second axis: (B, T_y, ...)."""
    return ReadoutInputs(*(torch.stack(values, dim=1) for values in zip(*steps, strict=True)))


def stack_weights(alphas: list[Tensor | None]) -> Tensor | None:
    """The weights of all steps, (B, T_y, T_x), or None without attention."""
    weights = [alpha for alpha in alphas if alpha is not None]
    return torch.stack(weights, dim=1) if weights else None
