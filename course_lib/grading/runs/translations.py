"""Whether submitted translations are the submitted model's own.

Two machines, and a processor and a graphics card, round differently. What counts as agreement was
measured on the two recorded runs of chapter 8 (300 test sentences each, beam 12): weights rounded
to bfloat16 change 2 of 600 translations, and the model rates these within 0.01 nats a word of its
own; noise of 1% on every weight changes 37, rated within 0.08. The references and the other model's
translations are nearly all rated lower by more than 0.1.
"""

import random

import torch

from course_lib.corpora.batches import batches_in_order, make_batch
from course_lib.corpora.corpus import Split
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.grading.runs.submitted_run import Fault, Submitted, shown
from course_lib.models import EncoderDecoder
from course_lib.search import Hypothesis, length_limit, translate

SAMPLE = 40
"""Translations drawn to be made again; a student cannot know which."""
SUSPECTS = 20
"""Translations that are made again because the model rates its greedy ones higher."""
RATED_LOWER = 0.1
"""Nats a word below the model's own translation: what rounding does not explain."""
LEAST_EQUAL = 0.8
"""Share of the drawn translations that must come out word for word."""
WIDEST_BEAM = 16


def check_translations(
    run: Submitted,
    model: EncoderDecoder,
    words: tuple[Vocabulary, Vocabulary],
    translations: list[list[str]],
    other: Submitted | None,
    test: Split,
    split: str,
    nonce: int,
) -> None:
    """Whether the translations are what the submitted model writes.

    Two groups are made again: some drawn at random, which the student cannot foresee, and those
    that the model rates lowest beside what greedy search finds. Beam search finds nothing worse.
    """
    where = f"{run.record.name}/hypotheses.{split}.txt"
    source_words, target_words = words
    sources = [source_words.encode(source) for source in test.source]
    most = length_limit(torch.tensor([len(source) + 1 for source in sources])).tolist()
    for place, line in enumerate(translations):
        numbers = target_words.encode(line)
        if target_words.decode(numbers) != line or len(line) >= most[place]:
            raise Fault(f"{where}, line {place + 1}: the model cannot have written this.")
    beam = (run.result or {})["scores"][split]["beam"]
    penalty = run.record.config.recipe.length_penalty
    if type(beam) is not int or not 1 <= beam <= WIDEST_BEAM:
        raise Fault(f"{run.record.name}/result.json: a beam of {shown(beam)} cannot be checked.")

    rated = _rate(model, sources, [target_words.encode(line) for line in translations])
    greedy = translate(model, sources, k=1)
    behind = {i: _a_word(found) - rated[i] for i, found in enumerate(greedy)}
    suspects = sorted((i for i in behind if behind[i] > RATED_LOWER / 2), key=lambda i: -behind[i])
    drawn = random.Random(nonce).sample(range(len(sources)), min(SAMPLE, len(sources)))
    chosen = list(dict.fromkeys([*drawn, *suspects[:SUSPECTS]]))
    again = translate(model, [sources[i] for i in chosen], beam, penalty)
    made = dict(zip(chosen, again, strict=True))
    own = {i: target_words.decode(found.tokens) for i, found in made.items()}
    equal = sum(own[i] == translations[i] for i in drawn)
    # A model may write a word in other pieces than the word is cut into, and then rates it higher.
    different = (i for i in chosen if own[i] != translations[i])
    foreign = sorted(i for i in different if _a_word(made[i]) - rated[i] > RATED_LOWER)
    if not foreign and equal >= LEAST_EQUAL * len(drawn):
        return
    why = _whose(translations, other, test, drawn, sources, (beam, penalty))
    if why is None and foreign:
        lines = ", ".join(str(i + 1) for i in foreign[:5])
        more = f" and {len(foreign) - 5} more" if len(foreign) > 5 else ""
        why = f"the submitted model does not write line {lines}{more} of it"
    elif why is None:
        why = f"with beam {beam} the submitted model writes other words"
    raise Fault(
        f"{where} is not what the submitted model translates: {why}. Of {len(drawn)} lines drawn at"
        f" random {equal} are the model's."
    )


def _whose(
    translations: list[list[str]],
    other: Submitted | None,
    test: Split,
    drawn: list[int],
    sources: list[list[int]],
    search: tuple[int, float],
) -> str | None:
    """Where translations that are not the model's come from, if that can be told."""
    copied = sum(translations[i] == test.target[i] for i in drawn)
    if copied >= len(drawn) / 2:
        return "it holds the references themselves"
    if other is None or other.model is None or other.words is None:
        return None
    made = translate(other.model, [sources[i] for i in drawn], *search)
    theirs = [other.words[1].decode(found.tokens) for found in made]
    same = sum(line == translations[i] for i, line in zip(drawn, theirs, strict=True))
    if same >= LEAST_EQUAL * len(drawn):
        return f"it holds the translations of {other.record.name}"
    return None


def _a_word(found: Hypothesis) -> float:
    """The model's log-probability a word of what it found, whatever it was ranked by."""
    return found.log_prob / (len(found.tokens) + 1)


def _rate(model: EncoderDecoder, sources: list[list[int]], targets: list[list[int]]) -> list[float]:
    """What the model thinks of translations: log-probability a word, end mark included, in nats."""
    pairs = list(zip(sources, targets, strict=True))
    rated = [0.0] * len(pairs)
    for index in batches_in_order([len(target) for target in targets], 64):
        sums = model.sentence_log_probs(make_batch(pairs, index)).tolist()
        for i, total in zip(index, sums, strict=True):
            rated[i] = total / (len(targets[i]) + 1)
    return rated
