"""Puts the table of claims into a page, between `<!-- claims -->` and `<!-- end claims -->`."""

from collections.abc import Sequence
from pathlib import Path

from tools.pages.refresh import refresh

from .table import table


def claims_block(words: Sequence[str], folder: Path) -> str:
    """The table between empty lines; the mark takes no words."""
    return f"\n{table()}\n"


def refresh_claims(page: Path) -> int:
    """Rewrite the table of a page; RecordError if it has no mark."""
    return refresh(page, {"claims": claims_block})
