"""Two processes train one model: the numbers of one, and an end that is said when one is lost."""

import importlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import torch
from safetensors.torch import load_file

from course_lib.corpora.corpus import Corpus
from course_lib.training import (
    RunConfig,
    compare,
    compared_configs,
    launch,
    load_run,
    read_metrics,
    train,
    train_by,
)
from course_lib.training.run_directory import known_at_start
from tests.conftest import PATIENCE

IMPATIENT = """
from datetime import timedelta
from course_lib.cli import main
from course_lib.training import processes
processes.TIMEOUT = timedelta(seconds=60)
main()
"""


def assert_same_curve(run: Path, expected: Path) -> None:
    """Every loss within 1e-4, every translation of the validation the same."""
    ours, theirs = read_metrics(run), read_metrics(expected)
    assert [record["step"] for record in ours] == [record["step"] for record in theirs]
    for name in ("train_loss", "val_loss", "val_bleu"):
        values = [record[name] for record in ours]
        assert values == pytest.approx([record[name] for record in theirs], abs=1e-4)
    weights, expected_weights = load_run(run).model, load_run(expected).model
    for mine, other in zip(weights.parameters(), expected_weights.parameters(), strict=True):
        torch.testing.assert_close(mine, other, atol=1e-4, rtol=0)


WATCHER = """
import os
from course_lib.training import launch, loop
from safetensors.torch import save_model

def work(config, out, resume, quiet):
    '''What each process does, and then it leaves its moving average behind.'''
    made = []
    average = loop.moving_average
    def kept(*arguments):
        made.append(average(*arguments))
        return made[-1]
    loop.moving_average = kept
    launch._work(config, out, resume, quiet)
    [average] = made
    save_model(average.module, f"{out}.{os.environ['RANK']}")
"""


def test_two_processes_give_the_loss_curve_and_the_averaged_weights_of_one(
    small: RunConfig,
    small_corpus: Corpus,
    small_run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "watcher.py").write_text(WATCHER)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(launch, "_work", importlib.import_module("watcher").work)
    train_by(2, small, small_corpus, tmp_path / "run", quiet=True)
    assert known_at_start(tmp_path / "run")["processes"] == 2
    monkeypatch.undo()
    assert_same_curve(tmp_path / "run", small_run)

    states = [load_file(run / "last.safetensors") for run in (tmp_path / "run", small_run)]
    kept, expected = (
        {
            name.removeprefix("average."): value
            for name, value in state.items()
            if name.startswith("average.")
        }
        for state in states
    )
    first, second = (load_file(tmp_path / f"run.{rank}") for rank in "01")
    assert expected.keys() == kept.keys() == first.keys() == second.keys()
    for name, value in expected.items():
        assert torch.equal(first[name], second[name])
        assert torch.equal(first[name], kept[name])
        torch.testing.assert_close(first[name], value, atol=1e-6, rtol=0)
        # They are not the weights of the last update.
        assert not torch.equal(value, states[1][f"model.{name}"])


@pytest.mark.slow
def test_torchrun_trains_to_the_numbers_of_one_process(
    small: RunConfig, small_run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    torchrun = ("-m", "torch.distributed.run", "--nproc-per-node=2", "-m", "course_lib")
    world = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    process = start(small, out, python=torchrun, **world)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert known_at_start(out)["processes"] == 2
    assert_same_curve(out, small_run)


def start(
    config: RunConfig, out: Path, *words: str, python: tuple[str, ...] = ("-m", "course_lib"), **env
) -> subprocess.Popen[str]:
    """`course train` in a session of its own, as from another terminal."""
    settings = [f"--set={name}={value}" for name, value in config.changes.items()]
    what = ["--model", config.model, "--corpus", config.corpus, "--pair", config.pair]
    how = ["--preset", config.preset, "--beam", "1", "--out", str(out), *settings, *words]
    return subprocess.Popen(
        [sys.executable, *python, "train", *what, *how],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **env},
    )


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    """Until the training has written a file."""
    while not path.exists():
        assert process.poll() is None
        time.sleep(0.01)


def last_line(process: subprocess.Popen[str]) -> str:
    """What a process says last on standard error, at its end."""
    _, errors = process.communicate(timeout=PATIENCE)
    return errors.splitlines()[-1]


def workers(parent: subprocess.Popen[str]) -> dict[int, psutil.Process]:
    """The processes that train for `parent`, by their rank."""
    children = psutil.Process(parent.pid).children()
    training = [child for child in children if "--multiprocessing-fork" in child.cmdline()]
    return dict(enumerate(sorted(training, key=psutil.Process.create_time)))


def test_a_comparison_is_trained_by_as_many_processes_as_it_is_told(
    small: RunConfig, small_corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are left out where nothing is left to train."""
    asked: list[tuple[int, str]] = []

    def alone(processes: int, config: RunConfig, corpus: Corpus, out: Path, resume: bool) -> None:
        asked.append((processes, config.model))
        train(config, corpus, out, resume, quiet=True)

    monkeypatch.setattr(sys.modules["course_lib.training.compare"], "train_by", alone)
    short = {**small.changes, "epochs": 1}
    configs = compared_configs(corpus="copy", pair="tokens", preset="smoke", changes=short)
    results = compare(configs, small_corpus, tmp_path, beam=1, processes=2)
    assert asked == [(2, "rnnencdec"), (2, "rnnsearch")]
    first, second = results.values()
    different = {key for key in first if first[key] != second[key]}
    assert {"preset", "seed", "changes", "corpus_sha256"}.isdisjoint(different)
    assert compare(configs, small_corpus, tmp_path, beam=1, processes=2) == results
    assert asked[2:] == [(1, "rnnencdec"), (1, "rnnsearch")]


@pytest.mark.slow
@pytest.mark.parametrize(("killed", "next_time"), [(0, 2), (1, 1)])
def test_a_lost_process_is_named_and_the_run_goes_on_with_one_or_two(
    killed: int,
    next_time: int,
    small: RunConfig,
    small_corpus: Corpus,
    small_run: Path,
    tmp_path: Path,
) -> None:
    out = tmp_path / "run"
    process = start(small, out, "--processes", "2")
    wait_for(out / "last.safetensors", process)
    group = workers(process)
    group[killed].kill()
    line = last_line(process)
    assert process.returncode == 2
    assert line.startswith(f"course: Process {killed + 1} of 2 was lost (killed by SIGKILL")
    assert "--resume" in line
    assert not any(worker.is_running() for worker in group.values())
    assert len(read_metrics(out)) < 3
    if next_time == 2:
        train_by(2, small, small_corpus, out, resume=True, quiet=True)
    else:
        train(small, small_corpus, out, resume=True, quiet=True)
    assert_same_curve(out, small_run)


@pytest.mark.slow
def test_no_process_trains_on_when_the_one_that_waits_is_killed(
    small: RunConfig, tmp_path: Path
) -> None:
    process = start(small, tmp_path / "run", "--processes", "2")
    wait_for(tmp_path / "run" / "last.safetensors", process)
    group = list(workers(process).values())
    process.kill()
    process.communicate()
    _, alive = psutil.wait_procs(group, timeout=PATIENCE)
    assert len(group) == 2
    assert not alive


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_under_another_launcher_the_process_that_is_left_ends_by_itself(
    how: signal.Signals, small: RunConfig, tmp_path: Path
) -> None:
    """As torchrun starts them; one is killed, or answers no more."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    world = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    world |= {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    out = tmp_path / "run"
    first, second = (
        start(small, out, python=("-c", IMPATIENT), **world, RANK=rank, LOCAL_RANK=rank)
        for rank in ("0", "1")
    )
    wait_for(out / "last.safetensors", first)
    second.send_signal(how)
    line = last_line(first)
    assert first.returncode == 2
    assert line.startswith("course: Process 1 of 2 has lost another one.")
    assert "--resume" in line
    second.kill()
    second.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["1", "2"])
def test_ctrl_c_writes_a_checkpoint_and_says_how_to_go_on(
    processes: str, small: RunConfig, small_corpus: Corpus, small_run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    process = start(small, out, "--processes", processes)
    wait_for(out / "last.safetensors", process)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to every process
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert errors.splitlines()[-2:] == [
        f"Stopped, nothing lost: add --resume to go on with {out}.",
        "course: stopped.",
    ]
    assert "Traceback" not in errors
    assert len(read_metrics(out)) < 3
    train(small, small_corpus, out, resume=True, quiet=True)
    assert_same_curve(out, small_run)
