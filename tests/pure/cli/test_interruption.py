"""SIGINT and SIGTERM: an interrupt where Python runs, an end of the process where it does not."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tilewright.cli.interruption import PATIENCE_S, terminated_as_interrupted

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals and mutexes are Linux'")

# A mutex that is locked twice stands for a driver that does not come back: no signal interrupts it.
STUCK = """
import ctypes, subprocess, sys, tempfile, threading
from tilewright.runtime.children import started
from tilewright.runtime.home import private_folder
from tilewright.cli.interruption import terminated_as_interrupted
quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"], **quiet)
folder = tempfile.mkdtemp(prefix="tilewright-")
started(child, folder)
private = private_folder()
mutex, lock = ctypes.create_string_buffer(64), ctypes.CDLL(None).pthread_mutex_lock
with terminated_as_interrupted():
    lock(mutex)
    threading.Timer(0.5, print, (child.pid, folder, private), dict(flush=True)).start()  # when the next line has begun
    lock(mutex)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_that_sits_in_a_driver_ends_with_its_children(number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert process.stdout is not None
    child, *folders = process.stdout.readline().split()
    assert all(Path(folder).is_dir() for folder in folders)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert said.startswith(f"{number.name}: the device has not answered for 2 s")
    assert not alive(int(child))
    assert not any(Path(folder).exists() for folder in folders)


def alive(process: int) -> bool:
    """Whether a process runs; it may take a moment to end, and may never be waited for."""
    status = Path(f"/proc/{process}/stat")
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and status.exists() and status.read_text().split()[2] != "Z":
        time.sleep(0.05)
    return status.exists() and status.read_text().split()[2] != "Z"


def send_within(number: signal.Signals, cleaning_s: float = 0.0) -> None:
    """Send this process a signal, and take a while to clean up."""
    with terminated_as_interrupted():
        try:
            os.kill(os.getpid(), number)
            time.sleep(30)
        finally:
            time.sleep(cleaning_s)


@pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) is not signal.default_int_handler,
    reason="SIGINT is ignored here, as in a shell's job",
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_where_python_runs_it_is_an_interrupt_that_can_be_cleaned_up_after(number: signal.Signals) -> None:
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            send_within(number)
    assert {each: signal.getsignal(each) for each in before} == before


def interrupted_in_an_import() -> None:
    """As NumPy's extension module does it: the interrupt is lost, and the import fails."""
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(30)
    except KeyboardInterrupt:
        raise ImportError("PyCapsule_Import could not import module") from None


def test_an_import_that_an_interrupt_breaks_is_an_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt), terminated_as_interrupted():
        interrupted_in_an_import()
    with pytest.raises(ImportError), terminated_as_interrupted():
        raise ImportError("no module")


def test_who_heeded_a_signal_may_take_long_to_clean_up() -> None:
    with pytest.raises(KeyboardInterrupt):
        send_within(signal.SIGTERM, PATIENCE_S + 0.5)


def test_handlers_of_the_callers_own_are_left_alone() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
    try:
        with terminated_as_interrupted():
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == [signal.SIGTERM]
