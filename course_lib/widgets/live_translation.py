"""One sentence's translation as a figure of translators shows it: what its worker would report."""

import html
from typing import Any

from course_lib.corpora.vocabulary import EOS, UNK
from course_lib.evaluation.decoding_steps import decoding_steps
from course_lib.models import build_model
from course_lib.models.quantised import dequantised, quantised
from course_lib.search import record_beam_search
from course_lib.training import Run
from course_lib.widgets.beam_tree import drawn_tree
from course_lib.widgets.stepper import rounded
from course_lib.widgets.training_words import is_seen

_DIGITS = 4


def live_translation(
    run: Run, text: str, k: int, length_penalty: float, seen: bytes
) -> dict[str, Any]:
    """A run's translation of a line, with the run's weights in 8 bits as a page has them.

    Args:
        seen: what `seen_words` returns.

    Returns:
        what `report` in modules/live/worker.mjs does, numbers rounded: `words`, each with its
        `pieces`; the `source` and `target` pieces with the end mark, the targets' `numbers`;
        `text`; `logProb`, `logProbs` and `score`; `alpha` and `energies`, (T_y, T_x) or None;
        `next`, the five most probable words of each step; and the beam's `tree`.
    """
    model = build_model(run.model.config).eval()
    model.load_state_dict(dequantised(quantised(run.model.state_dict())))
    words = words_of(run, text, seen)
    numbers = [number for word in words for number in word.pop("numbers")]
    hypothesis, tree = record_beam_search(model, numbers, k, length_penalty)
    steps = decoding_steps(model, numbers, hypothesis.tokens)
    path = tree.path(tree.best)
    before = [0.0, *(node.log_prob for node in path)]
    source, target = (
        [html.unescape(token) for token in side.tokens]
        for side in (run.source_vocabulary, run.target_vocabulary)
    )
    best = zip(steps.words.tolist(), steps.probabilities.tolist(), strict=True)
    return {
        "words": words,
        "source": [source[number] for number in (*numbers, EOS)],
        "numbers": [node.word for node in path],
        "target": [target[node.word] for node in path],
        "text": run.text(run.target_vocabulary.decode(hypothesis.tokens)),
        "logProb": round(path[-1].log_prob, _DIGITS),
        "logProbs": [
            round(node.log_prob - so_far, _DIGITS)
            for node, so_far in zip(path, before, strict=False)
        ],
        "score": round(path[-1].score, _DIGITS),
        "alpha": rounded(steps.alpha, _DIGITS),
        "energies": rounded(steps.energies, _DIGITS),
        "next": [
            [[target[n], round(p, _DIGITS), n] for n, p in zip(*pair, strict=True)] for pair in best
        ],
        "tree": drawn_tree(tree, run),
    }


def words_of(run: Run, text: str, seen: bytes) -> list[dict[str, Any]]:
    """A line's words: `text`, the `numbers` and texts of the `pieces`, what the run knows of it."""
    vocabulary = run.source_vocabulary
    words = []
    for token in run.tokens(text):
        numbers = vocabulary.encode([token])
        words.append(
            {
                "text": html.unescape(token),
                "out": False,
                "pieces": [html.unescape(vocabulary.tokens[number]) for number in numbers],
                "known": UNK not in numbers,
                "seen": is_seen(token, seen),
                "numbers": numbers,
            }
        )
    return words
