"""The GPU's copies and transposes on every driver, bit by bit, with what lies between their rows: strides, offsets, batches."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tilewright.core.kernel import Kernel
from tilewright.core.operands import Layout
from tilewright.core.plan import plan_kernel
from tilewright.core.types import element_type
from tilewright.errors import Unsupported
from tilewright.kernels.copy import COPY, COPY_UNALIGNED, TRANSPOSE, TRANSPOSE_UNALIGNED, StridedCopy, nearest
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import LoadedPlan

SHAPES = ((1, 1), (1, 7), (7, 1), (3, 5), (4, 4), (31, 33), (64, 128), (127, 125), (128, 126), (130, 257), (263, 131))
GAPS = (0, 1, 2, 3, 16)
SIZES = ("int8", "float16", "float32", "float64", "complex128")  # of one byte to 16


def random_side(generator: np.random.Generator, rows: int, columns: int, batch: int, by_rows: bool) -> Layout:
    """A layout with a random offset, and random gaps between its lines and between its matrices."""
    lines, length = (rows, columns) if by_rows else (columns, rows)
    stride = length + int(generator.choice(GAPS))
    offset, matrix = int(generator.choice(GAPS)), lines * stride + int(generator.choice(GAPS))
    return Layout(offset, stride if by_rows else 1, 1 if by_rows else stride, matrix if batch > 1 else 0)


def elements(side: Layout, move: StridedCopy) -> int:
    last = (move.rows - 1) * side.row + (move.columns - 1) * side.column + (move.batch - 1) * side.batch
    return side.offset + last + 1


def seen(flat: np.ndarray, side: Layout, move: StridedCopy) -> np.ndarray:
    strides = [stride * flat.itemsize for stride in (side.batch, side.row, side.column)]
    return np.lib.stride_tricks.as_strided(flat[side.offset :], (move.batch, move.rows, move.columns), strides)


def assert_moves(kernel: Kernel, move: StridedCopy, device: Device) -> None:
    """Elements arrive, and all that lies between them stays as it was."""
    size = element_type(move.dtype).itemsize
    generator = np.random.default_rng(move.rows * 1000 + move.columns)
    source, target = (
        generator.integers(0, 256, elements(side, move) * size, np.uint8).view(f"V{size}")
        for side in (move.source, move.target)
    )
    buffers = {}
    for name, array in (("input", source), ("output", target)):
        buffers[name] = device.allocate(array.nbytes)
        device.write(buffers[name], array.view(np.uint8))
    loaded = LoadedPlan(plan_kernel(replace(kernel, smaller=()), move, device.info), device)
    loaded.bind(buffers)
    loaded.enqueue()
    device.finish("move")
    expected = target.copy()
    seen(expected, move.target, move)[...] = seen(source, move.source, move)
    assert device.read(buffers["output"], target.nbytes, np.dtype(np.uint8)).tobytes() == expected.tobytes(), move


@pytest.mark.parametrize(
    ("kernel", "dtype"),
    [*((COPY_UNALIGNED, dtype) for dtype in SIZES[:2]), *((TRANSPOSE_UNALIGNED, dtype) for dtype in SIZES)],
    ids=lambda each: each if isinstance(each, str) else each.name,
)
def test_wherever_lines_begin(kernel: Kernel, dtype: str, device: Device) -> None:
    generator, moved = np.random.default_rng(3), 0
    for (rows, columns), batch in product(SHAPES, (1, 3)):
        for _ in range(3):
            source = random_side(generator, rows, columns, batch, kernel is COPY_UNALIGNED)
            move = StridedCopy(rows, columns, dtype, source, random_side(generator, rows, columns, batch, True), batch)
            if nearest(move).source == kernel.source:
                assert_moves(kernel, move, device)
                moved += 1
    assert moved > len(SHAPES)


@pytest.mark.parametrize("dtype", SIZES)
@pytest.mark.parametrize("kernel", [COPY, TRANSPOSE], ids=lambda kernel: kernel.name)
def test_vectors_of_every_width(kernel: Kernel, dtype: str, device: Device) -> None:
    generator = np.random.default_rng(4)
    for (rows, columns), batch in product(SHAPES, (1, 3)):
        source, target = (random_side(generator, rows, columns, batch, bool(generator.integers(2))) for _ in range(2))
        assert_moves(kernel, StridedCopy(rows, columns, dtype, source, target, batch), device)


def test_what_has_no_words_is_refused(device: Device) -> None:
    dense = Layout(0, 16, 1)
    for move, reason in (
        (StridedCopy(3, 3, "float32", Layout(1, 3, 1), Layout(0, 3, 1)), r"\b4 bytes"),
        (StridedCopy(3, 3, "complex128", Layout(1, 3, 1), Layout(0, 3, 1)), r"\b16 bytes"),
        (StridedCopy(16, 16, "int8", dense, dense), "words"),
        (StridedCopy(5, 5, "int8", Layout(0, 10, 2), Layout(0, 5, 1)), r"\b2\b"),
        (StridedCopy(5, 5, "int8", Layout(20, -5, 1), Layout(0, 5, 1)), "-5"),
    ):
        assert nearest(move) is COPY
        with pytest.raises(Unsupported, match=reason):
            plan_kernel(replace(COPY_UNALIGNED, smaller=()), move, device.info)


def test_what_the_turn_by_sectors_refuses(device: Device) -> None:
    wide = Layout(0, 2**24, 1)
    for move, reason in (
        (StridedCopy(64, 64, "float32", Layout(0, 64, 1), Layout(0, 1, 64)), r"\b16 bytes"),
        (StridedCopy(16, 16, "int8", Layout(0, 16, 1), Layout(0, 1, 16)), r"\b16 bytes"),
        (StridedCopy(5, 5, "float64", Layout(0, 10, 2), Layout(0, 1, 5)), r"source.*\b2\b"),
        (
            StridedCopy(5, 5, "int8", Layout(20, -5, 1), Layout(0, 1, 5)),
            "source.*-5",
        ),
        (
            StridedCopy(5, 5, "int8", Layout(0, 5, 1), Layout(20, 1, -5)),
            "target.*-5",
        ),
        (StridedCopy(3, 2**23, "float64", wide, Layout(0, 1, 3)), r"131,073.*\b64\b.*65,535"),
    ):
        assert nearest(move) is TRANSPOSE
        with pytest.raises(Unsupported, match=reason):
            plan_kernel(replace(TRANSPOSE_UNALIGNED, smaller=()), move, device.info)


def test_whole_vectors_that_begin_in_the_middle_of_a_sector() -> None:
    assert nearest(StridedCopy(68, 68, "float32", Layout(0, 68, 1), Layout(0, 1, 68))) is TRANSPOSE_UNALIGNED
    assert nearest(StridedCopy(72, 72, "float32", Layout(0, 72, 1), Layout(0, 1, 72))) is TRANSPOSE
