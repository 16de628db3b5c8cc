"""The page of Python calls: every public name, for mkdocstrings to fill in from the docstrings."""

import ast
import inspect
from pathlib import Path

import tilewright

INTRODUCTION = """\
# Python calls

Every public name, from the docstrings. `print` a result to read it. Modules below `tilewright` are private, whatever their
names, but for `tilewright.blocks`, `tilewright.torch`, `tilewright.dask` and `tilewright.mpi`.
"""
# Folders that are imported on their own. All but the first need a package.
FOLDERS = {"blocks": "Blocks on several devices", "torch": "PyTorch", "dask": "Dask", "mpi": "MPI"}
TITLES = {"call": "Calls", "result": "Results and other classes", "error": "Errors", "value": "Values"}


def kind_of(name: str) -> str:
    """A key of TITLES."""
    value = getattr(tilewright, name)
    if inspect.isclass(value):
        return "error" if issubclass(value, Exception) else "result"
    return "call" if callable(value) else "value"


def mark(name: str) -> str:
    """What mkdocstrings fills in for a name below `tilewright`."""
    return f"::: tilewright.{name}\n    options:\n      heading_level: 3"


def api_page() -> str:
    """The page with a mark for each name."""
    names = [name for name in tilewright.__all__ if name != "__version__"]
    parts = [INTRODUCTION]
    for kind, title in TITLES.items():
        chosen = sorted((name for name in names if kind_of(name) == kind), key=str.lower)
        parts.append(f"## {title}")
        parts += [mark(name) for name in chosen]
    for folder, title in FOLDERS.items():
        parts += [f"## {title}: `import tilewright.{folder}`", *(mark(f"{folder}.{name}") for name in names_in(folder))]
    return "\n\n".join(parts) + "\n"


def names_in(folder: str) -> list[str]:
    """The names in the `__all__` of a folder of FOLDERS, read from its source: it may not be importable without its package."""
    source = Path(tilewright.__file__).parent / folder / "__init__.py"
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    raise LookupError(f"{source} has no __all__")
