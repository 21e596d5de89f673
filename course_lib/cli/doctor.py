"""`course doctor`: what this machine has, what the course is missing here, and how to get it."""

import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil
import typer
from packaging.requirements import Requirement

from course_lib.cli.runs import Json
from course_lib.corpora import multi30k

PROJECT = "looking-back"
# What `make` and `course` use each group of packages for; "" is what everything needs.
GROUPS = {
    "": "everything",
    "scale": "texts larger than memory",
    "book": "make book",
    "classes": "grading",
    "dev": "make test",
}
SHOWN = ("torch", "numpy", "accelerate", "sacrebleu", "jupyter-book", "nbgrader", "distributed")
# Kernel settings with which distributions forbid what bubblewrap needs, and the value that allows.
NAMESPACE_SETTINGS = {
    "kernel/apparmor_restrict_unprivileged_userns": "0",
    "kernel/unprivileged_userns_clone": "1",
}
GIB = 2**30


@dataclass(frozen=True)
class Missing:
    """One thing that is not there: what it is for, whether nothing works without it, the remedy."""

    name: str
    purpose: str
    needed: bool
    remedy: str


def doctor(as_json: Json = False) -> None:
    """Say what this machine has, what is missing and how to get it.

    Exit status 1 if something that everything needs is missing; what only some commands need
    (Chromium, bubblewrap, a corpus) is named and leaves the status 0.
    """
    report = examine()
    typer.echo(json.dumps(report, indent=2) if as_json else as_text(report))
    if not report["ok"]:
        raise typer.Exit(1)


def examine() -> dict[str, Any]:
    """Everything the command reports, in plain types; sizes in bytes.

    Keys: ok, system, versions, device, memory, corpora, grading, missing.
    """
    missing = [*missing_packages(), *missing_programs()]
    memory = psutil.virtual_memory()
    return {
        "ok": not any(item.needed for item in missing),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "versions": {"python": platform.python_version()}
        | {name: installed_version(name) for name in (PROJECT, *SHOWN)},
        "device": device(),
        "memory": {"total": memory.total, "available": memory.available},
        "corpora": corpora(),
        "grading": grading(),
        "missing": [asdict(item) for item in missing],
    }


def installed_version(name: str) -> str | None:
    """The installed version of a package, None where it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def device() -> dict[str, Any]:
    """The processor, how much of it this process may use, and the accelerators torch sees."""
    try:
        import torch

        from course_lib.training.provenance import processor
    except ImportError:
        return {"processor": platform.machine(), "threads": None, "accelerators": []}
    accelerators = []
    cards = torch.cuda.device_count()
    if torch.cuda.is_available():
        for index in range(cards):
            card = torch.cuda.get_device_properties(index)
            accelerators.append(f"{card.name}, {size(card.total_memory)}")
    elif torch.backends.mps.is_available():
        accelerators.append("Apple's, by Metal (mps)")
    elif cards:
        accelerators.append(f"{cards} NVIDIA, not used: its driver is too old for this PyTorch")
    return {
        "processor": processor(),
        "threads": torch.get_num_threads(),
        "accelerators": accelerators,
    }


def corpora() -> dict[str, Any]:
    """Where Multi30k is looked for and how many of the files that training needs are sound."""
    data = os.environ.get("COURSE_DATA")
    files = [file for file in multi30k.verify() if file.required]
    return {
        "COURSE_DATA": data,
        "folders": [
            *([str(Path(data) / "multi30k")] if data else []),
            str(multi30k.cache_folder()),
        ],
        "multi30k": {"sound": sum(file.state == "ok" for file in files), "files": len(files)},
    }


def grading() -> dict[str, Any]:
    """How `course grade` would start notebooks here."""
    if platform.system() != "Linux":
        return {"copied_kernels": False}
    from course_lib.grading.sandbox import namespaces

    return {"copied_kernels": namespaces.supported()}


def missing_packages() -> list[Missing]:
    """What each purpose asks for that is absent or has a version outside its range: one line."""
    absent: dict[str, list[str]] = {group: [] for group in GROUPS}
    for line in metadata.requires(PROJECT) or []:
        requirement = Requirement(line)
        for group, names in absent.items():
            if requirement.marker is None:
                asked = group == ""
            else:
                # A marker of an extra is false without one, so each line falls to its own group.
                asked = requirement.marker.evaluate({"extra": group})
            if asked and not satisfied(requirement):
                names.append(f"{requirement.name}{requirement.specifier}")
                break
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    pip = f"{python} -m pip install"
    return [
        Missing(
            ", ".join(names),
            GROUPS[group],
            group == "",
            # Without quotes a shell takes > for the name of a file.
            f"{pip} " + " ".join(f'"{name}"' for name in names),
        )
        for group, names in absent.items()
        if names
    ]


def satisfied(requirement: Requirement) -> bool:
    """Whether a package is installed in a version that the requirement allows."""
    version = installed_version(requirement.name)
    return version is not None and requirement.specifier.contains(version, prereleases=True)


def missing_programs() -> list[Missing]:
    """Programs that pip cannot bring and some commands need: Chromium, bubblewrap, git."""
    missing = []
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        missing.append(Missing("chromium", "make test", False, install_command("chromium")))
    if shutil.which("git") is None:
        missing.append(Missing("git", "recording a run's commit", False, install_command("git")))
    sandbox = partial(Missing, "bubblewrap", "course grade in a sandbox, make test", False)
    if platform.system() != "Linux":
        missing.append(sandbox("grade on Linux (bubblewrap exists nowhere else)"))
    elif shutil.which("bwrap") is None:
        missing.append(sandbox(install_command("bubblewrap")))
    elif not sandbox_works():
        missing.append(sandbox(allow_namespaces()))
    return missing


def sandbox_works() -> bool:
    """Whether bubblewrap may make its namespaces here: some systems and containers forbid them."""
    command = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def allow_namespaces() -> str:
    """How to let bubblewrap make namespaces: the command, where this system has a setting."""
    for setting, allowing in NAMESPACE_SETTINGS.items():
        path = Path("/proc/sys") / setting
        if path.is_file() and path.read_text(encoding="utf-8").strip() != allowing:
            return f"{administrator()}sysctl -w {setting.replace('/', '.')}={allowing}"
    return (
        "allow user namespaces (in a container: docker run --security-opt seccomp=unconfined, or "
        "podman run --security-opt unmask=ALL)"
    )


def install_command(package: str) -> str:
    """The command that installs a system package here; its name alone where none is known."""
    if platform.system() == "Darwin":
        return f"brew install {package}"
    if shutil.which("apt-get"):
        return f"{administrator()}apt-get install {package}"
    return f"install {package} with this system's package manager"


def administrator() -> str:
    """`sudo ` for everyone but root."""
    return "" if hasattr(os, "geteuid") and os.geteuid() == 0 else "sudo "


def size(count: int) -> str:
    """A number of bytes for people."""
    return f"{count / GIB:.1f} GiB"


def as_text(report: dict[str, Any]) -> str:
    """The report for people: plain lines, the missing things last, each with its remedy."""
    machine, memory, data = report["device"], report["memory"], report["corpora"]
    lines = [f"Looking Back on {report['system']}", "", "Versions"]
    lines += [f"  {name:14} {version or '-'}" for name, version in report["versions"].items()]
    nothing = ["none; everything in the course also runs without"]
    lines += [
        *("", "Device"),
        f"  processor      {machine['processor']}",
        f"  threads        {machine['threads'] or '-'}",
        *(f"  accelerator    {one}" for one in machine["accelerators"] or nothing),
        f"  memory         {size(memory['available'])} free of {size(memory['total'])}",
    ]
    sound, files = data["multi30k"]["sound"], data["multi30k"]["files"]
    lines += ["", "Corpora", "  toy, copy, reverse: made on this machine, always there"]
    remedy = "" if sound == files else "; to get them: course corpus fetch multi30k"
    lines.append(f"  multi30k: {sound} of {files} files{remedy}")
    lines += [f"    looked for in {folder}" for folder in data["folders"]]
    if data["COURSE_DATA"] is None:
        lines.append("    (COURSE_DATA, a folder of corpora that goes first, is not set)")
    here = report["grading"]
    start = "copied from one that has imported torch" if here["copied_kernels"] else "started anew"
    lines += ["", "Grading", f"  kernels        {start}"]
    lines.append("")
    for item in report["missing"]:
        kind = "MISSING" if item["needed"] else "Missing"
        lines += [
            f"{kind} {item['name']}, for {item['purpose']}. To get it:",
            f"  {item['remedy']}",
        ]
    if not report["missing"]:
        lines.append("Nothing is missing.")
    elif report["ok"]:
        lines.append("You can start: what is missing is needed for the above alone.")
    return "\n".join(lines)
