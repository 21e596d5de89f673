"""What a figure shows, in words computed from its data: the text for readers who cannot see it.

Each function takes what the figure's own function takes. The text names what is drawn, then the
extremes and the comparison that the eye would make; it claims no more than the numbers say.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from course_lib.corpora.corpus import Link
from course_lib.figures.curves import Records
from course_lib.figures.gradients import Rows, checked_gates, checked_panels
from course_lib.figures.heatmap import checked as checked_weights
from course_lib.figures.lengths import Ranges
from course_lib.figures.lengths import checked as checked_ranges
from course_lib.figures.pieces import joined
from course_lib.figures.saturation import STYLES as PRODUCTS
from course_lib.figures.saturation import checked_saturation
from course_lib.figures.schedules import checked_shares
from course_lib.figures.style import styles_for

ROWS_IN_FULL = 12  # with more target words, only the extremes are told


def describe_heatmap(
    alpha: Any,
    source: Sequence[str],
    target: Sequence[str],
    *,
    links: Iterable[Link] | None = None,
) -> str:
    """The strongest weight, where each target word looks, the order, and the gold links met."""
    weights, columns, rows = checked_weights(alpha, source, target)
    columns, rows = joined(columns)[0], joined(rows)[0]
    strongest = weights.argmax(axis=1)
    i, j = np.unravel_index(weights.argmax(), weights.shape)
    parts = [
        f"Heatmap of attention weights: {_count(len(rows), 'target word')} (rows) over "
        f"{_count(len(columns), 'source word')} (columns).",
        f"The largest weight is {weights[i, j]:.2f}, of “{rows[i]}” on “{columns[j]}”.",
    ]
    if len(rows) <= ROWS_IN_FULL:
        each = [
            f"{word} on {columns[best]} {row[best]:.2f}" if row[best] > 0 else f"{word} on nothing"
            for word, best, row in zip(rows, strongest, weights, strict=True)
        ]
        parts.append(f"Most weight in each row: {'; '.join(each)}.")
    elif len(columns) > 1:
        flattest = int(weights.max(axis=1).argmin())
        parts.append(
            f"The most evenly spread row is “{rows[flattest]}”, whose largest weight is "
            f"{weights[flattest].max():.2f}."
        )
    if len(rows) > 1:
        parts.append(_order(strongest[weights.max(axis=1) > 0]))
    gold = sorted(links) if links is not None else []
    if gold:
        parts.append(_gold(weights, gold))
    return " ".join(parts)


def describe_curves(
    runs: Mapping[str, Records], *, x: Literal["seconds", "epoch"] = "seconds"
) -> str:
    """Where each run's loss and BLEU begin, end and are best, and who ends on top."""
    styles = styles_for(runs)
    over = "training time" if x == "seconds" else "epochs"
    parts = [f"Two panels of learning curves over {over}: loss on the left, BLEU on the right."]
    ends = {}
    for model, records in runs.items():
        if not records:
            continue
        first, last = records[0], records[-1]
        best = max(records, key=lambda record: record["val_bleu"])
        ends[styles[model].label] = float(last["val_bleu"])
        spent = _duration(last["seconds"]) if x == "seconds" else _count(last["epoch"], "epoch")
        at = _duration(best["seconds"]) if x == "seconds" else f"epoch {best['epoch']}"
        parts.append(
            f"{styles[model].label} after {spent}: validation loss {last['val_loss']:.2f} "
            f"(at first {first['val_loss']:.2f}), training loss {last['train_loss']:.2f}, "
            f"validation BLEU {last['val_bleu']:.1f} (at first {first['val_bleu']:.1f}, best "
            f"{best['val_bleu']:.1f} at {at})."
        )
    return " ".join([*parts, *_lead(ends, "BLEU at the end")])


def describe_lengths(
    results: Mapping[str, Ranges],
    training_lengths: tuple[int, int] | None = None,
    *,
    key: str = "bleu_tok",
    label: str = "BLEU (tokenised)",
) -> str:
    """Each model's score from the shortest to the longest range, and where the gap is widest."""
    ranges = checked_ranges(results)
    styles = styles_for(results)
    spans = [_span(row) for row in ranges]
    parts = [
        f"{label} against source length, from {spans[0]} to {spans[-1]}; "
        f"{min(row['sentences'] for row in ranges):,} to "
        f"{max(row['sentences'] for row in ranges):,} sentences a point."
    ]
    if training_lengths:
        shortest, longest = training_lengths
        parts.append(
            f"Training sentences had {shortest} to {longest} words; other lengths are shaded."
        )
    for model, rows in results.items():
        scores = [float(row[key]) for row in rows]
        best, worst = int(np.argmax(scores)), int(np.argmin(scores))
        text = f"{styles[model].label}: {scores[0]:.1f} at {spans[0]}"
        if len(scores) > 1:
            text += f", {scores[-1]:.1f} at {spans[-1]}"
        inner = range(1, len(scores) - 1)  # the ends are told already
        if best in inner:
            text += f", highest {scores[best]:.1f} at {spans[best]}"
        if worst in inner:
            text += f", lowest {scores[worst]:.1f} at {spans[worst]}"
        parts.append(f"{text}.")
    if len(results) == 2:
        (one, rows_one), (two, rows_two) = results.items()
        gaps = [float(a[key]) - float(b[key]) for a, b in zip(rows_one, rows_two, strict=True)]
        widest = int(np.argmax(np.abs(gaps)))
        ahead = one if gaps[widest] > 0 else two
        parts.append(
            f"The gap is widest at {spans[widest]}: {styles[ahead].label} is ahead by "
            f"{abs(gaps[widest]):.1f}."
            if gaps[widest]
            else "The two do not differ."
        )
    return " ".join(parts)


def describe_gradients(panels: Mapping[str, Mapping[str, Rows]]) -> str:
    """How much each unit leaves of a gradient halfway and all the way back, and by what factor."""
    checked_panels(panels)
    parts = [
        f"{_count(len(panels), 'panel')}: the gradient that is left against steps back, on a "
        "logarithmic axis where 1 means that nothing is lost."
    ]
    for title, curves in panels.items():
        units = []
        for name, rows in curves.items():
            half, last = rows[len(rows) // 2], rows[-1]
            text = (
                f"{name} {_power(half['median'])} after {_count(int(half['distance']), 'step')}, "
                f"{_power(last['median'])} after {int(last['distance'])}"
            )
            if last["median"] > 0:
                each = (last["median"] / rows[0]["median"]) ** (1 / last["distance"])
                text += f" (times {each:.2f} a step on average)"
            units.append(text)
        parts.append(f"{title}: {'; '.join(units)}.")
    return " ".join(parts)


def describe_gates(gates: Mapping[str, Sequence[float]], words: Sequence[str]) -> str:
    """Where each gate is most and least open, and how far it is open on average."""
    checked_gates(gates, words)
    parts = [
        f"How far {_count(len(gates), 'gate')} are open at each of {_count(len(words), 'word')}, "
        "from 0, shut, to 1, open."
    ]
    for name, values in gates.items():
        top, bottom = int(np.argmax(values)), int(np.argmin(values))
        parts.append(
            f"{name}: {np.mean(values):.2f} on average, most {values[top]:.2f} at “{words[top]}”, "
            f"least {values[bottom]:.2f} at “{words[bottom]}”."
        )
    return " ".join(parts)


def describe_saturation(results: Mapping[str, Rows]) -> str:
    """Spread, largest weight and gradient in the fewest and the most dimensions, both ways."""
    dimensions = checked_saturation(results)
    parts = [
        "Three panels against the dimension d of queries and keys: standard deviation of the "
        "energies, largest weight and slope of the softmax."
    ]
    for name, rows in results.items():
        first, last = rows[0], rows[-1]
        parts.append(
            f"{PRODUCTS[name].label} from d = {dimensions[0]:g} to {dimensions[-1]:g}: "
            f"standard deviation {first['sd']:.2g} to {last['sd']:.2g}, "
            f"largest weight {first['largest']:.2f} to {last['largest']:.2f}, "
            f"slope {_power(first['gradient'])} to {_power(last['gradient'])}."
        )
    off = max(abs(row["sd"] / row["dimension"] ** 0.5 - 1) for row in results["dot"])
    parts.append(
        f"The undivided products follow the theory, √d, to within {math.ceil(100 * off)} percent."
    )
    return " ".join(parts)


def describe_schedules(shares: Mapping[str, Sequence[float]]) -> str:
    """The share of given words at first, after each quarter of the training, and at its end."""
    last = checked_shares(shares)
    parts = [f"The share of true previous words that are given, against updates 0 to {last:,}."]
    for name, values in shares.items():
        start, one, two, three, end = (f"{values[last * k // 4]:.0%}" for k in range(5))
        parts.append(
            f"{name}: {start} at first, {one} after a quarter, {two} after half, {three} after "
            f"three quarters, {end} at the end."
        )
    return " ".join(parts)


def _power(value: float) -> str:
    """A number of any size in few characters, as it is read out: 0.35 or 2 · 10^-7."""
    if value == 0 or value >= 0.01:
        return f"{value:.2g}" if value < 1000 else f"{value:.1e}"
    digit, exponent = f"{value:.0e}".split("e")
    return f"{digit} · 10^{int(exponent)}"


def _order(strongest: NDArray[np.int64]) -> str:
    back = int((np.diff(strongest) < 0).sum())
    if back == 0:
        return "Read downwards, the largest weights never step back to an earlier source word."
    return (
        f"Read downwards, the largest weights step back to an earlier source word {_times(back)}."
    )


def _gold(weights: NDArray[np.float64], gold: Sequence[Link]) -> str:
    """How many gold links carry the largest weight of their row."""
    met = sum(0 < weights[i, j] == weights[i].max() for j, i in gold)
    return (
        f"Of {_count(len(gold), 'gold link')} (outlined), {met} "
        f"{'is' if met == 1 else 'are'} the largest weight of the row."
    )


def _lead(ends: Mapping[str, float], what: str) -> list[str]:
    if len(ends) < 2:
        return []
    first, second = sorted(ends, key=lambda name: -ends[name])[:2]
    return [f"Highest {what}: {first}, by {ends[first] - ends[second]:.1f} over {second}."]


def _span(row: Mapping[str, Any]) -> str:
    lower, upper = row["lower"], row["upper"]
    return _count(lower, "word") if lower == upper else f"{lower} to {upper} words"


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds > 180 else f"{seconds:.0f} seconds"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")
