"""A translation to step through, word by word: where the model looks, and what it would write."""

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import traitlets
from matplotlib.figure import Figure
from torch import Tensor

from course_lib.corpora.vocabulary import EOS, MARKS
from course_lib.errors import CourseError
from course_lib.evaluation.decoding_steps import decoding_steps
from course_lib.figures.heatmap import heatmap
from course_lib.search import translate
from course_lib.training import Run, load_run
from course_lib.widgets.modules import MovingFigure, module

BEAM = 5


def recorded_steps(run: Run, source: Sequence[str], name: str, k: int = BEAM) -> dict[str, Any]:
    """One model's translation of a sentence with all of its steps, as the figure reads it.

    Args:
        run: the trained model.
        source: the sentence's tokens.
        name: what the figure calls the model.
        k: the beam's width.

    Returns:
        `target`, the words and the end mark; for each of them a row of `alpha` and of `energies`
        (None without attention) over the source words and their end mark, and its five most
        probable words with their probabilities in `next`. Where the run's vocabulary cuts words
        into pieces, `source` has the pieces and the end mark.

    Rounded so finely that what a reader sees is the model's own number rounded once.
    """
    words = run.source_vocabulary.encode(list(source))
    pieces = [html.unescape(run.source_vocabulary.tokens[word]) for word in words]
    hypothesis = translate(run.model, [words], k, run.config.recipe.length_penalty)[0]
    steps = decoding_steps(run.model, words, hypothesis.tokens)
    tokens = [html.unescape(word) for word in run.target_vocabulary.tokens]
    return {
        "name": name,
        "target": [*(tokens[word] for word in hypothesis.tokens), MARKS[EOS]],
        "alpha": rounded(steps.alpha, 5),
        "energies": rounded(steps.energies, 4),
        "next": [
            [[tokens[word], round(p, 5)] for word, p in zip(*row, strict=True)]
            for row in zip(steps.words.tolist(), steps.probabilities.tolist(), strict=True)
        ],
        **({} if len(pieces) == len(source) else {"source": [*pieces, MARKS[EOS]]}),
    }


def rounded(rows: Tensor | None, digits: int) -> list[list[float]] | None:
    """Weights or energies, (T_y, T_x), as lists; None where a model has none."""
    if rows is None:
        return None
    return [[round(value, digits) for value in row] for row in rows.tolist()]


def stepped(sentences: Sequence[Any], sentence: int, first: str, **_: Any) -> Figure:
    """The whole heatmap of the sentence that the figure starts with."""
    shown = sentences[sentence]
    model = next(one for one in shown["models"] if one["name"] == first)
    source = model.get("source", shown["source"])
    return heatmap(model["alpha"], source, model["target"], links=model.get("gold", ()))


class AttentionStepper(MovingFigure):
    """Step, play or drag through translations, one model or two beside each other.

    Attributes:
        sentences: for each its `label`, its `source` words with the end mark, and `models`, what
            `recorded_steps` returns, with `gold` links where they are known.
        sentence: which of them is shown.
        step: how many of its target words are written.
        looked_at: the place of the source word that was chosen in the map, from 0; -1 for none.
        first, second: the names of the models shown; an empty second for none.
    """

    _esm = module("attention_stepper")

    sentences: Any = traitlets.List().tag(sync=True)
    sentence = traitlets.Int(0, min=0).tag(sync=True)
    step = traitlets.Int(0, min=0).tag(sync=True)
    looked_at = traitlets.Int(-1, min=-1).tag(sync=True)
    first = traitlets.Unicode("").tag(sync=True)
    second = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self,
        runs: Run | Mapping[str, Run] | str | Path | None = None,
        sentence: str | Sequence[str] | None = None,
        *,
        k: int = BEAM,
        **values: Any,
    ) -> None:
        """Make the figure from trained models of your own.

        Args:
            runs: a run as `load_run` reads it, or several by the names the figure gives them; or a
                published model's name, or a run directory's path.
            sentence: the source in the run's tokens, or as text with spaces between them.
            k: the beam's width.

        Raises:
            CourseError: no sentence is given with the runs.
        """
        if runs is not None:
            words = sentence.split() if isinstance(sentence, str) else list(sentence or [])
            if not words:
                raise CourseError(
                    "There is nothing to translate. Give the sentence to step through."
                )
            if isinstance(runs, str | Path):
                runs = load_run(runs)
            named = runs if isinstance(runs, Mapping) else {runs.config.model: runs}
            models = [recorded_steps(run, words, name, k) for name, run in named.items()]
            shown = [html.unescape(word) for word in words]
            source = [*shown, MARKS[EOS]]
            values["sentences"] = [{"label": " ".join(shown), "source": source, "models": models}]
        elif sentence is not None:
            values["sentence"] = sentence
        super().__init__(**values)

    @property
    def selected(self) -> dict[str, Any]:
        """What the first model shows: the `word` written last, its row of `alpha` and `energies`
        over `source`, its `next`, and of the row the word that was chosen, in `looked_at`.
        """
        shown = self.sentences[self.sentence]
        models = {one["name"]: one for one in shown["models"]}
        model = models.get(self.first, shown["models"][0])
        source = model.get("source", shown["source"])
        chosen = source[self.looked_at] if 0 <= self.looked_at < len(source) else None
        i = min(self.step, len(model["target"])) - 1
        rows: dict[str, Any] = {"alpha": None, "energies": None, "next": []}
        if i >= 0:
            rows = {key: model[key] and model[key][i] for key in rows}
        word = model["target"][i] if i >= 0 else None
        return {"word": word, "source": source, **rows, "looked_at": chosen}
