"""The same modules in a live JupyterLab: what a hand moves there, Python reads."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

ROOT = Path(__file__).resolve().parents[2]
FIRST = "from course_lib.widgets import AttentionByHand\n\nfigure = AttentionByHand()\nfigure"
SECOND = "print('read:', figure.state, figure.energies.round(4))"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The address of a JupyterLab of our own, on this machine only."""
    cells = [nbformat.v4.new_code_cell(text) for text in (FIRST, SECOND)]
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


def test_a_figure_moved_in_jupyterlab_is_read_in_the_kernel(browser: Browser, lab: str) -> None:
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    page = context.new_page()
    page.goto(f"{lab}/lab/tree/try.ipynb")
    expect(page.locator(".jp-CodeCell")).to_have_count(2, timeout=60_000)
    expect(page.locator(".jp-Notebook-ExecutionIndicator")).to_have_attribute(
        "data-status", "idle", timeout=60_000
    )
    run_cell(page, 0)
    state = page.get_by_role("slider", name="s", exact=True)
    state.wait_for(timeout=60_000)
    for _ in range(5):
        state.press("ArrowRight")
    run_cell(page, 1)
    answer = page.locator(".jp-OutputArea-output", has_text="read:")
    expect(answer).to_contain_text("[1.0, 0.5]", timeout=30_000)
    shown = page.locator("td.role-energy").all_inner_texts()
    for text in shown:
        expect(answer).to_contain_text(text)
    context.close()
