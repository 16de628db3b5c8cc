"""Standard output that takes no more: one sentence on standard error, and the exit status 1."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LIMITED = """import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
from tilewright.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [(), ("--help",), ("ladder", "--help"), ("--version",)])
def test_what_standard_output_does_not_take_is_an_error(arguments: tuple[str, ...], unbuffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        found = subprocess.run(
            [sys.executable, "-m", "tilewright.cli.main", *arguments],
            stdout=full, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    assert found.returncode == 1
    assert "No space left on device" in found.stderr
    assert len(found.stderr.splitlines()) == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows does not limit the size of files")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_limit_of_files_is_told_once(unbuffered: str, tmp_path: Path) -> None:
    with (tmp_path / "list.txt").open("w") as file:
        found = subprocess.run(
            [sys.executable, "-c", LIMITED, "list"],
            stdout=file, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    assert found.stderr == "error: File too large\n"
    assert found.returncode == 1
