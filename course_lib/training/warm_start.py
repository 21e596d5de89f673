"""Starting from the weights of another run instead of weights that a seed draws."""

from pathlib import Path

from course_lib.corpora.corpus import Corpus
from course_lib.corpora.own_text import is_own
from course_lib.corpora.subwords import Pieces
from course_lib.corpora.tokenization import MOSES
from course_lib.errors import CourseError
from course_lib.files import sha256_of
from course_lib.pretrained import published_path
from course_lib.training.run import Run, load_run, run_folder
from course_lib.training.run_config import NOT_SETTABLE, RunConfig
from course_lib.training.run_directory import BEST, CONFIG

FREE = {*NOT_SETTABLE, "dropout", "initialisation"}
"""What may be another in the new run: it changes no shape, or the words decide it."""


def initial(run: Path | str) -> dict[str, str]:
    """A run to start from, as a configuration keeps it: its name or path, its weights' checksum."""
    folder = run_folder(run)
    name = str(run) if folder == published_path(run) else str(folder.resolve())
    return {"run": name, "sha256": sha256_of(folder / BEST)}


def load_initial(config: RunConfig, corpus: Corpus) -> Run:
    """The run whose weights and words a training starts with.

    Raises:
        CourseError: its weights are no longer those, or do not fit the new run's model or text.
    """
    wanted = config.init_from or {}
    folder = run_folder(wanted.get("run", ""))
    if sha256_of(folder / BEST) != wanted.get("sha256"):
        raise CourseError(
            f"{folder} has other weights than this run began with. Put those back, or train into "
            "a new directory."
        )
    run = load_run(folder, "cpu")
    asked = config.model_config(4, 4).to_dict()
    has = run.model.config.to_dict()
    different = [name for name in has if name not in FREE and has[name] != asked[name]]
    if different:
        name = different[0]
        raise CourseError(
            f"{run.path} has another model: its {name} is {has[name]}, and not {asked[name]}. Add "
            f"--config {run.path / CONFIG} to train the same."
        )
    for option, theirs, ours in (
        ("lowercase", run.how.lowercase, corpus.lowercased),
        ("moses", run.how.rules == "moses", corpus.rules == "moses"),
    ):
        # Whose text has its tokens already has to know them.
        if theirs != ours and (option != "moses" or corpus.rules != "tokens"):
            # A text of one's own can be split as the run's was, by Moses' rules where they know it.
            settable = is_own(config.corpus) and (
                option != "moses" or not theirs or set(config.languages) <= set(MOSES)
            )
            raise CourseError(
                f"{run.path} splits text into other tokens than {corpus.name} has here. "
                + (
                    f"Add --set corpus.{option}={str(theirs).lower()}."
                    if settable
                    else "Start from a run of a text that is split alike."
                )
            )
    if corpus.stream is not None and isinstance(run.source_vocabulary, Pieces):
        raise CourseError(
            f"{run.path} reads pieces of words, and {corpus.name} is a stream, which is read in "
            "words. Start from a run with words."
        )
    return run
