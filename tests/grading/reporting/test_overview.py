"""What the class report gathers from the assignment."""

from course_lib.grading.reporting.overview import _personal
from course_lib.grading.sources.project import source_of
from course_lib.grading.sources.release import source_notebook
from tests.conftest import ROOT


def test_the_answers_to_a_students_own_exercise_are_known_by_their_tests() -> None:
    personal = _personal(source_notebook(source_of(ROOT, "attention_by_hand")))
    assert {"my_energies_answer", "my_weights_answer", "my_context_answer"} <= personal
    assert not {"energies_answer", "function_answer", "why"} & personal
