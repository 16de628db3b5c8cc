"""Images, samplers and null pointers in dumps of the Intercept Layer, written here as its sources and its run.py say."""

from collections.abc import Callable, Mapping
from pathlib import Path
from struct import pack

import numpy as np
import pytest

from tilewright import replay
from tilewright.analysis.captured.arguments import arguments_of
from tilewright.analysis.captured.replay import read_dump
from tilewright.analysis.explain import explain_source
from tilewright.analysis.explain.clc import parse_program
from tilewright.core.build_options import read_options

SOURCE = """__kernel void look(read_only image2d_t picture, sampler_t how, __global float4 *y, __global float *maybe)
{
    int i = get_global_id(0);
    y[i] = read_imagef(picture, how, (float2)(i * STEP, 0.5f)) + (maybe ? maybe[0] : 0);
}
"""
TEXELS = np.arange(8 * 2 * 4, dtype=np.uint8)
METADATA = b"8\n2\n1\n4\n32\n0\n%d\n%d\n%d" % (0x10D2, 0x10B5, 0x10F1)  # UNORM_INT8, RGBA, a 2D image
SAMPLER = (
    b"CL_SAMPLER_NORMALIZED_COORDS = CL_FALSE, CL_SAMPLER_ADDRESSING_MODE = CL_ADDRESS_CLAMP_TO_EDGE, "
    b"CL_SAMPLER_FILTER_MODE = CL_FILTER_NEAREST"
)
RAW = "Pre/Enqueue_0003_Kernel_look_Arg_0_Image_0001_8x2x1_32bpp.raw"
FILES: dict[str, bytes] = {
    "enqueueNumber.txt": b"3\n",
    "kernel.cl": SOURCE.encode() + b"\0",
    "kernelName.txt": b"look",
    "buildOptions.txt": b"-DSTEP=1 \n",
    "worksizes.txt": b"8 \n8 \n0 \n",
    "Argument0.bin": pack("<Q", 0x7F0000000010),
    "Argument1.bin": pack("<Q", 0x7F0000000020),
    "Argument2.bin": pack("<Q", 0x7F0000000030),
    "Argument3.bin": bytes(8),
    "Image_MetaData_0.txt": METADATA,
    "Sampler1.txt": SAMPLER,
    "SVM_Arg_Offset_2.txt": b"0\n",
    RAW: TEXELS.tobytes(),
    "Pre/Enqueue_0003_Kernel_look_Arg_2_Buffer_0002.bin": bytes(128),
}
Dump = Callable[..., Path]


@pytest.fixture
def dump(tmp_path: Path) -> Dump:
    def make(changes: Mapping[str, bytes | None] | None = None) -> Path:
        """A dump with some files changed, or left out if None."""
        folder = tmp_path / "Replay" / "Enqueue_3_look"
        for file, content in {**FILES, **(changes or {})}.items():
            if content is not None:
                target = folder / file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        return folder

    return make


def result(folder: Path) -> np.ndarray:
    """What the launch leaves in y, which reports do not keep."""
    (row,) = replay(folder).launches
    assert (row.reason, row.faults) == ("", 0)
    launch = read_dump(folder).capture()
    assert launch.kernel.source is not None
    macros = read_options(launch.kernel.options).macros
    function = parse_program(launch.kernel.source, "look.cl", macros).functions["look"]
    found = explain_source(
        launch.kernel.source, macros=macros, global_size=launch.global_size, local_size=launch.local_size or (),
        arguments=arguments_of(function, launch.values), groups="all",
    )  # fmt: skip
    return found.outputs["y"].view(np.float32).reshape(8, 4)


def test_an_image_is_read_through_its_sampler(dump: Dump) -> None:
    np.testing.assert_allclose(result(dump()), TEXELS[:32].reshape(8, 4) / np.float32(255), rtol=1e-6)


def test_the_sampler_decides(dump: Dump) -> None:
    """With normalized coordinates every odd half step is the middle between two texels, and 1 + x is x."""
    words = b"CL_SAMPLER_NORMALIZED_COORDS = CL_TRUE, CL_SAMPLER_ADDRESSING_MODE = CL_ADDRESS_REPEAT"
    found = result(dump({"Sampler1.txt": words, "buildOptions.txt": b"-DSTEP=(1+0.125f)+0.0625f \n"}))
    places = np.floor((np.arange(8) * np.float32(1.125) + np.float32(0.0625)) % 1 * 8).astype(int)
    np.testing.assert_allclose(found, TEXELS.reshape(2, 8, 4)[1][places] / np.float32(255), rtol=1e-6)


@pytest.mark.parametrize("words", [b"NULL", b"", b"CL_SAMPLER_LOD_MIN = 0.00"])
def test_what_a_sampler_does_not_say_is_opencls_default(dump: Dump, words: bytes) -> None:
    """Normalized, clamped and nearest: beyond 1 lies the border."""
    found = result(dump({"Sampler1.txt": words}))
    assert found[0].any()
    assert not found[2:].any()


def test_an_image_of_one_dimension_is_dumped_as_a_flat_one(dump: Dump) -> None:
    source = SOURCE.replace("image2d_t", "image1d_t").replace("(float2)(i * STEP, 0.5f)", "(float)i")
    metadata = b"16\n1\n1\n4\n64\n0\n%d\n%d\n%d" % (0x10D2, 0x10B5, 0x10F1)
    found = result(dump({"kernel.cl": source.encode(), "Image_MetaData_0.txt": metadata}))
    np.testing.assert_allclose(found, TEXELS[:32].reshape(8, 4) / np.float32(255), rtol=1e-6)


def test_older_dumps_keep_texels_elsewhere(dump: Dump) -> None:
    gone: dict[str, bytes | None] = dict.fromkeys((each for each in FILES if each.startswith("Pre/")), None)
    folder = dump(gone)
    memory = folder.parent.parent / "memDumpPreEnqueue"
    memory.mkdir()
    for name in gone:
        (memory / Path(name).name).write_bytes(FILES[name])
    np.testing.assert_allclose(result(folder), TEXELS[:32].reshape(8, 4) / np.float32(255), rtol=1e-6)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({RAW: None}, "'picture' is an image whose texels are not in the dump"),
        ({RAW: bytes(60)}, "is an image of 8x2x1 texels of 4 bytes, but Enqueue_0003_"),
        ({"Image_MetaData_0.txt": b"8\n2\n1\n4"}, "its metadata has 4 numbers instead of 9"),
        ({"Image_MetaData_0.txt": METADATA.replace(b"4277", b"9")}, "a kind or format that is not known here (order 0x9"),
        ({"Image_MetaData_0.txt": METADATA.replace(b"4277", b"4289")}, "an image of sRGBA UNORM_INT8 is not interpreted"),
        ({"Image_MetaData_0.txt": None}, "'picture' is an image whose format is not in the dump"),
        ({"Sampler1.txt": None}, "'how' is of type sampler_t, and only its handle was captured"),
        ({"Sampler1.txt": b"nonsense"}, "is a sampler whose properties cannot be read: 'nonsense'"),
        ({"Sampler1.txt": SAMPLER.replace(b"NEAREST", b"CUBIC")}, "is a sampler with properties that are not known here"),
    ],
)  # fmt: skip
def test_what_a_dump_does_not_hold_has_a_sentence(dump: Dump, changes: dict[str, bytes | None], words: str) -> None:
    (row,) = replay(dump(changes)).launches
    assert row.explanation is None
    assert words in row.reason


STALE = "Pre/Enqueue_0003_Kernel_look_Arg_3_Buffer_0007.bin"
LOOKS = SOURCE.replace("maybe ? maybe[0] : 0", "maybe[0]")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"Argument3.bin": None, "Local3.txt": b"8"},  # clSetKernelArg(kernel, 3, 8, NULL)
        {"Local3.txt": b"8"},
        {STALE: b"\1" * 64, "SVM_Arg_Offset_3.txt": b"0\n"},  # a buffer before, and now null
    ],
)
def test_an_argument_set_to_null_is_a_null_pointer(dump: Dump, changes: dict[str, bytes | None]) -> None:
    np.testing.assert_allclose(result(dump(changes)), TEXELS[:32].reshape(8, 4) / np.float32(255), rtol=1e-6)
    (row,) = replay(dump({**changes, "kernel.cl": LOOKS.encode()})).launches
    assert row.faults
    assert row.has("null")
