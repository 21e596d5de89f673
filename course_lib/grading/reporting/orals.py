"""Questions for five minutes of talk with each student, made from that student's own answers.

A program cannot say who had an idea. Whoever had it can say why a line is there, what a number
came from and what would prove a sentence wrong; each question names the place to look. Nothing is
judged here, and no question says that anything is wrong.
"""

import ast
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_lib.errors import CourseError
from course_lib.grading.sources.data import ANSWER, Oral, orals_of
from course_lib.grading.sources.marked_cells import grade_id, is_locked, is_solution
from course_lib.grading.sources.project import source_of
from course_lib.grading.sources.release import generate
from course_lib.grading.untrusted import visible

EACH = 3
"""Questions a student."""
LONGEST_QUOTE = 120
"""Characters of an answer that a question repeats."""


@dataclass(frozen=True)
class OralQuestion:
    """One question.

    Attributes:
        kind: what it is about, one of `KINDS`, or "own" of an assignment's own question.
        place: where in the student's notebook.
        quote: what stands there.
        text: what to ask.
    """

    kind: str
    place: str
    quote: str
    text: str


def orals(root: Path, place: Path, name: str, students: list[str]) -> dict[str, list[OralQuestion]]:
    """Three questions, or as many as there is something to ask about, for each hand-in.

    Args:
        root: the course's folder.
        place: the folder of the gradebook; the notebooks are read as they were graded.
        name: the assignment.
        students: whose; everybody's if empty.

    Raises:
        CourseError: nothing was graded, or nothing of one of these students.
    """
    paths = sorted(place.glob(f"autograded/*/{name}/{name}.ipynb"))
    graded = {path.parts[-3]: path for path in paths}
    if missing := sorted(set(students) - graded.keys()) or ([] if graded else ["anybody"]):
        raise CourseError(
            f"Nothing of {', '.join(missing)} was graded in {place}. Run `course grade {name}`"
            " first."
        )
    released = nbformat.reads(generate(root, name)[f"{name}.ipynb"].decode(), as_version=4)
    given = {grade_id(cell): cell.source for cell in released.cells}
    asked = by_answer(released, orals_of(source_of(root, name)))
    return {
        student: questions_about(nbformat.read(path, as_version=4), given, asked)
        for student, path in graded.items()
        if not students or student in students
    }


def by_answer(released: NotebookNode, own: Mapping[str, Oral]) -> dict[str, list[str]]:
    """An assignment's own questions, by the answer that their part decides on."""
    asked: dict[str, list[str]] = {}
    answer = ""
    for cell in released.cells:
        part = grade_id(cell) or ""
        answer = part if is_solution(cell) else answer
        if part in own:
            text = f"{own[part].question} (Whose it is: {own[part].owner})"
            asked.setdefault(answer, []).append(text)
    return asked


def questions_about(
    notebook: NotebookNode, given: Mapping[str | None, str], asked: Mapping[str, list[str]]
) -> list[OralQuestion]:
    """The questions about one notebook, of as many kinds as there are.

    Args:
        notebook: as it was graded.
        given: grade id -> what stood there when the assignment was given out.
        asked: grade id of an answer -> the assignment's own questions about it.
    """
    own: list[OralQuestion] = []
    found: list[OralQuestion] = []
    for cell in sorted(notebook.cells, key=lambda cell: -len(cell.source)):  # more to say first
        part = grade_id(cell)
        as_given = cell.source.strip() == given.get(part, "").strip()
        if part is None or (is_solution(cell) and as_given):
            continue
        if cell.cell_type == "code" and is_solution(cell):
            made = [*_of_code(cell.source, part, given.get(part, ""))]
        elif is_solution(cell):
            made = [*_of_sentences(cell.source, part)]
        else:
            made = [*_of_output(cell, part)] if is_locked(cell) else []
        found += made
        if made and is_solution(cell):
            own += [
                replace(made[0], kind="own", text=text.replace(ANSWER, made[0].quote))
                for text in asked.get(part, [])
            ]
    by_kind = [[one for one in found if one.kind == kind] for kind in KINDS]
    in_turn = itertools.chain.from_iterable(itertools.zip_longest(own, *by_kind))
    chosen: list[OralQuestion] = []
    for question in in_turn:
        if question is not None and not any(_alike(question, one) for one in chosen):
            chosen.append(question)
    return chosen[:EACH]


def _alike(one: OralQuestion, other: OralQuestion) -> bool:
    return one.text == other.text or (
        one.place == other.place and "own" not in (one.kind, other.kind)
    )


def _of_code(source: str, part: str, given: str) -> Iterator[OralQuestion]:
    """Questions about lines that are the student's, the most telling ones first."""
    lines, theirs = source.split("\n"), {line.strip() for line in given.split("\n")}
    try:
        nodes = [node for node in ast.walk(ast.parse(source)) if hasattr(node, "lineno")]
        found = [("number", text, node) for node in nodes if (text := _numbers(node))]
        for signs, text in ASKED:
            about = {*signs.split()}
            found += [("code", text, node) for node in nodes if about & {*_signs(node)}]
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # no code, or nested too deep
        return
    for kind, text, node in found:
        number = getattr(node, "lineno", 1)
        line = lines[number - 1].strip()
        if line not in theirs:
            place = f"cell {part}, line {number}"
            yield OralQuestion(kind, place, visible(line, LONGEST_QUOTE), text)


def _numbers(node: ast.AST) -> str | None:
    if isinstance(node, ast.List | ast.Tuple) and len(node.elts) > 1:
        written = [ast.unparse(one) for one in node.elts if _is_number(one)]
        if len(written) == len(node.elts):
            return f"How did you get {visible(written[1], 20)}? Take one more step of it aloud."
    return None


def _is_number(node: ast.AST) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant) and isinstance(inner.value, float)


def _signs(node: ast.AST) -> Iterator[str]:
    """What a piece of code is known by: its kind, and what it names or operates with."""
    yield type(node).__name__
    if isinstance(node, ast.BinOp):
        yield type(node.op).__name__
    if isinstance(node, ast.Assign):
        yield f"={type(node.value).__name__}"
    if isinstance(node, ast.Call):
        yield getattr(node.func, "attr", getattr(node.func, "id", ""))
        yield from (keyword.arg or "" for keyword in node.keywords)


SHAPES = "Which shapes meet here, and which comes out?"
ASKED = (
    ("masked_fill masked_fill_ where", "Which places does this change? And if it were not there?"),
    ("dim axis", "What runs along this axis? What would come out with another?"),
    ("einsum bmm matmul mm MatMult", SHAPES),
    (
        "softmax log_softmax exp logsumexp",
        "What comes out if every number that goes in is 1000 larger? Why?",
    ),
    ("While For", "How often does this run in the example of the task? What is new after once?"),
    ("If IfExp", "Give an input for which this condition is false."),
    ("Slice", "Which entries does this take, and which does it leave out?"),
    ("Return", "What is returned for the smallest input that you can think of?"),
    ("=BinOp =Call", "What does this line compute, and what breaks without it?"),
)
"""Signs of a piece of code, and what is asked about it; the first that fits a line comes first."""

KINDS = ("sentence", "code", "number", "output")


def _of_sentences(text: str, part: str) -> Iterator[OralQuestion]:
    """A question about the longest sentence, one with a number before others."""
    plain = " ".join(text.split())
    sentences = [one for one in re.split(r"(?<=[.!?]) ", plain) if len(one.split()) > 3]
    for sentence in sorted(sentences, key=lambda one: (not re.search(r"\d", one), -len(one)))[:2]:
        yield OralQuestion(
            *("sentence", f"cell {part}", visible(sentence, LONGEST_QUOTE)),
            "Where in your notebook does one see this? What would have to come out for it to be"
            " wrong?",
        )


def _of_output(cell: NotebookNode, part: str) -> Iterator[OralQuestion]:
    """A question about the last line with a number that a cell of the assignment printed."""
    printed = [str(one.text) for one in cell.get("outputs", []) if one.output_type == "stream"]
    lines = [line for line in "".join(printed).split("\n") if re.search(r"\d", line)]
    if lines:
        yield OralQuestion(
            *("output", f"what cell {part} printed", visible(lines[-1].strip(), LONGEST_QUOTE)),
            "What does this line say about your own answers? Why is it not the half of it?",
        )


def as_text(asked: Mapping[str, list[OralQuestion]]) -> str:
    """The questions to be printed, student by student."""
    lines = []
    for student, questions in asked.items():
        lines += [student]
        for number, question in enumerate(questions, start=1):
            lines.append(f"  {number}. {question.place}: {question.quote}")
            lines.append(f"     {question.text}")
        if not questions:
            lines.append("  Nothing of their own stands there to ask about.")
        lines.append("")
    return "\n".join(lines).rstrip()
