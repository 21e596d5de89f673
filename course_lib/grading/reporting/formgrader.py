"""nbgrader's formgrader on a class, wherever it lies: for marking by hand, and for nothing else."""

from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbgrader.converters.base import NbGraderException

from course_lib.files import write_atomically
from course_lib.grading.sources.project import NBGRADER_CONFIG

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


class NoAutograde(NotebookExporter):
    """Stands in nbgrader_config.py where nbgrader's own grading would begin, and refuses it.

    That runs students' code with the rights of whoever pressed the button, and puts its result in
    place of the one from the sandbox. It asks for its exporter before it deletes anything.
    """

    def __init__(self, parent: Any = None, **settings: Any) -> None:
        super().__init__(parent=parent, **settings)
        assert parent is not None
        course = parent.coursedir
        said = (
            "Autograde is off here: it runs students' code without a sandbox. Type this in a"
            f" terminal: course grade {course.assignment_id} --student {course.student_id}"
        )
        parent.log.error(said)
        raise NbGraderException(said)


def prepare_formgrader(root: Path, place: Path) -> None:
    """Let nbgrader's pages find a class that does not lie in the course's folder."""
    if place.resolve() == root.resolve() or (place / NBGRADER_CONFIG).exists():
        return
    text = _TEXT.format(config=NBGRADER_CONFIG, root=str(root), solutions=str(root / "solutions"))
    write_atomically(place / NBGRADER_CONFIG, text)
