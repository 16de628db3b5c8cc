"""Rewrites the generated parts of Markdown pages from the records that they name."""

import argparse
from pathlib import Path

from tilewright.errors import TilewrightError

from .refresh import refresh


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.pages", description=__doc__)
    parser.add_argument("pages", nargs="+", type=Path, metavar="PAGE.md", help="a page with marks around its tables")
    for page in parser.parse_args().pages:
        try:
            count = refresh(page)
        except TilewrightError as error:
            raise SystemExit(f"error: {error}") from error
        print(f"{page}: {count} table{'' if count == 1 else 's'}, with inspections and rooflines")


if __name__ == "__main__":
    main()
