"""The package's public names: one list, documented, importable without a device, and cheap to import."""

import ast
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import tilewright
from tilewright.cli.main import COMMANDS

TREE = ast.parse(inspect.getsource(tilewright))
HOMES: dict[str, str] = tilewright._HOME


def in_order(name: str) -> tuple[int, str]:
    """Constants, classes, functions, each by the alphabet."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def test_all_names_each_name_once_and_in_order() -> None:
    assert sorted(set(tilewright.__all__), key=in_order) == tilewright.__all__
    assert dir(tilewright) == sorted(tilewright.__all__)


@pytest.mark.parametrize("name", tilewright.__all__)
def test_a_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(tilewright, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        assert len((inspect.getdoc(value) or "").split()) >= 3, f"{name} has no docstring"
        assert value.__module__.startswith("tilewright"), f"{name} comes from {value.__module__}"


def test_the_three_lists_are_one() -> None:
    """What is imported for type checkers, what is imported when first used, and `__all__`."""
    checked, _ = (each for each in TREE.body if isinstance(each, ast.If))
    imported = [
        (str(each.module), alias.name)
        for each in checked.body
        if isinstance(each, ast.ImportFrom)
        for alias in each.names
    ]
    assert sorted(imported) == sorted((home, name) for name, home in HOMES.items())
    assert sorted(tilewright.__all__) == sorted({*HOMES, "__version__"})


@pytest.mark.parametrize("name", sorted(HOMES))
def test_a_public_name_is_what_its_home_has(name: str) -> None:
    assert getattr(tilewright, name) is getattr(import_module(f"tilewright.{HOMES[name]}"), name)


@pytest.mark.parametrize("name", sorted({*COMMANDS} - {"completion", "lsp"}))  # shells and editors alone use those
def test_a_command_is_a_public_call_of_its_name(name: str) -> None:
    assert inspect.isfunction(getattr(tilewright, name))


@pytest.mark.parametrize("name", COMMANDS)
def test_no_folder_hides_a_command(name: str) -> None:
    """Importing `tilewright.bench` as a module would put it in the place of the function."""
    assert not (Path(tilewright.__file__).parent / name).exists()
    assert not (Path(tilewright.__file__).parent / f"{name}.py").exists()


@pytest.mark.parametrize("name", [each for each in tilewright.__all__ if each[0].islower()])
def test_a_signature_fits_into_a_tooltip(name: str) -> None:
    assert len(str(inspect.signature(getattr(tilewright, name)))) < 700


def test_what_is_below_is_said_to_be_private() -> None:
    assert "private" in (tilewright.__doc__ or "")


def test_another_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = tilewright.no_such_name  # type: ignore[attr-defined]


def test_importing_the_package_loads_no_driver() -> None:
    code = "import sys, tilewright; sys.exit('pyopencl' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
