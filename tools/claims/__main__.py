"""The command line; see the package's docstring."""

from pathlib import Path

from .page import refresh_claims

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "memory.md"

if __name__ == "__main__":
    print(f"{PAGE}: {refresh_claims(PAGE)} table")
