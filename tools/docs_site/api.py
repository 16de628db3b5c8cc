"""The page of Python calls: every public name, for mkdocstrings to fill in from the docstrings."""

import inspect

import tilewright

INTRODUCTION = """\
# Python calls

Every public name, from the docstrings. `print` a result to read it. Modules below `tilewright` are private, whatever their
names.
"""
TITLES = {"call": "Calls", "result": "Results and other classes", "error": "Errors", "value": "Values"}


def kind_of(name: str) -> str:
    """A key of TITLES."""
    value = getattr(tilewright, name)
    if inspect.isclass(value):
        return "error" if issubclass(value, Exception) else "result"
    return "call" if callable(value) else "value"


def api_page() -> str:
    """The page with a mark for each name."""
    names = [name for name in tilewright.__all__ if name != "__version__"]
    parts = [INTRODUCTION]
    for kind, title in TITLES.items():
        chosen = sorted((name for name in names if kind_of(name) == kind), key=str.lower)
        parts.append(f"## {title}")
        parts += [f"::: tilewright.{name}\n    options:\n      heading_level: 3" for name in chosen]
    return "\n\n".join(parts) + "\n"
