"""Data files that are given out with an assignment, as the grader lays them beside a submission."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath


def laid_over(
    handed_in: Mapping[str, Path], given_out: Mapping[str, Path]
) -> tuple[dict[str, Path], list[str]]:
    """The files a submission is graded with: its own, and those given out in their own places.

    A notebook needs what was given out with it, and most submissions are the notebook alone; a
    file of that name that came along counts for nothing, whatever is in it.

    Args:
        handed_in: copies of the submission's files, relative name -> path; a copy that stands where
            a file or a folder was given out is deleted.
        given_out: the files of the release, relative name -> path.

    Returns:
        the files, and a remark for each that is not the one given out.
    """
    files, remarks = dict(handed_in), []
    folders = {str(parent) for name in given_out for parent in PurePosixPath(name).parents}
    for name, path in handed_in.items():
        inside = [str(parent) for parent in PurePosixPath(name).parents]
        if name in given_out and path.read_bytes() == given_out[name].read_bytes():
            continue
        if name in given_out or name in folders or any(parent in given_out for parent in inside):
            del files[name]
            path.unlink()
            remarks.append(
                f"{name} is given out with the assignment and had been changed; the original was"
                " used."
            )
    return files | dict(given_out), remarks
