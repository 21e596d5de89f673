"""What became of a class: tables for platforms, a page about the class, one for each student."""
