"""Tools for those who write assignments: made-up classes, proofs of tests, a search for leaks."""
