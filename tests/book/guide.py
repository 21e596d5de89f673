"""The commands of the instructor's guide, read from the page and run in a shell as a person would.

The page marks each block of commands: `% try` is run, `% keep running` is run beside the others,
`% by hand: why` is not run.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "book" / "teaching" / "instructors.md"
MARKS = r"try|keep running|by hand: [^\n]+"
_LABEL = re.compile(r"^\((?P<label>[\w-]+)\)=\n", re.M)
_BLOCK = re.compile(rf"^% (?P<how>{MARKS})\n```sh\n(?P<text>.*?)^```$", re.M | re.S)
_SERVED = "https://github.com"


@dataclass(frozen=True)
class Block:
    """One block of commands: in which section, how it is tried, and what it says."""

    section: str
    how: str
    text: str


def blocks(page: str) -> list[Block]:
    """All blocks of a page, in order."""
    _, *parts = _LABEL.split(page)
    return [
        Block(section, block["how"], block["text"])
        for section, text in zip(parts[::2], parts[1::2], strict=True)
        for block in _BLOCK.finditer(text)
    ]


class Shell:
    """One session in a shell: the folder and the variables stay from block to block.

    Attributes:
        place: a folder of its own for it, in which `served` has what the page calls GitHub.
        here: the folder it is in.
    """

    def __init__(self, place: Path) -> None:
        self.place, self.served = place, place / "served"
        self.state = place / "state.sh"
        self.started: list[subprocess.Popen[bytes]] = []
        settings = place / "gitconfig"
        settings.write_text(
            "[user]\n name = Instructor\n email = instructor@example.org\n"
            "[init]\n defaultBranch = main\n[advice]\n detachedHead = false\n"
            f'[url "file://{self.served}"]\n insteadOf = {_SERVED}\n'
        )
        # a mistake in the page or the Makefile must not install anything anywhere
        self.environment = os.environ | {
            "PYTHONPATH": str(ROOT),
            "GIT_CONFIG_GLOBAL": str(settings),
            "GIT_CONFIG_NOSYSTEM": "1",
            "PIP_REQUIRE_VIRTUALENV": "1",
            "PIP_NO_INDEX": "1",
        }
        (place / "work").mkdir()
        self.state.write_text(f"cd {place / 'work'}\n")

    @property
    def here(self) -> Path:
        return Path(self.state.read_text().splitlines()[-1].removeprefix("cd "))

    def run(self, text: str) -> str:
        """What the commands print, errors among it; every one has to succeed."""
        script = f"source {self.state}\nset -eo pipefail\n{text}\n"
        script += f"{{ declare -px PATH; echo; echo cd $PWD; }} > {self.state}\n"
        done = subprocess.run(
            ["bash", "-c", script], env=self.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"status {done.returncode} of\n{text}\n{done.stdout}"
        return done.stdout

    def keep_running(self, text: str) -> None:
        """Start something that does not end by itself."""
        self.started.append(
            subprocess.Popen(
                ["bash", "-c", f"source {self.state}\n{text}"],
                env=self.environment, start_new_session=True, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
        )  # fmt: skip

    def close(self) -> None:
        """End what was kept running."""
        for process in self.started:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=600)

    def serve(self, name: str) -> Path:
        """An empty repository on "GitHub"."""
        path = self.served / name
        subprocess.run(["git", "init", "--bare", "-qb", "main", path], check=True)
        return path

    def serve_this_course(self) -> None:
        """The files of this checkout, as they are now, in a repository of OWNER's.

        A copy of its own history would do as well, but some machines have only the last commit.
        """
        self.serve("OWNER/looking-back")
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        copy = self.place / "copy"
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, copy / name)
        self.change_upstream("The course")

    def change_upstream(self, message: str) -> None:
        """Publish what lies in `copy` as the course's next state."""
        self.run(
            f"cd {self.place / 'copy'}\n[ -d .git ] || git init -qb main\n"
            f"git add -A\ngit commit -qm '{message}'\n"
            f"git push -q {_SERVED}/OWNER/looking-back HEAD\ncd {self.here}"
        )

    def give_environment(self) -> None:
        """Let the clone have this environment, as if `make` had installed it there."""
        folder = self.here / ".venv"
        (folder / "bin").mkdir(parents=True)
        for command in (Path(sys.prefix) / "bin").iterdir():
            (folder / "bin" / command.name).symlink_to(command)
        self.run(
            "key=$(cat requirements.lock pyproject.toml | cksum | cut -d ' ' -f 1)\n"
            "touch .venv/.installed-$key"
        )
