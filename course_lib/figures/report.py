"""What a comparison found, as one page that needs nothing else, and as a notebook.

A comparison is what `course compare` wrote: a run directory a model. Those of other seeds go beside
it, and then the spread of their scores is shown.
"""

from collections.abc import Sequence
from dataclasses import asdict
from html import escape, unescape
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import nbformat
from markupsafe import Markup
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest

from course_lib.corpora.copies import said
from course_lib.corpora.corpus import Corpus, Split
from course_lib.corpora.languages import language_of
from course_lib.corpora.vocabulary import EOS, MARKS
from course_lib.errors import CourseError
from course_lib.evaluation.forced import forced_weights
from course_lib.figures.curves import learning_curves
from course_lib.figures.lengths import score_by_length
from course_lib.figures.picture import Picture
from course_lib.figures.style import styles_for
from course_lib.figures.templates import render
from course_lib.files import write_atomically
from course_lib.training import Run, load_run, read_result
from course_lib.training.same_run import check_same_data

SAMPLES = 1_000
"""Resampled test sets of the bootstrap (Koehn, 2004)."""
EXAMPLES = 10
PROVENANCE = ("corpus", "pair", "preset", "seed", "device", "git_commit", "versions", "changes")


class Example(NamedTuple):
    """A test sentence with each model's translation, and where each that attends looked."""

    number: int
    source: str
    reference: str
    translations: dict[str, str]
    maps: dict[str, Markup]


class Comparison(NamedTuple):
    """What `course compare` left behind in a folder."""

    folder: Path
    split: str
    corpus: Corpus
    runs: dict[str, Run]
    results: dict[str, dict[str, Any]]
    hypotheses: dict[str, list[list[str]]]

    @property
    def test(self) -> Split:
        """The split that was scored."""
        return self.corpus.splits[self.split]

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target as a page's attribute `lang` has them; "" where they have no name."""
        codes = next(iter(self.runs.values())).config.languages
        source, target = map(str, map(language_of, codes)) if codes else ("", "")
        return source, target

    @property
    def scores(self) -> dict[str, dict[str, Any]]:
        """Each model's scores on it."""
        return {model: result["scores"][self.split] for model, result in self.results.items()}


def read_comparison(folder: Path | str) -> Comparison:
    """A comparison with its runs and the text that they were scored on.

    Raises:
        CourseError: the folder holds no finished comparison, or its text is no longer the same.
    """
    folder = Path(folder)
    finished = sorted(path.parent for path in folder.glob("*/result.json"))
    if len(finished) < 2:
        raise CourseError(
            f"{folder} has no finished comparison. Make one with `course compare --out {folder}`."
        )
    runs = {path.name: load_run(path, "cpu") for path in finished}
    corpus = next(iter(runs.values())).config.load_corpus()
    for run in runs.values():
        check_same_data(run, corpus)
    results = {model: read_result(run.path) for model, run in runs.items()}
    split = next(split for split in corpus.splits if split.startswith("test"))
    hypotheses = {}
    for model, run in runs.items():
        text = (run.path / f"hypotheses.{split}.txt").read_text(encoding="utf-8")
        hypotheses[model] = [line.split(" ") if line else [] for line in text.split("\n")[:-1]]
    return Comparison(folder, split, corpus, runs, results, hypotheses)


def intervals(comparison: Comparison) -> tuple[dict[str, tuple[float, float]], float]:
    """Each model's tokenised BLEU as the middle and half the width of its 95% interval, and p.

    Paired bootstrap over the test sentences, by sacrebleu: p is how often a difference as large as
    the one between the two models would come about by the choice of sentences alone.
    """
    systems: list[tuple[str, Sequence[str]]] = [
        (model, [" ".join(x) for x in lines]) for model, lines in comparison.hypotheses.items()
    ]
    references = [[" ".join(words) for words in comparison.test.target]]
    metric = {"BLEU": BLEU(tokenize="none", force=True)}
    test = PairedTest(systems, metric, references, test_type="bs", n_samples=SAMPLES)
    results: list[Any] = test()[1]["BLEU"]
    half = {
        model: (float(result.mean), float(result.ci))
        for (model, _), result in zip(systems, results, strict=True)
    }
    return half, float(results[-1].p_value)


def score_rows(comparison: Comparison) -> list[list[str]]:
    """A row a model: its sizes and its scores, as text to be copied."""
    half, _ = intervals(comparison)
    styles = styles_for(comparison.runs)
    rows = []
    for model, scores in comparison.scores.items():
        result = comparison.results[model]
        parts = [scores["short"]["bleu_tok"], scores["long"]["bleu_tok"]]
        middle, width = half[model]
        rows.append(
            [
                styles[model].label,
                f"{scores['bleu_tok']:.1f}",
                f"{max(0.0, middle - width):.1f} to {middle + width:.1f}",
                f"{scores['bleu_detok']:.1f}",
                f"{scores['chrf']:.1f}" if "chrf" in scores else "-",
                *("-" if part is None else f"{part:.1f}" for part in parts),
                f"{scores['unk_rate']:.1%}",
                f"{result['parameters']:,}",
                f"{result['train_seconds'] / 60:.1f}",
            ]
        )
    return rows


def spread_rows(comparisons: Sequence[Comparison]) -> list[list[str]]:
    """A row a model: BLEU with each seed, their mean, the least and the greatest."""
    rows = []
    for model in comparisons[0].runs:
        values = [comparison.scores[model]["bleu_tok"] for comparison in comparisons]
        numbers = [*values, mean(values), min(values), max(values)]
        rows.append(
            [styles_for(comparisons[0].runs)[model].label, *(f"{value:.1f}" for value in numbers)]
        )
    return rows


def examples(comparison: Comparison, count: int = EXAMPLES) -> list[Example]:
    """Test sentences at even distances, whatever their translations are like."""
    test = comparison.test
    chosen = [i * len(test) // min(count, len(test)) for i in range(min(count, len(test)))]
    maps: dict[int, dict[str, Markup]] = {i: {} for i in chosen}
    for model, run in comparison.runs.items():
        if run.model.config.context == "fixed":
            continue
        written = [i for i in chosen if comparison.hypotheses[model][i]]
        sources = [test.source[i] for i in written]
        targets = [comparison.hypotheses[model][i] for i in written]
        part = Split(sources, targets, None, [])
        weights = forced_weights(run.model, run.source_vocabulary, run.target_vocabulary, part)
        for i, alpha, source, target in zip(written, weights, sources, targets, strict=True):
            maps[i][model] = map_table(alpha.tolist(), source, target, comparison.languages)
    return [
        Example(
            i + 1,
            comparison.corpus.detokenize(test.source[i]),
            test.reference[i],
            {
                model: comparison.corpus.detokenize(lines[i])
                for model, lines in comparison.hypotheses.items()
            },
            maps[i],
        )
        for i in chosen
    ]


def map_table(
    alpha: Sequence[Sequence[float]],
    source: Sequence[str],
    target: Sequence[str],
    languages: tuple[str, str] = ("", ""),
) -> Markup:
    """Weights (T_y + 1, T_x + 1) as a table that a browser draws, in any script there is."""
    # Moses' tokens come escaped already.
    columns, rows = (
        [escape(unescape(word)) for word in (*side, MARKS[EOS])] for side in (source, target)
    )
    head = "".join(
        f'<th scope=col><span dir=auto lang="{languages[0]}">{word}</span></th>' for word in columns
    )
    body = "".join(
        f'<tr><th scope=row dir=auto lang="{languages[1]}">{word}</th>'
        + "".join(f'<td style="--w:{w:.3f}" title="{w:.2f}"></td>' for w in row)
        + "</tr>"
        for word, row in zip(rows, alpha, strict=True)
    )
    return Markup(f"<table class=map><tr><td></td>{head}</tr>{body}</table>")


def curves(comparison: Comparison) -> Picture:
    """Loss and BLEU of both trainings against time."""
    best = [
        f"{m} {max(x['val_bleu'] for x in r['metrics']):.1f}" for m, r in comparison.results.items()
    ]
    figure = learning_curves({model: r["metrics"] for model, r in comparison.results.items()})
    return Picture(figure, f"Loss and validation BLEU over training; best BLEU: {', '.join(best)}.")


def lengths(comparison: Comparison) -> Picture:
    """BLEU against the length of the source."""
    rows = {model: scores["by_length"] for model, scores in comparison.scores.items()}
    ends = [f"{m} {x[0]['bleu_tok']:.1f} to {x[-1]['bleu_tok']:.1f}" for m, x in rows.items()]
    alt = f"BLEU by source length; from the shortest to the longest: {', '.join(ends)}."
    return Picture(score_by_length(rows), alt)


def write_comparison(folders: Sequence[Path]) -> list[Path]:
    """report.html and report.ipynb in the first folder; the others hold other seeds."""
    comparisons = [read_comparison(folder) for folder in folders]
    first = comparisons[0]
    if any(other.test != first.test or [*other.runs] != [*first.runs] for other in comparisons):
        raise CourseError("These comparisons are of other models or texts. Give those of one text.")
    _, p = intervals(first)
    result = next(iter(first.results.values()))
    page = render(
        *("course_lib.figures", ".", "report.html.j2"),
        comparison=first,
        scores=score_rows(first),
        p=p,
        copied=said(first.corpus).get(first.split),
        samples=SAMPLES,
        seeds=[f"seed {next(iter(one.results.values()))['seed']}" for one in comparisons],
        spread=spread_rows(comparisons) if len(comparisons) > 1 else [],
        pictures=[Markup(draw(first)._repr_html_()) for draw in (curves, lengths)],
        labels={model: style.label for model, style in styles_for(first.runs).items()},
        examples=examples(first),
        recipe=asdict(next(iter(first.runs.values())).config.recipe) | result["model_config"],
        provenance={key: result[key] for key in PROVENANCE if result.get(key) not in (None, {})},
        signatures=[
            first.scores[next(iter(first.runs))][key]
            for key in ("bleu_tok_signature", "bleu_detok_signature")
        ],
        checksums=result["corpus_sha256"],
    )
    paths = [first.folder / "report.html", first.folder / "report.ipynb"]
    write_atomically(paths[0], page)
    write_atomically(paths[1], nbformat.writes(notebook(first.folder)) + "\n")
    return paths


NOTEBOOK_CELLS = (
    "from course_lib.figures import report\n\n"
    "comparison = report.read_comparison(FOLDER)\ncomparison.scores",
    "report.score_rows(comparison), report.intervals(comparison)",
    "report.curves(comparison)",
    "report.lengths(comparison)",
    "from IPython.display import HTML\n\n"
    "example = report.examples(comparison)[0]\n"
    "print(example.source, example.reference, *example.translations.values(), sep='\\n')\n"
    "HTML(''.join(example.maps.values()))",
    "next(iter(comparison.results.values()))['recipe']",
)


def notebook(folder: Path) -> NotebookNode:
    """The same as cells to run and to change."""
    title = "# What the comparison found\n\nRun the cells in their order."
    here = repr(str(folder.resolve()))
    cells = [
        new_markdown_cell(title, id="title"),
        *(
            new_code_cell(text.replace("FOLDER", here), id=f"cell-{number}")
            for number, text in enumerate(NOTEBOOK_CELLS)
        ),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})
