"""The package's public names: all there, documented, importable without a device, and cheap to import."""

import inspect
import subprocess
import sys

import pytest

import tilewright


def test_all_names_each_name_once_and_in_order() -> None:
    assert len(set(tilewright.__all__)) == len(tilewright.__all__)
    assert set(dir(tilewright)) >= set(tilewright.__all__)


@pytest.mark.parametrize("name", tilewright.__all__)
def test_a_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(tilewright, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        assert inspect.getdoc(value), f"{name} has no docstring"
        assert value.__module__.startswith("tilewright"), f"{name} comes from {value.__module__}"


def test_what_is_imported_for_type_checkers_is_what_is_public() -> None:
    source = inspect.getsource(tilewright)
    for name in tilewright.__all__:
        assert source.count(name) >= 2, f"{name} is missing in one of the lists"


def test_another_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = tilewright.no_such_name


def test_importing_the_package_loads_no_driver() -> None:
    code = "import sys, tilewright; sys.exit('pyopencl' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
