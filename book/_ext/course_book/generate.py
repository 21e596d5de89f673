"""Write what is generated from the pages: their notebooks.

    make notebooks

The notebooks in book/notebooks/ know where to fetch the course from once `_config.yml` names a
repository; run this again when it does.
"""

from pathlib import Path

from course_lib.files import write_atomically
from course_lib.first_cell import repository_url

from .notebooks import has_notebook, notebook
from .source import parts_of_the_book

ROOT = Path(__file__).resolve().parents[3]


def generated(root: Path = ROOT) -> dict[Path, str]:
    """Every generated file, by its path from the repository's top, with what it must hold."""
    url = repository_url(root)
    pages = [page for _, part in parts_of_the_book(root) for page in part]
    return {
        Path("book/notebooks") / f"{page.stem}.ipynb": notebook(page, root, url)
        for page in pages
        if has_notebook(page, root / "book")
    }


def main() -> None:
    files = generated()
    for path, text in files.items():
        write_atomically(ROOT / path, text)
    for path in (ROOT / "book/notebooks").glob("*.ipynb"):
        if path.relative_to(ROOT) not in files:
            path.unlink()
    print(f"wrote {len(files)} notebooks")


if __name__ == "__main__":
    main()
