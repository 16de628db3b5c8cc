"""The host program of examples/ in C: it builds, launches a rung's whole program, and finds a wrong launch."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import tilewright
from tilewright.runtime.device import Device

HOST = Path(__file__).parents[3] / "examples" / "host.c"
COMPILER = shutil.which("cc") or shutil.which("gcc")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled host program."""
    if COMPILER is None:
        pytest.skip("no C compiler is here")
    binary = tmp_path_factory.mktemp("host") / "host"
    command = [COMPILER, "-O2", "-Wall", "-Wextra", "-Werror", str(HOST), "-o", str(binary), "-lOpenCL", "-lm"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode and ("CL/cl.h" in built.stderr or "lOpenCL" in built.stderr):
        pytest.skip(
            "OpenCL's headers and its loader's library are not here: install opencl-headers and ocl-icd-opencl-dev"
        )
    assert built.returncode == 0, built.stderr
    return binary


def launched(host: Path, program: Path, size: tuple[int, int, int]) -> subprocess.CompletedProcess[str]:
    text = tilewright.show("tiles/02", program=True, size=size)
    program.write_text(text)
    sides = re.search(r"global size (\d+) x (\d+), local size (\d+) x (\d+)", text)
    assert sides is not None
    command = [str(host), str(program), *map(str, size), *sides.groups()]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("size", [(64, 64, 64), (100, 70, 50), (1, 1, 1)])
def test_a_rung_runs_in_a_program_in_c(
    size: tuple[int, int, int], host: Path, one_device: Device, tmp_path: Path
) -> None:
    ran = launched(host, tmp_path / "program.cl", size)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "right: 1,000 random elements" in ran.stdout


def test_a_program_that_does_not_compile_shows_the_log(host: Path, one_device: Device, tmp_path: Path) -> None:
    program = tmp_path / "program.cl"
    program.write_text("__kernel void gemm() { nothing; }")
    ran = subprocess.run(
        [str(host), str(program), *["8", "8", "8", "8", "8", "8", "8"]], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "does not compile" in ran.stderr
    assert "nothing" in ran.stderr
