"""What test cells in students' notebooks import, and nothing that only instructors run.

Nothing is imported here: a test cell pays for the module that it uses.
"""
