"""The floors of the package: a file imports only from its own floor or lower ones, and nothing goes in circles."""

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import tilewright

ROOT = Path(tilewright.__file__).parent

# Every module or package of tilewright and its floor; docs/architecture.md draws the same table with what each is for.
FLOORS = {
    "errors": 0,
    "dtypes": 1,
    "device": 1,
    "reference": 1,
    "operands": 1,
    "precision": 1,
    "problem": 1,
    "source": 1,
    "includes": 1,
    "markdown": 1,
    "svg": 1,
    "in_place": 1,
    "tensormap": 2,
    "kernel": 2,
    "kernels": 3,
    "records": 3,
    "custom": 3,
    "problems": 3,
    "settings": 3,
    "plan": 4,
    "choice": 4,
    "tuned": 4,
    "backend": 4,
    "run": 5,
    "environment": 5,
    "telemetry": 5,
    "verify": 6,
    "measure": 6,
    "sustained": 6,
    "stamps": 6,
    "rivals": 6,
    "ceilings": 6,
    "access": 6,
    "contenders": 7,
    "trial": 7,
    "diagnosis": 7,
    "ladders": 7,
    "inspection": 7,
    "explanations": 7,
    "library": 7,
    "doctor": 7,
    "report": 8,
    "rooflines": 8,
    "benchmark": 8,
    "accuracy": 8,
    "sets": 8,
    "tuning": 8,
    "devices": 9,
    "live": 9,
    "arguments": 9,
    "outputs": 9,
    "cli": 9,
    "parser": 9,
    "quantities": 9,
    "commands": 9,
    "explaining": 9,
    "inspecting": 9,
    "interruption": 9,
    "__main__": 10,
    "__init__": 10,
}


def unit_of(path: Path) -> str:
    """The module or package right under tilewright that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


FILES = sorted(ROOT.rglob("*.py"))


MODULES = {".".join(("tilewright", *path.relative_to(ROOT).with_suffix("").parts)): path for path in FILES}
MODULES |= {name.removesuffix(".__init__"): path for name, path in MODULES.items() if name.endswith(".__init__")}


@cache
def modules_of(path: Path) -> frozenset[str]:
    """The modules that a file imports or imports from, wherever in the file it does so: inside functions and for type
    checkers alone, too."""
    package = ("tilewright", *path.relative_to(ROOT).parent.parts)
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            names = {f"{module}.{each.name}" for each in node.names}
            found |= (names & MODULES.keys()) | ({module} if names - MODULES.keys() else set())
    return frozenset(name for name in found if name.startswith("tilewright."))


def imports_of(path: Path) -> frozenset[str]:
    """The units that a file imports from."""
    return frozenset(module.split(".")[1] for module in modules_of(path))


def test_every_module_has_a_floor_and_every_floor_a_module() -> None:
    assert {unit_of(path) for path in FILES} == set(FLOORS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_imports_only_from_its_floor_or_lower_ones(path: Path) -> None:
    floor = FLOORS[unit_of(path)]
    higher = {unit: FLOORS[unit] for unit in imports_of(path) & set(FLOORS) if FLOORS[unit] > floor}
    assert not higher, f"{path.relative_to(ROOT)} is on floor {floor} and imports from {higher}"


def test_no_units_import_each_other_in_a_circle() -> None:
    graph: dict[str, set[str]] = {unit: set() for unit in FLOORS}
    for path in FILES:
        graph.setdefault(unit_of(path), set()).update(imports_of(path) - {unit_of(path)})
    assert list(TopologicalSorter(graph).static_order())


def test_no_files_import_each_other_in_a_circle() -> None:
    graph = {str(path): {str(MODULES[name]) for name in modules_of(path)} - {str(path)} for path in FILES}
    assert list(TopologicalSorter(graph).static_order())


def test_imports_are_found_in_all_their_forms() -> None:
    assert "errors" in imports_of(ROOT / "dtypes.py")
    assert "kernel" in imports_of(ROOT / "kernels" / "rows" / "__init__.py")
    assert "backend" in imports_of(ROOT / "doctor" / "__init__.py")
    assert "cli" in imports_of(ROOT / "__main__.py")


def test_the_architecture_page_names_every_unit() -> None:
    page = ROOT.parents[1] / "docs" / "architecture.md"
    if not page.exists():
        pytest.skip("the documentation is not installed with the package")
    text = page.read_text(encoding="utf-8")
    missing = [
        unit for unit in FLOORS if not unit.startswith("__") and f"{unit}.py" not in text and f"{unit}/" not in text
    ]
    assert not missing
