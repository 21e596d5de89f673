"""The first cell of every generated notebook: it makes the notebook work where it is opened."""

from pathlib import Path

import yaml

CLONED = "looking-back"

CELL = """\
# Installs what is missing, and nothing else.
import importlib.util, os, subprocess, sys

if importlib.util.find_spec("course_lib") is None:
"""

FROM_REPOSITORY = """\
    if not os.path.isdir("{folder}"):
        subprocess.run(["git", "clone", "--quiet", "--depth", "1",
                        "{url}", "{folder}"], check=True)
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet",
                    "./{folder}"], check=True)
    importlib.invalidate_caches()
if os.path.isdir("{inside}"):  # also after the kernel was restarted
    os.chdir("{inside}")
"""

WITHOUT_REPOSITORY = """\
    sys.exit("The course's library is missing. In a clone of the course, run "
             "`pip install -e .`, then restart the kernel.")
"""


def repository_url(root: Path) -> str:
    """The repository that `_config.yml` in the course's folder names; empty while there is none."""
    path = root / "_config.yml"
    config = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return str(config.get("repository", {}).get("url") or "")


def first_cell(url: str, inside: str) -> str:
    """The cell's code.

    Args:
        url: the repository to install from; empty: the cell says how to install from a clone.
        inside: the folder of the repository that the notebook works in after a fresh install.
    """
    install = FROM_REPOSITORY if url else WITHOUT_REPOSITORY
    folder = f"{CLONED}/{inside}"
    return (CELL + install.format(url=url, folder=CLONED, inside=folder)).rstrip()
