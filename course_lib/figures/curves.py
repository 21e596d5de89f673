"""Learning curves: loss and BLEU of several runs, against the same budget."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lib.errors import CourseError
from course_lib.figures.lines import label_ends, label_room, stacked
from course_lib.figures.style import MUTED, NOTE, line_style, styled, styles_for

Records = Sequence[Mapping[str, Any]]


@styled()
def learning_curves(runs: Mapping[str, Records]) -> Figure:
    """Loss (above) and validation BLEU (below) of each run, labelled at the end of its lines.

    runs: by model name, the records of its `metrics.jsonl`, which have `seconds` (training time
    from the start), `train_loss` and `val_loss` (nats a target word) and `val_bleu`.
    """
    if not any(runs.values()):
        raise CourseError("No run has a validation yet. Train for at least one epoch first.")
    styles = styles_for(runs)
    unit, name = _time_unit(runs)
    drawn = {model: records for model, records in runs.items() if records}

    names = [styles[model].label for model in drawn]
    room = label_room([f"{text} 00.0" for text in names])
    figure, (loss, bleu) = stacked(
        3.4, [2.1, 2.1], left=0.5, right=room, bottom=0.55, top=0.62, gap=1.0
    )
    _head(loss, "Loss", "nats a word; marked: validation, thin: training")
    _head(bleu, "BLEU", "validation set, tokenised")

    loss_ends, bleu_ends = [], []
    for model, records in drawn.items():
        style = styles[model]
        at = [record["seconds"] / unit for record in records]
        train, val, score = (
            [float(record[key]) for record in records]
            for key in ("train_loss", "val_loss", "val_bleu")
        )
        # The small dots show a run that has only one record so far.
        loss.plot(at, train, ".-", color=style.color, lw=1.1, ms=3, alpha=0.6, gid=f"train-{model}")
        loss.plot(at, val, gid=f"val-{model}", **line_style(style))
        bleu.plot(at, score, gid=f"bleu-{model}", **line_style(style))
        loss_ends.append((at[-1], val[-1], style.label, style))
        bleu_ends.append((at[-1], score[-1], f"{style.label} {score[-1]:.1f}", style))

    for axes, ends in ((loss, loss_ends), (bleu, bleu_ends)):
        axes.set_xlabel(name)
        axes.set_xlim(left=0)
        if axes is bleu:
            axes.set_ylim(bottom=0)
        label_ends(axes, ends)
    return figure


def _head(axes: Axes, title: str, note: str) -> None:
    """A panel's title, and under it a note on what is drawn."""
    axes.set_title(title, pad=18, fontweight="bold")
    axes.annotate(
        note,
        (0, 1),
        xytext=(0, 6),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=NOTE,
        color=MUTED,
    )


def _time_unit(runs: Mapping[str, Records]) -> tuple[float, str]:
    """Seconds for short trainings, minutes for the others: (seconds in one, name of the axis)."""
    longest = max(record["seconds"] for records in runs.values() for record in records)
    return (60.0, "training time (minutes)") if longest > 180 else (1.0, "training time (seconds)")
