"""Record a chapter's results anew: `make record CHAPTER=08 [PART=maps]`.

Says first how long each part takes. New records are written once the chapter's `check` finds them
whole and of today's settings and sentences; else they are laid beside the runs and the old ones
stay. What a page says of its records is asserted in its own cells, by `make book`.
"""

import argparse
import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.records import read_record
from experiments import recording
from experiments.recording import RUNS, Read

HERE = Path(__file__).parent
REFUSED = RUNS / "refused"


def recorders() -> dict[str, Path]:
    """The folders that have a recorder, by chapter: a number, or the name of a page."""
    folders = sorted(path.parent for path in HERE.glob("*/record.py"))
    return {
        folder.name[:2] if folder.name[0].isdigit() else folder.name: folder for folder in folders
    }


def load(folder: Path) -> ModuleType:
    """The recorder of a folder, which is no package: its name begins with a number."""
    spec = importlib.util.spec_from_file_location(f"record_{folder.name}", folder / "record.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text_of(content: Any) -> str:
    """What is written of a record."""
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def over(new: dict[str, Any]) -> Read:
    """Reads the new records, and those that are no other today."""
    return lambda name: json.loads(text_of(new[name])) if name in new else read_record(name)


def write(folder: Path, new: dict[str, Any]) -> None:
    """Every record, and every file given as bytes."""
    for name, content in new.items():
        is_file = isinstance(content, bytes)
        path = folder / (name if is_file else f"{name}.json")
        write_atomically(path, content if is_file else text_of(content))
        print(f"wrote {os.path.relpath(path)}", flush=True)


def record(folder: Path, recorder: ModuleType, names: Sequence[str]) -> None:
    """Run these parts, and write what they made if it is what the chapter asks for."""
    for name in names:
        part = recorder.PARTS[name]
        print(f"{name}: {part.takes}" + f"; needs {part.needs}" * bool(part.needs), flush=True)
    new: dict[str, Any] = {}
    try:
        for name in names:
            for made, content in recorder.PARTS[name].record():
                new[made] = content
        if hasattr(recorder, "check"):
            recorder.check(over(new))
    except BaseException as error:
        write(REFUSED, {name.lstrip("/"): content for name, content in new.items()})
        if not isinstance(error, AssertionError):
            raise
        line = traceback.extract_tb(error.__traceback__)[-1]
        raise CourseError(
            f"{line.filename}:{line.lineno} no longer holds: {line.line} {error}\n"
            f"So nothing was replaced; what was found lies in {REFUSED}. Find out what went wrong, "
            "or change the check."
        ) from error
    write(folder, new)


def chosen(known: dict[str, Any], asked: str, kind: str) -> Any:
    """What is asked for by its name.

    Raises:
        CourseError: there is no such thing.
    """
    if asked not in known:
        raise CourseError(f"There is no {kind} {asked!r}. Choose {', '.join(known)}.")
    return known[asked]


def main(arguments: Sequence[str] | None = None) -> int:
    """Record, or say in one line why not; without a chapter, list what there is."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("chapter", nargs="?")
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--runs", type=Path, help="where trainings are kept")
    asked = parser.parse_args(arguments)
    if asked.runs is not None:
        recording.RUNS = asked.runs  # before a recorder is loaded, which reads it
    folders = recorders()
    torch.set_num_threads(1)
    try:
        if asked.chapter is None:
            for chapter, folder in folders.items():
                for name, part in load(folder).PARTS.items():
                    print(f"{chapter:16} {name:14} {part.takes}")
            return 0
        folder = chosen(folders, asked.chapter, "recorder of chapter")
        recorder = load(folder)
        for name in asked.parts:
            chosen(recorder.PARTS, name, f"part of chapter {asked.chapter}:")
        record(folder, recorder, asked.parts or list(recorder.PARTS))
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped. The same command goes on where the run stands.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
