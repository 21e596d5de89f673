"""Memory runs out: one line with the remedy, and what was trained is kept."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from course_lib.corpora import load_corpus
from course_lib.corpora.batches import Batch
from course_lib.corpora.corpus import Corpus
from course_lib.errors import CourseError
from course_lib.models import RNNsearch
from course_lib.training import RunConfig, train
from tests.training.conftest import outcome

# A minibatch of these takes 210 MB of memory on top of the model.
LARGE = {
    "hidden": 128,
    "embedding": 128,
    "alignment": 128,
    "readout": 128,
    "batch_size": 64,
    "epochs": 1,
    "precision": "fp32",
    "corpus.train": 128,
    "corpus.val": 8,
    "corpus.test": 4,
    "corpus.min_length": 24,
    "corpus.max_length": 30,
}
LIMITED = """
import json, resource, sys
import psutil
from course_lib.corpora import load_corpus
from course_lib.errors import CourseError
from course_lib.training import RunConfig, train

changes, out = json.loads(sys.argv[1])
config = RunConfig("rnnsearch", "copy", "tokens", "smoke", changes=changes)
corpus = load_corpus("copy", "tokens", **config.corpus_options)
limit = psutil.Process().memory_info().vms + 150 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
try:
    train(config, corpus, out, quiet=True)
except CourseError as error:
    print(error)
"""


def test_a_process_with_too_little_memory_says_what_helps(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, json.dumps([LARGE, str(tmp_path / "run")])],
        capture_output=True,
        text=True,
        check=True,
        # One arena: glibc sets aside 64 MB of addresses for each thread's own, which count here.
        env={
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "MALLOC_ARENA_MAX": "1",
        },
    )
    assert done.stdout == (
        "Memory ran out. 64 sentence pairs at a time are too many: computed in parts they give the "
        "same result. Add --set accumulation=2, and --resume if a checkpoint was written.\n"
    )


@pytest.fixture
def scarce(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes memory too small for so many pairs, as a graphics card says it, half-way through."""
    loss = RNNsearch.loss

    def limit(pairs: int) -> None:
        def limited(self: RNNsearch, batch: Batch, *arguments):
            result = loss(self, batch, *arguments)
            if len(batch.source) > pairs:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
            return result

        for name in ("loss", "forward"):  # in validation, in training
            monkeypatch.setattr(RNNsearch, name, limited)

    return limit


def test_the_remedy_remedies(
    small: RunConfig, tmp_path: Path, scarce: Callable[[int], None]
) -> None:
    """What the line says is done until it works, and nothing of what was trained is lost."""
    parts, out = 1, tmp_path / "run"
    small = replace(small, changes={**small.changes, "corpus.val": 3})
    corpus = load_corpus("copy", "tokens", **small.corpus_options)
    scarce(4)
    for expected in (2, 4):
        config = replace(small, changes={**small.changes, "accumulation": parts})
        with pytest.raises(CourseError) as error:
            train(config, corpus, out, resume=True, quiet=True)
        [parts] = map(int, re.findall(r"--set accumulation=(\d+)", str(error.value)))
        assert parts == expected
    config = replace(small, changes={**small.changes, "accumulation": parts})
    assert train(config, corpus, out, resume=True, quiet=True).finished


def test_one_pair_that_does_not_fit_is_said_with_the_remedy(
    small: RunConfig, small_corpus: Corpus, tmp_path: Path, scarce: Callable[[int], None]
) -> None:
    scarce(0)
    config = replace(small, changes={**small.changes, "accumulation": 15})
    with pytest.raises(CourseError, match=r"One sentence pair.*max_length"):
        train(config, small_corpus, tmp_path / "run", quiet=True)


def test_a_validation_that_does_not_fit_keeps_what_was_trained(
    small: RunConfig,
    small_corpus: Corpus,
    small_run: Path,
    tmp_path: Path,
    scarce: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scarce(15)  # a minibatch; 21 are validated
    with pytest.raises(CourseError, match=r"Memory ran out\..*--resume"):
        train(small, small_corpus, tmp_path / "run", quiet=True)
    monkeypatch.undo()
    train(small, small_corpus, tmp_path / "run", resume=True, quiet=True)
    assert outcome(tmp_path / "run") == outcome(small_run)


def test_another_error_is_not_taken_for_one_of_memory(
    small: RunConfig, small_corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(RNNsearch, "forward", broken)
    with pytest.raises(RuntimeError, match="mat1"):
        train(small, small_corpus, tmp_path / "run", quiet=True)
