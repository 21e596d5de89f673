"""BLEU agrees with a second one written from the 2002 paper, and its edges are defined."""

import logging
import math
import random
from collections import Counter
from typing import Any, cast

import pytest
import sacrebleu

from course_lib.errors import CourseError
from course_lib.evaluation.bleu import (
    bleu_by_length,
    bleu_detok,
    bleu_tok,
    chrf,
    unk_rate,
)

Sentences = list[list[str]]


def papineni(hypotheses: Sentences, references: Sentences) -> float:
    """Papineni et al. (2002), section 2.3, one reference: BP * exp(mean of log p_n), n = 1 .. 4.

    0 where any p_n is 0: the paper has no smoothing.
    """
    c = sum(map(len, hypotheses))
    r = sum(map(len, references))
    log_precisions = []
    for n in (1, 2, 3, 4):
        clipped = total = 0
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            found = Counter(zip(*(hypothesis[k:] for k in range(n)), strict=False))
            allowed = Counter(zip(*(reference[k:] for k in range(n)), strict=False))
            clipped += sum(min(count, allowed[gram]) for gram, count in found.items())
            total += sum(found.values())
        if clipped == 0:
            return 0.0
        log_precisions.append(math.log(clipped / total))
    penalty = 1.0 if c > r else math.exp(1 - r / c)
    return 100 * penalty * math.exp(sum(log_precisions) / 4)


def noisy_copies(seed: int, count: int = 60) -> tuple[Sentences, Sentences]:
    """References of 4 to 30 words, and hypotheses with some words changed, lost or swapped."""
    rng = random.Random(seed)
    words = ["ein", "hund", "läuft", "über", "die", "wiese", ",", ".", "der", "<unk>"]
    references = [[rng.choice(words) for _ in range(rng.randint(4, 30))] for _ in range(count)]
    hypotheses = []
    for reference in references:
        kept = [w if rng.random() < 0.8 else rng.choice(words) for w in reference]
        hypotheses.append([w for w in kept if rng.random() < 0.9])
    return hypotheses, references


@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_papineni(seed: int) -> None:
    hypotheses, references = noisy_copies(seed)
    assert bleu_tok(hypotheses, references).score == pytest.approx(papineni(hypotheses, references))


def test_signatures_name_the_protocol() -> None:
    version = sacrebleu.__version__
    tokens, text = [["ein", "hund", "läuft", "."]], ["Ein Hund läuft."]
    assert bleu_tok(tokens, tokens).signature == (
        f"nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|version:{version}"
    )
    assert bleu_detok(text, text, lowercase=True).signature == (
        f"nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:{version}"
    )
    assert bleu_detok(text, text).signature == (
        f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{version}"
    )


def test_tokens_are_taken_as_they_are_and_text_is_not() -> None:
    """ "can't" is one token if we say so; 13a takes sentence punctuation apart by itself."""
    tokens = ["he", "can't", "run", "far."]
    assert bleu_tok([tokens], [["he", "can't", "run", "far", "."]]).score < 60
    assert bleu_detok(["he can't run far."], ["he can't run far ."]).score == pytest.approx(100)


def test_lower_casing_is_for_both_sides() -> None:
    upper, lower = ["Ein Hund läuft heute."], ["ein hund läuft heute."]
    assert bleu_detok(upper, lower).score < 100
    assert bleu_detok(upper, lower, lowercase=True).score == pytest.approx(100)
    assert bleu_detok(lower, upper, lowercase=True).score == pytest.approx(100)


def test_tokenised_input_is_scored_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        bleu_tok([["das", "ist", "gut", "."]] * 150, [["das", "ist", "gut", "."]] * 150)
    assert caplog.records == []


def test_empty_hypotheses_are_translations_of_no_words() -> None:
    reference = ["a", "b", "c", "d", "e"]
    assert bleu_tok([[]], [reference]).score == 0.0
    assert bleu_detok(["", ""], ["Ein Satz.", "Noch ein Satz."]).score == 0.0
    with_gap = bleu_tok([reference, []], [reference, reference]).score
    assert with_gap == pytest.approx(100 * math.exp(1 - 10 / 5))


@pytest.mark.parametrize("score", [bleu_tok, bleu_detok])
def test_nothing_to_score_is_the_users_mistake(score) -> None:
    with pytest.raises(CourseError, match="no sentences"):
        score([], [])
    with pytest.raises(CourseError, match="1 translations against 2 references"):
        score(["a"], ["a", "b"])


def test_by_length_cuts_the_set_into_pieces_that_add_up() -> None:
    hypotheses, references = noisy_copies(3, count=200)
    lengths = [len(reference) for reference in references]
    rows = bleu_by_length(hypotheses, references, lengths, (10, 21))
    assert [(row["lower"], row["upper"]) for row in rows] == [(1, 9), (10, 20), (21, max(lengths))]
    assert sum(row["sentences"] for row in rows) == len(references)
    middle = [i for i, length in enumerate(lengths) if 10 <= length <= 20]
    assert rows[1]["sentences"] == len(middle)
    assert rows[1]["bleu_tok"] == pytest.approx(
        papineni([hypotheses[i] for i in middle], [references[i] for i in middle])
    )
    whole = bleu_by_length(hypotheses, references, lengths, ())
    assert whole[0]["bleu_tok"] == bleu_tok(hypotheses, references).score


def test_a_range_without_sentences_has_no_score() -> None:
    tokens = [["a", "b", "c", "d"]]
    assert bleu_by_length(tokens, tokens, [12], (10, 21)) == [
        {"lower": 10, "upper": 20, "sentences": 1, "bleu_tok": pytest.approx(100)}
    ]


def test_unk_rate() -> None:
    assert unk_rate([["a", "<unk>"], [], ["b", "c"]]) == 0.25
    assert unk_rate([[], []]) == 0.0
    assert unk_rate([]) == 0.0


def test_chrf_is_full_for_the_reference_and_counts_letters_where_words_differ() -> None:
    text = ["Der Hund schläft.", "Zwei Hunde laufen."]
    assert chrf(text, text).score == pytest.approx(100)
    near, far = ["Der Hunde schlafen.", "Zwei Hund läuft."], ["Katzen miauen.", "Oben, unten."]
    assert 100 > chrf(near, text).score > chrf(far, text).score > 0
    assert chrf([x.upper() for x in text], text, lowercase=True).score == pytest.approx(100)
    assert "nc:6|nw:0" in chrf(text, text).signature


@pytest.mark.parametrize(
    ("language", "split"),
    [
        ("zh_CN", "zh"),
        ("ja", "char"),
        ("th", "char"),
        ("de", "13a"),
        ("zho_Hans", "zh"),
        ("cmn", "zh"),
        ("ZH", "zh"),
        ("jpn", "char"),
        ("", "char"),
    ],
)
def test_without_spaces_characters_are_what_bleu_counts(language: str, split: str) -> None:
    score = bleu_detok(["我是一个学生。"], ["我是学生一个。"], language=language)
    assert f"tok:{split}" in score.signature
    assert (score.score > 10) == (split != "13a")


def test_texts_and_tokens_are_not_taken_for_one_another() -> None:
    with pytest.raises(CourseError, match="and not a text"):
        bleu_tok(cast(Any, ["the cat sat"]), cast(Any, ["a cat sat"]))
    for score in (bleu_detok, chrf):
        with pytest.raises(CourseError, match="and not a list"):
            score(cast(Any, [["the", "cat"]]), cast(Any, [["a", "cat"]]))
