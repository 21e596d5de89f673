"""`course doctor`: what is missing is named with its remedy; only a need of everything fails it."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from packaging.requirements import Requirement
from typer.testing import CliRunner

from course_lib.cli import app, doctor
from course_lib.corpora import multi30k


@pytest.fixture(autouse=True)
def healthy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine with every program, a sandbox that works and no corpora."""
    monkeypatch.delenv("COURSE_DATA", raising=False)
    monkeypatch.setattr(multi30k, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(shutil, "which", lambda program: f"/usr/bin/{program}")
    monkeypatch.setattr(doctor, "sandbox_works", lambda: True)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["doctor", *arguments])
    return result.exit_code, result.output


def report(status: int = 0) -> dict[str, Any]:
    code, output = run("--json")
    assert code == status, output
    return json.loads(output)


def programs(monkeypatch: pytest.MonkeyPatch, *present: str) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name in present else None)


def test_a_machine_with_everything_is_told_so() -> None:
    found = report()
    assert found["ok"]
    assert found["missing"] == []
    assert all(found["versions"].values())
    assert found["device"]["threads"] >= 1
    assert 0 < found["memory"]["available"] <= found["memory"]["total"]
    assert run()[1].rstrip().endswith("Nothing is missing.")


def test_the_text_names_every_version_and_every_folder() -> None:
    found, text = report(), run()[1]
    for name, version in found["versions"].items():
        assert name in text
        assert version in text
    assert all(folder in text for folder in found["corpora"]["folders"])


def test_the_set_up_page_shows_what_a_student_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dot-dot-dot of the page stands for any text, and each version or size for any other."""
    lines = [Requirement(line) for line in doctor.metadata.requires("looking-back") or []]
    brought = {"looking-back", *(line.name for line in lines if line.marker is None)}
    installed = doctor.installed_version
    monkeypatch.setattr(
        doctor, "installed_version", lambda name: installed(name) if name in brought else None
    )
    programs(monkeypatch, "git", "apt-get")
    monkeypatch.setattr(doctor.platform, "system", lambda: "Linux")
    monkeypatch.setattr(doctor.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)

    said = re.sub(r"\d+(\.\d+)+\S*", "0.0", run()[1].rstrip())
    shown = """Looking Back on Linux …
…
  multi30k: 0 of 9 files; to get them: course corpus fetch multi30k
…
Missing jupyter-book…, for make book. To get it:
…
Missing chromium, for make test. To get it:
  sudo apt-get install chromium
…
You can start: what is missing is needed for the above alone."""
    assert re.fullmatch(re.escape(shown).replace("…", ".+?"), said, re.DOTALL), said


@pytest.mark.parametrize(
    ("requirement", "status"),
    [
        ("no-such-package-at-all>=2", 1),
        ("numpy>=9999", 1),
        ('no-such-package-at-all; extra == "book"', 0),
        ('numpy>=9999; extra == "classes"', 0),
    ],
)
def test_only_a_package_that_everything_needs_fails(
    requirement: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: [requirement])
    found = report(status)
    [missing] = found["missing"]
    assert missing["needed"] == (status == 1) == (not found["ok"])
    assert missing["name"] == requirement.split(";")[0]
    assert f'-m pip install "{missing["name"]}"' in missing["remedy"]
    assert missing["remedy"] in run()[1]


def test_what_a_purpose_misses_is_one_line_and_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = ["no-such-package", 'no-such-marker>=2; extra == "classes"']
    wanted.append('no-such-gradebook; extra == "classes"')
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: wanted)
    alone, grading = report(status=1)["missing"]
    assert (alone["name"], alone["needed"]) == ("no-such-package", True)
    assert (grading["name"], grading["needed"]) == ("no-such-marker>=2, no-such-gradebook", False)
    assert grading["remedy"].endswith('pip install "no-such-marker>=2" "no-such-gradebook"')


def test_a_package_for_another_system_is_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    line = 'no-such-package-at-all; sys_platform == "plan9"'
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: [line])
    assert report()["missing"] == []


def test_a_driver_that_is_too_old_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """As PyTorch then answers: it counts the card, and refuses every question about it."""

    def refused(index: int) -> None:
        raise RuntimeError("The NVIDIA driver on your system is too old (found version 11040).")

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "get_device_properties", refused)
    [card] = report()["device"]["accelerators"]
    assert "driver is too old" in card
    assert f"  accelerator    {card}\n" in run()[1]


@pytest.mark.parametrize(("present", "how"), [(["apt-get"], "apt-get "), ([], "install ")])
def test_missing_programs_are_named_with_what_brings_them(
    present: list[str], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor.platform, "system", lambda: "Linux")
    programs(monkeypatch, *present)
    remedies = {item["name"]: item["remedy"] for item in report()["missing"]}
    assert set(remedies) == {"chromium", "git", "bubblewrap"}
    for program, remedy in remedies.items():
        assert how in remedy
        assert f" {program}" in remedy


def test_everyone_but_root_is_told_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    for user, word in ((0, ""), (1000, "sudo ")):
        monkeypatch.setattr(doctor.os, "geteuid", lambda user=user: user)
        assert doctor.install_command("git") == f"{word}apt-get install git"


def test_on_a_mac_nothing_is_promised_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.platform, "system", lambda: "Darwin")
    programs(monkeypatch, "git")
    remedies = {item["name"]: item["remedy"] for item in report()["missing"]}
    assert remedies["chromium"] == "brew install chromium"
    assert "Linux" in remedies["bubblewrap"]


def test_a_sandbox_that_is_forbidden_is_not_called_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.platform, "system", lambda: "Linux")
    monkeypatch.setattr(doctor, "sandbox_works", lambda: False)
    [missing] = report()["missing"]
    assert missing["name"] == "bubblewrap"
    assert "install" not in missing["remedy"]


@pytest.mark.parametrize("status", [0, 1])
def test_the_sandbox_works_if_it_runs_a_program(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    finished = subprocess.CompletedProcess([], status)
    monkeypatch.setattr(subprocess, "run", lambda *arguments, **options: finished)
    assert doctor.sandbox_works() == (status == 0)


def test_corpora_are_looked_for_in_the_order_of_the_loader(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert report()["corpora"]["folders"] == [str(tmp_path / "cache")]
    folder = tmp_path / "data" / "multi30k"
    folder.mkdir(parents=True)
    (folder / "train.en.gz").write_bytes(b"not the published file")
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "data"))
    found = report()["corpora"]
    assert found["folders"] == [str(folder), str(tmp_path / "cache")]
    assert found["multi30k"]["sound"] == 0 < found["multi30k"]["files"]
    assert "course corpus fetch multi30k" in run()[1]


@pytest.mark.parametrize("copied", [True, False])
def test_how_notebooks_are_started_is_told(copied: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "grading", lambda: {"copied_kernels": copied})
    assert report()["grading"]["copied_kernels"] is copied
    assert ("copied from one" in run()[1]) is copied
