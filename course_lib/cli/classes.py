"""`course release`, `validate`, `submit`, `collect`, `grade`: for students and instructors.

nbgrader and Dask take seconds to import and come with the extra `classes`, which students do not
need, so each command imports its own.
"""

import contextlib
import importlib.util
import json
import platform
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer
from tqdm import tqdm

from course_lib.cli.runs import Json
from course_lib.errors import CourseError
from course_lib.files import private_files

if TYPE_CHECKING:
    from course_lib.grading.authoring.demonstration import Student
    from course_lib.grading.intake.roster import Roster
    from course_lib.grading.reporting.overview import Overview
    from course_lib.grading.running.classroom import ClassReport
    from course_lib.grading.running.journal import Outcome

# What checks notebooks would build a parser for addresses in any alphabet whenever it is imported:
# seconds, for a check that no notebook asks for.
cast("dict[str, Any]", sys.modules).setdefault("rfc3987_syntax", None)


Sandbox = Literal["bwrap", "none"]
"""Where students' code runs."""
Tables = tuple[Path | None, Path | None, Path | None]
"""Where points go, if anywhere: to a spreadsheet, Canvas and Moodle."""

SubmittedFolder = Annotated[
    Path | None,
    typer.Option(
        help="Folder with STUDENT/NAME/NAME.ipynb; `submitted` in the course's folder if not"
        " given. Gradebook and feedback are written beside it."
    ),
]
Scheduler = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler to use in place of processes.")
]
Due = Annotated[str | None, typer.Option(help='When it was due: "2026-05-04 23:59". Remembered.')]
Late = Annotated[
    str | None,
    typer.Option(
        help='What being late costs: "{percent: 10, per: day, until: 5 days}". Remembered.'
    ),
]
Regrade = Annotated[
    bool, typer.Option("--regrade", help="Run again what is graded already and has not changed.")
]
Only = Annotated[
    list[str] | None,
    typer.Option("--student", help="Grade this student's submission again, and nobody else's."),
]
Zeros = Annotated[
    bool,
    typer.Option("--zeros", help="Give 0 points to those in the roster without a submission."),
]
Export = Annotated[Path | None, typer.Option(help="Also write the marks to this CSV.")]
ExportCanvas = Annotated[
    Path | None, typer.Option(help="Also write the points for Canvas to this CSV.")
]
ExportMoodle = Annotated[
    Path | None, typer.Option(help="Also write the points for Moodle to this CSV.")
]
RosterFile = Annotated[
    Path | None,
    typer.Option(help="The platform's list for these; the one of `course collect` otherwise."),
]
ReportFolder = Annotated[
    Path | None,
    typer.Option(help="Folder for the report about the class; beside the gradebook if not given."),
]
Pseudonyms = Annotated[
    bool,
    typer.Option(
        "--pseudonyms", help="Put other names for the students into everything printed here."
    ),
]
Demo = Annotated[
    bool, typer.Option("--demo", help="Grade the made-up class instead and compare its marks.")
]


def release(
    names: Annotated[
        list[str] | None, typer.Argument(help="Assignments; all of them if none is named.")
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Only compare, and look for solutions in public; exit 1 on a finding."
        ),
    ] = False,
    variants: Annotated[
        str | None,
        typer.Option(
            help="A word of your class's own: numbers, sentences and random draws are then each"
            " student's, from their id. Without it everybody has the book's."
        ),
    ] = None,
) -> None:
    """Make the students' notebooks in exercises/ from the sources in solutions/.

    First each solution is graded like a student's: if it loses a point, nothing is written.
    """
    _need("nbgrader", "jupytext")
    from course_lib.grading.authoring.leaks import leaks
    from course_lib.grading.authoring.own_solution import faults
    from course_lib.grading.sources.project import assignment_names, project_root
    from course_lib.grading.sources.release import differences, drawn_with
    from course_lib.grading.sources.release import release as write

    root = project_root()
    found: list[str] = []
    with contextlib.nullcontext() if check else drawn_with(root, names or [], variants):
        for name in names or assignment_names(root):
            typer.echo(f"grading the solution of {name} ...", err=True)
            found += faults(root, name)
        for fault in found:
            typer.echo(fault)
        if found:
            typer.echo("A solution is not what its tests want: correct one of the two.", err=True)
            raise typer.Exit(1)
        if not check:
            for path in write(root, names or []):
                typer.echo(f"wrote {path.relative_to(root)}")
            return
    differing = differences(root, names or [])
    for path, kind in differing.items():
        typer.echo(f"{kind}: {path.relative_to(root)}")
    if differing:
        typer.echo("exercises/ is not in step with solutions/: run `course release`.", err=True)
    leaked = leaks(root, names or [])
    for leak in leaked:
        typer.echo(leak)
    if leaked:
        typer.echo("Secret text is in public: word the public place differently.", err=True)
    if differing or leaked:
        raise typer.Exit(1)
    site = ", the built site" if (root / "book" / "_build" / "html").is_dir() else ""
    typer.echo("exercises/ is in step with solutions/.")
    typer.echo(f"No solution, hidden test or made-up answer is in exercises/{site} or the library.")


def validate(
    notebook: Annotated[Path, typer.Argument(help="Your notebook, an .ipynb file.")],
) -> None:
    """Run your notebook from the top and say which of its tests pass."""
    if not _validate(notebook):
        raise typer.Exit(1)


def submit(name: Annotated[str, typer.Argument(help="The assignment.")]) -> None:
    """Validate your notebook and pack it into one zip to upload; exit 1 if a test fails."""
    from course_lib.grading.handing_in.packing import find_notebook, pack_submission

    notebook = find_notebook(name)
    passed = _validate(notebook)
    package = pack_submission(notebook, name)
    size = package.path.stat().st_size / 1024
    typer.echo(
        f"\nPacked {package.path} ({size:.0f} kB): {', '.join(package.contents)}. Upload this file."
    )
    if not passed:
        typer.echo("Some tests fail: you can hand it in like this, or go on and pack again.")
        raise typer.Exit(1)


@private_files()
def collect(
    name: Annotated[str, typer.Argument(help="The assignment.")],
    archives: Annotated[
        list[Path], typer.Argument(help="Zips of all submissions, from Canvas or Moodle.")
    ],
    roster: Annotated[
        Path | None,
        typer.Option(
            help="Canvas' gradebook or Moodle's grading worksheet or participants, CSV; needed the"
            " first time."
        ),
    ] = None,
    submitted: Annotated[
        Path | None,
        typer.Option(help="Folder for STUDENT/NAME/; `submitted` in the course's folder."),
    ] = None,
) -> None:
    """Unpack what a class handed in on Canvas or Moodle; exit 1 if a file was not taken.

    Nothing is overwritten, and each file of the zips is listed with what became of it.
    """
    _need("nbgrader")
    from course_lib.grading.sources.project import project_root, source_of

    root = project_root()
    source_of(root, name)
    submitted = (submitted or root / "submitted").resolve()
    if not _collect(root, name, archives, _roster_file(roster, submitted, name), submitted):
        raise typer.Exit(1)


def grade(
    name: Annotated[str, typer.Argument(help="The assignment.")],
    submitted: SubmittedFolder = None,
    jobs: Annotated[
        int, typer.Option(min=1, max=1024, help="Submissions graded at the same time.")
    ] = 2,
    sandbox: Annotated[Sandbox, typer.Option(help="Where students' code runs.")] = "bwrap",
    scheduler: Scheduler = None,
    due: Due = None,
    late: Late = None,
    regrade: Regrade = False,
    student: Only = None,
    zeros: Zeros = False,
    export: Export = None,
    export_canvas: ExportCanvas = None,
    export_moodle: ExportMoodle = None,
    roster: RosterFile = None,
    report: ReportFolder = None,
    pseudonyms: Pseudonyms = False,
    as_json: Json = False,
    demo: Demo = False,
) -> None:
    """Grade a whole class; exit 1 if a submission could not be graded.

    A run that was stopped or killed is continued: what it had finished is not run again.
    """
    _need("nbgrader", "jupytext", "distributed")
    if pseudonyms and (export_canvas or export_moodle):
        raise CourseError(
            "Canvas and Moodle do not know pseudonyms: export for them without --pseudonyms."
        )
    _prepare(sandbox, scheduler)
    declared: list[Student] = []
    if demo:
        submitted, declared = _demonstration(name)
        export = export or submitted.parent / "grades.csv"
        export_canvas = None if pseudonyms else export_canvas or submitted.parent / "canvas.csv"
    from course_lib.grading.intake.roster import read_roster
    from course_lib.grading.reporting.tables import need
    from course_lib.grading.running.classroom import grade_class
    from course_lib.grading.sources.project import project_root

    root = project_root()
    submitted = (submitted or root / "submitted").resolve()
    asked = export_canvas or export_moodle or zeros
    known = read_roster(_roster_file(roster, submitted, name)) if asked else None
    if export_canvas is not None and known is not None:
        need(known, "Canvas")
    if export_moodle is not None and known is not None:
        need(known, "Moodle")
    try:
        result = grade_class(
            root,
            name,
            submitted=submitted,
            jobs=jobs,
            boxed=sandbox == "bwrap",
            scheduler=scheduler,
            due=due,
            late=late,
            regrade=regrade,
            only=student or (),
            progress=partial(_progress, named=not pseudonyms),
        )
    except KeyboardInterrupt:
        typer.echo("What is graded is kept; the same command goes on from there.", err=True)
        raise
    tables = export, export_canvas, export_moodle
    with private_files():
        _publish(root, result, known, pseudonyms, as_json, report, tables, zeros)
    agrees = not demo or _compare(result, declared)
    if not (result.complete and agrees):
        raise typer.Exit(1)


def class_folder(name: str | None, submitted: Path | None) -> tuple[Path, Path]:
    """The course's folder, and that of the class's gradebook.

    Raises:
        CourseError: there is no such assignment, or what grading needs is not installed.
    """
    _need("nbgrader")
    from course_lib.grading.sources.project import project_root, source_of

    root = project_root()
    if name is not None:
        source_of(root, name)
    return root, (submitted or root / "submitted").resolve().parent


def _prepare(sandbox: Sandbox, scheduler: str | None) -> None:
    """Make sure of the sandbox, or warn of what is possible without."""
    from course_lib.grading.sandbox import boxes, bubblewrap, namespaces

    if sandbox == "bwrap":
        bubblewrap.require()
        if not namespaces.seccomp_filter():
            typer.echo(
                f"On this kind of processor ({platform.machine()}) the sandbox cannot forbid what"
                " Linux counts for all of your processes together (keys, watches): one submission"
                " can take them from the others. It harms no file and no mark.",
                err=True,
            )
        if scheduler is None:
            boxes.fork_server()  # which imports while this process does
    else:
        typer.echo(
            "No sandbox: students' code runs with your rights. It can read the solutions, change"
            " other students' marks, delete your files and use the network. Do this only with"
            " notebooks you trust, or in a machine of its own.",
            err=True,
        )


def _publish(
    root: Path,
    result: "ClassReport",
    known: "Roster | None",
    pseudonyms: bool,
    as_json: bool,
    report: Path | None,
    tables: Tables,
    zeros: bool,
) -> None:
    """Write the report and the tables that were asked for, and print the marks."""
    from course_lib.grading.reporting import formgrader
    from course_lib.grading.reporting import tables as points
    from course_lib.grading.reporting.overview import overview, under_pseudonyms, with_zeros
    from course_lib.grading.reporting.pages.report import write_class_report, write_term
    from course_lib.grading.reporting.pseudonyms import pseudonyms as names_of

    changed = points.note_changes(result)
    shown = overview(root, with_zeros(result, known) if zeros and known else result)
    names = None
    if pseudonyms:
        names = names_of(result.place, [one.student for one in shown.result.reports])
        shown = under_pseudonyms(shown)
    folder = report or result.place / ("report-pseudonyms" if pseudonyms else "report")
    page = write_class_report(shown, folder)
    write_term(result.place, folder, names)
    formgrader.prepare_formgrader(root, result.place)
    _export(shown, known, tables)
    if as_json:
        printed = points.as_json(shown.result) | {"report": str(page)}
        printed["similar"] = points.similar(shown.pairs)
        typer.echo(json.dumps(printed, indent=2))
        return
    typer.echo(f"{points.as_table(shown.result)}\n")
    if zeros and any(not one.students for one in shown.not_taken):
        typer.echo(
            f"Files in put_aside/{result.assignment} are nobody's yet, so a 0 may be wrong.",
            err=True,
        )
    if shown.result.changes:
        typer.echo(f"{points.as_changes(shown.result)}\n")
    place = shlex.quote(str(result.place))
    marking = f"course mark {result.assignment}, or cd {place} && jupyter lab"
    kinds = ("Points, for a spreadsheet", "Points, for Canvas", "Points, for Moodle")
    for what, where in (
        ("The class, in a browser", page),
        ("A page for each student", result.place / "feedback"),
        ("To mark by hand", marking),
        ("Who gained and who lost", changed),
        *zip(kinds, tables, strict=True),
    ):
        if where is not None:
            typer.echo(f"{what:26} {where}")


def _roster_file(given: Path | None, submitted: Path, name: str) -> Path:
    """The platform's list: asked for before anything is done, since it may be missing."""
    from course_lib.grading.intake.roster import kept_roster

    path = given or kept_roster(submitted.parent, name)
    if not path.is_file():
        raise CourseError(
            f"There is no {path}: only the platform's list says who is who there. Export it as CSV"
            " and give it with --roster."
        )
    return path


def _export(shown: "Overview", roster: "Roster | None", tables: Tables) -> None:
    """Write the points for a spreadsheet and for the platforms, and say who is missing there."""
    from course_lib.files import write_atomically
    from course_lib.grading.reporting import tables as points

    result, (plain, canvas, moodle) = shown.result, tables
    if plain is not None:
        write_atomically(plain, points.as_csv(result), private=True)
    if roster is None or (canvas is None and moodle is None):
        return
    if canvas is not None:
        write_atomically(
            canvas, points.grades_for_canvas(result, roster, shown.title), private=True
        )
    if moodle is not None:
        write_atomically(moodle, points.grades_for_moodle(result, roster), private=True)
    for line in points.unlike(result, roster, shown.title):
        typer.echo(line, err=True)
    missing = points.missing_from(result, roster)
    if missing:
        typer.echo(f"Not in the roster, so not exported: {', '.join(missing)}.", err=True)
    waiting = sum(any(mark.to_read for mark in one.marks) for one in result.reports)
    if waiting:
        typer.echo(f"{waiting} of the totals lack parts that a person has still to read.", err=True)
    changed = sum(any(mark.changed for mark in one.marks) for one in result.reports)
    if changed:
        typer.echo(
            f"{changed} of the totals have points that a person gave to an answer which was"
            " changed since.",
            err=True,
        )


def _validate(notebook: Path) -> bool:
    from course_lib.grading.handing_in.validation import validate_notebook as run

    typer.echo(f"Running {notebook.name} from the top ...", err=True)
    results = run(notebook)
    for result in results:
        if result.passed is None:
            typer.echo(f"  --    {result.part}: {result.message}")
        elif result.passed:
            typer.echo(f"  ok    {result.part}")
        else:
            typer.echo(f"  NOT   {result.part}\n        {result.message}")
    failed = sum(result.passed is False for result in results)
    tested = sum(result.passed is not None for result in results)
    if failed:
        typer.echo(f"\n{failed} of {tested} tests do not pass yet.")
    else:
        typer.echo(f"\nAll {tested} tests in the notebook pass; more are run when it is graded.")
    return failed == 0


def _collect(
    root: Path,
    name: str,
    archives: list[Path],
    roster: Path,
    submitted: Path,
    say: Callable[[str], None] = typer.echo,
) -> bool:
    """Unpack, enrol, and say what came of every file; whether all of it was taken."""
    from course_lib.files import write_atomically
    from course_lib.grading.intake.collecting import collect as unpack
    from course_lib.grading.intake.roster import enrol, kept_roster, read_roster
    from course_lib.grading.running.gradebooks import prepare
    from course_lib.grading.sources.project import db_url, load_config
    from course_lib.grading.untrusted import visible

    known = read_roster(roster)
    prepare(submitted.parent)
    result = unpack(name, archives, submitted, known)
    enrol(known, db_url(submitted.parent), load_config(root).CourseDirectory.course_id)
    kept = kept_roster(submitted.parent, name)
    write_atomically(kept, roster.read_bytes(), private=True)
    for one in result.students:
        other = "the earlier one" if one.state == "replaced" else "no notebook in it, so it"
        earlier = f"; {other} is kept in {one.kept.name}" if one.kept is not None else ""
        say(f"{one.state:11}  {one.student}{earlier}")
        for remark in one.remarks:
            say(f"             {remark}")
    open_ends = [entry for entry in result.entries if entry.end != "taken"]
    for entry in open_ends:
        place = ", ".join(entry.students) or f"put_aside/{name}"
        say(f"{entry.end:11}  {visible(entry.name)} ({place}): {entry.why}")
    if zone := next((one.handed_in for one in known.people if one.handed_in), None):
        say(
            f"The roster's times were read as this machine's, {zone:%Z (UTC%z)}; TZ=... changes it."
        )
    say(
        f"{len(result.students)} submissions for {name} in {submitted}, of {len(known.people)} in"
        " the roster."
    )
    if stated := [one.student for one in result.absent if one.handed_in or one.unread]:
        say(f"The roster says that they handed in, and the zip has nothing: {', '.join(stated)}.")
    if absent := [one.student for one in result.absent if one.student not in stated]:
        if all(entry.students for entry in open_ends):
            say(f"{len(absent)} in the roster handed in nothing: {', '.join(absent)}.")
        else:
            say(f"No file is named after {', '.join(absent)}; what is asked about may be theirs.")
    return not (open_ends or stated)


def _demonstration(name: str) -> tuple[Path, list["Student"]]:
    """The made-up class hands in through Canvas, one of them twice and one late."""
    from course_lib.grading.authoring.canvas_zip import write_canvas_zip
    from course_lib.grading.authoring.demonstration import hand_in, read_class
    from course_lib.grading.intake.late import set_policy
    from course_lib.grading.sources.project import project_root
    from course_lib.grading.sources.release import generate

    root = project_root()
    place = Path(tempfile.mkdtemp(prefix=f"{name}-demonstration-"))
    released = generate(root, name)[f"{name}.ipynb"].decode()
    with tempfile.TemporaryDirectory() as handed_in:
        declared = read_class(root, name)
        hand_in(root, name, released, Path(handed_in), declared)
        twice, late = declared[0].name, declared[len(declared) // 4].name
        archive, roster = place / "submissions.zip", place / "roster.csv"
        write_canvas_zip(Path(handed_in), name, archive, roster, {twice: released.encode()})
    typer.echo(f"course collect {name} {archive} --roster {roster}", err=True)
    submitted = place / "submitted"
    _collect(root, name, [archive], roster, submitted, partial(typer.echo, err=True))
    # Canvas' zips do not say when; nbgrader's exchange and Moodle's worksheets do
    (submitted / late / name / "timestamp.txt").write_text("2026-05-06T08:30:00+00:00\n")
    set_policy(root, place, name, "2026-05-05T08:00Z", "{percent: 10, until: 5 days}")
    typer.echo(f"\ncourse grade {name} --submitted {submitted}", err=True)
    return submitted, declared


def _compare(result: "ClassReport", declared: list["Student"]) -> bool:
    """Say whether the made-up class got the marks it is declared to deserve."""
    from course_lib.grading.authoring.demonstration import disagreements

    lines = disagreements(result, declared)
    for line in lines:
        typer.echo(line, err=True)
    if not lines:
        typer.echo(
            f"All {len(declared)} made-up students got exactly the marks they deserve.", err=True
        )
    return not lines


def _progress(outcomes: Iterator["Outcome"], total: int, named: bool = True) -> Iterator["Outcome"]:
    """A bar with who was graded last, for how long, and when it will be over."""
    with tqdm(total=total, desc="grading", unit=" notebooks", dynamic_ncols=True) as bar:
        for outcome in outcomes:
            if named:
                bar.set_postfix_str(f"{outcome.student} {outcome.seconds:.1f} s", refresh=False)
            bar.update()
            yield outcome


def _need(*modules: str) -> None:
    if importlib.util.find_spec("fcntl") is None:
        raise CourseError(
            "Grading a class needs Linux. Here `course validate` and `course submit` work, with "
            "the tests that stand in a notebook."
        )
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        raise CourseError(
            f"Not installed: {', '.join(missing)}. Install the course with"
            ' `pip install -e ".[classes]"`.'
        )
