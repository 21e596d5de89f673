"""Record what ways of choosing words do to the translations of a trained model.

    python experiments/record_search.py [RUN] [--sentences N] [--sampled N]

RUN is a finished run of RNNsearch on Multi30k. Writes CORPUS-PAIR-MODEL-PRESET-seedN-search.json
to experiments: beam widths with and without length normalisation on the first sentences of the
validation split, the sentence that loses most to a wide beam, the tree of one search, and what
sampling trades for variety. With all sentences about four minutes on one thread.
"""

import argparse
from itertools import combinations
from pathlib import Path
from typing import Any

import torch
from recording import write
from sacrebleu.metrics import BLEU

from course_lib.corpora import load_corpus
from course_lib.corpora.batches import make_batch, make_source
from course_lib.corpora.corpus import Split
from course_lib.evaluation.bleu import bleu_detok, bleu_tok
from course_lib.search import Hypothesis, beam_search, record_beam_search, sample
from course_lib.search.beam import BeamStep
from course_lib.training import Run, load_run, read_result, recorded_name
from course_lib.training.provenance import git_commit

SPLIT = "val"
WIDTHS = (1, 2, 3, 5, 8, 12, 20, 50)
PENALTIES = (0.0, 0.5, 1.0, 1.5)
BATCH = 64
EXAMPLE = (5, 50)
"""The two widths between which a sentence loses most."""
SHORT = 12
"""Words of a sentence that fits a page."""
DRAWS = 5
"""Translations drawn of each sentence with each of `SAMPLINGS`."""
SAMPLINGS: tuple[dict[str, float], ...] = (
    {"temperature": 0.3},
    {"temperature": 0.5},
    {"temperature": 0.7},
    {"temperature": 1.0},
    {"top_k": 2},
    {"top_k": 5},
    {"top_k": 20},
    {"top_p": 0.5},
    {"top_p": 0.7},
    {"top_p": 0.9},
)

Found = dict[tuple[int, float], list[Hypothesis]]


def mean(values: list[float]) -> float:
    """The average."""
    return sum(values) / len(values)


def words_of(run: Run, found: list[Hypothesis]) -> list[list[str]]:
    """Translations as tokens."""
    return [run.target_vocabulary.decode(hypothesis.tokens) for hypothesis in found]


def sentence_bleu(hypothesis: list[str], reference: list[str]) -> float:
    """BLEU of one sentence, smoothed, to look for examples with."""
    metric = BLEU(tokenize="none", force=True, effective_order=True)
    return float(metric.sentence_score(" ".join(hypothesis), [" ".join(reference)]).score)


def rankings(
    run: Run, encoded: list[list[int]], k: int, penalties: tuple[float, ...] = PENALTIES
) -> dict[float, list[Hypothesis]]:
    """The best finished hypotheses by each length penalty, from one search a sentence.

    The penalty only ranks what has ended, so a search is watched and its finished hypotheses are
    ranked in every way. 1 must be among the penalties.
    """
    best: dict[float, list[Hypothesis]] = {penalty: [] for penalty in penalties}
    for index in range(0, len(encoded), BATCH):
        steps: list[BeamStep] = []
        batch = encoded[index : index + BATCH]
        theirs = beam_search(run.model, *make_source(batch), k, watch=steps.append)
        ended: list[list[tuple[list[int], float]]] = [[] for _ in batch]
        written: list[list[int]] = [[] for _ in batch]
        for step in steps:
            for row, column in step.ended.tolist():
                ended[int(step.sentence[row])].append(
                    (written[row], float(step.totals[row, column]))
                )
            written = [
                [*written[row], int(step.words[row, column])] for row, column in step.kept.tolist()
            ]
        for penalty in penalties:
            for found in ended:
                scored = [
                    Hypothesis(tokens, log_prob, log_prob / (len(tokens) + 1) ** penalty, None)
                    for tokens, log_prob in found
                ]
                best[penalty].append(max(scored, key=lambda one: one.score))
        assert [one.tokens for one in best[1.0][index:]] == [one.tokens for one in theirs]
    return best


def sweep(run: Run, encoded: list[list[int]], part: Split) -> tuple[list[dict[str, Any]], Found]:
    """A row for each width and penalty; lengths in words without the end mark."""
    rows: list[dict[str, Any]] = []
    found: Found = {}
    for k in WIDTHS:
        for penalty, best in rankings(run, encoded, k).items():
            found[k, penalty] = best
            words = words_of(run, best)
            # The next narrower beam, to compare each sentence with in what is searched for.
            before = found.get((WIDTHS[max(0, WIDTHS.index(k) - 1)], penalty), best)
            rows.append(
                {
                    "k": k,
                    "length_penalty": penalty,
                    "bleu_tok": bleu_tok(words, part.target).score,
                    "log_prob": mean([one.log_prob for one in best]),
                    "score": mean([one.log_prob / (len(one.tokens) + 1) for one in best]),
                    "words": mean([float(len(one)) for one in words]),
                    "empty": sum(not one for one in words),
                    "less_probable_than_narrower": sum(
                        wide.log_prob < narrow.log_prob - 1e-4
                        for wide, narrow in zip(best, before, strict=True)
                    ),
                }
            )
            print(rows[-1], flush=True)
    return rows, found


def worse(run: Run, part: Split, found: Found) -> dict[str, Any]:
    """The short sentence that loses most BLEU from a narrow beam to a wide one.

    Of at most `SHORT` words, whose translation gets shorter by a third or more but is not empty.
    """
    narrow, wide = (words_of(run, found[k, 0.0]) for k in EXAMPLE)
    falls = [
        sentence_bleu(one, reference) - sentence_bleu(other, reference)
        if len(source) <= SHORT and 0 < len(other) <= 2 / 3 * len(one)
        else 0.0
        for one, other, source, reference in zip(
            narrow, wide, part.source, part.target, strict=True
        )
    ]
    i = max(range(len(falls)), key=lambda i: falls[i])
    translations = [
        {
            "k": k,
            "length_penalty": penalty,
            "translation": words_of(run, [best[i]])[0],
            "log_prob": best[i].log_prob,
            "mean_log_prob": best[i].log_prob / (len(best[i].tokens) + 1),
            "bleu": sentence_bleu(words_of(run, [best[i]])[0], part.target[i]),
        }
        for (k, penalty), best in found.items()
        if penalty in (0.0, 1.0)
    ]
    return {
        "position": i,
        "source": part.source[i],
        "reference": part.target[i],
        "translations": translations,
    }


def empty_translations(run: Run, encoded: list[list[int]], found: Found) -> dict[str, Any]:
    """For how many sentences "no words" is more probable than what each width finds, penalty 0."""
    pairs: list[tuple[list[int], list[int]]] = [(sentence, []) for sentence in encoded]
    log_probs: list[float] = []
    with torch.no_grad():
        for start in range(0, len(pairs), 100):
            batch = make_batch(pairs, list(range(start, min(start + 100, len(pairs)))))
            log_probs += run.model.sentence_log_probs(batch).tolist()
    return {
        "mean_log_prob": mean(log_probs),
        "more_probable_than_found": {
            str(k): sum(
                empty > one.log_prob + 1e-4
                for empty, one in zip(log_probs, found[k, 0.0], strict=True)
            )
            for k in WIDTHS
        },
    }


def tree(run: Run, encoded: list[list[int]], part: Split, found: Found) -> dict[str, Any]:
    """The search of width 2 on the first sentence of 5 to 8 words where it finds more than greedy.

    With a few samples of the same sentence, to look at.
    """
    greedy, beam = found[1, 1.0], found[2, 1.0]
    i = next(
        i
        for i, source in enumerate(part.source)
        if 5 <= len(source) <= 8 and beam[i].log_prob > greedy[i].log_prob + 1e-4
    )
    best, searched = record_beam_search(run.model, encoded[i], k=2)
    assert best.tokens == beam[i].tokens
    shown: tuple[dict[str, Any], ...] = ({}, {"temperature": 0.5}, {"top_k": 5}, {"top_p": 0.7})
    samples = [
        {
            **options,
            "translations": words_of(run, sample(run.model, [encoded[i]] * 5, 0, **options)),
        }
        for options in shown
    ]
    return {
        "position": i,
        "source": part.source[i],
        "reference": part.target[i],
        "greedy": {"translation": words_of(run, [greedy[i]])[0], "log_prob": greedy[i].log_prob},
        "beam": {"translation": words_of(run, [best])[0], "log_prob": best.log_prob},
        "tree": searched.to_json(run.target_vocabulary),
        "samples": samples,
    }


def sampling(
    run: Run, sources: list[list[int]], references: list[list[str]]
) -> list[dict[str, Any]]:
    """Quality against variety: BLEU against the reference, and how the draws of a sentence differ.

    `different`: distinct translations among the draws of a sentence, on average. `between`: BLEU of
    one draw against another, averaged over pairs of draws; 100: all the same.
    """
    rows = []
    for options in SAMPLINGS:
        draws: list[list[list[str]]] = []
        log_probs: list[float] = []
        for seed in range(DRAWS):
            found = sample(run.model, sources, seed, **options)
            draws.append(words_of(run, found))
            log_probs += [one.log_prob for one in found]
        distinct = [float(len({tuple(one) for one in drawn})) for drawn in zip(*draws, strict=True)]
        rows.append(
            {
                **options,
                "bleu_tok": mean([bleu_tok(draw, references).score for draw in draws]),
                "log_prob": mean(log_probs),
                "different": mean(distinct),
                "between": mean([bleu_tok(a, b).score for a, b in combinations(draws, 2)]),
            }
        )
        print(rows[-1], flush=True)
    return rows


def protocols(run: Run, part: Split, best: list[Hypothesis], detokenize: Any) -> dict[str, Any]:
    """The same translations scored in several ways; `mean_of_sentences` is not a corpus score."""
    words = words_of(run, best)
    tok = bleu_tok(words, part.target)
    detok = bleu_detok([detokenize(one) for one in words], part.reference, lowercase=True)
    cased = bleu_detok([detokenize(one) for one in words], part.reference)
    single = [sentence_bleu(one, y) for one, y in zip(words, part.target, strict=True)]
    return {
        "tok": tok._asdict(),
        "detok": detok._asdict(),
        "detok_cased": cased._asdict(),
        "mean_of_sentences": mean(single),
    }


def record(path: Path, sentences: int | None, sampled: int) -> None:
    """Search, sample, write."""
    result = read_result(path)
    run = load_run(path, "cpu")
    corpus = load_corpus(run.config.corpus, run.config.pair, **run.config.corpus_options)
    whole = corpus.splits[SPLIT]
    part = Split(
        whole.source[:sentences], whole.target[:sentences], None, whole.reference[:sentences]
    )
    encoded = [run.source_vocabulary.encode(source) for source in part.source]
    rows, found = sweep(run, encoded, part)
    kept = ("model", "corpus", "pair", "preset", "seed", "git_commit", "corpus_sha256", "versions")
    content = {
        **{name: result[name] for name in kept},
        "searched_by": git_commit(),
        "split": SPLIT,
        "settings": {
            "widths": WIDTHS,
            "length_penalties": PENALTIES,
            "draws": DRAWS,
            "sampled_sentences": sampled,
        },
        "sentences": len(part),
        "reference_words": mean([float(len(y)) for y in part.target]),
        "bleu_tok_signature": bleu_tok(part.target, part.target).signature,
        "beam": rows,
        "empty": empty_translations(run, encoded, found),
        "worse": worse(run, part, found),
        "tree": tree(run, encoded, part, found),
        "protocols": protocols(run, part, found[12, 1.0], corpus.detokenize),
        "greedy_on_sampled": bleu_tok(
            words_of(run, found[1, 1.0][:sampled]), part.target[:sampled]
        ).score,
        "sampling": sampling(run, encoded[:sampled], part.target[:sampled]),
    }
    write(recorded_name(result).replace(".json", "-search.json"), content)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = Path("runs/compare-cpu/rnnsearch")
    parser.add_argument("run", type=Path, nargs="?", default=default)
    parser.add_argument("--sentences", type=int, default=None)
    parser.add_argument("--sampled", type=int, default=150)
    torch.set_num_threads(1)
    arguments = parser.parse_args()
    record(arguments.run, arguments.sentences, arguments.sampled)
