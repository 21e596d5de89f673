"""`course release`, `validate`, `submit` and `grade`: assignments, for students and instructors.

nbgrader and Dask take seconds to import and come with an extra, so each command imports its own.
"""

import importlib.util
import json
import tempfile
from collections.abc import Iterator
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from tqdm import tqdm

from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_lib.grading.classroom import ClassReport
    from course_lib.grading.demonstration import Student
    from course_lib.grading.validation import Finding
    from course_lib.grading.worker import Outcome


class Sandbox(StrEnum):
    """Where students' code runs."""

    bwrap = "bwrap"
    none = "none"


def release(
    names: Annotated[
        list[str] | None, typer.Argument(help="Assignments; all of them if none is named.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only compare; exit 1 on a difference.")
    ] = False,
) -> None:
    """Make the students' notebooks in exercises/ from the sources in solutions/."""
    _need("nbgrader", "jupytext")
    from course_lib.grading.project import project_root
    from course_lib.grading.release import differences
    from course_lib.grading.release import release as write

    root = project_root()
    if not check:
        for path in write(root, names or []):
            typer.echo(f"wrote {path.relative_to(root)}")
        return
    found = differences(root, names or [])
    for difference in found:
        typer.echo(f"{difference.kind}: {difference.path.relative_to(root)}")
    if found:
        typer.echo("exercises/ is not in step with solutions/: run `course release`.", err=True)
        raise typer.Exit(1)
    typer.echo("exercises/ is in step with solutions/.")


def validate(
    notebook: Annotated[Path, typer.Argument(help="Your notebook, an .ipynb file.")],
) -> None:
    """Run your notebook from the top and say which of its tests pass."""
    if not _validate(notebook):
        raise typer.Exit(1)


def submit(name: Annotated[str, typer.Argument(help="The assignment.")]) -> None:
    """Validate your notebook and pack it into one zip to upload; exit 1 if a test fails."""
    from course_lib.grading.packing import find_notebook, pack

    notebook = find_notebook(name)
    passed = _validate(notebook)
    package = pack(notebook, name)
    typer.echo(
        f"\nPacked {package.path} ({package.size / 1024:.0f} kB): {', '.join(package.contents)}."
        " Upload this file."
    )
    if not passed:
        typer.echo("Some tests fail: you can hand it in like this, or go on and pack again.")
        raise typer.Exit(1)


def grade(
    name: Annotated[str, typer.Argument(help="The assignment.")],
    submitted: Annotated[
        Path | None,
        typer.Option(
            help="Folder with STUDENT/NAME/NAME.ipynb; `submitted` in the course's folder if not"
            " given. Gradebook and feedback are written beside it."
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Submissions graded at the same time.")] = 2,
    sandbox: Annotated[Sandbox, typer.Option(help="Where students' code runs.")] = Sandbox.bwrap,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler to use in place of processes.")
    ] = None,
    due: Annotated[
        str | None, typer.Option(help='When it was due: "2026-05-04 23:59". Remembered.')
    ] = None,
    late: Annotated[
        str | None,
        typer.Option(help='What being late costs: "10% a day, none after 5 days". Remembered.'),
    ] = None,
    export: Annotated[Path | None, typer.Option(help="Also write the marks to this CSV.")] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the report about the class; beside the gradebook if not given."
        ),
    ] = None,
    pseudonyms: Annotated[
        bool,
        typer.Option(
            "--pseudonyms", help="Put other names for the students into everything printed here."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, no table.")] = False,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Grade the made-up class instead and compare its marks."),
    ] = False,
) -> None:
    """Grade a whole class; exit 1 if a submission could not be graded."""
    _need("nbgrader", "jupytext", "distributed")
    from course_lib.files import write_atomically
    from course_lib.grading import reports
    from course_lib.grading import sandbox as box
    from course_lib.grading.classroom import grade_class
    from course_lib.grading.overview import overview, under_pseudonyms
    from course_lib.grading.pages.report import write_report
    from course_lib.grading.project import project_root

    if sandbox is Sandbox.bwrap:
        box.require()
    else:
        typer.echo(
            "No sandbox: students' code runs with your rights. It can read the solutions, change"
            " other students' marks, delete your files and use the network. Do this only with"
            " notebooks you trust, or in a machine of its own.",
            err=True,
        )
    declared: list[Student] = []
    if demo:
        submitted, declared = _demonstration(name)
    result = grade_class(
        project_root(),
        name,
        submitted=submitted,
        jobs=jobs,
        boxed=sandbox is Sandbox.bwrap,
        scheduler=scheduler,
        due=due,
        late=late,
        progress=partial(_progress, named=not pseudonyms),
    )
    shown = overview(project_root(), result)
    if pseudonyms:
        shown = under_pseudonyms(shown)
    folder = report or result.place / ("report-pseudonyms" if pseudonyms else "report")
    page = write_report(shown, folder)
    if export is not None:
        write_atomically(export, reports.as_csv(shown.result))
    if as_json:
        told = reports.as_json(shown.result) | {"report": str(page)}
        told["similar"] = reports.similar(shown.pairs)
        typer.echo(json.dumps(told, indent=2))
    else:
        typer.echo(reports.as_table(shown.result))
        typer.echo(f"\nGradebook and feedback: {result.place}")
        typer.echo(f"Report about the class: {page}")
    agrees = not demo or _compare(result, declared)
    if not (result.complete and agrees):
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Add these commands to the `course` command."""
    for command in (release, validate, submit, grade):
        app.command()(command)


def _validate(notebook: Path) -> bool:
    _need("nbgrader")
    from course_lib.grading.validation import validate as run

    typer.echo(f"Running {notebook.name} from the top ...", err=True)
    findings = run(notebook)
    for finding in findings:
        typer.echo(_line(finding))
    failed = sum(finding.passed is False for finding in findings)
    tested = sum(finding.passed is not None for finding in findings)
    if failed:
        typer.echo(f"\n{failed} of {tested} tests do not pass yet.")
    else:
        typer.echo(f"\nAll {tested} tests in the notebook pass; more are run when it is graded.")
    return failed == 0


def _line(finding: "Finding") -> str:
    if finding.passed is None:
        return f"  --    {finding.part}: {finding.message}"
    if finding.passed:
        return f"  ok    {finding.part}"
    return f"  NOT   {finding.part}\n        {finding.message}"


def _demonstration(name: str) -> tuple[Path, list["Student"]]:
    from course_lib.grading.demonstration import write_class
    from course_lib.grading.project import project_root
    from course_lib.grading.release import generate

    root = project_root()
    submitted = Path(tempfile.mkdtemp(prefix=f"{name}-demonstration-")) / "submitted"
    released = generate(root, name)[f"{name}.ipynb"].decode()
    return submitted, write_class(root, name, released, submitted)


def _compare(result: "ClassReport", declared: list["Student"]) -> bool:
    """Say whether the made-up class got the marks it is declared to deserve."""
    from course_lib.grading.demonstration import disagreements

    found = disagreements(result, declared)
    for line in found:
        typer.echo(line, err=True)
    if not found:
        typer.echo(
            f"All {len(declared)} made-up students got exactly the marks they deserve.", err=True
        )
    return not found


def _progress(outcomes: Iterator["Outcome"], total: int, named: bool = True) -> Iterator["Outcome"]:
    """A bar with who was graded last, for how long, and when it will be over."""
    with tqdm(total=total, desc="grading", unit=" notebooks", dynamic_ncols=True) as bar:
        for outcome in outcomes:
            if named:
                bar.set_postfix_str(f"{outcome.student} {outcome.seconds:.1f} s", refresh=False)
            bar.update()
            yield outcome


def _need(*modules: str) -> None:
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        raise CourseError(
            f"Not installed: {', '.join(missing)}. Install the course with"
            " `pip install -e '.[classes]'`."
        )
