"""Pages made from a graded class: one file each, which asks nobody for anything.

What students wrote is in them, so nothing of theirs is taken for markup unless it is known to be
harmless, and the pages themselves forbid every script.
"""
