"""What a class handed in: unpacked, told apart by student, and made fit to be graded."""
