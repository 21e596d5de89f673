"""Tools for those who write assignments: made-up classes, a search for leaks."""
