"""Judging the trained models that some assignments have students hand in."""
