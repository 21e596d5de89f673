"""What students run themselves: `course validate` and `course submit`."""
