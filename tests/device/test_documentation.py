"""The examples in docstrings and on the pages run, and give what they say."""

import doctest
from importlib import import_module

import pytest
from paths import ROOT

from tilewright.runtime.opencl.device import Device

MODULES = ("core.custom", "library.products", "library.copies")
PAGES = ("docs/howto/gpu-arrays.md", "docs/reference/library.md", "docs/reference/numpy-differences.md")


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str, device: Device) -> None:
    failed, tried = doctest.testmod(import_module(f"tilewright.{name}"))
    assert tried
    assert not failed


@pytest.mark.parametrize("page", PAGES)
def test_pages(page: str, device: Device) -> None:
    failed, tried = doctest.testfile(str(ROOT / page), module_relative=False)
    assert tried
    assert not failed
