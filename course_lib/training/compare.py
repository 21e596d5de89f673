"""The course's central experiment: RNNencdec against RNNsearch under the same budget and size."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course_lib.corpora.corpus import Corpus
from course_lib.errors import CourseError
from course_lib.training.launch import train_by
from course_lib.training.result import finish_run
from course_lib.training.run_config import RunConfig
from course_lib.training.run_directory import RESULT, read_result


def compare(
    configs: dict[str, RunConfig], corpus: Corpus, out: Path, beam: int, processes: int = 1
) -> dict[str, Any]:
    """Train and score every model into its own directory below `out`; finished ones are kept.

    Each is trained by that many processes, and scored by this one. Returns each model's result by
    name, in the order of `configs`.
    """
    results = {}
    for model, config in configs.items():
        finished = _finished(out / model, corpus)
        # Whether a finished one is of this configuration is found out without company.
        train_by(1 if finished else processes, config, corpus, out / model, resume=True)
        if not finished:
            finish_run(out / model, corpus, beam)
        results[model] = read_result(out / model)
    return results


def _finished(run: Path, corpus: Corpus) -> bool:
    """Whether every test split has its scores."""
    tests = {split for split in corpus.splits if split.startswith("test")}
    return (run / RESULT).exists() and tests <= read_result(run)["scores"].keys()


def compared_configs(changes: Mapping[str, Any], **shared: Any) -> dict[str, RunConfig]:
    """One configuration a model, equal in everything but the model; a context is RNNsearch's.

    Raises:
        CourseError: the context is RNNencdec's, which is compared anyway.
    """
    if changes.get("context") == "fixed":
        raise CourseError(
            "context=fixed is RNNencdec, which is one side of the comparison anyway. Leave it out, "
            "or choose another context."
        )
    fixed = {name: value for name, value in changes.items() if name != "context"}
    return {
        "rnnencdec": RunConfig("rnnencdec", changes=fixed, **shared),
        "rnnsearch": RunConfig("rnnsearch", changes=changes, **shared),
    }


def recorded_name(result: dict[str, Any], tag: str = "") -> str:
    """The file name of a recorded result: CORPUS-PAIR-MODEL-PRESET[-TAG]-seedN.json."""
    parts = [result[key] for key in ("corpus", "pair", "model", "preset")]
    return "-".join([*parts, *([tag] if tag else []), f"seed{result['seed']}"]) + ".json"
