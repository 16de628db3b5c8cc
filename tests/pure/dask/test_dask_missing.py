"""`tilewright.dask` without Dask: a sentence that says what to install."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("missing", ["dask", "dask.array"])
def test_the_import_says_what_to_install(missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; import tilewright.dask"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode
    last = ran.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: tilewright.dask needs Dask with its arrays, 2025.7 or later: ")
    assert "[dask]" in last


def test_the_package_loads_no_dask() -> None:
    code = "import sys, tilewright; from tilewright import matmul; sys.exit('dask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
