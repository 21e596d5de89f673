"""One small training, to the end and undisturbed, that those of several test files are held to."""

import signal
from pathlib import Path

import pytest

from course_lib.corpora import load_corpus
from course_lib.corpora.corpus import Corpus
from course_lib.training import RunConfig, read_metrics, train
from course_lib.training.minibatches import Minibatch
from course_lib.training.progress import Progress
from course_lib.training.update import Updater

SMALL = {
    "hidden": 16,
    "embedding": 16,
    "alignment": 16,
    "readout": 16,
    "batch_size": 15,  # odd: no two processes get equally many words
    "checkpoint_steps": 3,
    "epochs": 3,
    "averaging": 0.9,
    "precision": "fp32",
    "corpus.train": 151,  # one minibatch is a single pair: a process gets nothing
    "corpus.val": 21,
    "corpus.test": 20,
    "corpus.min_length": 2,
    "corpus.max_length": 9,
}


@pytest.fixture(scope="session")
def small() -> RunConfig:
    """A training without dropout, so that nothing is drawn after the weights."""
    return RunConfig("rnnsearch", "copy", "tokens", "smoke", changes=SMALL)


@pytest.fixture(scope="session")
def small_corpus(small: RunConfig) -> Corpus:
    return load_corpus("copy", "tokens", **small.corpus_options)


@pytest.fixture(scope="session")
def small_run(
    small: RunConfig, small_corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """That training by one process, a minibatch in one piece."""
    out = tmp_path_factory.mktemp("small") / "run"
    train(small, small_corpus, out, quiet=True)
    return out


def outcome(run: Path) -> tuple[bytes, list[dict[str, float]]]:
    """What no fault may change: the best weights, and the numbers but the clock's."""
    metrics = read_metrics(run)
    for record in metrics:
        del record["seconds"]
    return (run / "model.safetensors").read_bytes(), metrics


class Stopped(Exception):
    """A training that ends behind its first validation, before its checkpoint."""


def stop(model: object) -> None:
    """To watch a training with."""
    raise Stopped


def train_until(
    step: int, config: RunConfig, corpus: Corpus, out: Path, how: signal.Signals = signal.SIGINT
) -> None:
    """A training that gets this signal after so many updates, and heeds it."""
    update = Updater.__call__

    def signalled(self: Updater, minibatch: Minibatch, progress: Progress) -> None:
        update(self, minibatch, progress)
        if progress.step == step:
            signal.raise_signal(how)

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(Updater, "__call__", signalled)
        with pytest.raises(KeyboardInterrupt):
            train(config, corpus, out, quiet=True)
