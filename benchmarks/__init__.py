"""How fast the course is: against the textbook implementation and against the hardware's limit."""
