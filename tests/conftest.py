"""What holds for every test: CI leaves nothing out, the slow proofs leave a dated record, there is
one browser for all, and one way to type a command."""

import io
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

# An example may take as long as it takes, and so may drawing it.
settings.register_profile("course", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("course")

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 600
"""Seconds after which a test gives up what should have happened; none waits as long if it does."""

SHOWN = ("torch", "numpy", "jupyter-book", "nbgrader")


LONG = (
    "tests/book/test_browser.py",
    "tests/grading/test_hostile.py",
    "tests/card/test_card.py",
    "tests/grading/running/test_crashes.py",
    "tests/widgets/test_live_page.py",
    "tests/widgets/test_lab.py",
    "tests/grading/sandbox/test_limits.py",
    "tests/widgets/test_live_model.py",
    "tests/grading/runs/test_inspection.py",
    "tests/search/test_search.py",
    "tests/training/test_training.py",
    "tests/widgets/test_live_changes.py",
)
"""The files that take longest. They begin first: else one process is left with them at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the long files come first, all others in the order of their names."""
    places = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.location[0], len(LONG)))


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


class Done(NamedTuple):
    """What came of a command: its exit status, what it printed, and what it said of errors."""

    status: int
    out: str
    err: str

    def refused(self, remedy: str) -> bool:
        """Whether it gave up with one line, which says what to do."""
        line = self.err.startswith("course: ") and self.err.count("\n") == 1
        return self.status == 2 and line and remedy in self.err


Course = Callable[..., Done]


def typed(*words: object, stdin: str = "") -> int:
    """The exit status of `course WORDS`, run in this process."""
    from course_lib.cli import main

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["course", *map(str, words)])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8"))
        try:
            main()
        except SystemExit as done:
            return int(done.code or 0)
    return 0


@pytest.fixture
def course(capsys: pytest.CaptureFixture[str]) -> Course:
    """Runs `course WORDS` in this process, as typed."""

    def run(*words: object, stdin: str = "") -> Done:
        capsys.readouterr()  # what was printed before is not its
        status = typed(*words, stdin=stdin)
        return Done(status, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def quick_gradebooks() -> Iterator[None]:
    """As in `nbgrader_messages`, also where a test itself makes a gradebook."""
    from nbgrader import api

    from course_lib.grading.sources.project import scheme_of_gradebooks

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "get_alembic_version", scheme_of_gradebooks)
        yield


# Marks one text of each look that is not known: its colours, whether it is large (as WCAG has it),
# and what lies behind it, up to the first ground that hides the rest. Returns the looks marked.
MARK_LOOKS = """(before) => {
  const behind = new Map();
  const ground = (element) => {
    if (element === null) return "";
    if (!behind.has(element)) {
      const css = getComputedStyle(element);
      const own = [css.backgroundColor, css.backgroundImage, css.opacity, css.filter].join();
      const clear = own === "rgba(0, 0, 0, 0),none,1,none";
      const further = ground(element.parentElement);
      const veiled = !own.endsWith(",1,none") || further.includes("veil");
      const hides = /^rgb\\(.*,none,1,none$/.test(own) && !veiled;
      const mark = clear ? "" : (veiled ? "veil" : "/") + own;
      behind.set(element, hides ? own : further + mark);
    }
    return behind.get(element);
  };
  const known = new Set(before), marked = [];
  for (const element of document.querySelectorAll("body *")) {
    delete element.dataset.look;
    const words = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!words || !element.checkVisibility({ visibilityProperty: true })) continue;
    const css = getComputedStyle(element);
    const large = parseFloat(css.fontSize) >= (css.fontWeight >= 700 ? 18.66 : 24);
    const look = [ground(element), css.color, large, css.textShadow].join();
    if (known.has(look)) continue;
    element.dataset.look = "";
    known.add(look);
    marked.push(look);
  }
  return marked;
}"""


# A finding is as bad as its rule: a rule that names nothing serious need not be asked.
ASK_AXE = """async (options) => {
  const mild = axe._audit.rules.filter((rule) => !["serious", "critical"].includes(rule.impact));
  const off = Object.fromEntries(mild.map((rule) => [rule.id, { enabled: false }]));
  const rules = { ...off, ...options.rules };
  return (await axe.run(document, { ...options, rules })).violations;
}"""


def axe_findings(page: "Page", **how: Any) -> list[str]:
    """What axe calls serious or critical, with the places."""
    from axe_playwright_python.sync_playwright import Axe

    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(Axe().axe_script)
        # Of texts only those are looked at that MARK_LOOKS has marked.
        page.evaluate(
            "axe.configure({ rules: [{ id: 'color-contrast', selector: '[data-look]' }] })"
        )
    options = {"resultTypes": ["violations"], "preload": False, **how}
    return [
        f"{finding['id']}: {[node['html'][:200] for node in finding['nodes']]}"
        for finding in page.evaluate(ASK_AXE, options)
    ]


def marked(page: "Page", known: set[str] | None) -> list[str]:
    """The looks of text that are not known yet; of each one text is marked."""
    looks: list[str] = page.evaluate(MARK_LOOKS, sorted(known or ()))
    if known is not None:
        known.update(looks)
    return looks


@pytest.fixture(scope="session")
def pale() -> "Callable[..., list[str]]":
    """Finds text that cannot be read against what lies behind it, in the theme that is on.

    A page has thousands of texts, most of which look alike, and contrast is what axe takes longest
    for: one text of each look is shown to it. Pages of one book share their looks as well: what is
    in `known` is not looked at again, and what is looked at comes into it.
    """

    def found(page: "Page", known: set[str] | None = None) -> list[str]:
        looks = marked(page, known)
        return axe_findings(page, runOnly=["color-contrast"]) if looks else []

    return found


# Half of a page's elements are the glyphs of formulas, which no aid reads out, and the coloured
# words of code. axe goes through all of them with every rule. What is marked stays.
TAKE_OUT_GLYPHS = """() => {
  const full = [...document.querySelectorAll("mjx-math, pre")]
    .filter((element) => !element.querySelector("[data-look]"));
  window.takenOut = full.map((e) => [e, [...e.childNodes]]);
  for (const [e] of window.takenOut) e.replaceChildren(e.tagName === "PRE" ? e.textContent : "");
}"""
PUT_BACK = "() => { for (const [e, inside] of window.takenOut) e.replaceChildren(...inside); }"


@pytest.fixture(scope="session")
def grave() -> "Callable[..., list[str]]":
    """Finds what stands in somebody's way on a page: axe's serious and critical findings.

    `contrast=False` leaves out the colours where they were looked at before: none depends on the
    width. For `known` see `pale`.
    """

    def found(page: "Page", contrast: bool = True, known: set[str] | None = None) -> list[str]:
        looks = marked(page, known) if contrast else []
        page.evaluate(TAKE_OUT_GLYPHS)
        findings = axe_findings(page, rules={"color-contrast": {"enabled": bool(looks)}})
        page.evaluate(PUT_BACK)
        return findings

    return found


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    from course_book.edition import CHROMIUM, CHROMIUM_FLAGS
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=1000 * PATIENCE)
    if not Path(CHROMIUM).exists():
        pytest.fail(f"{CHROMIUM} is missing. Run: apt-get install chromium, or set CHROMIUM.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        opened = browser.new_context

        def patient(**options: Any) -> "BrowserContext":
            context = opened(**options)
            context.set_default_timeout(1000 * PATIENCE)  # half a minute is short on a busy machine
            return context

        browser.new_context = patient
        yield browser
        browser.close()
