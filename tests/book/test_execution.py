"""The execution cache notices what a page's own cells do not show."""

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from course_book.execution import INPUTS, execute_all, key_of, not_yet_run, prune
from jupyter_cache import get_cache
from jupyter_cache.base import JupyterCacheAbstract
from myst_nb.core.config import NbParserConfig
from myst_parser.config.main import MdParserConfig
from nbclient.exceptions import CellExecutionError

FILES = (
    "course_lib/models/cells.py",
    "book/drawings/one.svg",
    "benchmarks/results/train.json",
    "experiments/01-bottleneck/run.json",
    "requirements.lock",
)


def test_every_input_has_a_file_here() -> None:
    assert all(any(name.startswith(folder) for name in FILES) for folder in INPUTS)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in FILES:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_a_change_in_any_input_gives_another_key(tree: Path, name: str) -> None:
    before = key_of(tree)
    (tree / name).write_text("changed")
    assert key_of(tree) != before


def test_new_renamed_and_deleted_files_count(tree: Path) -> None:
    keys = [key_of(tree)]
    (tree / "course_lib/new.py").write_text("")
    keys.append(key_of(tree))
    (tree / "course_lib/new.py").rename(tree / "course_lib/newer.py")
    keys.append(key_of(tree))
    (tree / "course_lib/newer.py").unlink()
    keys.append(key_of(tree))
    assert keys[3] == keys[0]
    assert len(set(keys)) == 3


def test_dates_compiled_files_and_other_folders_do_not_count(tree: Path) -> None:
    before = key_of(tree)
    os.utime(tree / "requirements.lock", (0, 0))
    (tree / "course_lib/__pycache__").mkdir()
    (tree / "course_lib/__pycache__/cells.pyc").write_text("")
    (tree / "book/05-looking-back.md").write_text("a page's text is Sphinx's own business")
    assert key_of(tree) == before


def test_text_cannot_move_from_one_file_to_the_next_unnoticed(tree: Path) -> None:
    first, second = tree / "course_lib/a.py", tree / "course_lib/b.py"
    first.write_text("xy")
    second.write_text("")
    before = key_of(tree)
    first.write_text("x")
    second.write_text("y")
    assert key_of(tree) != before


def test_the_current_cache_and_the_last_used_stay(tmp_path: Path) -> None:
    for age, name in enumerate(["old", "middle", "new", "current"]):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (age, age))
    os.utime(tmp_path / "current", (-1, -1))
    prune(tmp_path, "current", kept=2)
    assert {path.name for path in tmp_path.iterdir()} == {"current", "new"}


def test_nothing_to_prune_is_no_error(tmp_path: Path) -> None:
    prune(tmp_path / "not there", "current")


# --- two pages at a time --------------------------------------------------------------------------

PAGE = """---
jupytext:
  text_representation:
    format_name: myst
kernelspec:
  name: python3
---

```{{code-cell}} ipython3
{code}
```
"""
MEETING = """
import time
from pathlib import Path
Path("{mine}").touch()
while not Path("{other}").exists():
    time.sleep(0.01)
print("met", end=" ", flush=True)
print("{other}")
"""


def book_of(folder: Path, **pages: str) -> SimpleNamespace:
    """What the extension asks Sphinx's environment: where a page lies, and how pages are read."""
    for name, code in pages.items():
        (folder / f"{name}.md").write_text(PAGE.format(code=code.strip()))
    (folder / "prose.md").write_text("# A page without cells\n")
    return SimpleNamespace(
        doc2path=lambda page: folder / f"{page}.md",
        myst_config=MdParserConfig(),
        mystnb_config=NbParserConfig(),
    )


def run_all(*arguments: Any, **options: Any) -> None:
    """`execute_all` in a thread of its own: Playwright keeps an event loop in the tests' thread."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        thread.submit(lambda: asyncio.run(execute_all(*arguments, **options))).result()


@pytest.fixture
def open_cache(tmp_path: Path) -> Iterator[Callable[[str], JupyterCacheAbstract]]:
    """A cache by its folder's name. Its connections stay open unless somebody closes them, of which
    Python warns from 3.13 on."""
    with ExitStack() as at_the_end:

        def cache_in(name: str) -> JupyterCacheAbstract:
            cache = get_cache(tmp_path / name)
            at_the_end.callback(lambda: cache.db.dispose())
            return cache

        yield cache_in


def test_two_pages_run_beside_each_other_and_are_found_in_the_cache(
    tmp_path: Path, open_cache: Callable[[str], JupyterCacheAbstract]
) -> None:
    """Each waits for the other: one after the other they would never end."""
    both = {"a": MEETING.format(mine="a", other="b"), "b": MEETING.format(mine="b", other="a")}
    env, cache = book_of(tmp_path, **both), open_cache("cache")
    waiting = not_yet_run(env, ["a", "b", "prose"], cache)
    assert [path.stem for path in waiting] == ["a", "b"]
    run_all(waiting, cache, timeout=600)
    assert not_yet_run(env, ["a", "b", "prose"], cache) == {}
    fresh = not_yet_run(env, ["a"], open_cache("another cache"))
    _, kept = cache.merge_match_into_notebook(fresh[tmp_path / "a.md"])
    assert [output.text for output in kept.cells[-1].outputs] == ["met b\n"]


def test_a_page_that_fails_ends_the_others_and_is_not_kept(
    tmp_path: Path, open_cache: Callable[[str], JupyterCacheAbstract]
) -> None:
    env = book_of(tmp_path, fails="1 / 0", waits="import time\ntime.sleep(86_400)")
    cache = open_cache("cache")
    waiting = not_yet_run(env, ["fails", "waits"], cache)
    with pytest.raises(ExceptionGroup) as failed:
        run_all(waiting, cache, timeout=600)
    assert failed.group_contains(CellExecutionError, match="ZeroDivisionError")
    assert not_yet_run(env, ["fails", "waits"], cache).keys() == waiting.keys()
