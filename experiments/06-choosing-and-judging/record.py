"""Record what ways of choosing words do to the translations of chapter 7's RNNsearch of seed 0.

search: beam widths with and without a length penalty on the validation split, the sentence that
    loses most to a wide beam, and what sampling trades for variety.
tree: for a sentence of the validation split every search that the figure steps through, with all
    that it looked at.
"""

from itertools import combinations, product
from statistics import fmean
from typing import Any

import torch
from sacrebleu.metrics import BLEU

from course_lib.corpora.batches import make_batch
from course_lib.corpora.corpus import Split
from course_lib.evaluation.bleu import bleu_detok, bleu_tok
from course_lib.evaluation.forced import sentence_log_probs
from course_lib.search import Hypothesis, sample, translate
from course_lib.training import Run, load_run, read_result
from course_lib.training.provenance import git_commit
from course_lib.widgets.beam_tree import recorded_search
from experiments.recording import Part, Read, Records, check_same, corpus_of, large

NAME = "multi30k-en-de-rnnsearch-cpu-seed0"
SPLIT = "val"
WIDTHS = (1, 2, 3, 5, 8, 12, 20, 50)
PENALTIES = (0.0, 0.5, 1.0, 1.5)
EXAMPLE = (5, 50)
"""The two widths between which a sentence loses most."""
SHORT = 12
"""Words of a sentence that fits a page."""
SAMPLED = 150
"""Sentences that are drawn for."""
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
TREE_WORDS = range(7, 12)
"""Sentences of so many words fit a page; none of them may be unknown to the model."""
TREE_WIDTHS = (1, 2, 3, 5)
TREE_PENALTIES = (0.0, 0.5, 1.0)
KEPT = (
    *("model", "corpus", "pair", "preset", "seed", "git_commit"),
    *("model_sha256", "corpus_sha256"),
)

Found = dict[tuple[int, float], list[Hypothesis]]


def words_of(run: Run, found: list[Hypothesis]) -> list[list[str]]:
    """Translations as tokens."""
    return [run.target_vocabulary.decode(hypothesis.tokens) for hypothesis in found]


def sentence_bleu(hypothesis: list[str], reference: list[str]) -> float:
    """BLEU of one sentence, smoothed, to look for examples with."""
    metric = BLEU(tokenize="none", force=True, effective_order=True)
    return float(metric.sentence_score(" ".join(hypothesis), [" ".join(reference)]).score)


def sweep(run: Run, encoded: list[list[int]], part: Split) -> tuple[list[dict[str, Any]], Found]:
    """A row for each width and penalty; lengths in words without the end mark."""
    rows: list[dict[str, Any]] = []
    found: Found = {}
    for k in WIDTHS:
        for penalty in PENALTIES:
            found[k, penalty] = best = translate(run.model, encoded, k, penalty)
            words = words_of(run, best)
            # The next narrower beam, to compare each sentence with in what is searched for.
            before = found.get((WIDTHS[max(0, WIDTHS.index(k) - 1)], penalty), best)
            rows.append(
                {
                    "k": k,
                    "length_penalty": penalty,
                    "bleu_tok": bleu_tok(words, part.target).score,
                    "log_prob": fmean([one.log_prob for one in best]),
                    "score": fmean([one.log_prob / (len(one.tokens) + 1) for one in best]),
                    "words": fmean([float(len(one)) for one in words]),
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
            log_probs += sentence_log_probs(run.model, batch).tolist()
    return {
        "mean_log_prob": fmean(log_probs),
        "more_probable_than_found": {
            str(k): sum(
                empty > one.log_prob + 1e-4
                for empty, one in zip(log_probs, found[k, 0.0], strict=True)
            )
            for k in WIDTHS
        },
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
                "bleu_tok": fmean([bleu_tok(draw, references).score for draw in draws]),
                "log_prob": fmean(log_probs),
                "different": fmean(distinct),
                "between": fmean([bleu_tok(a, b).score for a, b in combinations(draws, 2)]),
            }
        )
        print(rows[-1], flush=True)
    return rows


def protocols(run: Run, part: Split, best: list[Hypothesis], detokenize: Any) -> dict[str, Any]:
    """The same translations scored in several ways."""
    words = words_of(run, best)
    tok = bleu_tok(words, part.target)
    detok = bleu_detok([detokenize(one) for one in words], part.reference, lowercase=True)
    cased = bleu_detok([detokenize(one) for one in words], part.reference)
    return {"tok": tok._asdict(), "detok": detok._asdict(), "detok_cased": cased._asdict()}


def search() -> Records:
    """Search and sample."""
    path = large("rnnsearch")
    result, run = read_result(path), load_run(path, "cpu")
    corpus = corpus_of(run.config)
    part = corpus.splits[SPLIT]
    encoded = [run.source_vocabulary.encode(source) for source in part.source]
    rows, found = sweep(run, encoded, part)
    greedy = words_of(run, found[1, 1.0][:SAMPLED])
    kept = (*KEPT, "versions")
    content = {
        **{name: result[name] for name in kept},
        "searched_by": git_commit(),
        "split": SPLIT,
        "settings": {
            "widths": WIDTHS,
            "length_penalties": PENALTIES,
            "draws": DRAWS,
            "sampled_sentences": SAMPLED,
        },
        "sentences": len(part),
        "reference_words": fmean([float(len(y)) for y in part.target]),
        "bleu_tok_signature": bleu_tok(part.target, part.target).signature,
        "beam": rows,
        "empty": empty_translations(run, encoded, found),
        "worse": worse(run, part, found),
        "protocols": protocols(run, part, found[12, 1.0], corpus.detokenize),
        "greedy_on_sampled": bleu_tok(greedy, part.target[:SAMPLED]).score,
        "sampling": sampling(run, encoded[:SAMPLED], part.target[:SAMPLED]),
    }
    yield f"{NAME}-search", content


def telling(run: Run, part: Split) -> list[str]:
    """The first sentence where a wider beam matters, and where a length penalty does, too."""
    known = set(run.source_vocabulary.tokens)
    short = [x for x in part.source if len(x) in TREE_WORDS and known.issuperset(x)]
    words = [run.source_vocabulary.encode(x) for x in short]
    greedy, wider, widest, unranked = (
        [h.tokens for h in translate(run.model, words, k=k, length_penalty=penalty)]
        for k, penalty in ((1, 1.0), (3, 1.0), (5, 1.0), (5, 0.0))
    )
    rows = zip(short, greedy, wider, widest, unranked, strict=True)
    return next(x for x, one, three, five, other in rows if one != three and five != other)


def overtaking(searches: list[dict[str, Any]], start: dict[str, Any]) -> int:
    """The step in which the winner of the search that starts the figure overtakes greedy's."""
    winner, greedy = (
        [one["nodes"][number] for number in one["best"]]
        for k in (start["k"], 1)
        for one in searches
        if one["k"] == k and one["length_penalty"] == start["length_penalty"]
    )
    pairs = zip(winner, greedy, strict=False)  # by more than rounding
    return next(int(ours[1]) for ours, theirs in pairs if ours[3] > theirs[3] + 0.01)


def beam_tree() -> Records:
    """Every search of the figure, with all that it looked at."""
    path = large("rnnsearch")
    run, result = load_run(path, "cpu"), read_result(path)
    source = telling(run, corpus_of(run.config).splits[SPLIT])
    searches = [
        recorded_search(run, source, k, penalty) for k in TREE_WIDTHS for penalty in TREE_PENALTIES
    ]
    start = {"source": searches[0]["source"], "k": 3, "length_penalty": 0.0}
    start["step"] = overtaking(searches, start)
    content = {
        **{key: result[key] for key in KEPT},
        "searched_by": git_commit(),
        "split": SPLIT,
        "figure": {"searches": searches, **start},
    }
    yield f"{NAME}-beam-tree", content


def check(read: Read) -> None:
    """The searches are of the recorded run and whole."""
    result, record = read(NAME), read(f"{NAME}-search")
    check_same(record, result, *KEPT)
    assert not record["searched_by"].endswith("-dirty")
    assert record["split"] == "val"  # nothing was chosen on test sentences
    rows = [(row["k"], row["length_penalty"]) for row in record["beam"]]
    assert rows == list(product(WIDTHS, PENALTIES))
    assert record["settings"]["draws"] == DRAWS
    check_same(read(f"{NAME}-beam-tree"), result, *KEPT)


PARTS = {
    "search": Part(search, "a quarter of an hour"),
    "tree": Part(beam_tree, "a minute"),
}
