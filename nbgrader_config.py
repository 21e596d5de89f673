"""nbgrader's settings, read by `nbgrader` in this folder and by the `course` command."""

from pathlib import Path

from course_lib.assignments import checks

c = get_config()  # a name that whoever reads this file brings along

course = Path(__file__).resolve().parent

c.CourseDirectory.course_id = "looking_back"
c.CourseDirectory.root = str(course)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
# The text sources lie beside the notebooks made from them: without "*.md" and the names of
# the data beside them here nbgrader copies them, solutions and all, into the release.
# "handed_in" is what the instructor's own solution hands in: nobody is given that either.
c.CourseDirectory.ignore = [
    *(".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", "*.md", "handed_in"),
    *("demonstration.yaml", "variants.yaml", "criteria.yaml", "orals.yaml"),
]
# Several submissions are graded at once: whoever finds the database busy waits.
c.CourseDirectory.db_url = f"sqlite:///{course / 'gradebook.db'}?timeout=60"

# A released answer cell runs as it is, so that "run all" reaches the tests and their messages.
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE"}
c.ClearSolutions.text_stub = "YOUR ANSWER HERE"

# The grading profile.
c.OverwriteCells.add_missing_cells = True
c.ContainedExecute.timeout = checks.SECONDS  # a cell, as in `course validate`
c.ExecutePreprocessor.shutdown_kernel = "immediate"

# What handing in late costs, where `course grade --late` says nothing else: for instance
# {"percent": 10, "per": "day", "until": "5 days"}. The due date comes from --due or from nbgrader's
# own pages.
c.LatePolicy.rule = {}

# Whoever marks has a session that may change grades: in nbgrader's form grader too, students' texts
# are shown with nothing in them that runs.
c.HTMLExporter.filters = {
    "markdown2html": "course_lib.grading.reporting.pages.safe_html.of_cell",
}

# nbgrader's own grading, its page's button included, would run students' code without a sandbox.
c.Autograde.exporter_class = "course_lib.grading.reporting.formgrader.NoAutograde"

# The page that each student gets. The messages of hidden tests are on it, their code is not.
c.GenerateFeedback.exporter_class = "course_lib.grading.reporting.pages.feedback.FeedbackExporter"
c.GenerateFeedback.preprocessors = [
    "course_lib.grading.reporting.pages.feedback.Marks",
    "nbgrader.preprocessors.ClearHiddenTests",
]

# A corpus that training_comparison may be done with beside its own: a name and a pair of `course
# corpus list`, or a folder or table of yours, from here.
# c.ComparedRuns.corpus, c.ComparedRuns.pair = "texts/ours", "en-es"
