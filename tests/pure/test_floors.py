"""The floors of the package: imports go down, in every folder, and no imports form a circle."""

import ast
from collections.abc import Iterable
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import tilewright

ROOT = Path(tilewright.__file__).parent

# What lies right under tilewright, from the lowest floor up; docs/architecture.md draws the same tree with what each is for.
FLOORS = (
    "errors",
    "core",
    "kernels",
    "runtime",
    "dispatch",
    "library",
    "blocks",
    "torch",
    "dask",
    "mpi",
    "analysis",
    "measurement",
    "reports",
    "advice",
    "health",
    "learning",
    "api",
    "cli",
    "__main__",
    "__init__",
)
FILES = sorted(ROOT.rglob("*.py"))
FOLDERS = sorted({path.parent for path in FILES})


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def file_of(parts: tuple[str, ...]) -> Path | None:
    """The file of a module, or None if these names are no module."""
    module, package = ROOT.joinpath(*parts).with_suffix(".py"), ROOT.joinpath(*parts, "__init__.py")
    if parts and module.exists():
        return module
    return package if package.exists() else None


def modules_named(node: ast.stmt, package: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """The modules of tilewright that a statement imports, without the first name."""
    if isinstance(node, ast.Import):
        names = [tuple(each.name.split(".")) for each in node.names]
        yield from (parts[1:] for parts in names if parts[0] == "tilewright")
    elif isinstance(node, ast.ImportFrom):
        base = package[: len(package) - node.level + 1] if node.level else ("tilewright",)
        inner = tuple((node.module or "").split(".")) if node.module else ()
        if not node.level:
            if inner[:1] != ("tilewright",):
                return
            inner = inner[1:]
        for each in node.names:
            whole = (*base[1:], *inner, each.name)
            yield whole if file_of(whole) else whole[:-1]


@cache
def imports_of(path: Path) -> frozenset[Path]:
    """The files that a file imports, wherever in it: at its top, for type checkers alone, in functions."""
    package = ("tilewright", *path.relative_to(ROOT).parent.parts)
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    found = (file_of(parts) for node in nodes if isinstance(node, ast.stmt) for parts in modules_named(node, package))
    return frozenset(each for each in found if each is not None and each != path)


def circle_in(graph: dict[str, set[str]]) -> list[str]:
    """The names of a circle, or nothing."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def inside(folder: Path) -> dict[str, set[str]]:
    """Who imports whom among the files and folders right in a folder."""
    graph: dict[str, set[str]] = {}
    for path in FILES:
        if folder not in path.parents:
            continue
        own = path.relative_to(folder).parts[0]
        seen = {each.relative_to(folder).parts[0] for each in imports_of(path) if folder in each.parents}
        graph.setdefault(own, set()).update(seen - {own})
    return graph


def test_every_file_and_folder_has_a_floor() -> None:
    assert {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in FILES} == set(FLOORS)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_imports_only_from_its_floor_or_lower_ones(path: Path) -> None:
    def floor(of: Path) -> int:
        return FLOORS.index(of.relative_to(ROOT).parts[0].removesuffix(".py"))

    assert not [name_of(each) for each in imports_of(path) if floor(each) > floor(path)]


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_the_files_and_folders_of_a_folder_stand_one_above_the_other(folder: Path) -> None:
    assert not circle_in(inside(folder))


def test_no_files_import_each_other_in_a_circle() -> None:
    assert not circle_in({name_of(path): {name_of(each) for each in imports_of(path)} for path in FILES})


def test_imports_are_found_in_all_their_forms() -> None:
    assert ROOT / "errors.py" in imports_of(ROOT / "core" / "types.py")
    assert ROOT / "core" / "kernel.py" in imports_of(ROOT / "kernels" / "ladders" / "rows" / "__init__.py")
    assert ROOT / "cli" / "main.py" in imports_of(ROOT / "__main__.py")


def test_circles_are_found() -> None:
    assert set(circle_in({"a": {"b"}, "b": {"c"}, "c": {"a"}})) == {"a", "b", "c"}
    assert circle_in({"a": {"b"}, "b": {"c"}, "c": set()}) == []


def test_the_architecture_page_names_every_folder() -> None:
    page = ROOT.parents[1] / "docs" / "architecture.md"
    if not page.exists():
        pytest.skip("the documentation is not installed with the package")
    text = page.read_text(encoding="utf-8")
    assert not [folder.name for folder in FOLDERS if folder != ROOT and f"{folder.name}/" not in text]
