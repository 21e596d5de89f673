"""Tables of measurements, as the pages print them."""

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from IPython.display import HTML


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> HTML:
    """A table that scrolls by itself on a phone; the first cell heads its row, `code` is code.

    Numbers and code stay on one line. Words of another language are given with it, `(words, "de")`,
    so that they are said in it.
    """

    def text(cell: Any) -> str:
        code = r'<code style="white-space: nowrap">\1</code>'
        return re.sub("`(.+?)`", code, escape(str(cell)))

    def value(cell: Any) -> str:
        if isinstance(cell, tuple):
            words, language = cell
            return f'<td lang="{language}">{text(words)}</td>'
        return f"<td{_whole(str(cell))}>{text(cell)}</td>"

    def row(cells: Sequence[Any]) -> str:
        return f'<tr><th scope="row">{text(cells[0])}</th>{"".join(map(value, cells[1:]))}</tr>'

    head = "".join(f'<th scope="col">{text(cell)}</th>' for cell in header)
    return HTML(
        '<div class="pst-scrollable-table-container"><table class="table">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(map(row, rows))}</tbody></table></div>"
    )


def _whole(cell: str) -> str:
    """A number does not break where the line does."""
    return ' style="white-space: nowrap"' if re.fullmatch(r"[−+±-]?[\d,.]+ ?%?", cell) else ""
