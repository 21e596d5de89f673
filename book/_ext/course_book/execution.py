"""An execution cache that notices more than a page's own cells, filled two pages at a time.

The cache that jupyter-book keeps is keyed by a page's code alone, so a chapter would go on showing
what last month's library printed. Here the library, the recorded results and the lock file decide
WHERE the cache lies: change one of them and every page runs again.

Sphinx would execute the pages one after the other, while it reads them. Before it reads the first
one, those that the cache does not hold are executed here, and Sphinx finds them in the cache.
"""

import asyncio
import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from myst_nb.core.read import create_nb_reader
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, DeadKernelError
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

ROOT = Path(__file__).resolve().parents[3]
INPUTS = (
    "course_lib",
    "book/drawings",
    "benchmarks/results",
    "experiments",
    "requirements.lock",
)
KEPT = 3  # caches of other states, so that going back one change costs nothing
AT_A_TIME = 2  # pages executed beside each other: the smallest machine has two cores and 4 GB
LOG = logging.getLogger(__name__)


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


def not_yet_run(
    env: BuildEnvironment, pages: Iterable[str], cache: JupyterCacheAbstract
) -> dict[Path, NotebookNode]:
    """The pages with cells whose outputs the cache does not hold, read as Sphinx will read them."""
    found = {}
    for page in pages:
        path = Path(env.doc2path(page))
        text = path.read_text(encoding="utf-8")
        reader = create_nb_reader(str(path), env.myst_config, env.mystnb_config, text)
        if reader is None:  # a page without cells
            continue
        notebook = reader.read(text)
        try:
            cache.match_cache_notebook(notebook)
        except KeyError:
            found[path] = notebook
    return found


async def execute(
    path: Path,
    notebook: NotebookNode,
    cache: JupyterCacheAbstract,
    timeout: int,
    turn: asyncio.Semaphore,
) -> None:
    """Run one page in a kernel of its own once it is its turn, and put it into the cache.

    Raises:
        CellExecutionError, CellTimeoutError, DeadKernelError: a cell of the page failed.
    """
    async with turn:
        LOG.info("executing %s", path.stem)
        client = NotebookClient(
            notebook,
            timeout=timeout,
            startup_timeout=timeout,  # a minute is short on a busy machine
            resources={"metadata": {"path": str(path.parent)}},
            # What a cell prints is one text, however busy the machine was while it printed.
            coalesce_streams=True,
            # Times beside the cells would make it another notebook than the one Sphinx looks for.
            record_timing=False,
            # A kernel warns that it talks over TCP, and calls its own end an error.
            extra_arguments=["--log-level=CRITICAL"],
        )
        await client.async_execute()
        bundle = CacheBundleIn(notebook, str(path))
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


async def execute_all(
    notebooks: Mapping[Path, NotebookNode], cache: JupyterCacheAbstract, timeout: int
) -> None:
    """Run these pages, a few at a time; the first that fails ends the others."""
    turn = asyncio.Semaphore(AT_A_TIME)
    async with asyncio.TaskGroup() as tasks:
        for path, notebook in notebooks.items():
            tasks.create_task(execute(path, notebook, cache, timeout, turn))


def fill_cache(app: Sphinx, env: BuildEnvironment, pages: list[str]) -> None:
    """Execute what Sphinx is about to read. A failing page is left to Sphinx, which says where."""
    cache = get_cache(app.config.nb_execution_cache_path)
    try:
        notebooks = not_yet_run(env, pages, cache)
        asyncio.run(execute_all(notebooks, cache, app.config.nb_execution_timeout))
    except* (CellControlSignal, DeadKernelError):
        LOG.info("a page failed; Sphinx runs it again")


def setup(app: Sphinx) -> None:
    # Sphinx compares these with the last build's: other directives, and every page is read again
    # (its cells come from the cache); another style sheet, and every page is written again.
    app.add_config_value("book_devices", "", "env", str)
    app.add_config_value("book_looks", "", "html", str)
    app.connect("config-inited", place_cache)
    app.connect("env-before-read-docs", fill_cache)
