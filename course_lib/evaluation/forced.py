"""What a model says of sentences that are given to it word by word (forced decoding)."""

import torch
from torch import Tensor

from course_lib.corpora.batches import Batch, batches_in_order, make_batch
from course_lib.corpora.corpus import Split
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.errors import CourseError
from course_lib.evaluation.weights import Weights, merge_pieces
from course_lib.models import RNNsearch
from course_lib.models.precision import at_least_single
from course_lib.search.hypothesis import evaluating


def logits(model: RNNsearch, batch: Batch) -> Tensor:
    """What the softmax is taken of at every target position, (B, T_y, K_y), padding included."""
    return at_least_single(model.decoder.readout(*model.unroll(batch)))


@torch.no_grad()
def sentence_log_probs(model: RNNsearch, batch: Batch) -> Tensor:
    """log p(target | source) of each pair, (B,), in nats, the end mark included."""
    log_probs = torch.log_softmax(logits(model, batch), dim=-1)
    chosen = log_probs.gather(-1, batch.target_out[..., None]).squeeze(-1)
    return (chosen * batch.target_mask).sum(dim=1)


@torch.no_grad()
def forced_alpha(model: RNNsearch, batch: Batch) -> Tensor | None:
    """Where the model looks while it is given the true words, (B, T_y, T_x), zero at padding.

    There is a row for each target word and one for the end mark; None for a model without
    attention.
    """
    state = model.start(batch.source, batch.source_lengths, batch.source_mask)
    rows = []
    for WEy in model.decoder.unit.W(model.decoder.E(batch.target_in)).unbind(dim=1):
        _, _, alpha, state = model.decoder.advance(WEy, state)
        if alpha is None:
            return None
        rows.append(alpha)
    return torch.stack(rows, dim=1) * batch.target_mask[..., None]


def forced_weights(
    model: RNNsearch,
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    part: Split,
    batch_size: int = 64,
) -> list[Weights]:
    """The weights of every sentence pair while its reference is given word by word.

    Returns:
        in the order of the split, (T_y + 1, T_x + 1) each: the last row and the last column are
        the end marks'.

    Raises:
        CourseError: the model has no attention, or a weight is not a number.
    """
    device = next(model.parameters()).device
    pairs = [
        (source_vocabulary.encode(x), target_vocabulary.encode(y))
        for x, y in zip(part.source, part.target, strict=True)
    ]
    weights_of: dict[int, Weights] = {}
    for index in batches_in_order([len(y) for _, y in pairs], batch_size):
        with evaluating(model):
            alpha = forced_alpha(model, make_batch(pairs, index).to(device))
        if alpha is None:
            raise CourseError(
                "A model without attention has no weights, so there is nothing to align with. Take "
                "one with it, as RNNsearch."
            )
        for i, weights in zip(index, alpha.float().cpu().numpy(), strict=True):
            source, target = pairs[i]
            cut = weights[: len(target) + 1, : len(source) + 1]
            by_word = (
                source_vocabulary.covered(part.source[i]),
                target_vocabulary.covered(part.target[i]),
            )
            weights_of[i] = merge_pieces(cut, *by_word)
    return [weights_of[i] for i in range(len(pairs))]
