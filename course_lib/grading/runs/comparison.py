"""What the two runs of a training comparison, as handed in, show to be true and what not.

Scores and curves are numbers in text files, which anybody can write. So the translations and the
best validation are computed again from the weights, and the scores from the translations. The rest
of a curve cannot be checked, and is marked so. Who trained a model no number says: a person asks.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PureWindowsPath
from typing import Any

import torch

from course_lib.assignments import inspection, owner
from course_lib.assignments.inspection import FOLDER, PARTS
from course_lib.assignments.inspection import RUNS as MODELS
from course_lib.corpora import multi30k, python_docs
from course_lib.corpora.corpus import Corpus
from course_lib.corpora.registry import CORPORA, load_corpus
from course_lib.errors import CourseError
from course_lib.evaluation.score import measured
from course_lib.grading.runs.claims import check_best, check_scores, check_translations
from course_lib.grading.runs.submitted_run import Fault, SubmittedRun
from course_lib.grading.untrusted import visible
from course_lib.training.run_config import RunConfig
from course_lib.training.run_directory import CONFIG
from course_lib.training.same_run import other_data
from course_lib.training.vocabularies import make_vocabularies

OFFERED = (("multi30k", "en-de"), ("python-docs", "en-es"), ("toy", "en-de"))
"""The corpora and pairs that may be compared on, beside one that the instructor names."""

SHARED = ("corpus", "pair", "preset", "seed", "corpus_sha256", "lowercased")
"""What two compared runs have in common, beside what was set."""

PRESETS = ("cpu", "gpu")
"""Those of the task. No model that the course publishes is of them."""
SIZE_FIELDS = ("embedding", "hidden", "alignment", "readout")
CHANGEABLE = (
    *(*SIZE_FIELDS, "epochs", "batch_size", "precision", "dropout", "label_smoothing"),
    *("min_frequency", "learning_rate", "warmup", "unit"),
    *("subwords", "averaging"),
)
"""What the task's settings change, or let a student change, beside options of the toy corpus.

Runs from before the paper's unit was the default say which one they have.
"""
LEAST = {**dict.fromkeys(SIZE_FIELDS, 24), "corpus.train": 800}
"""Units, and pairs of a generated corpus to train on."""

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

    folder: Path
    problems: dict[str, list[str]] = field(default_factory=lambda: {part: [] for part in PARTS})
    remarks: list[str] = field(default_factory=list)
    absent: set[str] = field(default_factory=set)

    def look_for_files(self) -> None:
        """Note the first file that each part lacks; nothing more is said of such a part."""
        for part in PARTS:
            for file in inspection.missing(self.folder, part)[:1]:
                self.add(part, f"There is no {file}. {inspection.REMEDY}.")
                self.absent.add(part)

    def attempt(self, part: str, work: Callable[..., Any], *arguments: Any) -> Any:
        """The result of `work`; None where it fails, and then the part has a problem."""
        try:
            return work(*arguments)
        except Unavailable:
            raise
        except CourseError as error:
            self.add(part, str(error).replace(f"{self.folder}/", ""))
        except Exception as error:  # files can be wrong in as many ways as there are files
            kind, files = type(error).__name__, ", ".join(PARTS[part])
            self.add(
                part,
                f"This could not be checked ({kind}): of {files} one is not as training left it."
                " Restore it from a copy, or train again.",
            )
        return None

    def add(self, part: str, problem: str) -> None:
        """Note a problem; the instructor is told once, whatever parts have it."""
        said = visible(problem, 400)
        if part in self.absent or said in self.problems[part]:
            return
        if not any(said in known for known in self.problems.values()):
            self.remarks.append(f"{part}: {said}")
        self.problems[part].append(said)


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
    findings = Findings(folder)
    findings.look_for_files()
    runs = _runs(folder, findings)
    if len(runs) == len(MODELS):
        findings.attempt("recipe", _check_same, *runs.values())
    facts = {model: _inspect_run(run, student, named, findings) for model, run in runs.items()}
    if runs:
        findings.remarks.insert(0, _setting(runs, facts))
    return {"facts": {"problems": findings.problems, "runs": facts}, "remarks": findings.remarks}


def _runs(folder: Path, findings: Findings) -> dict[str, SubmittedRun]:
    """The runs that have a readable configuration, under the names of their models."""
    runs: dict[str, SubmittedRun] = {}
    for name in MODELS:
        if not (folder / FOLDER / name / CONFIG).is_file():
            continue
        run = findings.attempt("files", SubmittedRun, folder, name)
        if run is None:
            continue
        if run.config.model != name:
            findings.add("files", f"{run.name} holds a run of {run.config.model}.")
        runs.setdefault(run.config.model, run)
    for model in MODELS:
        for part in PARTS if model not in runs else ():
            findings.add(part, f"There is no run of {model} that could be read.")
    return {model: runs[model] for model in MODELS if model in runs}


def _setting(runs: dict[str, SubmittedRun], facts: dict[str, dict[str, Any]]) -> str:
    """What was compared, and what of it nobody can check: a remark on every submission."""
    config = next(iter(runs.values())).config
    changes = ", ".join(f"{key}={value}" for key, value in config.changes.items())
    others = sum(len(one["curve"]) - 1 for one in facts.values() if one.get("curve"))
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


def _check_same(one: SubmittedRun, other: SubmittedRun) -> None:
    """Whether the two configurations differ in nothing but the context."""
    different = [key for key in SHARED if one.recorded.get(key) != other.recorded.get(key)]
    theirs, others = one.config.changes, other.config.changes
    changed = theirs.keys() | others.keys()
    different += sorted(key for key in changed if theirs.get(key) != others.get(key))
    if different:
        raise Fault(f"The two runs differ in more than the context: {', '.join(different)}.")


def _corpus(run: SubmittedRun, named: tuple[str, str] | None) -> Corpus:
    """The corpus of a run. A text lies elsewhere on the student's machine; its checksums decide."""
    config = run.config
    own = named is not None and not {config.corpus, named[0]} & CORPORA.keys()
    corpus = (named[0] if named and own else config.corpus), config.pair
    allowed = [*OFFERED, named] if named else [*OFFERED]
    if corpus not in allowed:
        offered = " or ".join(f"{Path(name).name} {pair}" for name, pair in allowed)
        asked = _corpus_and_pair(config)
        raise Fault(f"{run.name} was trained on {asked}; the task is {offered}.")
    check_offered(run.name, config)
    if not _is_here(config):
        raise Unavailable(
            f"The runs cannot be checked here: {config.corpus} is missing. Run `course corpus fetch"
            f" {config.corpus}` and grade again."
        )
    return _loaded(*corpus, tuple(config.corpus_options.items()))


def _is_here(config: RunConfig) -> bool:
    """Whether this machine has a run's corpus."""
    if config.corpus == "python-docs":
        return python_docs.locate() is not None
    sides = config.pair.split("-") if config.corpus == "multi30k" else ()
    files = (f"{split}.{side}.gz" for split in multi30k.REQUIRED_SPLITS for side in sides)
    return all(multi30k.locate(file) is not None for file in files)


def check_offered(name: str, config: RunConfig) -> None:
    """Whether the task offers a run's setting, and it can be checked in the time there is.

    Raises:
        Fault: it does not, or it cannot.
    """
    options, changes = config.corpus_options, config.changes
    if config.preset not in PRESETS:
        raise Fault(
            f"{name} was trained with preset {config.preset}; the task has {' and '.join(PRESETS)}."
        )
    foreign = sorted(set(changes) - {*CHANGEABLE, *(f"corpus.{option}" for option in options)})
    if foreign:
        raise Fault(f"{name} was trained with another {foreign[0]} than the task's.")
    for what, least in LEAST.items():
        if changes.get(what, least) < least:
            raise Fault(f"{name}: {what} is under {least}, the least the task allows.")
    for split, size in PARTS_OF.get(config.corpus, {}).items():
        if options.get(split) != size:
            raise Fault(
                f"{name}: the task has corpus.{split}={size} of {config.corpus}. Train again, with"
                " the command that the notebook prints."
            )
    for split, most in MOST_SENTENCES.items():
        if options.get(split, 0) > most:
            raise Fault(f"{name} has more than {most} sentences in {split}: too many here.")


@cache
def _loaded(name: str, pair: str, options: tuple[tuple[str, Any], ...]) -> Corpus:
    """A corpus, loaded once a process: both runs ask for the same."""
    return load_corpus(name, pair, **dict(options))


def _inspect_run(
    run: SubmittedRun, student: str, named: tuple[str, str] | None, findings: Findings
) -> dict[str, Any]:
    """Check one run part by part; its scores as computed here, as far as they could be."""
    corpus = findings.attempt("recipe", _corpus, run, named)
    if corpus is None:
        return {}
    split = next(name for name in corpus.splits if name.startswith("test"))
    test = corpus.splits[split]
    for read in (lambda: run.trained, lambda: run.result, lambda: run.validations):
        findings.attempt("files", read)
    translations = findings.attempt("files", run.translations, split, len(test))
    findings.attempt("recipe", _check_recipe, run, corpus, student)
    facts: dict[str, Any] = {"curve": findings.attempt("curves", lambda: run.curve)}
    findings.attempt("curves", check_best, run, corpus.splits["val"])
    if translations is not None:
        facts["score"] = measured(translations, corpus, split)
        findings.attempt("scores", check_scores, run, facts["score"], split)
        findings.attempt("translations", check_translations, run, translations, test, split)
    return facts


def _check_recipe(run: SubmittedRun, corpus: Corpus, student: str) -> None:
    config = run.config
    seeds = {one: owner.seed(one) for one in student.split("\n")}
    if config.seed not in seeds.values():
        theirs = " and ".join(f"the seed of {visible(one)} is {own}" for one, own in seeds.items())
        raise Fault(f"{run.name} was trained with seed {config.seed}; {theirs}.")
    if config.init_from is not None:
        raise Fault(f"{run.name} began with the weights of another run: train it from its seed.")
    if other_data(run.recorded["corpus_sha256"], corpus):
        raise Fault(f"{run.name} was trained on other data: the checksums differ.")
    words = run.trained.words
    if make_vocabularies(config, corpus) != words:
        raise Fault(f"{run.name}/vocabulary.json does not hold the words of the corpus.")
    if run.trained.model.config != config.model_config(*map(len, words)):
        raise Fault(f"{run.name}: the model's sizes are not those of its preset and changes.")


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
