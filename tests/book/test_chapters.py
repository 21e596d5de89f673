"""What a chapter asks is answered, and no claim about the literature goes without its source."""

import re
from collections import Counter
from pathlib import Path

import pytest
from course_book.source import Block, prose, read
from pybtex.database import parse_file

from tests.book.conftest import chapters

BOOK = Path(__file__).resolve().parents[2] / "book"
LIBRARY = BOOK.parent / "course_lib"


# --- citations ------------------------------------------------------------------------------------

NAME = r"[A-ZÀ-Ž][a-zà-ž]+(?:[-’'][A-Za-zà-ž]+)*"
MENTION = re.compile(
    rf"(?P<name>{NAME})(?:\s+(?:and|&)\s+{NAME}|\s+et\s+al\.?)?,?\s*[(\[]?\s*(?:19|20)\d\d[a-z]?\b"
    rf"|{NAME}\s+et\s+al\b"
)
# Words that begin with a capital before a year without naming anybody.
NO_NAMES = re.compile(
    "January|February|March|April|May|June|July|August|September|October|November|December"
    "|In|Since|By|From|Until|Before|After|Around|Of|The|To|Between|During|About|Late|Early"
    "|Spring|Summer|Autumn|Winter|Year"
)


SURNAMES = "|".join(
    sorted(
        {
            name
            for entry in parse_file(BOOK / "references.bib").entries.values()
            for person in entry.persons["author"]
            for name in (" ".join(person.last_names),)
            if name.isascii() and name.isalpha()
        }
    )
)
YEAR = r"\b(?:19|20)\d\d\b"
NEAR = re.compile(  # somebody we cite, with a year at most four words away
    rf"\b(?P<name>{SURNAMES})\b(?:['’]s)?(?:[ ,(]+[\w’'-]+){{0,4}}?[ ,(]+{YEAR}"
    rf"|{YEAR}(?:[ ,)]+[\w’'-]+){{0,4}}?[ ,)]+(?P<later>{SURNAMES})\b"
)


def uncited(text: str) -> list[str]:
    """Mentions of an author with a year, or of somebody et al., outside a cite role."""
    found = [m[0] for m in MENTION.finditer(text) if not NO_NAMES.fullmatch(m["name"] or "")]
    return found + [m[0] for m in NEAR.finditer(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Luong (2015) multiplies.",
        "as Jain and Wallace (2019) say",
        "(Cho et al., 2014b)",
        "Sutskever et al. reversed the source",
        "Vaswani, 2017",
        "Kalchbrenner & Blunsom [2013]",
        "Jain and Wallace showed in 2019",
        "Vaswani and colleagues (2017)",
        "the 2015 paper of Luong",
        "see Luong, in 2015",
    ],
)
def test_a_bare_mention_is_noticed(text: str) -> None:
    assert uncited(text)


@pytest.mark.parametrize(
    "text", ["In 2014 networks", "in September 2014", "Luong's score", "2,014"]
)
def test_a_year_or_a_name_alone_is_no_mention(text: str) -> None:
    assert not uncited(text)


def test_money_hides_no_mention() -> None:
    assert uncited(prose(Block("page", items=["$5. Luong (2015) says $6, and $x_1$."])))
    assert not uncited(prose(Block("page", items=["$5. {cite:t}`luong2015` says $6."])))


def test_mentions_of_papers_are_citations(source: Path) -> None:
    assert uncited(prose(read(source)[1])) == []


# --- devices --------------------------------------------------------------------------------------


def test_a_week_has_a_chapter_and_takes_as_long_as_instructors_are_told() -> None:
    told = (BOOK / "teaching" / "instructors.md").read_text(encoding="utf-8")
    weeks = re.findall(r"^\| \d+ \| \[[^]]*\]\(\.\./([\w-]+)\.md\)", told, flags=re.MULTILINE)
    assert weeks == [path.stem for path in chapters()[1:]]
    times = [
        int(re.findall(r"^:minutes: (\d+)", path.read_text("utf-8"), re.MULTILINE)[0])
        for path in chapters()[1:]
    ]
    assert f"That is {min(times)} to {max(times)} minutes a week" in told


def test_chapters_on_disk_are_in_the_table_of_contents() -> None:
    on_disk = {path.name for path in BOOK.glob("[0-9][0-9]-*.md")}
    toc = (BOOK.parent / "_toc.yml").read_text(encoding="utf-8")
    assert on_disk == {f"{name}.md" for name in re.findall(r"book/(\d\d-[\w-]+)", toc)}


def test_the_title_has_the_number_of_the_file(chapter: Path) -> None:
    _, page = read(chapter)
    title = next(line for line in page.lines if line.startswith("# "))
    assert re.fullmatch(rf"# {int(chapter.name[:2])} · \S.*", title)


def test_objectives_say_minutes_and_prerequisites(chapter: Path) -> None:
    _, page = read(chapter)
    for objectives in page.all("objectives"):
        assert int(str(objectives.options["minutes"])) <= 45
        assert str(objectives.options["prerequisites"]).strip()
        assert sum(line.startswith("- ") for line in objectives.lines) >= 2


def test_every_bug_has_a_folded_answer(chapter: Path) -> None:
    _, page = read(chapter)
    for bug in page.all("bug"):
        assert list(bug.all("answer")), f"the bug {bug.argument!r} is never explained"


def test_every_exercise_has_a_hint_and_a_solution(chapter: Path) -> None:
    _, page = read(chapter)
    exercises = [*page.all("exercise"), *page.all("exercise-start")]
    labels = Counter(str(block.options["label"]) for block in exercises)
    solved = {b.argument for b in [*page.all("solution"), *page.all("solution-start")]}
    assert max(labels.values(), default=1) == 1
    assert set(labels) == solved
    for exercise in page.all("exercise"):
        assert list(exercise.all("hint")), f"no hint: {exercise.argument!r}"
    assert sum(1 for _ in page.all("hint")) >= len(exercises)


def test_every_quiz_has_one_right_option_of_several(chapter: Path) -> None:
    _, page = read(chapter)
    for quiz in page.all("quiz"):
        options = [line for line in quiz.lines if re.match(r"- \([ x]\) ", line)]
        assert len(options) >= 2
        assert sum(line.startswith("- (x) ") for line in options) == 1


# --- code beside equations ------------------------------------------------------------------------


def squeezed(text: str) -> str:
    """Code without white space, so that a line may be broken in a table."""
    return "".join(text.split())


def parts(snippet: str) -> list[str]:
    """What an ellipsis leaves of a snippet; the `...` of an index such as `t[..., 0]` stays."""
    pieces = re.split(r"…|^\.\.\.|\.\.\.$", squeezed(snippet))
    return [piece for piece in pieces if piece]


def code_beside_equations(text: str) -> list[str]:
    """The snippets in the second entry of every side-by-side row."""
    found = []
    for table in re.findall(r"(?ms)^:::\{side-by-side\}$(.*?)^:::$", text):
        for row in re.split(r"(?m)^\* - ", table)[1:]:
            _, code, _ = re.split(r"(?m)^  - ", row)
            found += [m[2] for m in re.finditer(r"(?s)(`+)(?:python\n)?(.+?)\1", code)]
    return found


def strangers(snippets: list[str], sources: list[str]) -> list[str]:
    """Snippets that stand in none of the sources; a comment stands for itself."""
    known = [squeezed(source) for source in sources]
    return [
        snippet
        for snippet in snippets
        if not snippet.startswith("#")
        and not all(any(part in source for source in known) for part in parts(snippet))
    ]


def test_snippets_are_found_in_a_table() -> None:
    table = (
        ":::{side-by-side}\n* - $a$\n  - `f(a)`, then `g(…, b)`\n  - `(B,)`\n"
        "* - $b$\n  - ```python\n    h(c)\n    ```\n  - `(n,)`\n:::\n"
    )
    assert [squeezed(found) for found in code_beside_equations(table)] == ["f(a)", "g(…,b)", "h(c)"]


def test_a_line_that_nobody_wrote_is_a_stranger() -> None:
    source = ["keys = self.U_a(annotations)\nt = t[..., 0::2]\n", "f(x,\n  dim=-1)"]
    assert strangers(["U_a(h)", "f(y, …)"], source) == ["U_a(h)", "f(y, …)"]
    kept = ["self.U_a(annotations)", "t[..., 0::2]", "f(…, dim=-1)", "... = t[..., 0::2]", "# once"]
    assert strangers(kept, source) == []


def test_code_beside_an_equation_is_run(chapter: Path) -> None:
    """Each line stands in the library or in a cell of its page, so a reader finds it there."""
    _, page = read(chapter)
    cells = ["\n".join(cell.lines) for cell in page.all("code-cell")]
    library = [path.read_text(encoding="utf-8") for path in sorted(LIBRARY.rglob("*.py"))]
    snippets = code_beside_equations(chapter.read_text(encoding="utf-8"))
    assert strangers(snippets, cells + library) == []
