"""The examples in the docstrings of `tilewright.dask` and on its page run, and give what they say."""

import doctest
from importlib import import_module

import pytest
from paths import ROOT

pytest.importorskip("dask", reason="Dask is not installed")
pytestmark = pytest.mark.usefixtures("one_device")


@pytest.mark.parametrize("name", ["products", "routing", "transposes"])
def test_docstrings(name: str) -> None:
    failed, tried = doctest.testmod(import_module(f"tilewright.dask.{name}"))
    assert tried
    assert not failed


def test_the_page() -> None:
    failed, tried = doctest.testfile(str(ROOT / "docs" / "howto" / "dask.md"), module_relative=False)
    assert tried
    assert not failed
