"""Marking by hand in nbgrader's formgrader, wherever the class lies."""

from pathlib import Path

from course_lib.files import write_atomically
from course_lib.grading.sources.project import CONFIG

_TEXT = '''"""nbgrader's settings for marking this class: the course's, with its files.

Start `jupyter lab` here and open Nbgrader > Formgrader.
"""

from pathlib import Path

c = get_config()
load_subconfig({config!r}, path={root!r})

place = Path(__file__).resolve().parent
c.CourseDirectory.root = str(place)
c.CourseDirectory.source_directory = {solutions!r}
c.CourseDirectory.db_url = f"sqlite:///{{place / 'gradebook.db'}}?timeout=60"
'''


def prepare(root: Path, place: Path) -> None:
    """Let nbgrader's pages find a class that does not lie in the course's folder."""
    if place.resolve() == root.resolve() or (place / CONFIG).exists():
        return
    text = _TEXT.format(config=CONFIG, root=str(root), solutions=str(root / "solutions"))
    write_atomically(place / CONFIG, text)
