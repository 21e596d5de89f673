"""A bibliography style whose labels are the author-year form that the text uses."""

from collections import Counter
from collections.abc import Iterable, Iterator

from pybtex.database import Entry
from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style as UnsrtStyle
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx


def author_year(entry: Entry) -> str:
    """`Bahdanau et al., 2015`: one or two names in full, more as et al."""
    names = [" ".join(person.last_names) for person in entry.persons["author"]]
    who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
    return f"{who}, {entry.fields['year']}"


class AuthorYearLabels(BaseLabelStyle):
    def format_labels(self, sorted_entries: Iterable[Entry]) -> Iterator[str]:
        entries = list(sorted_entries)
        labels = [author_year(entry) for entry in entries]
        total, seen = Counter(labels), Counter[str]()
        for label in labels:
            seen[label] += 1
            yield label if total[label] == 1 else f"{label}{chr(ord('a') - 1 + seen[label])}"


class CourseStyle(UnsrtStyle):
    default_label_style = AuthorYearLabels
    default_sorting_style = "author_year_title"


def setup(app: Sphinx) -> None:
    register_plugin("pybtex.style.formatting", "course", CourseStyle)
