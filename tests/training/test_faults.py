"""What can go wrong from outside: each fault is one line with the remedy, and loses nothing."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from course_lib.corpora.corpus import Corpus
from course_lib.errors import CourseError
from course_lib.training import RunConfig, finish_run, load_run, read_metrics, train
from course_lib.training.checkpoint import save_weights
from tests.training.conftest import outcome, train_until

STATES = ("last.safetensors", "previous.safetensors")


@pytest.fixture(scope="module")
def stopped(
    small: RunConfig, small_corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A run that Ctrl-C stopped at update 26, behind the checkpoint of update 24."""
    out = tmp_path_factory.mktemp("stopped") / "run"
    train_until(26, small, small_corpus, out)
    assert sorted(path.name for path in out.glob("*.safetensors")) == [
        *STATES[:1],
        "model.safetensors",
        *STATES[1:],
    ]
    return out


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def flip_a_bit_of_a_weight(path: Path) -> None:
    """What the format itself does not see."""
    data = bytearray(path.read_bytes())
    data[-1000] ^= 4
    path.write_bytes(data)


def other_shapes(path: Path) -> None:
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.offset_keys()}
        metadata = {k: v for k, v in file.metadata().items() if k != "crc32"}
    name = next(name for name in tensors if name.startswith("model."))
    tensors[name] = torch.zeros(3, 3)
    save_file(tensors, path, metadata)


def not_a_state(path: Path) -> None:
    """Weights alone, which lack optimiser and progress."""
    shutil.copy(path.with_name("model.safetensors"), path)


def removed(path: Path) -> None:
    """Killed between the two renames of a checkpoint."""
    path.unlink()


@pytest.mark.parametrize(
    "damage", [truncate, flip_a_bit_of_a_weight, other_shapes, not_a_state, removed]
)
def test_a_damaged_checkpoint_costs_no_more_than_the_time_since_the_one_before(
    damage,
    stopped: Path,
    small: RunConfig,
    small_corpus: Corpus,
    small_run: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "run"
    shutil.copytree(stopped, out)
    damage(out / "last.safetensors")
    train(small, small_corpus, out, resume=True, quiet=True)
    assert outcome(out) == outcome(small_run)
    said = capfd.readouterr().err
    if damage is removed:
        assert said == ""
    else:
        assert said.count("\n") == 1
        assert "at update 24" in said
    assert not (out / "previous.safetensors").exists()


def test_two_damaged_checkpoints_are_named_with_the_remedy(
    stopped: Path, small: RunConfig, small_corpus: Corpus, small_run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    shutil.copytree(stopped, out)
    for name in STATES:
        truncate(out / name)
    with pytest.raises(CourseError, match=r"last\S+ and previous.*delete.*--resume"):
        train(small, small_corpus, out, resume=True, quiet=True)
    for name in STATES:
        (out / name).unlink()
    train(small, small_corpus, out, resume=True, quiet=True)
    assert outcome(out) == outcome(small_run)


def test_flipped_bits_are_seen_in_weights_too(small_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    shutil.copytree(small_run, out)
    flip_a_bit_of_a_weight(out / "model.safetensors")
    with pytest.raises(CourseError, match=r"model.safetensors is damaged"):
        load_run(out)


@pytest.mark.parametrize("text", ["", "recipe: 3", "{"])
def test_a_damaged_configuration_is_named(
    text: str, stopped: Path, small: RunConfig, small_corpus: Corpus, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    shutil.copytree(stopped, out)
    (out / "config.yaml").write_text(text)
    with pytest.raises(CourseError, match=r"config.yaml is damaged"):
        train(small, small_corpus, out, resume=True, quiet=True)


def test_a_finished_run_without_its_states_is_left_as_it_is(
    small: RunConfig, small_corpus: Corpus, small_run: Path, tmp_path: Path
) -> None:
    """As it is handed in: with its result, without what only --resume reads."""
    out = tmp_path / "run"
    shutil.copytree(small_run, out)
    finish_run(out, small_corpus, beam=2)
    (out / "last.safetensors").unlink()
    before = {path: path.read_bytes() for path in out.iterdir()}
    assert train(small, small_corpus, out, resume=True, quiet=True).finished
    assert before.items() <= {path: path.read_bytes() for path in out.iterdir()}.items()


def test_a_resumed_run_keeps_the_words_that_it_began_with(
    stopped: Path,
    small: RunConfig,
    small_corpus: Corpus,
    small_run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However another version of the library would number them."""
    monkeypatch.delattr("course_lib.training.loop.make_vocabularies")
    out = tmp_path / "run"
    shutil.copytree(stopped, out)
    train(small, small_corpus, out, resume=True, quiet=True)
    assert outcome(out) == outcome(small_run)


def test_how_many_parts_may_change_and_the_rest_may_not(
    stopped: Path, small: RunConfig, small_corpus: Corpus, small_run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    shutil.copytree(stopped, out)
    parts = replace(small, changes={**small.changes, "accumulation": 2})
    assert train(parts, small_corpus, out, resume=True, quiet=True).finished
    for ours, theirs in zip(read_metrics(out), read_metrics(small_run), strict=True):
        for name in ("train_loss", "val_loss"):
            assert ours[name] == pytest.approx(theirs[name], abs=1e-4)
    other = replace(small, changes={**small.changes, "batch_size": 8})
    with pytest.raises(CourseError, match=r"started with batch_size=\d+\. Resume"):
        train(other, small_corpus, out, resume=True, quiet=True)


TRAIN = """
import json, resource, sys
from course_lib.corpora import load_corpus
from course_lib.errors import CourseError
from course_lib.training import RunConfig, train
changes, *places = json.loads(sys.argv[1])
config = RunConfig("rnnsearch", "copy", "tokens", "smoke", changes=changes)
corpus = load_corpus("copy", "tokens", **config.corpus_options)
for place in places:
    try:
        train(config, corpus, place, resume=True, quiet=True)
    except CourseError as error:
        print(error, file=sys.stderr)
"""


def in_a_sandbox(options: list[object], argument: str, then: str) -> list[str]:
    """Train where the sandbox has made these file systems, do something; what the training said."""
    sandbox = ["--bind", "/", "/", "--dev-bind", "/dev", "/dev", *map(str, options)]
    shell = ["sh", "-c", f'"$0" -c "$@" && {then}', sys.executable, TRAIN, argument]
    done = subprocess.run(["bwrap", *sandbox, *shell], capture_output=True, text=True, check=True)
    assert ".half" not in done.stdout  # nothing half-written takes the room that is left
    return done.stderr.splitlines()


def test_a_full_disk_is_said_and_loses_nothing(
    small: RunConfig, small_corpus: Corpus, small_run: Path, tmp_path: Path
) -> None:
    """Real file systems, each with room for so many checkpoints: weights are a third of one."""
    config = replace(small, changes={**small.changes, "checkpoint_steps": 100})
    size = (small_run / "last.safetensors").stat().st_size
    weights, state = "model.safetensors", "last.safetensors"
    files = {0.01: "config.yaml", 0.2: weights, 1.1: state, 1.5: weights, 2.2: state, 3.0: state}
    options, places = [], []
    for room in files:
        full, kept = (tmp_path / name / str(room) for name in ("full", "kept"))
        full.mkdir(parents=True)
        kept.mkdir(parents=True)
        options += ["--size", int(room * size), "--tmpfs", full]
        places.append(f"{full}/run")
    then = f"find '{tmp_path}/full' -name '*.half*' && cp -r '{tmp_path}/full/.' '{tmp_path}/kept'"
    lines = in_a_sandbox(options, json.dumps([config.changes, *places]), then)
    for line, place, name in zip(lines, places, files.values(), strict=True):
        assert line.startswith(f"{place}/{name}: No space left on device.")
        assert "Make room" in line
        assert "--resume" in line
    for room in files:
        out = tmp_path / "kept" / str(room) / "run"
        train(config, small_corpus, out, resume=True, quiet=True)
        assert outcome(out) == outcome(small_run)


def test_a_folder_that_cannot_be_written_is_said_and_loses_nothing(
    stopped: Path, small: RunConfig, small_corpus: Corpus, small_run: Path, tmp_path: Path
) -> None:
    """A file system that is read-only, from the beginning or since the run was stopped."""
    closed = tmp_path / "closed"
    shutil.copytree(stopped, closed / "stopped")
    argument = json.dumps([small.changes, f"{closed}/new", f"{closed}/stopped"])
    lines = in_a_sandbox(["--ro-bind", closed, closed], argument, f"ls -A '{closed}/stopped'")
    for line, name in zip(lines, ("new", "stopped"), strict=True):
        assert line.startswith(f"{closed}/{name}")
        assert "Read-only file system." in line
        assert "permissions" in line
    train(small, small_corpus, closed / "stopped", resume=True, quiet=True)
    assert outcome(closed / "stopped") == outcome(small_run)


def test_a_run_is_resumed_in_the_precision_it_was_begun_in(
    small: RunConfig, small_corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On whatever machine: one that takes bfloat16, then one that would not."""
    fast = "course_lib.training.recipe.has_fast_bf16"
    auto = replace(small, changes={**small.changes, "precision": "auto"})
    monkeypatch.setattr(fast, lambda: True)
    train(auto, small_corpus, tmp_path / "free", quiet=True)
    train_until(26, auto, small_corpus, tmp_path / "run")
    monkeypatch.setattr(fast, lambda: False)
    other = replace(small, changes={**small.changes, "precision": "fp32"})
    with pytest.raises(CourseError, match="precision=bf16"):
        train(other, small_corpus, tmp_path / "run", resume=True, quiet=True)
    train(auto, small_corpus, tmp_path / "run", resume=True, quiet=True)
    assert outcome(tmp_path / "run") == outcome(tmp_path / "free")
    named = replace(small, changes={**small.changes, "precision": "bf16"})
    assert train(named, small_corpus, tmp_path / "run", resume=True, quiet=True).finished
    result = finish_run(tmp_path / "run", small_corpus, beam=1)
    assert result["precision"] == result["recipe"]["precision"] == "bf16"
    assert result["changes"]["precision"] == "auto"


def test_a_checkpoint_copies_each_tensor_once(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Down from a graphics card, for its checksum and for its file."""
    model = load_run(small_run).model
    copied: list[torch.Size] = []
    cpu = torch.Tensor.cpu
    monkeypatch.setattr(torch.Tensor, "cpu", lambda self: copied.append(self.shape) or cpu(self))
    save_weights(tmp_path / "weights.safetensors", model)
    assert len(copied) == len(model.state_dict())
