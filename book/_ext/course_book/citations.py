"""Author-year citations: `Bahdanau et al. (2015)` in the text, the same words in the list."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pybtex.database import Entry
from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style as UnsrtStyle
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.template import Node, href, sentence
from pybtex.style.template import field as entry_field
from sphinx.application import Sphinx
from sphinxcontrib.bibtex.plugin import register_plugin as register_sphinx_plugin
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle


def author_year(entry: Entry) -> str:
    """`Bahdanau et al., 2015`: one or two names in full, more as et al.

    A group is one name in braces, `{LISA lab}`; the label has it without them.
    """
    names = [" ".join(map(str, person.rich_last_names)) for person in entry.persons["author"]]
    who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
    return f"{who}, {entry.fields['year']}"


class AuthorYearLabels(BaseLabelStyle):
    def format_labels(self, sorted_entries: Iterable[Entry]) -> Iterator[str]:
        return map(author_year, sorted_entries)


class BibliographyStyle(UnsrtStyle):
    default_label_style = AuthorYearLabels
    default_sorting_style = "author_year_title"

    def format_title(self, e: Entry, which_field: str, as_sentence: bool = True) -> Node:
        """The title as its authors wrote it, linked to the paper."""
        title = href[entry_field("url", raw=True), entry_field(which_field)]
        return sentence[title] if as_sentence else title

    def format_btitle(self, e: Entry, which_field: str, as_sentence: bool = True) -> Node:
        """A book's title, linked in the same way; the name of its proceedings is no link."""
        if which_field != "title":
            return super().format_btitle(e, which_field, as_sentence)
        return self.format_title(e, which_field, as_sentence)

    def format_web_refs(self, e: Entry) -> str:
        return ""


def round_brackets() -> BracketStyle:
    return BracketStyle(left="(", right=")")


@dataclass
class ReferenceStyle(AuthorYearReferenceStyle):
    bracket_parenthetical: BracketStyle = field(default_factory=round_brackets)
    bracket_textual: BracketStyle = field(default_factory=round_brackets)
    bracket_author: BracketStyle = field(default_factory=round_brackets)
    bracket_label: BracketStyle = field(default_factory=round_brackets)
    bracket_year: BracketStyle = field(default_factory=round_brackets)


def setup(app: Sphinx) -> None:
    register_plugin("pybtex.style.formatting", "course", BibliographyStyle)
    register_sphinx_plugin("sphinxcontrib.bibtex.style.referencing", "course", ReferenceStyle)
