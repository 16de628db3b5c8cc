"""Options that a command would ignore in some of its uses: they are found, so that they can be refused."""

import argparse
from collections.abc import Iterable


def given_among(options: argparse.Namespace, defaults: Iterable[tuple[str, str, object]]) -> str:
    """Those of some options that were given: "-D --size", or "" for none. Each is (name, word, value if it is not given)."""
    return " ".join(word for name, word, default in defaults if getattr(options, name) != default)
