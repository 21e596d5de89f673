"""`course train`, `compare`, `score`, `report` and `export`: runs made, judged and given away."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from course_lib.corpora.copies import said
from course_lib.corpora.registry import chosen
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_lib.corpora.corpus import Corpus
    from course_lib.training import RunConfig


def finite(value: float | None) -> float | None:
    """Refuse what is a number to Python alone; for an option's callback."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a number. Give one, as in 0.6.")
    return value


Out = Annotated[Path, typer.Option("--out", help="Directory to write.")]
CORPUS = "See `course corpus list`; or a folder or table of your own."
PRESETS = "smoke, cpu, gpu, quick, laptop, best or paper."
SEED = "Draws weights, dropout and the order of the batches."
CorpusName = Annotated[str, typer.Option("--corpus", help=CORPUS)]
LanguagePair = Annotated[
    str | None, typer.Option(help="Language pair, source first.", show_default="en-de")
]
Preset = Annotated[str, typer.Option(help=PRESETS)]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help=SEED)]
Set = Annotated[
    list[str] | None, typer.Option("--set", help="key=value: one value of size or recipe.")
]


Beam = Annotated[
    int, typer.Option(min=1, max=1000, help="Hypotheses kept a sentence; 1 is greedy search.")
]
RunPath = Annotated[
    Path, typer.Argument(metavar="RUN", help="A run directory, or a published model's name.")
]
Processes = Annotated[
    int, typer.Option(min=1, max=1024, help="Processes that train together, one a graphics card.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def train(
    out: Out,
    model: Annotated[
        str | None, typer.Option(help="rnnsearch, rnnencdec, sutskever or luong.")
    ] = None,
    corpus: Annotated[str | None, typer.Option(help=CORPUS)] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="config.yaml of a run, or a file like it; options beside it win."),
    ] = None,
    pair: LanguagePair = None,
    preset: Annotated[str | None, typer.Option(help=PRESETS, show_default="cpu")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**32 - 1, help=SEED, show_default="0")
    ] = None,
    settings: Set = None,
    init_from: Annotated[
        str | None,
        typer.Option(
            metavar="RUN", help="Start from the weights and words of RUN, whose sizes it needs."
        ),
    ] = None,
    beam: Beam = 12,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the stopped run in --out, as it was.")
    ] = False,
    processes: Processes = 1,
) -> None:
    """Train one model into a run directory and score it on the test splits.

    Name --model and --corpus, or give a file that does: --config RUN/config.yaml makes the same run
    again. An option beside it, or a --set, takes the place of what the file says. A stopped run
    needs nothing but --resume --out RUN, and refuses what it was not started with.

    With --processes 2 two processes share out every minibatch, to the same result. Several machines
    do the same where torchrun or `accelerate launch` starts `-m course_lib train ...` on each.
    """
    from accelerate.state import PartialState

    from course_lib.training import finish_run, time_taken, train_by
    from course_lib.training.run_directory import CONFIG

    options = {"model": model, "corpus": corpus, "pair": pair, "preset": preset, "seed": seed}
    started = out if resume and (out / CONFIG).exists() else None
    run = configured(config, started, {**options, "init_from": init_from}, settings or [])
    data = loaded_corpus(run)
    try:
        train_by(processes, run, data, out, resume)
        if not PartialState().is_main_process:
            return
        result = finish_run(out, data, beam)
    except KeyboardInterrupt:
        typer.echo(f"\nStopped, nothing lost: add --resume to go on with {out}.", err=True)
        raise
    typer.echo(f"{run.model} has {time_taken(result)}.")
    for split, scores in result["scores"].items():
        typer.echo(_summary(split, scores))
    if any(scores["beam"] != beam for scores in result["scores"].values()):
        typer.echo(
            f"A record keeps its scores. Another beam: course score {out} --split SPLIT "
            f"--beam {beam}",
            err=True,
        )


def compare(
    corpus: CorpusName,
    out: Out,
    pair: LanguagePair = None,
    preset: Preset = "cpu",
    seed: Seed = 0,
    settings: Set = None,
    beam: Beam = 12,
    processes: Processes = 1,
    as_json: Json = False,
) -> None:
    """Train RNNencdec and RNNsearch under the same budget and print them side by side.

    A comparison that was stopped goes on where it was when the same command is given again. With
    --processes 2 two processes train each model, to the same result.
    """
    from course_lib.training import compare as compare_runs
    from course_lib.training import compared_configs, parse_changes

    name, pair = chosen(corpus, pair)
    configs = compared_configs(
        corpus=name, pair=pair, preset=preset, seed=seed, changes=parse_changes(settings or [])
    )
    data = loaded_corpus(next(iter(configs.values())))
    try:
        results = compare_runs(configs, data, out, beam, processes)
    except KeyboardInterrupt:
        typer.echo("\nStopped, nothing lost: give the same command again to go on.", err=True)
        raise
    typer.echo(json.dumps(results, indent=1) if as_json else _side_by_side(results))


def score(
    run: RunPath,
    split: Annotated[str, typer.Option(help="A split of the run's corpus.")],
    beam: Beam = 12,
    as_json: Json = False,
) -> None:
    """Score a run: BLEU in both protocols with signatures, BLEU by source length."""
    from course_lib.training import load_run, score_run

    loaded = load_run(run)
    data = loaded.config.load_corpus()
    scores = score_run(loaded, data, split, beam)
    if note := said(data).get(split):
        typer.echo(f"{data.name}: {note}.", err=True)
    if as_json:
        typer.echo(json.dumps(scores, indent=1))
        return
    typer.echo(_summary(split, scores))
    for row in scores["by_length"]:
        typer.echo(
            f"  {row['lower']:3}-{row['upper']:<3} source words: {row['bleu_tok']:5.1f}"
            f"  ({row['sentences']} sentences)"
        )
    typer.echo(f"  tokenised:   {scores['bleu_tok_signature']}")
    typer.echo(f"  detokenised: {scores['bleu_detok_signature']}")
    typer.echo(f"  chrF:        {scores['chrf_signature']}")


def report(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="What `course compare` wrote; more: other seeds."),
    ],
) -> None:
    """Write report.html, which needs nothing else, and report.ipynb into the first DIR."""
    from course_lib.figures.report import write_comparison

    for path in write_comparison(folders):
        typer.echo(path)


def export(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="A run, or several to set side by side.")
    ],
    web: Annotated[Path, typer.Option("--web", help="Folder to write.")],
) -> None:
    """Write a page that translates with RUN in any browser, without a server.

    It takes RNNsearch, RNNencdec and the conditional decoder of the published models.
    The folder holds index.html with the models in scripts beside it, and translator.html, which is
    all in one file.
    """
    from course_lib.training import load_run
    from course_lib.widgets.standalone import export_web

    for path in export_web([load_run(run, "cpu") for run in runs], web):
        typer.echo(f"{path}  {path.stat().st_size / 1e6:.1f} MB")


def configured(
    file: Path | None, started: Path | None, options: dict[str, Any], settings: list[str]
) -> "RunConfig":
    """What options and --set ask for, on top of what a file or a run directory says."""
    from course_lib.training import RunConfig, initial, parse_changes, with_file
    from course_lib.training.run_directory import started_with

    values = {name: value for name, value in options.items() if value is not None}
    if file is not None:
        values = with_file(file, values)
    elif started is not None:
        values = {**started_with(started), **values}
    if not {"model", "corpus"} <= values.keys():
        raise CourseError(
            "Say what to train on what: --model and --corpus, or --config FILE that names both, or "
            "--resume with the --out of a stopped run."
        )
    values["corpus"], values["pair"] = chosen(values["corpus"], values.get("pair"))
    if isinstance(values.get("init_from"), str):
        values["init_from"] = initial(values["init_from"])
    values["changes"] = {**values.get("changes", {}), **parse_changes(settings)}
    return RunConfig(**values)


def loaded_corpus(config: "RunConfig") -> "Corpus":
    """The corpus of a training, with what a person should know of it on standard error."""
    corpus = config.load_corpus()
    for note in (*corpus.notes, *said(corpus).values()):
        typer.echo(f"{corpus.name}: {note}.", err=True)
    return corpus


def _summary(split: str, scores: dict[str, Any]) -> str:
    letters = f"and chrF {scores['chrf']:.1f} " if "chrf" in scores else ""  # early runs have none
    return (
        f"{split}: BLEU {scores['bleu_tok']:.1f} tokenised, {scores['bleu_detok']:.1f} detokenised "
        f"{letters}(beam {scores['beam']}, {scores['sentences']} sentences)"
    )


def cell(value: float | None, shape: str) -> str:
    """A number of a table in a format as `7.1f`, and a dash where there is none."""
    return f"{'-':>{shape.partition('.')[0]}}" if value is None else format(value, shape)


def _side_by_side(results: dict[str, dict[str, Any]]) -> str:
    split = next(iter(next(iter(results.values()))["scores"]))
    rows = [
        f"{'':12}{'parameters':>12}{'minutes':>9}{'forecast':>9}{'BLEU':>7}{'short':>7}{'long':>7}"
        f"   on {split}"
    ]
    for model, result in results.items():
        scores = result["scores"][split]
        parts = scores, scores["short"], scores["long"]
        forecast = result.get("forecast_seconds")
        rows.append(
            f"{model:12}{result['parameters']:12,}{result['train_seconds'] / 60:9.1f}"
            + cell(None if forecast is None else forecast / 60, "9.1f")
            + "".join(cell(part["bleu_tok"], "7.1f") for part in parts)
        )
    rows.append(
        "forecast: of the minutes. short: sources under 10 words; long: over 20. Tokenised BLEU."
    )
    return "\n".join(rows)
