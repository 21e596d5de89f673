"""An execution cache that notices more than the page's own cells.

The cache that jupyter-book keeps is keyed by a page's code alone, so a chapter would go on showing
what last month's library printed. Here the library, the recorded results and the lock file decide
WHERE the cache lies: change one of them and every page runs again.
"""

import hashlib
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

ROOT = Path(__file__).resolve().parents[3]
INPUTS = (
    "course_lib",
    "book/drawings",
    "benchmarks/results",
    "experiments",
    "requirements.lock",
)
KEPT = 3  # caches of other states, so that going back one change costs nothing


def input_files(root: Path, names: Iterable[str]) -> Iterator[Path]:
    """Every file below these names, in a fixed order."""
    for name in names:
        path = root / name
        found = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in found:
            if file.is_file() and "__pycache__" not in file.parts:
                yield file


def key_of(root: Path = ROOT, names: Iterable[str] = INPUTS) -> str:
    """Hash of the names and contents of all these files: 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for file in input_files(root, names):
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
    key = key_of()
    here = caches / key
    here.mkdir(parents=True, exist_ok=True)
    here.touch()  # the time of last use, which pruning goes by
    prune(caches, key)
    config.nb_execution_cache_path = str(here)
    config.book_devices = key_of(names=["book/_ext"])
    config.book_looks = key_of(names=["book/_static"])


def setup(app: Sphinx) -> None:
    # Sphinx compares these with the last build's: other directives, and every page is read again
    # (its cells come from the cache); another style sheet, and every page is written again.
    app.add_config_value("book_devices", "", "env", str)
    app.add_config_value("book_looks", "", "html", str)
    app.connect("config-inited", place_cache)
