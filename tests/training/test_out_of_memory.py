"""Memory runs out: smaller parts, the same numbers, and it is said."""

import json
import os
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
from course_lib.training import RunConfig, encode_pairs, load_run, read_metrics, train
from course_lib.training.memory import in_batches_that_fit
from course_lib.training.validation import summed_loss

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
from course_lib.training import RunConfig, checkpoint, train

def with_room(*what, save=checkpoint.save, **more):
    # safetensors ends the process where it is refused memory, and no minibatch is to blame
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    try:
        return save(*what, **more)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))

checkpoint.save = with_room
changes, out = json.loads(sys.argv[1])
config = RunConfig("rnnsearch", "copy", "tokens", "smoke", changes=changes)
corpus = load_corpus("copy", "tokens", **config.corpus_options)
limit = psutil.Process().memory_info().vms + 150 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
train(config, corpus, out, quiet=True)
"""


def test_a_process_with_too_little_memory_trains_in_parts_to_the_same_numbers(
    tmp_path: Path,
) -> None:
    config = RunConfig("rnnsearch", "copy", "tokens", "smoke", changes=LARGE)
    corpus = load_corpus("copy", "tokens", **config.corpus_options)
    train(config, corpus, tmp_path / "free", quiet=True)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, json.dumps([LARGE, str(tmp_path / "limited")])],
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
    lines = done.stderr.splitlines()
    assert lines[0].startswith("Memory ran out at update 1: from now on a minibatch is computed in")
    parts = train(config, corpus, tmp_path / "limited", resume=True, quiet=True).parts
    assert parts == 2 ** len(lines) > 1  # said at the first update alone, and remembered
    whole, halved = (read_metrics(tmp_path / name)[0] for name in ("free", "limited"))
    for name in ("train_loss", "val_loss", "val_bleu"):
        assert halved[name] == pytest.approx(whole[name], abs=1e-5)


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

        monkeypatch.setattr(RNNsearch, "loss", limited)

    return limit


def test_what_was_drawn_before_memory_ran_out_is_drawn_again(
    small: RunConfig,
    small_corpus: Corpus,
    tmp_path: Path,
    scarce: Callable[[int], None],
    capfd: pytest.CaptureFixture[str],
) -> None:
    """With dropout: bit for bit the training that was told to compute in two parts."""
    drop = replace(small, changes={**small.changes, "dropout": 0.2})
    told = replace(drop, changes={**drop.changes, "accumulation": 2})
    train(told, small_corpus, tmp_path / "told", quiet=True)
    assert capfd.readouterr().err == ""
    scarce(8)
    found = train(drop, small_corpus, tmp_path / "found", quiet=True)
    assert found.parts == 2
    assert capfd.readouterr().err.count("Memory ran out at update") == 1
    told_weights, found_weights = (
        (tmp_path / name / "model.safetensors").read_bytes() for name in ("told", "found")
    )
    assert told_weights == found_weights


def test_one_pair_that_does_not_fit_is_said_with_the_remedy(
    small: RunConfig, small_corpus: Corpus, tmp_path: Path, scarce: Callable[[int], None]
) -> None:
    scarce(0)
    with pytest.raises(CourseError, match=r"one sentence pair at a time.*max_length"):
        train(small, small_corpus, tmp_path / "run", quiet=True)


def test_validation_takes_fewer_sentences_at_a_time(
    small_run: Path, small_corpus: Corpus, scarce: Callable[[int], None]
) -> None:
    run = load_run(small_run)
    pairs = encode_pairs(small_corpus.splits["val"], (run.source_vocabulary, run.target_vocabulary))
    expected, words = summed_loss(run.model, pairs)
    scarce(5)
    with pytest.raises(torch.OutOfMemoryError):
        summed_loss(run.model, pairs)
    loss, again = in_batches_that_fit(lambda size: summed_loss(run.model, pairs, size))
    assert loss == pytest.approx(expected, rel=1e-5)
    assert again == words


def test_another_error_is_not_taken_for_one_of_memory(
    small: RunConfig, small_corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(RNNsearch, "loss", broken)
    with pytest.raises(RuntimeError, match="mat1"):
        train(small, small_corpus, tmp_path / "run", quiet=True)
