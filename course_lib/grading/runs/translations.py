"""Whether submitted translations are the submitted model's own: the model makes them again.

Two machines, and a processor and a graphics card, round differently, and where a model hardly
prefers one word that decides. Weights rounded to bfloat16 change 2 of 600 translations of the
recorded runs of chapter 8 (beam 12), and up to 8 of 60 of a model that has learned next to nothing
(BLEU 1.5). So a share of the lines may differ, as long as they are worth what the model's are.
"""

import torch

from course_lib.corpora.corpus import Split
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.evaluation.bleu import bleu_tok
from course_lib.grading.runs.submitted_run import Fault, Submitted, shown
from course_lib.models import EncoderDecoder
from course_lib.search import length_limit, translate

LEAST_EQUAL = 0.8
"""Share of the translations that must come out word for word."""
BLEU_TOLERANCE = 0.5
"""Points between what is handed in and what the model writes here."""
WIDEST_BEAM = 16


def check_translations(
    run: Submitted,
    model: EncoderDecoder,
    words: tuple[Vocabulary, Vocabulary],
    translations: list[list[str]],
    test: Split,
    split: str,
) -> None:
    """Whether the translations are what the submitted model writes, with its beam and penalty.

    Raises:
        Fault: too many are others, or they score otherwise.
    """
    where = f"{run.record.name}/hypotheses.{split}.txt"
    beam = (run.result or {})["scores"][split]["beam"]
    if type(beam) is not int or not 1 <= beam <= WIDEST_BEAM:
        raise Fault(f"{run.record.name}/result.json: a beam of {shown(beam)} cannot be checked.")
    sources = [words[0].encode(source) for source in test.source]
    most = length_limit(torch.tensor([len(source) + 1 for source in sources])).tolist()
    for place, line in enumerate(translations):
        if words[1].decode(words[1].encode(line)) != line or len(line) >= most[place]:
            raise Fault(
                f"{where}, line {place + 1}: a word is not the model's, or the line is longer than"
                " its search allows there. Are all lines in their places?"
            )
    found = translate(model, sources, beam, run.record.config.recipe.length_penalty)
    own = [words[1].decode(one.tokens) for one in found]
    equal = sum(a == b for a, b in zip(own, translations, strict=True)) / len(own)
    score, here = (bleu_tok(lines, test.target).score for lines in (translations, own))
    if equal < LEAST_EQUAL or abs(score - here) > BLEU_TOLERANCE:
        raise Fault(
            f"{where} is not what the submitted model translates: {100 * equal:.0f} % of its lines"
            f" are the model's, and they score {score:.2f} where the model has {here:.2f}."
        )
