"""The question bank: as the importers of Canvas and Moodle read it."""

import base64
import hashlib
import html
import io
import re
import zipfile
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pytest

from course_lib.errors import CourseError
from course_lib.grading.authoring import questions as bank
from tests.conftest import ROOT

PAGE = """# 1 · A page

:::{quiz} Where does $\\context{}$ come from? See [chapter 2](02-next.md) and {ref}`a place <x>`.
- ( ) `nowhere`

  It is $a < b$.
- (x) from the annotations

  Yes, all of **them**.
:::

::::{predict} How far?
Sketch $\\ann{j}$.
::::
"""
CONFIG = """sphinx:
  config:
    mathjax3_config:
      tex:
        macros:
          ann: ['\\class{role-annotation}{h_{#1}}', 1]
          context: ['\\class{role-context}{c_{#1}}', 1]
"""
CP = "{http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1}"
Q = "{http://www.imsglobal.org/xsd/ims_qtiasiv1p2}"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "01-page.md").write_text(PAGE)
    (tmp_path / "_config.yml").write_text(CONFIG)
    return tmp_path


def canvas(found: list[bank.Question]) -> Element:
    with zipfile.ZipFile(io.BytesIO(bank.bank_for_canvas(found))) as archive:
        manifest = fromstring(archive.read(bank.MANIFEST))
        [resource] = manifest.iter(f"{CP}resource")
        assert resource.get("type") == "imsqti_xmlv1p2"
        # Canvas takes a package for QTI 2 as soon as the manifest names a space of its
        assert b"qti_v2p" not in archive.read(bank.MANIFEST)
        return fromstring(archive.read(str(resource.get("href"))))


def test_text_and_formulas_come_over_without_what_only_the_book_knows(course: Path) -> None:
    quiz, prediction = bank.book_questions(course)
    assert (quiz.chapter, quiz.title[:10]) == ("1 · A page", "Where does")
    assert html.unescape(quiz.text) == (
        '<p>Where does <span class="math inline">\\(c_{}\\)</span> come from? See chapter 2 and a'
        " place.</p>"
    )
    assert [one.right for one in quiz.options] == [False, True]
    assert quiz.options[0].text == "<p><code>nowhere</code></p>"
    assert "\\(a &lt; b\\)" in quiz.options[0].reply
    assert quiz.options[1].reply == "<p>Yes, all of <strong>them</strong>.</p>"
    assert prediction.options == ()
    assert "\\(h_{j}\\)" in prediction.text


def test_canvas_finds_kind_choices_the_right_one_and_a_reply_to_each(course: Path) -> None:
    quiz, essay = canvas(bank.book_questions(course)).iter(f"{Q}item")
    kinds = [next(item.iter(f"{Q}fieldentry")).text for item in (quiz, essay)]
    assert kinds == ["multiple_choice_question", "essay_question"]
    choices = [one.get("ident") for one in quiz.iter(f"{Q}response_label")]
    replies = {one.get("ident") for one in quiz.iter(f"{Q}itemfeedback")}
    scored = {}
    for condition in quiz.iter(f"{Q}respcondition"):
        chosen = next(condition.iter(f"{Q}varequal")).text
        for points in condition.iter(f"{Q}setvar"):
            scored[chosen] = points.text
        for reply in condition.iter(f"{Q}displayfeedback"):
            assert reply.get("linkrefid") == f"{chosen}_fb"
    assert scored == {choices[1]: "100"}
    assert replies == {f"{one}_fb" for one in choices}


def test_moodle_finds_a_category_and_fractions(course: Path) -> None:
    category, quiz, essay = fromstring(bank.bank_for_moodle(bank.book_questions(course))).iter(
        "question"
    )
    assert category.findtext("category/text") == "$course$/top/Looking Back/1 · A page"
    assert quiz.get("type") == "multichoice"
    assert [one.get("fraction") for one in quiz.iter("answer")] == ["0", "100"]
    assert all(one.findtext("feedback/text") for one in quiz.iter("answer"))
    assert essay.get("type") == "essay"
    assert essay.findtext("responseformat") == "editor"


PICTURED = """# 2 · Pictures

:::{quiz} Which line falls?
![Two lines; one "falls"](pictures/two%20lines.PNG)

- (x) ![The lower one](pictures/lower.png)

  ![The lower one](pictures/lower.png)
- ( ) the upper one

  Look at $b$ again.
:::
"""


@pytest.fixture
def pictured(course: Path) -> dict[str, bytes]:
    """The pictures of a second page, by the names that they get."""
    files = {"two lines.PNG": b"two", "lower.png": b"lower"}
    (course / "book" / "pictures").mkdir()
    for name, data in files.items():
        (course / "book" / "pictures" / name).write_bytes(data)
    (course / "book" / "02-pictures.md").write_text(PICTURED)
    return {hashlib.sha256(data).hexdigest()[:16] + ".png": data for data in files.values()}


def test_canvas_gets_pictures_as_files_whose_paths_are_those_in_the_text(
    course: Path, pictured: dict[str, bytes]
) -> None:
    found = bank.book_questions(course)
    with zipfile.ZipFile(io.BytesIO(bank.bank_for_canvas(found))) as archive:
        manifest = fromstring(archive.read(bank.MANIFEST))
        # what is not the questions becomes a file of the course
        listed = {str(one.get("href")) for one in manifest.iter(f"{CP}file")} - {bank.BANK}
        assert {path: archive.read(path) for path in listed} == {
            f"pictures/{name}": data for name, data in pictured.items()
        }
        top = fromstring(archive.read(bank.BANK))
    texts = "".join(str(one.text) for one in top.iter(f"{Q}mattext"))
    shown = re.findall(r'<img src="([^"]*)" alt="([^"]*)"', texts)
    assert {path for path, _ in shown} == listed
    assert sorted(alt for _, alt in shown) == [
        "The lower one",
        "The lower one",
        "Two lines; one &quot;falls&quot;",
    ]


def test_moodle_gets_each_picture_beside_the_text_that_shows_it(
    course: Path, pictured: dict[str, bytes]
) -> None:
    top = fromstring(bank.bank_for_moodle(bank.book_questions(course)))
    question = next(
        one for one in top.iter("question") if one.findtext("name/text") == "Which line falls?"
    )
    places = [question.find("questiontext"), *question.iter("answer"), *question.iter("feedback")]
    found = []
    for place in places:
        assert place is not None
        text = str(place.findtext("text"))
        names = re.findall(r'src="@@PLUGINFILE@@/([^"]*)"', text)
        files = {one.get("name"): base64.b64decode(str(one.text)) for one in place.findall("file")}
        assert files == {name: pictured[name] for name in names}
        assert text.count("<img") == len(names) == text.count('alt="T')
        found.append(len(names))
    assert found == [1, 1, 0, 1, 0]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("lower.png", "lost.png"), "02-pictures.md: the picture pictures/lost.png .* no file"),
        (("The lower one", ""), "02-pictures.md: the picture .*lower.png .* no alternative text"),
    ],
)
def test_a_picture_that_could_not_be_seen_is_named(
    course: Path, pictured: dict[str, bytes], changed: tuple[str, str], said: str
) -> None:
    (course / "book" / "02-pictures.md").write_text(PICTURED.replace(*changed))
    with pytest.raises(CourseError, match=said):
        bank.book_questions(course)


def test_the_whole_book_comes_over(course: Path) -> None:
    found = bank.book_questions(ROOT)
    pages = [*(ROOT / "book").glob("[0-9]*.md"), *(ROOT / "book" / "workshop").glob("*.md")]
    sources = [page.read_text("utf-8") for page in pages]
    asked = sum(
        len(re.findall(r"^:{3,}\{(?:quiz|predict)\}", one, re.MULTILINE)) for one in sources
    )
    assert len(found) == asked
    texts = [text for one in found for text in (one.text, *(o.text + o.reply for o in one.options))]
    # nor a drawing, which only the book can set
    foreign = r"\{\w+\}`|\\(class|context|ann)\b|\$|language-\{"
    assert [text for text in texts if re.search(foreign, text)] == []
    assert all(texts)
    assert len(list(canvas(found).iter(f"{Q}item"))) == asked
    assert bank.bank_for_canvas(found) == bank.bank_for_canvas(found)


def test_a_quiz_without_its_right_answer_and_a_course_without_chapters_are_named(
    course: Path,
) -> None:
    page = course / "book" / "01-page.md"
    page.write_text(PAGE.replace("(x)", "( )"))
    with pytest.raises(
        CourseError, match=r"01-page.md: the quiz 'Where .* has not one right answer"
    ):
        bank.book_questions(course)
    page.unlink()
    with pytest.raises(CourseError, match="There are no chapters"):
        bank.book_questions(course)
