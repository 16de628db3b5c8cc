"""Dumps of the Intercept Layer for OpenCL Applications: written here as its documentation and its run.py say, and replayed."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from struct import pack

import numpy as np
import pytest

from tilewright import replay
from tilewright.cli.main import main
from tilewright.errors import InvalidInput

SOURCE = """typedef struct { float scale; int shift; } change;
__kernel void moved(__global const float *x, __global float *y, __local float *t, const change c, const int n)
{
    int i = get_global_id(0), l = get_local_id(0);
    t[l] = x[i] * c.scale + c.shift;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n) y[i STRIDE] = t[l];
}
"""
X, Y = pack("<Q", 0x7F0011223344), pack("<Q", 0x7F0055667788)  # handles of buffers, as the program gave them
FILES: dict[str, bytes] = {
    "enqueueNumber.txt": b"12\n",
    "kernel.cl": SOURCE.encode() + b"\0",  # as long as the driver says, its end included
    "kernelName.txt": b"moved",
    "buildOptions.txt": b"-DSTRIDE=*1 -cl-mad-enable\n",
    "worksizes.txt": b"64 \n32 \n0 \n",
    "ArgumentDataTypes.txt": b"float*\nfloat*\nfloat*\nchange\nint\n",
    "Argument0.bin": X,
    "Argument1.bin": Y,
    "Local2.txt": b"128",
    "Argument3.bin": pack("<fi", 2.0, 3),
    "Argument4.bin": pack("<i", 64),
    "SVM_Arg_Offset_0.txt": b"0\n",
    "Pre/Enqueue_0012_Kernel_moved_Arg_0_Buffer_0003.bin": np.arange(64, dtype="<f4").tobytes(),
    "Pre/Enqueue_0012_Kernel_moved_Arg_1_Buffer_0004.bin": bytes(256),
    "Post/Enqueue_0012_Kernel_moved_Arg_1_Buffer_0004.bin": b"\xff" * 256,
    "DeviceBinary0.bin": b"\x7fELF",
    "run.py": b"raise SystemExit('never run')",
}
Dump = Callable[..., Path]


@pytest.fixture
def dump(tmp_path: Path) -> Dump:
    def make(changes: Mapping[str, bytes | None] | None = None, name: str = "Enqueue_12_moved") -> Path:
        """A dump with some files changed, or left out if None."""
        folder = tmp_path / "dump" / "Replay" / name
        for file, content in {**FILES, **(changes or {})}.items():
            if content is not None:
                target = folder / file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        return folder

    return make


def test_a_dump_is_explained_with_its_own_arguments(dump: Dump) -> None:
    (row,) = replay(dump()).launches
    assert (row.entry, row.ndrange, row.reason, row.faults) == ("moved", "64 by 32", "", 0)
    assert row.explanation is not None
    assert row.explanation.macros == {"STRIDE": "*1"}
    assert (row.useful_bytes, row.moved_bytes, row.conflicts) == (512, 512, 0)


def test_build_options_and_contents_decide(dump: Dump) -> None:
    (row,) = replay(dump({"buildOptions.txt": b"-D STRIDE=*4 \n"})).launches
    assert row.has("bounds")
    (row,) = replay(dump({"Argument4.bin": pack("<i", 8)}, "Enqueue_13_moved").parent / "Enqueue_13_moved").launches
    assert row.useful_bytes == 64 * 4 + 8 * 4


def test_older_dumps_keep_their_buffers_elsewhere(dump: Dump) -> None:
    gone: dict[str, bytes | None] = dict.fromkeys((each for each in FILES if each.startswith("P")), None)
    folder = dump({**gone, "kernelName.txt": None, "knlName.txt": b"moved", "SVM_Arg_Offset_0.txt": None})
    memory = folder.parent.parent / "memDumpPreEnqueue"
    memory.mkdir()
    for argument, content in ((0, bytes(256)), (1, bytes(256))):
        (memory / f"Enqueue_0012_Kernel_moved_Arg_{argument}_Buffer_0000.bin").write_bytes(content)
        (memory / f"Enqueue_0013_Kernel_moved_Arg_{argument}_Buffer_0000.bin").write_bytes(b"")
    (row,) = replay(folder).launches
    assert (row.reason, row.faults) == ("", 0)


def test_a_local_size_of_zeros_is_the_drivers_choice(dump: Dump) -> None:
    (row,) = replay(dump({"worksizes.txt": b"64 \n0 \n0 \n", "Local2.txt": b"256"})).launches
    assert (row.ndrange, row.reason) == ("64 by ?", "")
    assert "leaves the work-group to the driver" in row.notes[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kernel.cl": None}, "made from a binary or from SPIR-V"),
        ({"Argument4.bin": None, "Argument5.bin": b"1"}, "6 arguments were captured"),
        ({"Argument4.bin": None}, "4 arguments were captured"),
        ({"Argument3.bin": b"123"}, "of 8 bytes, but 3 were given"),
        ({"Argument3.bin": None}, "'c' has no file in the dump"),
        ({"Image_MetaData_0.txt": b"4\n", "Pre/Enqueue_0012_Kernel_moved_Arg_0_Buffer_0003.bin": None}, "'x' is an image"),
        ({"Local0.txt": b"8"}, "'x' was set to null and, at another time, to a buffer"),
        ({"Pre/Enqueue_0012_Kernel_moved_Arg_0_Buffer_0003.bin": None}, "'x' is a pointer, and 8 bytes were given"),
        ({"kernelName.txt": b"other"}, "other"),
    ],
)  # fmt: skip
def test_what_cannot_be_explained_has_a_reason(dump: Dump, changes: dict[str, bytes | None], words: str) -> None:
    (row,) = replay(dump(changes)).launches
    assert row.explanation is None
    assert words in row.reason


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"worksizes.txt": b"64 \n32 \n"}, "three lines of as many numbers"),
        ({"worksizes.txt": b"64 x\n32 \n0 \n"}, "numbers are needed"),
        ({"worksizes.txt": b""}, "it has none"),
        ({"worksizes.txt": b"64 1\n32\n0\n"}, "as many numbers"),
        ({"kernelName.txt": None}, "neither kernelName.txt nor knlName.txt"),
    ],
)
def test_a_broken_dump_is_told(
    dump: Dump, changes: dict[str, bytes | None], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = dump(changes)
    with pytest.raises(InvalidInput, match=words):
        replay(folder)
    assert main(["explain", "--replay", str(folder)]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_a_folder_of_dumps_is_a_table(dump: Dump, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    dump()
    dump({"buildOptions.txt": b"-DSTRIDE=*4"}, "Enqueue_9_moved")
    dump({"worksizes.txt": b"100 \n32 \n0 \n"}, "Enqueue_100_moved")
    file = tmp_path / "found.json"
    assert main(["explain", "--replay", str(tmp_path / "dump"), "--json", str(file)]) == 1
    text = capsys.readouterr().out
    assert "3 launches of 2 kernels" in text
    assert "not explained:" in text
    found = json.loads(file.read_text())
    assert [each["global_size"] for each in found["launches"]] == [[64], [64], [100]]


def test_one_dump_is_a_whole_report(dump: Dump, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--replay", str(dump())]) == 0
    text = capsys.readouterr().out
    assert text.startswith("moved.cl: moved, 64 by 32 work-items")
    assert "launch 1 of 1" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["explain"], "name a kernel"),
        (["explain", "--replay", "nowhere"], "there is no folder nowhere"),
        (["explain", "--replay", "."], "holds no dump"),
        (["explain", "tiles/2", "--replay", "."], "KERNEL beside --replay"),
        (["explain", "--size", "4", "--replay", "."], "--size beside --replay"),
        (["explain", "--arg", "n=4", "--ragged", "--replay", "."], "--arg --ragged beside --replay"),
        (["explain", "--steps", "4", "--source", "--replay", "."], "--steps --source beside --replay"),
    ],
)
def test_misuse_is_told(
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_arguments_of_one_handle_are_one_buffer(dump: Dump) -> None:
    from tilewright.analysis.captured.replay import read_dump
    from tilewright.core.captured import BufferValue

    values = read_dump(dump({"Argument1.bin": X})).capture().values
    first, second = values[0], values[1]
    assert isinstance(first, BufferValue)
    assert isinstance(second, BufferValue)
    assert first.memory == second.memory
