"""Calls in processes whose home cannot be written, is full, is not there, or belongs to no user."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tilewright.runtime.children import ChildRun, run_child
from tilewright.runtime.opencl.device import Device

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the homes are Linux'")

CALL = """
import numpy as np, tilewright
a = np.arange(12, dtype="f4").reshape(3, 4)
print("right" if (tilewright.transpose(a) == a.T).all() else "wrong")
"""
COMMAND = [sys.executable, "-W", "error", "-c", CALL]


def call(settings: dict[str, str], command: Sequence[str] = COMMAND) -> ChildRun:
    """A call in a process that may use PyOpenCL's cache, as a user's may."""
    return run_child(command, 120, {"PYOPENCL_NO_CACHE": "0"} | settings)


def test_a_call_needs_no_home(tmp_path: Path, one_device: Device) -> None:
    (tmp_path / "pytools").write_text("in the place of PyOpenCL's folder")
    for settings in (
        {"HOME": "/dev/null", "XDG_CACHE_HOME": ""},
        {"XDG_CACHE_HOME": "/proc/self/fd"},  # which not even root can write to
        {"XDG_CACHE_HOME": str(tmp_path)},
    ):
        child = call(settings)
        assert (child.stdout.split(), child.ending) == (["right"], ""), (settings, child)
        assert "Traceback" not in child.stderr, settings


def test_a_call_on_a_full_disk(tmp_path: Path, one_device: Device) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare, to mount a small disk for one process")
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    small = f"mount -t tmpfs -o size=16k,mode=700 none {home} && (cat /dev/zero > {home}/all; true) 2> {tmp_path}/said"
    if subprocess.run(["unshare", "-rm", "sh", "-c", small], capture_output=True, check=False).returncode:
        pytest.skip("file systems cannot be mounted here")
    command = ["unshare", "-rm", "sh", "-c", f'{small} && exec "$@"', "sh", *COMMAND]
    child = call({"HOME": str(home), "XDG_CACHE_HOME": ""}, command)
    assert (child.stdout.split(), child.ending) == (["right"], ""), child
    assert "No space left" in (tmp_path / "said").read_text(), "the disk was full"
