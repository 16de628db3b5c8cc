"""`tilewright.mpi` without mpi4py: a sentence that says what to install."""

import subprocess
import sys


def test_the_import_says_what_to_install() -> None:
    code = "import sys; sys.modules['mpi4py'] = None; import tilewright.mpi"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode
    last = ran.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: tilewright.mpi needs mpi4py and an MPI library: ")
    assert "[mpi]" in last


def test_the_package_loads_no_mpi() -> None:
    code = "import sys, tilewright; from tilewright import matmul; sys.exit('mpi4py' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
