"""Where the assignments lie, and the way from an instructor's text to the students' notebook."""
