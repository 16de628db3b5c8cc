"""SIGINT to the process group, as a terminal's Ctrl-C, and SIGTERM, while the long commands work at a terminal."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tilewright import load_record

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pseudo terminals and /proc are Linux'")

# Each with the words that a terminal shows while it works. Sizes and times are too long to end by themselves.
LONG = {
    "ladder": (["ladder", "tiles", "--size", "256", "--seconds", "300", "--no-baselines"], r"tiles/01\S* +ok"),
    "run": (["run", "tiles/2", "--size", "256", "--seconds", "300"], "measuring"),
    "explain": (["explain", "endless.cl", "--steps", "900000000", "--time-limit", "300"], "explaining"),
    "roofline": (["roofline", "tiles/2", "--size", "256", "--seconds", "300"], "measuring"),
    "why": (["why", "tiles/2", "--size", "256", "--seconds", "300"], "measuring"),
    "bench": (["bench", "--sets", "quick", "--seconds", "300"], "measuring"),
    "accuracy": (["accuracy", "--size", "1024x1024x2048"], r"normal +\d"),
}
ENDLESS = """// tilewright: --global M --local 16
__kernel void mine(__global float* C)
{
    for (int i = 0; i >= 0; i = (i + 1) % 1000)
        C[get_global_id(0)] = i;
}
"""
WITHOUT_DEVICE = ("explain",)
MEASURED = ("ladder", "accuracy")  # whose record holds rows by then


def plain(shown: str) -> str:
    """What a terminal was sent, without its codes for colours and the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)


def session_of(process: int) -> set[int]:
    """The processes of a session that run, without those that have ended and nobody has asked about."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if fields[0] != "Z" and int(fields[3]) == process:
            found.add(int(status.parent.name))
    return found


def ended_by(number: signal.Signals, arguments: list[str], words: str, folder: Path) -> tuple[int, str, set[int]]:
    """The exit status, what the terminal showed, and the processes that were left."""
    mine, its = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tilewright", *arguments], stdin=its, stdout=its, stderr=its, cwd=folder,
        start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    os.close(its)
    shown, sent, deadline = "", False, time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if select.select([mine], [], [], 0.1)[0]:
            try:
                shown += os.read(mine, 65536).decode(errors="replace")
            except OSError:  # the other end is closed
                break
        if not sent and re.search(words, plain(shown)):
            (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
            sent = True
    if not sent:
        process.kill()
    status = process.wait(timeout=30)
    os.close(mine)
    assert sent, shown
    return status, plain(shown), session_of(process.pid)


@pytest.mark.parametrize(
    ("name", "number"),
    [(name, signal.SIGINT) for name in LONG] + [(name, signal.SIGTERM) for name in ("ladder", "explain", "why")],
)
def test_a_command_that_works_ends_at_once_and_keeps_what_it_has(
    name: str, number: signal.Signals, device_number: str, tmp_path: Path
) -> None:
    arguments, words = LONG[name]
    (tmp_path / "endless.cl").write_text(ENDLESS)
    device = [] if name in WITHOUT_DEVICE else ["--device", device_number]
    record = ["--json", "record.json"] if name in MEASURED else []
    status, shown, left = ended_by(number, [*arguments, *device, *record], words, tmp_path)
    assert status == 128 + number, shown
    assert shown.rstrip().endswith("interrupted"), shown
    assert "Traceback" not in shown
    assert not left
    if name == "ladder":
        assert load_record(tmp_path / "record.json").rows
    if name == "accuracy":
        assert (tmp_path / "record.json").stat().st_size
