"""`tilewright.mpi.matmul` on two and four ranks, each in a process of its own."""

import os
import shutil
import subprocess
import sys

import pytest
from paths import ROOT, TESTS

pytest.importorskip("mpi4py", reason="mpi4py is not installed")
MPIRUN = shutil.which("mpirun") or shutil.which("mpiexec")
pytestmark = [
    pytest.mark.usefixtures("one_device"),
    pytest.mark.skipif(MPIRUN is None, reason="MPI is not installed: there is no mpirun"),
]
# Open MPI wants to be told that a test may run as root, and with more ranks than cores. Others do not read this.
LEAVE = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}  # fmt: skip


@pytest.mark.parametrize("ranks", [2, 4])
def test_products_on_ranks(ranks: int) -> None:
    paths = os.pathsep.join(map(str, (ROOT / "src", ROOT, TESTS)))
    ran = subprocess.run(
        [str(MPIRUN), "-n", str(ranks), sys.executable, "-m", "mpi4py", str(TESTS / "mpi_program.py")],
        capture_output=True, text=True, check=False, timeout=600, env={**os.environ, **LEAVE, "PYTHONPATH": paths},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert f"{ranks} ranks" in ran.stdout
    assert ran.stdout.strip().endswith("all right")
