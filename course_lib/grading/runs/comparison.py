"""What the two runs of a training comparison, as handed in, show to be true and what not.

Scores and curves are numbers in text files, which anybody can write. So the translations and the
best validation are computed again from the weights, and the scores from the translations. The rest
of a curve cannot be checked, and is marked so. Who trained a model no number says: a person asks.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path, PureWindowsPath
from typing import Any

import torch

from course_lib.assignments import owner
from course_lib.assignments.inspection import FOLDER, PARTS
from course_lib.assignments.inspection import RUNS as MODELS
from course_lib.corpora import multi30k, python_docs
from course_lib.corpora.corpus import Corpus
from course_lib.corpora.multi30k import OPTIONAL_SPLITS
from course_lib.corpora.registry import CORPORA, load_corpus
from course_lib.evaluation.score import measured
from course_lib.grading.runs.claims import (
    check_best,
    check_curve,
    check_scores,
    check_trained,
    check_translations,
    curve_of,
)
from course_lib.grading.runs.submitted_run import (
    Fault,
    Record,
    Submitted,
    expected_model,
    expected_recipe,
    read_config,
    read_metrics,
    read_model,
    read_result,
    read_translations,
    read_words,
)
from course_lib.grading.untrusted import visible
from course_lib.models import ModelConfig
from course_lib.training.recipe import Recipe
from course_lib.training.run_config import RunConfig
from course_lib.training.run_directory import BEST, CONFIG, METRICS, RESULT, VOCABULARY
from course_lib.training.same_run import other_data
from course_lib.training.vocabularies import make_vocabularies

OFFERED = (("multi30k", "en-de"), ("python-docs", "en-es"), ("toy", "en-de"))
"""The corpora and pairs that may be compared on, beside one that the instructor names."""

SHARED = ("corpus", "pair", "preset", "seed", "changes", "corpus_sha256", "lowercased")
"""What two compared runs have in common."""

PRESETS = ("cpu", "gpu")
"""Those of the task. No model that the course publishes is of them."""
SIZE_FIELDS = ("embedding", "hidden", "alignment", "readout")
LEAST_UNITS = 24
CHANGEABLE = (
    *(*SIZE_FIELDS, "epochs", "batch_size", "precision", "dropout", "label_smoothing"),
    *("min_frequency", "learning_rate", "warmup", "unit"),
    *("subwords", "averaging"),
)
"""What the task's settings change, or let a student change, beside options of the toy corpus.

Runs from before the paper's unit was the default say which one they have.
"""
LEAST_PAIRS = 800
"""To train on, of a generated corpus."""

MOST_SENTENCES = {"train": 60_000, "val": 2_000, "test": 2_000}
"""Of a corpus that is not fixed: more could not be checked in the time there is."""


PARTS_OF = {"python-docs": {"train": 30_000, "test": 600}}
"""Pairs of a corpus that is too large for the task as a whole: to train on a student's own, which
their seed draws, and a test set that is the same for all, with 100 pairs of each ten words."""


class Unavailable(Exception):
    """This machine lacks what the check needs. It says nothing about the submission."""


@dataclass
class Findings:
    """What is wrong with a submission, part by part, and what its instructor should know."""

    problems: dict[str, list[str]] = field(default_factory=lambda: {part: [] for part in PARTS})
    remarks: list[str] = field(default_factory=list)

    def attempt(self, part: str, work: Callable[..., Any], *arguments: Any) -> Any:
        """The result of `work`; None where it fails, and then the part has a problem."""
        try:
            return work(*arguments)
        except Unavailable:
            raise
        except Fault as fault:
            self.add(part, str(fault))
        except Exception as error:  # files can be wrong in as many ways as there are files
            self.add(
                part,
                f"This could not be checked ({type(error).__name__}): a file is not as training"
                " writes it.",
            )
        return None

    def add(self, part: str, problem: str) -> None:
        """Note a problem, once."""
        if problem not in self.problems[part]:
            self.problems[part].append(problem)
            self.remarks.append(f"{part}: {problem}")

    def not_checked(self, part: str, file: str) -> None:
        """A part rests on a file that another part misses: the student alone is told."""
        if not self.problems[part]:
            self.problems[part].append(
                f"This could not be checked: {file} is missing or cannot be used. Let the training"
                " come to its end; `course submit` packs what it writes."
            )


def inspect(folder: Path, student: str, named: tuple[str, str] | None = None) -> dict[str, Any]:
    """Everything that can be found out about the two runs below `folder`/comparison.

    Args:
        folder: the submission's folder.
        student: who handed it in; a group has an id a line. The training seed is drawn from one.
        named: a corpus, or the path of a text, and its pair, which may be compared on as well.

    Returns:
        `facts` as hidden tests read them: `problems` by part, `runs` with the scores as computed
        here; and `remarks` for the instructor.

    Raises:
        Unavailable: this machine lacks the corpus.
    """
    findings = Findings()
    runs = _read(folder, findings)
    facts: dict[str, Any] = {"problems": findings.problems, "runs": {}}
    if len(runs) == len(MODELS):
        findings.attempt("recipe", _check_same, runs, findings)
    for model, run in runs.items():
        corpus = findings.attempt("recipe", _corpus, run.record, named)
        if corpus is not None:
            facts["runs"][model] = _inspect_run(run, corpus, student, findings)
    for model in MODELS:
        lacking = _lacking(runs[model]) if model in facts["runs"] else [CONFIG]
        for part, files in PARTS.items():
            for file in files:
                if file in lacking and part != "files":  # that part was judged by reading them
                    findings.not_checked(part, f"{FOLDER}/{model}/{file}")
    if runs:
        findings.remarks.insert(0, _setting(runs))
    return {"facts": facts, "remarks": findings.remarks}


def _read(folder: Path, findings: Findings) -> dict[str, Submitted]:
    """The runs that have a readable configuration, under the names of their models."""
    runs = {}
    for model in MODELS:
        name = f"{FOLDER}/{model}"
        record = findings.attempt("files", read_config, folder / FOLDER / model, name)
        if record is not None:
            runs[model] = Submitted(record)
    named = {model: run.record.config.model for model, run in runs.items()}
    if named == dict(zip(MODELS, reversed(MODELS), strict=True)):
        findings.add("files", f"The folders {' and '.join(named)} are swapped.")
        runs = {named[model]: run for model, run in runs.items()}
    for model, run in list(runs.items()):
        if run.record.config.model != model:
            held = visible(run.record.config.model)
            findings.add("files", f"{run.record.name} holds a run of {held}.")
            del runs[model]
            continue
        run.words = findings.attempt("files", read_words, run.record)
        run.result = findings.attempt("files", read_result, run.record)
        run.metrics = findings.attempt("files", read_metrics, run.record)
        if run.words is not None:
            config = findings.attempt("recipe", expected_model, run.record, run.words)
            if config is not None:
                run.model = findings.attempt("files", read_model, run.record, config)
    return runs


def _setting(runs: dict[str, Submitted]) -> str:
    """What was compared, and what of it nobody can check: a remark on every submission."""
    config = next(iter(runs.values())).record.config
    changes = ", ".join(f"{key}={value}" for key, value in config.changes.items())
    others = sum(len(run.metrics) - 1 for run in runs.values() if run.metrics)
    return visible(
        f"Compared on {_corpus_and_pair(config)}, preset {config.preset}"
        f"{' with ' * bool(changes)}{changes}. Of each curve the best validation"
        f" was computed again; the {others} others are not verifiable.",
        600,
    )


def _corpus_and_pair(config: RunConfig) -> str:
    """What a run was trained on. Of a text's path the last name: the rest may name its student."""
    # a Windows path may be written with either slash
    return f"{PureWindowsPath(config.corpus).name} {config.pair}"


def _check_same(runs: dict[str, Submitted], findings: Findings) -> None:
    """Whether the two configurations differ in nothing but the context.

    That recipe and sizes follow from what they share is checked for each run.
    """
    first, second = (run.record.raw for run in runs.values())
    different = [key for key in SHARED if first.get(key) != second.get(key)]
    if different:
        names = ", ".join(different)
        findings.add("recipe", f"The two runs differ in more than the context: {names}.")
    precisions = {expected_recipe(run.record)["precision"] for run in runs.values()}
    if len(precisions) > 1:
        findings.remarks.append("The two runs were trained in different precisions.")


def _settings(record: Record, table: str) -> dict[str, Any]:
    """A table of config.yaml; what the library learned to set since then is at its default."""
    defaults = asdict(Recipe()) if table == "recipe" else asdict(ModelConfig(4, 4))
    written = record.raw[table]
    if not isinstance(written, dict):
        raise Fault(f"{record.name}/config.yaml: {table} is no table of settings.")
    return defaults | written


def _corpus(record: Record, named: tuple[str, str] | None) -> Corpus:
    """The corpus of a run. A text lies elsewhere on the student's machine; its checksums decide."""
    config = record.config
    own = named is not None and not {config.corpus, named[0]} & CORPORA.keys()
    corpus = (named[0] if named and own else config.corpus), config.pair
    allowed = [*OFFERED, named] if named else [*OFFERED]
    if corpus not in allowed:
        asked = visible(_corpus_and_pair(config))
        offered = " or ".join(f"{Path(name).name} {pair}" for name, pair in allowed)
        raise Fault(f"{record.name} was trained on {asked}; the task is {offered}.")
    check_offered(record)
    options = config.corpus_options
    if missing := _missing(config):
        raise Unavailable(
            f"The runs cannot be checked here: {missing} is missing. Run `course corpus fetch"
            f" {config.corpus}` and grade again."
        )
    return _loaded(*corpus, tuple(options.items()))


def _missing(config: RunConfig) -> str | None:
    """A file of a run's corpus that this machine lacks."""
    if config.corpus == "python-docs":
        return python_docs.ARCHIVE if python_docs.locate() is None else None
    if config.corpus != "multi30k":
        return None
    sides = config.pair.split("-")
    files = (f"{split}.{side}.gz" for split in multi30k.REQUIRED_SPLITS for side in sides)
    return next((file for file in files if multi30k.locate(file) is None), None)


def check_offered(record: Record) -> None:
    """Whether the task offers a run's setting, and it can be checked in the time there is.

    Raises:
        Fault: it does not, or it cannot.
    """
    config = record.config
    options, changed = config.corpus_options, set(config.changes)
    if config.preset not in PRESETS:
        raise Fault(
            f"{record.name} was trained with preset {visible(config.preset)}; the task has"
            f" {' and '.join(PRESETS)}."
        )
    foreign = sorted(changed - {*CHANGEABLE, *(f"corpus.{option}" for option in options)})
    if foreign:
        raise Fault(f"{record.name} was trained with another {foreign[0]} than the task's.")
    small = [name for name in SIZE_FIELDS if config.changes.get(name, LEAST_UNITS) < LEAST_UNITS]
    if small:
        raise Fault(f"{record.name}: {small[0]} is under {LEAST_UNITS}, the least the task allows.")
    if options.get("train", LEAST_PAIRS) < LEAST_PAIRS:
        raise Fault(f"{record.name} was trained on fewer than {LEAST_PAIRS} pairs.")
    for split, size in PARTS_OF.get(config.corpus, {}).items():
        if options.get(split) != size:
            raise Fault(
                f"{record.name}: the task has corpus.{split}={size} of {config.corpus}. Train"
                " again, with the command that the notebook prints."
            )
    for split, most in MOST_SENTENCES.items():
        if options.get(split, 0) > most:
            raise Fault(f"{record.name} has more than {most} sentences in {split}: too many here.")


@cache
def _loaded(name: str, pair: str, options: tuple[tuple[str, Any], ...]) -> Corpus:
    """A corpus, loaded once a process: both runs ask for the same."""
    return load_corpus(name, pair, **dict(options))


def _inspect_run(
    run: Submitted, corpus: Corpus, student: str, findings: Findings
) -> dict[str, Any]:
    """Check one run part by part; its scores as computed here, as far as they could be."""
    split = next(name for name in corpus.splits if name.startswith("test"))
    test = corpus.splits[split]
    run.translations = findings.attempt("files", read_translations, run.record, split, len(test))
    facts: dict[str, Any] = {}
    findings.attempt("recipe", _check_recipe, run, corpus, student)
    made = (run.model, run.words)
    if run.translations is not None:
        facts["score"] = measured(run.translations, corpus, split)
        if run.result is not None:
            findings.attempt("scores", check_scores, run, facts["score"], split)
    if run.metrics is not None:
        facts["curve"] = findings.attempt("curves", curve_of, run)
    if facts.get("curve"):
        findings.attempt("curves", check_curve, run, corpus)
        if None not in made:
            findings.attempt("curves", check_best, run, *made, corpus)
            findings.attempt("curves", check_trained, run, *made, corpus)
    if None not in (*made, run.translations, run.result):
        arguments = (*made, run.translations, test, split)
        findings.attempt("translations", check_translations, run, *arguments)
    return facts


def _lacking(run: Submitted) -> list[str]:
    """The files of a run that could not be read."""
    read = {
        VOCABULARY: run.words,
        RESULT: run.result,
        METRICS: run.metrics,
        "hypotheses.*.txt": run.translations,
        BEST: run.model,
    }
    return [file for file, held in read.items() if held is None]


def _check_recipe(run: Submitted, corpus: Corpus, student: str) -> None:
    record = run.record
    raw, config = record.raw, record.config
    seeds = {one: owner.seed(one) for one in student.split("\n")}
    if config.seed not in seeds.values():
        theirs = " and ".join(f"the seed of {visible(one)} is {own}" for one, own in seeds.items())
        raise Fault(f"{record.name} was trained with seed {visible(str(config.seed))}; {theirs}.")
    if _settings(record, "recipe") != expected_recipe(record):
        raise Fault(f"{record.name}/config.yaml: the recipe is not that of its preset and changes.")
    recorded = raw.get("corpus_sha256")
    needed = {file for file in corpus.sha256 if not file.startswith(OPTIONAL_SPLITS)}
    if (
        not isinstance(recorded, dict)
        or not needed <= recorded.keys()
        or other_data(recorded, corpus)
    ):
        raise Fault(f"{record.name} was trained on other data: the checksums differ.")
    if run.words is None:
        return
    if make_vocabularies(config, corpus) != run.words:
        raise Fault(f"{record.name}/vocabulary.json does not hold the words of the corpus.")
    if _settings(record, "model_config") != expected_model(record, run.words).to_dict():
        raise Fault(
            f"{record.name}/config.yaml: the sizes are not those of its preset and changes."
        )


def main() -> None:
    """Run with FOLDER STUDENT [CORPUS PAIR]; prints one JSON object."""
    folder, student, *named = sys.argv[1:]
    torch.set_num_threads(1)
    try:
        report = inspect(Path(folder), student, (named[0], named[1]) if named else None)
    except Unavailable as error:
        report = {"unavailable": str(error)}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
