"""What records the results that the book reads, and the results, by chapter."""
