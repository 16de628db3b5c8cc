"""Where the checkout lies, for tests in folders of any depth."""

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
DATA = TESTS / "data"
BENCHMARKS = ROOT / "benchmarks"
DOCS = ROOT / "docs"
