"""The examples in docstrings and on the pages run, and give what they say."""

import doctest
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from paths import ROOT

import tilewright
from tilewright.runtime.opencl.device import Device

MODULES = ("core.custom", "library.products", "library.copies")
PAGES = (
    "docs/howto/gpu-arrays.md",
    "docs/howto/larger-than-memory.md",
    "docs/howto/several-gpus.md",
    "docs/reference/library.md",
    "docs/reference/numpy-differences.md",
)
COURSE = ("docs/course/en", "docs/course/zh")


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


@pytest.mark.parametrize("folder", COURSE)
def test_the_examples_on_layouts(folder: str) -> None:
    failed, tried = doctest.testfile(str(ROOT / folder / "layouts.md"), module_relative=False)
    assert tried
    assert not failed


@pytest.mark.parametrize("folder", COURSE)
def test_the_host_program_in_python(folder: str, one_device: Device, tmp_path: Path) -> None:
    page = (ROOT / folder / "host.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "tiles_02.cl").write_text(tilewright.show("tiles/02", program=True, size=512))
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["enqueue", "until", "device's", "with"]
