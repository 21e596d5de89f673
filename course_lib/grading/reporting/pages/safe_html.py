"""What somebody wrote, as HTML that can do no harm."""

import functools
import html
import re
import secrets
from collections.abc import Mapping
from typing import Any

import bleach
from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from nbconvert.filters import strip_ansi
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from course_lib.grading.reporting.pages.formulas import mathml
from course_lib.grading.sources.marked_cells import grade_id, is_grade, is_solution
from course_lib.grading.untrusted import is_picture

LONGEST_TEXT = 20_000
LONGEST_OUTPUT = 8_000
MOST_OUTPUTS = 20
"""Characters, outputs of a cell. What is longer is cut, and says so."""

_TAGS = frozenset(
    re.findall(
        r"\w+",
        "a abbr b blockquote br caption code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i kbd"
        " li ol p pre span strong sub summary sup table tbody td th thead tr u ul",
    )
)


_OPEN_HERE = """<script>
if (!/[?&]index=/.test(location.search))
  history.replaceState(null, "", "?index=" + $(".tabbable").index($("#{part}")));
</script>"""
"""Which of its fields nbgrader's page begins at stands in its address, and is kept from one student
to the next."""


def _leads_out(tag: str, name: str, value: str) -> bool:
    """Whether an attribute is a link to elsewhere: one of ours would act in a marker's name."""
    return name == "href" and value.lower().startswith(("http://", "https://", "mailto:"))


_ATTRIBUTES = {"a": _leads_out, "td": ["colspan", "rowspan"], "th": ["colspan", "rowspan"]}
# What is not allowed as markup is shown as it was written: `<pad>` is a word of this course.
_CLEANER = bleach.Cleaner(
    tags=_TAGS, attributes=_ATTRIBUTES, protocols={"http", "https", "mailto"}, strip=False
)


class _Renderer(IPythonRenderer):
    """Formulas and pasted pictures go round the cleaning, under a word that nobody can guess."""

    def __init__(self, pasted: Mapping[str, Mapping[str, str]]) -> None:
        super().__init__(escape=False, exclude_anchor_links=True)
        self.word = secrets.token_hex(8)
        self.kept: list[str] = []
        self.pasted = pasted

    def _keep(self, made: str) -> str:
        self.kept.append(made)
        return f"{self.word}-{len(self.kept) - 1};"

    def inline_math(self, body: str) -> str:
        return self._keep(mathml(body, block=False))

    def block_math(self, body: str) -> str:
        return self._keep(mathml(body, block=True))

    def latex_environment(self, name: str, body: str) -> str:
        return self._keep(mathml(rf"\begin{{{name}}}{body}\end{{{name}}}", block=True))

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """A picture pasted into the cell; of others, which nobody asks for, the description."""
        shown = picture(self.pasted.get(url.removeprefix("attachment:"), {}), text)
        return f"<em>[picture: {html.escape(text)}]</em>" if shown is None else self._keep(shown)


@pass_context
def of_cell(context: Context, text: str) -> Markup:
    """nbconvert's filter `markdown2html`, for nbgrader's form grader: a cell's text, harmless.

    Its page opens at the first that a person marks.
    """
    cell = context.get("cell", {})
    made = markdown(text, pasted=cell.get("attachments"))
    marked = (
        "submission_id" in context.get("resources", {}) and is_grade(cell) and is_solution(cell)
    )
    return made + Markup(_OPEN_HERE.format(part=grade_id(cell))) if marked else made


def markdown(
    text: str, shift: int = 0, pasted: Mapping[str, Mapping[str, str]] | None = None
) -> Markup:
    """Markdown with formulas and the pictures of its cell.

    Args:
        text: the source.
        shift: how many levels deeper its headings go.
        pasted: the cell's attachments: by name, a picture as base64 for each of its formats.
    """
    if len(text) > LONGEST_TEXT:
        return Markup(f"<pre>{html.escape(text[:LONGEST_TEXT])}</pre>{_cut(text, LONGEST_TEXT)}")
    renderer = _Renderer(pasted or {})
    try:
        made = MarkdownWithMath(renderer=renderer).render(text)
        if shift:
            made = re.sub(
                r"(</?h)([1-6])\b",
                lambda match: f"{match[1]}{min(int(match[2]) + shift, 6)}",
                made,
            )
        cleaned = sanitised(made)
    except Exception:  # both libraries fail in as many ways as there are texts
        return Markup(f"<pre>{html.escape(text)}</pre>")
    cleaned = cleaned.replace("<table>", '<div class="wide" tabindex="0" role="group"><table>')
    cleaned = cleaned.replace("</table>", "</table></div>")
    # a formula on a line of its own is no part of a sentence
    cleaned = re.sub(rf"<p>\s*({renderer.word}-\d+;)\s*</p>", r"\1", cleaned)
    return Markup(
        re.sub(rf"{renderer.word}-(\d+);", lambda match: renderer.kept[int(match[1])], cleaned)
    )


def sanitised(text: str) -> str:
    """Foreign HTML with nothing in it that runs, loads or looks like the page itself."""
    return str(_CLEANER.clean(re.sub(r"<(?=[!?])", "&lt;", text)))


@functools.lru_cache(maxsize=256)  # most of a notebook is the same in a whole class
def code(source: str) -> Markup:
    """Python, in colours."""
    # without spaces at the ends of lines, over which the lexer goes again and again
    shown = "\n".join(line.rstrip() for line in source[:LONGEST_TEXT].split("\n"))
    made = highlight(shown, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True))
    cut = _cut(source, LONGEST_TEXT)
    return Markup(f'<pre class="code"><code>{made.rstrip()}</code></pre>{cut}')


def outputs(cell: NotebookNode) -> list[Markup]:
    """What a cell printed or showed."""
    shown = []
    for place, output in enumerate(cell.get("outputs", [])):
        if place == MOST_OUTPUTS:
            more = len(cell.outputs) - MOST_OUTPUTS
            shown.append(Markup(f'<p class="note">Cut here: {more} outputs more.</p>'))
            break
        if output.output_type == "stream":
            shown.append(_plain(str(output.text)))
        elif output.output_type == "error":
            shown.append(_plain("\n".join(map(str, output.get("traceback", [])))))
        else:
            shown.append(_displayed(output.get("data", {})))
    return shown


def _displayed(data: dict[str, Any]) -> Markup:
    shown = picture(data, "A picture made by this cell")
    if shown is not None:
        return Markup(shown)
    if isinstance(text := data.get("text/plain"), str):
        return _plain(text)
    return Markup('<p class="note">Something that cannot be shown here.</p>')


def picture(data: Mapping[str, Any], description: str) -> str | None:
    """The first picture among the formats of an output or attachment; None if there is none."""
    for kind, made in data.items():
        if is_picture(kind, made):
            source = f"data:{kind};base64,{''.join(made.split())}"
            return f'<img src="{source}" alt="{html.escape(description)}">'
    return None


def _plain(text: str) -> Markup:
    """Text of a terminal, without its colours: nobody has chosen them for this page."""
    made = html.escape(strip_ansi(text[:LONGEST_OUTPUT]))
    return Markup(f'<pre class="output">{made}</pre>{_cut(text, LONGEST_OUTPUT)}')


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return ""
    return f'<p class="note">Cut here: {len(text) - longest:,} characters more.</p>'
