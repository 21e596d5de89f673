"""The one exception whose text is meant for the person at the keyboard."""


class CourseError(Exception):
    """Something the user can put right. Its text is one plain line: what is wrong, then the remedy.

    The `course` command prints it without a traceback and exits with status 2.
    """
