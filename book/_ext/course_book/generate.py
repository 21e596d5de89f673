"""Write what is generated from the chapters: their notebooks and the table of their devices.

    make notebooks

The notebooks in book/notebooks/ know where to fetch the course from once `_config.yml` names a
repository; run this again when it does.
"""

from pathlib import Path

from course_lib.files import write_atomically
from course_lib.opening import repository_url

from .inventory import with_tables
from .notebooks import notebook
from .source import parts_of_the_book

ROOT = Path(__file__).resolve().parents[3]
TABLE_PAGE = Path("book/CONTRIBUTING.md")


def generated(root: Path = ROOT) -> dict[Path, str]:
    """Every generated file, by its path from the repository's top, with what it must hold."""
    url = repository_url(root)
    pages = [page for _, part in parts_of_the_book(root) for page in part]
    chapters = [page for page in pages if page.name[:2].isdigit()]
    files = {
        Path("book/notebooks") / f"{chapter.stem}.ipynb": notebook(chapter, root, url)
        for chapter in chapters
    }
    page = (root / TABLE_PAGE).read_text(encoding="utf-8")
    return {**files, TABLE_PAGE: with_tables(page, chapters)}


def main() -> None:
    files = generated()
    for path, text in files.items():
        write_atomically(ROOT / path, text)
    for path in (ROOT / "book/notebooks").glob("*.ipynb"):
        if path.relative_to(ROOT) not in files:
            path.unlink()
    print(f"wrote {len(files) - 1} notebooks and the table in {TABLE_PAGE}")


if __name__ == "__main__":
    main()
