"""An execution cache that notices more than the page's own cells.

The cache that jupyter-book keeps is keyed by a page's code alone, so a chapter would go on showing
what last month's library printed. Here the library, the recorded results and the lock file decide
WHERE the cache lies: change one of them and every page runs again.
"""

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

ROOT = Path(__file__).resolve().parents[3]
INPUTS = ("course_lib", "book/results", "requirements.lock")
KEPT = 3  # caches of other states, so that going back one change costs nothing


def input_files(root: Path) -> Iterator[Path]:
    """Every file that can change what a page prints, in a fixed order."""
    for name in INPUTS:
        path = root / name
        found = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in found:
            if file.is_file() and "__pycache__" not in file.parts:
                yield file


def execution_key(root: Path = ROOT) -> str:
    """Hash of names and contents of all inputs: 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for file in input_files(root):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        digest.update(f"{file.relative_to(root).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()[:16]


def prune(caches: Path, current: str, kept: int = KEPT) -> None:
    """Delete all but the current cache and the `kept - 1` used last."""
    if not caches.is_dir():
        return
    others = [path for path in caches.iterdir() if path.is_dir() and path.name != current]
    others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in others[kept - 1 :]:
        shutil.rmtree(path, ignore_errors=True)


def place_cache(app: Sphinx, config: Config) -> None:
    """Sphinx reads every page again when this value differs from the last build's."""
    caches = Path(app.outdir).parent / ".jupyter_cache"
    key = execution_key()
    here = caches / key
    here.mkdir(parents=True, exist_ok=True)
    here.touch()  # the time of last use, which pruning goes by
    prune(caches, key)
    config.nb_execution_cache_path = str(here)


def setup(app: Sphinx) -> None:
    app.connect("config-inited", place_cache)
