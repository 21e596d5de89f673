"""What holds for every test: CI leaves nothing out, the slow proofs leave a dated record, and there
is one browser for all."""

import os
import platform
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SHOWN = ("torch", "numpy", "jupyter-book", "nbgrader")


class Outcomes:
    """Collects how each test ended, for the two things that are decided at the end of a session."""

    def __init__(self, proofs: Path | None) -> None:
        self.proofs = proofs
        self.not_run: list[str] = []
        self.finished: dict[str, tuple[str, float]] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self.not_run.append(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self.not_run.append(report.nodeid)
        # One call, but set-up and tear-down can fail as well; the worst outcome stays.
        outcome, seconds = self.finished.get(report.nodeid, ("passed", 0.0))
        if report.outcome != "passed":
            outcome = report.outcome
        self.finished[report.nodeid] = (outcome, seconds + report.duration)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if self.not_run and os.environ.get("CI") and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if self.proofs is not None:
            self.proofs.write_text(record(self.finished))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.not_run and os.environ.get("CI"):
            terminalreporter.section("left out, which CI counts as a failure")
            for name in self.not_run:
                terminalreporter.line(name)


def record(finished: Mapping[str, tuple[str, float]]) -> str:
    """The text of PROOFS.md: when, on what, how many proofs passed, and each by name."""
    passed = sum(outcome == "passed" for outcome, _ in finished.values())
    versions = ", ".join(f"{name} {version(name)}" for name in SHOWN)
    lines = [
        "# Slow proofs",
        "",
        "Written by `make test-all`, which runs these after everything that `make test` runs.",
        "",
        f"- When: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        f"- Where: Python {platform.python_version()}, {versions}; "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        f"- Result: {passed} of {len(finished)} passed",
        "",
        "| proof | result | seconds |",
        "| --- | --- | ---: |",
    ]
    for name, (outcome, seconds) in sorted(finished.items()):
        lines.append(f"| `{name}` | {outcome} | {seconds:.0f} |")
    return "\n".join(lines) + "\n"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--proofs",
        type=Path,
        metavar="FILE",
        help="write the dated record of the tests run to FILE",
    )


def pytest_configure(config: pytest.Config) -> None:
    # With several processes the one that hands out the tests hears of every outcome.
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Outcomes(config.getoption("--proofs")), "course-outcomes")


@pytest.fixture(scope="session")
def grave() -> "Callable[..., list[str]]":
    """Finds what stands in somebody's way on a page: axe's serious and critical findings.

    `contrast=False` leaves out what takes nearly all of the time, where the colours were looked at
    before: none depends on the width.
    """
    from axe_playwright_python.sync_playwright import Axe

    def found(page: "Page", contrast: bool = True) -> list[str]:
        options = {
            "resultTypes": ["violations"],
            "preload": False,
            "rules": {"color-contrast": {"enabled": contrast}},
        }
        return [
            f"{finding['id']}: {[node['html'][:200] for node in finding['nodes']]}"
            for finding in Axe().run(page, options=options).response["violations"]
            if finding["impact"] in ("serious", "critical")
        ]

    return found


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    from course_book.edition import CHROMIUM, CHROMIUM_FLAGS
    from playwright.sync_api import sync_playwright

    if not Path(CHROMIUM).exists():
        pytest.fail(f"{CHROMIUM} is missing. Run: apt-get install chromium, or set CHROMIUM.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()
