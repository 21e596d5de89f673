"""Assignments: what their test cells use (`checks`), and what releases, validates and grades them.

Nothing is imported here: a test cell pays for `checks` alone, not for nbgrader.
"""
