"""`python -m course_lib` is the `course` command: what torchrun and `accelerate launch` start."""

from course_lib.cli import main

if __name__ == "__main__":
    main()
