"""Grading: each submission run behind walls, a whole class at a time, its marks recorded."""
