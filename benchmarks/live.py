"""How fast the translators in a page are: a word, and the first word after the click."""

import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import psutil
from playwright.sync_api import Browser, CDPSession, Page

from course_lib.training import load_run
from course_lib.widgets.live import SENTENCE
from course_lib.widgets.modules import worker_script
from course_lib.widgets.standalone import PAGE, export_web

MODELS = ("multi30k-en-de-laptop", "multi30k-en-de-laptop-rnnencdec")
SEARCHED = """([line, options]) => {
  const words = text.encode(line).flatMap((word) => word.numbers);
  const searching = search(model, words, options);
  const started = performance.now();
  let [step, steps] = [searching.next(), 0];
  for (; !step.done; steps += 1) step = searching.next();
  return [(performance.now() - started) / steps, steps];
}"""


class Promise(NamedTuple):
    """What is measured, and the most that it may be."""

    what: str
    most: float


GREEDY = Promise("a word, greedy, ms", 10)
BEAM = Promise("a word, beam 5, ms", 50)
FIRST = Promise("first word after the click, ms", 2000)
BYTES = Promise("page before a model is loaded, bytes", 400_000)


def measure_live(browser: Browser, rounds: int) -> list[dict[str, Any]]:
    """The published RNNsearch on the page's first sentence; medians.

    A word is a step of the search. Its processor time is that of the thread that searches, the
    first word's that of all the browser's processes: neither depends on what else the machine does.
    """
    runs = [load_run(name, "cpu") for name in MODELS]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        export_web(runs, out)
        rows = _words(browser, out, rounds)
        first = [_first_word(browser, out / PAGE) for _ in range(rounds)]
        size = (out / PAGE).stat().st_size
    wall, processor = (median(values) for values in zip(*first, strict=True))
    return [*rows, _row(FIRST, wall, processor), _row(BYTES, size)]


def _row(promise: Promise, value: float, processor: float | None = None) -> dict[str, Any]:
    return {
        "what": promise.what,
        "measured": round(value, 1),
        "processor": None if processor is None else round(processor, 1),
        "promised": promise.most,
    }


def _words(browser: Browser, out: Path, rounds: int) -> list[dict[str, Any]]:
    page = browser.new_page()
    page.set_content(f"<!doctype html><meta charset=utf-8><script>{worker_script()}</script>")
    scripts = sorted(out.glob(f"{MODELS[0]}-[0-9].js"))
    parts = [script.read_text().split('"')[3] for script in scripts]
    page.evaluate("(parts) => take({ parts })", parts)
    busy_for = clock_of(page)
    rows = []
    for promise, k in ((GREEDY, 1), (BEAM, 5)):
        asked = [SENTENCE, {"k": k, "lengthPenalty": 1.2}]
        page.evaluate(SEARCHED, asked)  # compiled by now
        found = [_timed(page, busy_for, asked) for _ in range(rounds)]
        wall, processor = (median(values) for values in zip(*found, strict=True))
        rows.append(_row(promise, wall, processor))
    page.close()
    return rows


def _timed(page: Page, busy_for: Callable[[], float], asked: list[Any]) -> tuple[float, float]:
    """Milliseconds a word: on the clock, and of the page's thread."""
    before = busy_for()
    wall, steps = page.evaluate(SEARCHED, asked)
    return wall, 1000 * (busy_for() - before) / steps


def clock_of(page: Page) -> Callable[[], float]:
    """Reads for how many seconds of processor time the page's main thread has worked."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    return partial(_task_seconds, session)


def _task_seconds(session: CDPSession) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))


def _first_word(browser: Browser, page_file: Path) -> tuple[float, float]:
    """Milliseconds from the click to the first word: on the clock, and of all processors."""
    page = browser.new_page()
    page.goto(page_file.as_uri())
    started, before = time.perf_counter(), _all_busy()
    page.get_by_role("button", name="translate").click()
    page.locator(".live-status.writes, .live-target .now").first.wait_for()
    taken = 1000 * (time.perf_counter() - started)
    processor = 1000 * (_all_busy() - before)
    page.close()
    return taken, processor


def _all_busy() -> float:
    """Seconds of processor time of everything that this process has started."""
    total = 0.0
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            times = child.cpu_times()
            total += times.user + times.system
    return total
