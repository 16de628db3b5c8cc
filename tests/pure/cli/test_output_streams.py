"""Outputs that cannot be written, closed streams, narrow terminals and Ctrl-C: what the command says, and what it keeps."""

import os
import shlex
import signal
import subprocess
import sys
import time
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from example_records import DEVICE, RECORD
from rich.console import Console
from says import says

from tilewright import __main__, kernels
from tilewright.cli import main as cli
from tilewright.cli import printing
from tilewright.cli.live_table import LiveTable
from tilewright.cli.main import main, make_parser
from tilewright.cli.outputs import check_target, write_or_rescue, write_outputs
from tilewright.core.records import load_record, save_record
from tilewright.errors import InvalidInput, RecordError
from tilewright.runtime.cache import BinaryCache, cache_folder

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a record."""
    save_record(RECORD, tmp_path / "ok.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")


@needs_full
def test_a_record_that_cannot_be_written_is_kept_elsewhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with pytest.raises(RecordError, match=r"/dev/full.*No space left on device") as told:
        write_or_rescue(FULL, RECORD)
    assert load_record(Path(str(told.value).rsplit(" ", 1)[1])) == RECORD


@needs_full
def test_what_can_be_written_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    options = make_parser().parse_args(["run", "tiles/2", "--json", "a.json", "--csv", "/dev/full"])
    with pytest.raises(RecordError) as told:
        write_outputs(options, RECORD)
    assert "/dev/full" in str(told.value)
    assert "No space left on device" in str(told.value)
    assert load_record(folder / "a.json") == RECORD
    options = make_parser().parse_args(["run", "tiles/2", "--csv", "/dev/full"])
    with pytest.raises(RecordError) as told:
        write_outputs(options, RECORD)
    assert load_record(Path(str(told.value).rsplit(" ", 1)[1])) == RECORD


def test_a_record_that_fits_nowhere_is_printed(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(folder / "absent"))
    with pytest.raises(RecordError, match=str(folder)):
        write_or_rescue(folder, RECORD)
    (folder / "printed.json").write_text(capsys.readouterr().out)
    assert load_record(folder / "printed.json") == RECORD


def test_a_file_without_the_right_to_write_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InvalidInput, match=r"ok\.json"):
        check_target("--json", folder / "ok.json")


def test_names_are_no_markup(capsys: Captured) -> None:
    with LiveTable(Console(width=200), "rows/00_sequential[r-k-c] [/x]", FakeDevice(), "float32") as table:  # type: ignore[arg-type]
        table.finish(RECORD)
    assert "rows/00_sequential[r-k-c] [/x]" in capsys.readouterr().out
    printing.tell_written([Path("[/x].json")])
    assert "wrote [/x].json" in capsys.readouterr().err


class FakeDevice:
    info = DEVICE


@pytest.mark.parametrize("width", [1, 20, 79])
def test_a_narrow_terminal_is_no_error(width: int, capsys: Captured) -> None:
    with LiveTable(Console(width=width), "ladder l", FakeDevice(), "float32") as table:  # type: ignore[arg-type]
        table.watch(0, RECORD.rows[0])
        table.finish(RECORD)
    printed = capsys.readouterr().out
    assert printed
    assert "…" not in printed, "nothing is cut"


def test_a_stream_without_the_characters_gets_others(monkeypatch: pytest.MonkeyPatch) -> None:
    ascii_only = TextIOWrapper(BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", ascii_only)
    cli.prepare_streams()
    print("±")
    ascii_only.flush()
    assert ascii_only.buffer.getvalue().strip() == b"?"


def program(*arguments: str, **streams: object) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-m", "tilewright", *arguments], text=True, **streams)  # type: ignore[call-overload,no-any-return]


def test_a_reader_that_stops_early_is_no_error() -> None:
    """`tilewright list | head -1`: the other way of printing, by the console."""
    listing = program("list", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert listing.stdout is not None
    listing.stdout.close()
    assert listing.stderr is not None
    assert listing.stderr.read() == ""
    listing.stderr.close()
    assert listing.wait(60) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="shells close streams elsewhere")
@pytest.mark.parametrize(("closed", "arguments", "status"), [(">&-", "list", 0), ("2>&-", "list nothing", 2)])
def test_a_closed_stream_is_no_error(closed: str, arguments: str, status: int) -> None:
    command = f"{shlex.quote(sys.executable)} -m tilewright {arguments} {closed}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


def test_an_encoding_without_the_characters_is_no_error(folder: Path) -> None:
    command = [sys.executable, "-m", "tilewright", "compare", "ok.json", "ok.json"]
    settings = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, env=settings, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"ladder l ? gemm" in done.stdout


def test_a_cache_that_cannot_be_made_is_said_in_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "ok.json"))
    monkeypatch.setattr("tilewright.runtime.home._troubles", {})

    def uses_caches(rung: str) -> None:
        BinaryCache(cache_folder()).put("key", b"program")
        raise InvalidInput("and then this")

    monkeypatch.setattr(kernels, "find_kernel", uses_caches)
    assert main(["show", "tiles/2"]) == 2
    notes = [line for line in capsys.readouterr().err.splitlines() if line.startswith("note:")]
    assert len(notes) == 1
    assert says(notes[0], "ok.json/tilewright")


@needs_full
def test_a_full_disk_behind_standard_output_is_told() -> None:
    with FULL.open("w") as full:
        done = program("show", "tiles/2", stdout=full, stderr=subprocess.PIPE)
    assert done.communicate(timeout=60)[1] == "error: No space left on device\n"
    assert done.returncode == 1


LOADED = """import sys
import tilewright.analysis.explanations
from tilewright.cli.main import main
print("loaded", flush=True)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) is not signal.default_int_handler,
    reason="SIGINT is ignored here, as in a shell's job",
)
def test_ctrl_c_ends_with_130_and_no_traceback(folder: Path) -> None:
    """In the middle of an explanation of a kernel that would take minutes."""
    (folder / "long.cl").write_text(
        "__kernel void f(__global float* C) { for (int i = 0; i < 3000000; ++i) C[0] += i; }\n"
    )
    arguments = ["explain", "long.cl", "--global", "M", "--local", "4", "--size", "4"]
    command = [sys.executable, "-c", LOADED, *arguments]
    running = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None
    assert running.stdout.readline() == "loaded\n"
    time.sleep(0.5)  # well within the kernel's loop, but any time would do
    running.send_signal(signal.SIGINT)
    output, complaint = running.communicate(timeout=60)
    assert (running.returncode, output, complaint) == (130, "", "interrupted\n")


def test_ctrl_c_while_the_program_is_loaded(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", interrupted)
    assert __main__.main() == 130
    assert capsys.readouterr().err == "interrupted\n"
