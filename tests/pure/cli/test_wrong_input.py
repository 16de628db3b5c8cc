"""Every command with input that is wrong: one sentence, a status, no traceback. Nothing here opens a device."""

import errno
import shlex
from pathlib import Path

import pytest
from example_records import DEVICE, RECORD, row
from says import says

from tilewright import kernels
from tilewright.analysis.explain.serialise import to_dict
from tilewright.analysis.explanations import explain
from tilewright.cli.main import main
from tilewright.core.problem import Gemm
from tilewright.core.problems import check_memory
from tilewright.core.records import save_record
from tilewright.errors import InvalidInput
from tilewright.measurement.accuracy import AccuracyRecord
from tilewright.runtime.cuda import counterparts
from tilewright.runtime.opencl import device as opencl

Captured = pytest.CaptureFixture[str]
OTHERS = "__kernel void mul(__global const float* a, __global const float* b, __global float* c, int n) { c[0] = a[0] * b[n]; }\n"
MINE = "__kernel void mine(__global REAL* C) { C[get_global_id(0)] = 0; }\n"
OWN = "mine.cl --global M,N --local 4,4"

# What is typed, the status, and words of the sentence.
CASES = [
    ("list nothing", 2, "no ladder is called 'nothing'"),
    ("list ''", 2, "no ladder is called ''"),
    ("show 'tiles/[/x]'", 2, "no rung is called 'tiles/[/x]'"),
    # A rung's settings are obeyed, or refused with what to do instead.
    ("explain tiles/2 --global nonsense", 2, "--global nonsense: tiles/02_tiled is a rung"),
    ("run tiles/2 --local 8,8", 2, "--local 8,8: tiles/02_tiled is a rung"),
    ("roofline tiles/2 --order ccc", 2, "tilewright show 'tiles/02_tiled' > mine.cl"),
    ("inspect tiles/2 --order ccc", 2, "--order ccc: tiles/02_tiled is a rung"),
    ("run tiles/2 --problem copy", 2, "the rung tiles/02_tiled computes a gemm"),
    ("run tiles/2 --offset 3", 2, "--offset 3"),
    ("run tiles/2 -D TS=0", 2, "no setting of tiles/02_tiled is called 'TS'"),
    ("explain tiles/2 -D BM=0", 2, "BM=0: tiles/02_tiled has no geometry"),
    ("roofline tiles/2 -D BM=x", 2, "BM=x: a field of a configuration is a whole number"),
    ("inspect tiles/2 -D BM=-4", 2, "BM=-4: a field of a configuration is not negative"),
    ("inspect tiles/2 --arch sm_90 --diff BM=0", 2, "has no geometry"),
    ("explain tiles/2 -D BM=16", 1, "the tiles are not square: BM=16"),
    ("inspect tiles/2 --arch sm_90 -D NOPE=16", 2, "no setting of tiles/02_tiled is called 'NOPE'"),
    ("explain tiles/2 --sweep BK=32 --sweep NOPE=1,2", 2, "no setting of tiles/02_tiled is called 'NOPE'"),
    ("explain tiles/5 --sweep PAD=0,1 --pitch nope=16", 2, "no local array is called 'nope'"),
    (f"explain {OWN} --sweep NOPE=1,2", 2, "no macro of"),
    ("explain tiles/2 --sweep BK=32 --json", 2, "--json"),
    ("explain tiles/2 --pitch tile_a=33 --picture a.svg", 2, "--picture"),
    ("explain tensor/1 --dtype float32", 1, "tensor/01_plain_fma has no float32; it has float16"),
    ("inspect tensor/1 --arch sm_90 --dtype float32", 1, "tensor/01_plain_fma has no float32; it has float16"),
    ("inspect tiles/2 --arch sm_90 --device 0", 2, "--device 0"),
    ("inspect tiles/2 --arch sm_90 --sass --json", 2, "--sass"),
    ("run tiles/2 --backend cuda --build-option=-cl-mad-enable", 2, "-cl-mad-enable"),
    ("show 5", 2, "rows/05_private_row, tiles/05_transposed, transpose/05_tiled"),
    ("explain rows/0", 2, "rows/00_sequential[r-k-c]"),
    ("run tiles/2 --build-option=-DBM=8", 2, "give the settings of a rung by -D NAME=VALUE"),
    ("explain tiles/2 --build-option=-Ifolder", 2, "-Ifolder"),
    ("explain tiles/2 -D =3", 2, "write NAME=VALUE"),
    ("explain tiles/2 -D 'A B=3'", 2, "write NAME=VALUE"),
    # Kernels of one's own.
    ("explain nosuch.cl", 2, "no kernel file nosuch.cl"),
    ("run mine.c --global M,N --local 4,4", 2, "mine.c: kernel files must end in .cl"),
    ("run absent.cl --global M --local 4", 2, "no kernel file absent.cl"),
    ("run folder.cl --global M --local 4", 2, "folder.cl is a folder"),
    ("explain folder.cl", 2, "folder.cl is a folder"),
    ("inspect folder.cl", 2, "folder.cl is a folder"),
    ("run .", 2, ". is a folder"),
    ("explain others.cl --global N,M --local 4,4", 2, "--bind a=A,b=B,c=C"),
    ("explain badhead.cl", 2, "badhead.cl:2: "),
    ("run badhead.cl", 2, "badhead.cl:2: "),
    ("inspect badhead.cl", 2, "badhead.cl:2: "),
    ("roofline badhead.cl", 2, "badhead.cl:2: "),
    ("explain binary.cl --global M --local 4", 2, "zero bytes"),
    ("explain empty.cl --global M --local 4", 2, "holds no __kernel function"),
    (f"explain {OWN} --order ''", 2, "three letters"),
    (f"explain {OWN} --problem transpose --order rrr", 2, "--order rrr"),
    (f"explain {OWN} --problem nothing", 2, "no problem is called 'nothing'"),
    ("explain mine.cl --global M,N --local 4", 2, "must have the same 1 to 3 dimensions"),
    ("explain mine.cl --global M,N --local 100000,1", 2, "a work-group of 100,000 work-items"),
    ("explain mine.cl --global 99999999999999999999 --local 1", 2, "cannot be counted"),
    ("explain mine.cl --global M,N --local TS,TS -D TS=4 --sweep TS=0", 2, "has no geometry"),
    # Sizes and numbers.
    ("explain tiles/2 --size ''", 2, "512x256x128"),
    ("explain tiles/2 --size nan", 2, "512x256x128"),
    ("explain tiles/2 --size=-4", 2, "is negative"),
    ("explain tiles/2 --size 0", 2, "is empty"),
    ("run tiles/2 --size 0", 2, "--size 0"),
    ("run transpose/2 --size 0x4", 2, "--size 0x4"),
    ("inspect tiles/2 --arch sm_90 --size 0", 2, "--size 0"),
    ("explain tiles/2 --steps 0", 2, "at least 1"),
    ("explain tiles/2 --time-limit nan", 2, "not a number of seconds"),
    ("explain transpose/5 --size 8 --offset 9", 2, "is empty"),
    ("explain tiles/2 --size 100000000", 2, "ask for a smaller size"),
    ("explain tiles/2 --size 99999999999999999999999", 2, "ask for a smaller size"),
    ("explain tiles/2 --sweep BM=x", 2, "whole number"),
    ("explain tiles/2 --sweep BM=8,,", 2, "write NAME=VALUE,VALUE"),
    ("explain tiles/5 --pitch tile_b=x", 2, "whole numbers of at least 1"),
    ("ladder rows --sizes 8:4", 2, "write MIN:MAX"),
    ("accuracy --size 0x4x4", 2, "0x4x4"),
    ("accuracy --size 4x4", 2, "write MxNxK"),
    ("run tiles/2 --seconds nan", 2, "not a number of seconds"),
    ("bench --sustained=-1", 2, "not a number of seconds"),
    ("tune --candidates 0", 2, "at least 1"),
    ("plan 8 --batch=-1", 2, "at least 0"),
    ("plan abc", 2, "'abc' is not a size: write N or MxNxK"),
    ("accuracy --size abc", 2, "write MxNxK"),
    ("run transpose/5 --offset=-1", 2, "at least 0"),
    ("bench --sets ''", 2, "no benchmark set is called ''"),
    ("bench --sets first-calls", 2, "no benchmark set is called 'first-calls'"),
    ("bench --dtype nothing", 2, "no dtype is called 'nothing'"),
    ("tune --sets nothing", 2, "no benchmark set is called 'nothing'"),
    # Files that are to be written are looked at before anything is measured.
    ("ladder rows --json /nonexistent/a.json", 2, "no folder /nonexistent"),
    ("ladder --json /nonexistent/a.json", 2, "no folder /nonexistent"),
    ("run tiles/2 --json .", 2, "is a folder"),
    ("run tiles/2 --csv folder.cl", 2, "is a folder"),
    ("run tiles/2 --plot a.xyz", 2, "ends in .svg, .png, .pdf"),
    ("run tiles/2 --json a.json --csv a.json", 2, "both name a.json"),
    ("ladder --json tiles", 2, "--json: tiles"),
    ("explain --json tiles/2", 2, "--json: tiles/2"),
    ("explain tiles/2 --json /nonexistent/a.json", 2, "no folder /nonexistent"),
    ("inspect tiles/2 --arch sm_90 --json /nonexistent/a.json", 2, "no folder /nonexistent"),
    ("roofline tiles/2 --json /nonexistent/a.json", 2, "no folder /nonexistent"),
    ("compare ok.json ok.json --json /nonexistent/a.json", 2, "no folder /nonexistent"),
    ("devices --json /nonexistent/a.json", 2, "no folder /nonexistent"),
    ("doctor --json /nonexistent/a.json", 2, "no folder /nonexistent"),
    ("accuracy --json /proc/a.json --size 4x4x4", 2, "--json /proc/a.json"),
    ("compare ok.json ok.json --fail-below nan", 2, "'nan' is not a ratio"),
    ("plan 512x256", 2, "write N or MxNxK"),
    ("plan 3000000000", 2, "2^31 - 1"),
    ("plan 8x8x2147483648", 2, "2,147,483,647"),
    ("watch others.cl", 2, "others.cl is OpenCL C, and `watch` runs Python programs: `tilewright explain others.cl`"),
    ("show tiles", 2, "tiles/01_naive"),
    ("show 'my own.cl'", 2, "my own.cl is a file, and `show` shows rungs: `tilewright explain 'my own.cl'`"),
    ("show TILES/2 --nonsense", 2, "usage: tilewright show"),
    ("plot ok.json noext", 2, ".svg"),
    ("plot explained.json x.svg", 1, "`tilewright explain`"),
    ("plot accuracy.json x.svg", 1, "`tilewright accuracy`"),
    ("compare ok.json accuracy.json", 1, "`tilewright accuracy`"),
    ("bench --json /nonexistent/a.json", 2, "no folder /nonexistent"),
    ("accuracy --json . --size 4x4x4", 2, "is a folder"),
    ("roofline tiles/2 --plot a.xyz", 2, ".svg"),
    ("roofline tiles --local 16,16", 2, "--local"),
    ("roofline tiles -D BM=64", 2, "-D"),
    ("roofline tiles --arg n=4 --ragged", 2, "--arg --ragged: tiles is a whole ladder"),
    ("predict tiles -D BM=64 --entry k", 2, "-D --entry: tiles is a whole ladder"),
    ("roofline transpose --plot a.svg", 2, "--plot a.svg"),
    ("roofline ok.json --size 64", 2, "--size"),
    ("roofline transpose/5 --plot a.svg", 2, "--plot a.svg"),
    ("explain tiles/2 --picture a.png", 2, ".svg"),
    ("explain tiles/2 --html a.svg", 2, ".html"),
    ("explain tiles/2 --html /nonexistent/a.html", 2, "no folder /nonexistent"),
    ("explain tiles/2 --arch sm_80", 2, "--html"),
    ("explain tiles/2 --html a.html --pitch tile_a=" + ",".join(map(str, range(32, 97))), 2, "at most 64"),
    ("explain tiles/2 --picture /nonexistent/a.svg", 2, "no folder /nonexistent"),
    ("tune --output /nonexistent/a.json", 2, "no folder /nonexistent"),
    ("plot ok.json x.xyz", 2, ".pdf"),
    ("plot ok.json /nonexistent/x.svg", 2, "no folder /nonexistent"),
    # Records and pages.
    ("compare absent.json absent.json", 1, "absent.json cannot be read"),
    ("compare . .", 1, "cannot be read: it is not a file"),
    ("compare bad.json bad.json", 1, "bad.json"),
    ("compare still.json still.json", 1, "no measured row in common"),
    ("plot bad.json x.svg", 1, "bad.json"),
    ("report nothere.json", 1, "nothere.json cannot be read"),
    ("report .", 1, "it is not a file"),
    ("report plain.md", 1, "plain.md is not a record"),
    ("report binary.cl", 1, "binary.cl is not a record"),
    ("report bad.json -o bad.md", 2, "must end in .html"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with files of every kind."""
    (tmp_path / "mine.cl").write_text(MINE)
    (tmp_path / "mine.c").write_text(MINE)
    (tmp_path / "empty.cl").write_text("")
    (tmp_path / "binary.cl").write_bytes(b"\x7fELF\0\0\xff")
    (tmp_path / "folder.cl").mkdir()
    (tmp_path / "others.cl").write_text(OTHERS)
    (tmp_path / "badhead.cl").write_text(f"// A kernel.\n// tilewright: --globl N\n{MINE}")
    (tmp_path / "bad.json").write_text("{}")
    (tmp_path / "plain.md").write_text("nothing\n")
    save_record(RECORD, tmp_path / "ok.json")
    save_record(RECORD.__class__("t", "float32", RECORD.environment, None, (row("a", 0.0),)), tmp_path / "still.json")
    save_record(AccuracyRecord((4, 4, 4), RECORD.environment, ()), tmp_path / "accuracy.json")
    save_record([to_dict(explain("rows/1", 8))], tmp_path / "explained.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("line", "status", "words"), CASES, ids=[case[0] for case in CASES])
def test_wrong_input_ends_in_a_sentence(
    line: str, status: int, words: str, folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*_: object, **__: object) -> None:
        pytest.fail("a device was opened before the arguments were looked at")

    monkeypatch.setattr(opencl, "open_device", opened)
    monkeypatch.setattr(counterparts, "open_backends", opened)
    try:
        found = main(shlex.split(line))
    except SystemExit as refused:
        found = int(refused.code or 0)
    captured = capsys.readouterr()
    assert (found, captured.out) == (status, "")
    assert words in captured.err
    assert "Traceback" not in captured.err
    assert not (folder / "a").exists()


def test_devices_without_a_device_says_so(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr("tilewright.runtime.opencl.device.list_devices", tuple)
    assert main(["devices"]) == 1
    assert says(capsys.readouterr().err, "tilewright doctor")


def test_sizes_beyond_the_device_are_refused_before_the_host_allocates() -> None:
    small = DEVICE.__class__("Small", "Platform", global_bytes=1000)
    check_memory(Gemm(5, 5, 5), small)
    with pytest.raises(
        InvalidInput, match=r"(?=.*\b1,200\b)(?=.*Small \(Platform\).*\b1,000\b).*gemm 10x10x10 float32"
    ):
        check_memory(Gemm(10, 10, 10), small)


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (MemoryError("Unable to allocate 95 GiB"), 1, "Unable to allocate 95 GiB"),
        (MemoryError(), 1, "memory"),
        (RecursionError(), 1, "nested"),
        (PermissionError(errno.EACCES, "Permission denied", "a.json"), 1, "a.json: Permission denied"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_what_goes_wrong_inside_is_a_sentence_too(
    error: BaseException, status: int, words: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def fail(rung: str) -> None:
        raise error

    monkeypatch.setattr(kernels, "find_kernel", fail)
    assert main(["show", "tiles/2"]) == status
    assert words in capsys.readouterr().err
