"""`tilewright.torch` without PyTorch: a sentence that says what to install."""

import subprocess
import sys


def test_the_import_says_what_to_install() -> None:
    code = "import sys; sys.modules['torch'] = None; import tilewright.torch"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode
    last = ran.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: tilewright.torch needs PyTorch: ")
    assert "[torch]" in last


def test_the_package_loads_no_pytorch() -> None:
    code = "import sys, tilewright; from tilewright import matmul; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
