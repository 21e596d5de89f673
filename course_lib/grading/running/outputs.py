"""What a submission's cells put out, made fit to be kept, read and shown in a browser.

Whoever marks opens these outputs with a session that may change grades. So text and pictures are
kept, and nothing that a browser would run; and only so much that a page of it can be opened.
"""

import re
from collections.abc import Iterable
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from course_lib.grading.untrusted import TURNING, is_picture

LONGEST_LINE = 1000
MOST_TEXT = 50_000
"""Characters of one cell."""
MOST_PICTURES = 20
MOST_OUTPUTS = 100
"""Of one cell."""
MORE = "\n[more was put out than is kept]\n"

_SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?", re.DOTALL)
# control characters but tab and newline, those that turn the direction of writing, half pairs
_HIDDEN = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{TURNING}\ud800-\udfff]")


def tidied(outputs: Iterable[NotebookNode]) -> list[NotebookNode]:
    """The outputs of one cell that are kept; nothing about them is taken for granted."""
    kept: list[NotebookNode] = []
    length, pictures, cut = 0, 0, False
    for output in outputs:
        kind = output.get("output_type")
        if kind == "stream":
            text = output.get("text")
            if length >= MOST_TEXT or len(kept) >= MOST_OUTPUTS:
                cut = True
                continue
            text = printable(text, MOST_TEXT - length)
            length += len(text)
            name = "stderr" if output.get("name") == "stderr" else "stdout"
            if kept and kept[-1].output_type == "stream" and kept[-1].name == name:
                kept[-1].text += text
            else:
                kept.append(new_output("stream", name=name, text=text))
        elif kind == "error" and len(kept) < MOST_OUTPUTS:
            kept.append(_error(output))
        elif kind in {"display_data", "execute_result"}:
            data = _shown(output.get("data"))
            pictures += any(key.startswith("image/") for key in data)
            length += len(data.get("text/plain", ""))
            if pictures > MOST_PICTURES or length > MOST_TEXT or len(kept) >= MOST_OUTPUTS:
                cut = True
            elif data:
                kept.append(new_output("display_data", data=data))
    if cut:
        kept.append(new_output("stream", text=MORE))
    return kept


def _error(output: NotebookNode) -> NotebookNode:
    """An error with its text bounded."""
    traceback = output.get("traceback")
    lines = traceback if isinstance(traceback, list) else []
    return new_output(
        "error",
        ename=printable(output.get("ename"), 100),
        evalue=printable(output.get("evalue"), 2000),
        traceback=[printable(line, 5000) for line in lines[:100]],
    )


def printable(text: Any, most: int = MOST_TEXT) -> str:
    """Text that shows what it holds, and tells no terminal anything."""
    if not isinstance(text, str):
        return ""
    if len(text) > most:
        text = text[:most] + "\n[cut off here]"
    # a progress bar writes over its line: only what is left standing is kept
    lines = text.replace("\r\n", "\n").split("\n")
    text = "\n".join(line[line.rfind("\r") + 1 :] for line in lines)
    text = _HIDDEN.sub("\N{REPLACEMENT CHARACTER}", _SEQUENCES.sub("", text))
    return "\n".join(map(_line, text.split("\n")))


def _line(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + " [cut off here]"


def _shown(data: Any) -> dict[str, str]:
    """Of a display's forms the ones that are text or a picture."""
    if not isinstance(data, dict):
        return {}
    shown = {}
    if isinstance(data.get("text/plain"), str):
        shown["text/plain"] = printable(data["text/plain"])
    for kind in ("image/png", "image/jpeg"):
        picture = data.get(kind)
        if isinstance(picture, str) and is_picture(kind, picture):
            shown[kind] = picture
        elif picture is not None:
            shown["text/plain"] = "[a picture that is too large, or damaged]"
    return shown
