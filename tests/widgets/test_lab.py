"""The same modules in a live JupyterLab: what a hand moves there, Python reads."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Page, TimeoutError, expect

from course_lib.records import record_path
from tests.conftest import PATIENCE, ROOT

GIVEN = ROOT / "exercises" / "heatmap_analysis" / "model"
EXPLORED = record_path("bottleneck-explorer")
CELLS = (
    "from course_lib.widgets import AttentionByHand\n\nfigure = AttentionByHand()\nfigure",
    "print('read:', figure.state, figure.energies.round(4))",
    f"""from course_lib.training import load_run
from course_lib.widgets import AttentionStepper

stepper = AttentionStepper(load_run({str(GIVEN)!r}, "cpu"), "the strong dog is coming back now .")
stepper""",
    "chosen = stepper.selected\n"
    "print('stepped:', stepper.step, chosen['word'], 'at', chosen['looked_at'],\n"
    "      f\"{chosen['alpha'][stepper.looked_at]:.3f}\")",
    f"""from course_lib.widgets import BottleneckExplorer

explorer = BottleneckExplorer.recorded({str(EXPLORED)!r})
explorer""",
    "print('explored:', explorer.length, explorer.size,\n"
    "      *(f'{share:.0f}%' for share in explorer.selected['tokens'].values()))",
    f"from course_lib.widgets import live\n\ntranslator = live({str(GIVEN)!r})\ntranslator",
    "found = translator.found['RNNsearch']\n"
    "print('translated:', found['text'], *(f'{weight:.2f}' for weight in found['alpha'][0]))",
)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The address of a JupyterLab of our own, on this machine only."""
    cells = [nbformat.v4.new_code_cell(text) for text in CELLS]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    nbformat.write(notebook, tmp_path / "try.ipynb")
    folders = {
        f"{name}_DIR": str(tmp_path / name.lower()) for name in ("JUPYTER_CONFIG", "JUPYTER_DATA")
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0"]
    server = subprocess.Popen(
        [*command, "--ip=127.0.0.1", "--IdentityProvider.token="],
        cwd=tmp_path,
        env={**os.environ, **folders, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert server.stderr is not None
    try:
        found = (re.search(r"http://127\.0\.0\.1:\d+", line) for line in server.stderr)
        yield next(match[0] for match in found if match)
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.stderr.close()
        server.wait()


def run_cell(page: Page, number: int) -> None:
    page.locator(".jp-CodeCell").nth(number).locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")


@pytest.fixture
def notebook(browser: Browser, lab: str) -> Iterator[Page]:
    """The notebook, open and ready to run."""
    # With less motion nothing plays by itself, and no step is over before it is looked at.
    context = browser.new_context(viewport={"width": 1200, "height": 1000}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{lab}/lab/tree/try.ipynb")
    expect(page.locator(".jp-CodeCell")).to_have_count(len(CELLS), timeout=PATIENCE * 1000)
    expect(page.locator(".jp-Notebook-ExecutionIndicator")).to_have_attribute(
        "data-status", "idle", timeout=PATIENCE * 1000
    )
    yield page
    context.close()


def test_figures_moved_in_jupyterlab_are_read_in_the_kernel(notebook: Page) -> None:
    state = notebook.get_by_role("slider", name="s", exact=True)
    for _ in range(10):  # a key that comes while the page still connects may be lost
        run_cell(notebook, 0)
        with contextlib.suppress(TimeoutError):
            state.wait_for(timeout=PATIENCE * 100)
            break
    for _ in range(5):
        state.press("ArrowRight")
    run_cell(notebook, 1)
    answer = notebook.locator(".jp-OutputArea-output", has_text="read:")
    expect(answer).to_contain_text("[1.0, 0.5]", timeout=PATIENCE * 1000)
    for text in notebook.locator("td.role-energy").all_inner_texts():
        expect(answer).to_contain_text(text)

    run_cell(notebook, 2)
    weights = notebook.locator(".weights-map")
    weights.wait_for(timeout=PATIENCE * 1000)
    weights.press("End")
    weights.press("ArrowUp")
    weights.press("ArrowRight")
    now = notebook.locator(".stepper .target .now").inner_text()
    words, number = notebook.locator(".stepper-reading").inner_text().split(": α = ")
    word, source = words.split(" looks at ")
    assert now == word
    run_cell(notebook, 3)
    written = notebook.locator(".stepper .target .chip:not(.to-come)").count()
    answer = notebook.locator(".jp-OutputArea-output", has_text="stepped:")
    told = f"stepped: {written} {word} at {source} {number.split(',')[0]}"
    expect(answer).to_contain_text(told, timeout=PATIENCE * 1000)

    run_cell(notebook, 4)
    length = notebook.get_by_role("slider", name="source length")
    length.wait_for(timeout=PATIENCE * 1000)
    length.press("End")
    notebook.get_by_role("slider", name="state size").press("Home")
    run_cell(notebook, 5)
    answer = notebook.locator(".jp-OutputArea-output", has_text="explored:")
    shares = notebook.locator(".explorer-card b").all_inner_texts()
    at = notebook.locator(".explorer output").all_inner_texts()
    expect(answer).to_contain_text(f"explored: {' '.join([*at, *shares])}", timeout=PATIENCE * 1000)

    run_cell(notebook, 6)
    page = notebook.locator(".live")
    text = page.get_by_label("Your sentence")
    text.wait_for(timeout=PATIENCE * 1000)
    text.fill("")
    notebook.keyboard.type("the strong dog is coming back now .")
    notebook.keyboard.press("Enter")
    page.locator(".live-target .now").wait_for(timeout=PATIENCE * 1000)
    page.get_by_role("button", name="to the beginning").click()
    page.get_by_role("button", name="next word").click()
    weights = page.locator(".live-piece i").all_inner_texts()
    page.get_by_text("More: the search").click()
    page.get_by_text("The same as a table").click()
    written = page.locator(".live-table .moving-title").inner_text().split(": ")[1]
    run_cell(notebook, 7)
    answer = notebook.locator(".jp-OutputArea-output", has_text="translated:")
    told = f"translated: {' '.join([written, *weights])}"
    expect(answer).to_contain_text(told, timeout=PATIENCE * 1000)
