"""One model on one split: translations, BLEU in both protocols, BLEU by source length."""

import time
from typing import Any

from course_lib.corpora.corpus import Corpus
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.errors import CourseError
from course_lib.evaluation.bleu import (
    bleu_by_length,
    bleu_detok,
    bleu_long,
    bleu_short,
    bleu_tok,
    chrf,
    unk_rate,
)
from course_lib.models import EncoderDecoder
from course_lib.search import translate


def score_split(
    model: EncoderDecoder,
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    corpus: Corpus,
    split: str,
    beam: int,
    length_penalty: float = 1.0,
) -> tuple[dict[str, Any], list[list[str]]]:
    """Translate a split and measure it.

    Returns:
        what result.json keeps under `scores.SPLIT`, and the translations as tokens. `seconds` is
        the time that translating took; `short` has sources under 10 words and `long` over 20.
    """
    if split not in corpus.splits:
        raise CourseError(
            f"{corpus.name} has no split {split!r}. Choose one of {', '.join(corpus.splits)}."
        )
    part = corpus.splits[split]
    started = time.monotonic()
    sources = [source_vocabulary.encode(x) for x in part.source]
    translations = translate(model, sources, beam, length_penalty)
    seconds = time.monotonic() - started
    hypotheses = [target_vocabulary.decode(hypothesis.tokens) for hypothesis in translations]
    return {
        "beam": beam,
        "length_penalty": length_penalty,
        **measured(hypotheses, corpus, split),
        "seconds": round(seconds, 2),
    }, hypotheses


def measured(hypotheses: list[list[str]], corpus: Corpus, split: str) -> dict[str, Any]:
    """What translations of a split are worth: BLEU in both protocols and by length, chrF, [UNK]."""
    part = corpus.splits[split]
    lengths = [len(source) for source in part.source]
    tok = bleu_tok(hypotheses, part.target)
    texts = [corpus.detokenize(tokens) for tokens in hypotheses]
    target_language = corpus.pair.partition("-")[2]
    detok = bleu_detok(texts, part.reference, corpus.lowercased, target_language)
    letters = chrf(texts, part.reference, corpus.lowercased)
    return {
        "sentences": len(part),
        "bleu_tok": tok.score,
        "bleu_tok_signature": tok.signature,
        "bleu_detok": detok.score,
        "bleu_detok_signature": detok.signature,
        "chrf": letters.score,
        "chrf_signature": letters.signature,
        "short": bleu_short(hypotheses, part.target, lengths),
        "long": bleu_long(hypotheses, part.target, lengths),
        "by_length": bleu_by_length(hypotheses, part.target, lengths),
        "unk_rate": unk_rate(hypotheses),
    }
