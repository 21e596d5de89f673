"""The weights with which a model would have written sentences that are given to it."""

from course_lib.corpora.batches import batches_in_order, make_batch
from course_lib.corpora.corpus import Split
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.errors import CourseError
from course_lib.evaluation.weights import Weights, merge_pieces
from course_lib.models import EncoderDecoder
from course_lib.search.hypothesis import evaluating


def forced_weights(
    model: EncoderDecoder,
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
            alpha = model.alpha(make_batch(pairs, index).to(device))
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
