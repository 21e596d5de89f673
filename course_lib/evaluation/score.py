"""One model on one split: translations, BLEU in both protocols, BLEU by source length."""

import time
from typing import Any

from course_lib.corpora.corpus import Corpus
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.evaluation.bleu import (
    LENGTH_EDGES,
    bleu_by_length,
    bleu_detok,
    bleu_tok,
    chrf,
    unk_rate,
)
from course_lib.models import RNNsearch
from course_lib.search import translate


def score_split(
    model: RNNsearch,
    words: tuple[Vocabulary, Vocabulary],
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
    sources = [words[0].encode(x) for x in corpus.split(split).source]
    started = time.monotonic()
    found = translate(model, sources, beam, length_penalty)
    seconds = time.monotonic() - started
    hypotheses = [words[1].decode(hypothesis.tokens) for hypothesis in found]
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
    by_length = bleu_by_length(hypotheses, part.target, lengths)
    return {
        "sentences": len(part),
        "bleu_tok": tok.score,
        "bleu_tok_signature": tok.signature,
        "bleu_detok": detok.score,
        "bleu_detok_signature": detok.signature,
        "chrf": letters.score,
        "chrf_signature": letters.signature,
        "short": _range_from(1, by_length),
        "long": _range_from(LENGTH_EDGES[-1], by_length),
        "by_length": by_length,
        "unk_rate": unk_rate(hypotheses),
    }


def _range_from(lower: int, by_length: list[dict[str, Any]]) -> dict[str, Any]:
    """The range of source lengths that begins at `lower`; a score of None without sentences."""
    empty = {"sentences": 0, "bleu_tok": None}
    row = next((row for row in by_length if row["lower"] == lower), empty)
    return {name: row[name] for name in empty}
