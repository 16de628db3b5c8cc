"""What drawings of matrices are made of: the elements that a work-group touches, computed a second way."""

from itertools import product

import numpy as np
import pytest

from tilewright.analysis.explain.models import find_model
from tilewright.analysis.matrix_drawings.array_layout import held_arrays, lines_of, marks_of
from tilewright.analysis.matrix_drawings.matrices import NOWHERE
from tilewright.analysis.matrix_drawings.observe import Observed, observe
from tilewright.analysis.matrix_drawings.register_tile import used
from tilewright.analysis.matrix_drawings.sizes import drawn_problem, small_config
from tilewright.core.problems import make_problem
from tilewright.errors import InvalidInput
from tilewright.kernels import find_kernel

NVIDIA, CPU = find_model("nvidia"), find_model("cpu")
Cells = set[tuple[int, int]]


def block(rows: range, columns: range) -> Cells:
    return set(product(rows, columns))


def seen(
    name: str, size: tuple[int, ...], group: tuple[int, int, int], small: bool = True, rules: str = "nvidia"
) -> Observed:
    kernel = find_kernel(name)
    config = small_config(kernel) if small else kernel.config
    return observe(kernel, make_problem(kernel, size), config=config, group=group, model=find_model(rules))


def test_tiled_reads_a_tile_of_each_operand_in_each_step() -> None:
    own = seen("tiles/02", (24, 24, 32), (1, 2, 0))
    assert own.steps == [0, 1, 2, 3]
    for step in own.steps:
        k = range(8 * step, 8 * step + 8)
        assert own.touched("A", step=step) == block(range(8, 16), k)
        assert own.touched("B", step=step) == block(k, range(16, 24))
    assert own.touched("C") == block(range(8, 16), range(16, 24))


def test_a_transposed_copy_is_drawn_as_the_matrix_that_it_holds() -> None:
    own = seen("tiles/06", (128, 128, 64), (0, 1, 0))
    assert own.matrices["BT"].title == "B, in BT"
    assert own.matrices["BT"].along_rows
    assert not own.matrices["A"].along_rows
    assert own.touched("B", step=2) == block(range(32, 48), range(64, 128))
    item = own.items // 2 + 3  # local id (3, 4)
    assert own.touched("C", item=item) == block(range(3, 64, 8), range(64 + 4, 128, 8))
    at_k = {cell for cell in used(own, range(item, item + 1), 1)["A"] if cell[1] == 16}
    assert at_k == block(range(3, 64, 8), range(16, 17))


def test_prefetched_tiles_are_used_a_step_after_they_are_loaded() -> None:
    own = seen("tiles/09", (128, 128, 32), (0, 0, 0))
    assert own.touched("A", step=2) == block(range(64), range(16, 24))
    assert used(own, range(own.items), 2)["A"] == block(range(64), range(8, 16))


def test_rows_are_read_by_columns_in_step() -> None:
    own = seen("rows/03", (24, 24, 16), (2, 1, 0))
    for k in (0, 1, 15):
        assert own.touched("A", step=k) == block(range(16, 24), range(k, k + 1))
        assert own.touched("B", step=k) == block(range(k, k + 1), range(8, 16))


@pytest.mark.parametrize(("order", "a", "b", "c"), [
    ("r-c-k", (1, 8), (8, 1), (1, 1)), ("r-k-c", (1, 1), (1, 8), (1, 8)), ("k-c-r", (8, 1), (1, 1), (8, 1)),
])  # fmt: skip
def test_loops_of_one_macro_are_told_apart(
    order: str, a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]
) -> None:
    own = seen(f"rows/00_sequential[{order}]", (8, 8, 8), (0, 0, 0), rules="cpu")
    assert len(own.steps) == 64
    for name, shape in (("A", a), ("B", b), ("C", c)):
        cells = own.touched(name, step=own.steps[9])
        assert (len({row for row, _ in cells}), len({column for _, column in cells})) == shape


def test_transposes_write_what_they_read() -> None:
    for name in ("transpose/04", "transpose/05", "transpose/08_vectors[4x4]"):
        kernel = find_kernel(name)
        config = small_config(kernel)
        own = observe(kernel, drawn_problem(kernel, config), config=config, model=NVIDIA)
        read = own.touched("input")
        assert read
        assert own.touched("output") == {(column, row) for row, column in read}


@pytest.mark.parametrize("name", ["tensor/02", "tensor/04", "tensor/05"])
def test_tensor_rungs_read_tiles_however_they_are_copied(name: str) -> None:
    own = seen(name, (256, 256, 96), (1, 0, 0), small=False)
    k = range(32, 64)
    assert own.touched("A", step=1) == block(range(128), k)
    assert own.touched("B", step=1) == block(k, range(128, 256))
    if name != "tensor/05":
        assert own.touched("A", step=1, item=0) == block(range(1), range(32, 40)) | block(range(64, 65), range(32, 40))


def test_a_padded_tile_holds_its_rows_and_unwritten_words() -> None:
    own = seen("transpose/06", (64, 64), (1, 0, 0), small=False)
    (held,) = held_arrays(own)
    assert held.row == 33
    places = held.places.reshape(32, 33, 2)
    for row, column in product(range(32), range(32)):
        assert tuple(places[row, column]) == (row, 32 + column)
    assert (held.which.reshape(32, 33)[:, 32] == NOWHERE).all()


def test_the_words_of_a_conflict_lie_in_one_bank() -> None:
    own = seen("known_bad/03", (32, 32), (0, 0, 0), small=False)
    worst = max((each for each in own.explanation.accesses if each.is_local), key=lambda each: each.degree)
    marks = marks_of(worst, NVIDIA)
    words = [address // 4 for address in worst.worst.addresses if address is not None]
    assert {word for word, mark in marks.items() if mark.conflict} == {
        word for word in words if sum(other % 32 == word % 32 for other in set(words)) > 1
    }
    assert {word: mark.lanes for word, mark in marks.items()} == {
        word: tuple(lane for lane, other in enumerate(words) if other == word) for word in words
    }


@pytest.mark.parametrize("name", ["tensor/03", "tensor/05"])
def test_swizzled_tiles_hold_their_pieces_in_another_order(name: str) -> None:
    own = seen(name, (128, 128, 32), (0, 0, 0), small=False)
    held = next(each for each in held_arrays(own) if each.array == "tile_a")
    places = held.places.reshape(-1, 32, 2)
    for row, k in product((0, 1, 2, 7, 127), range(32)):
        assert tuple(places[row, k ^ (row // 2 % 4 * 8)]) == (row, k)
    assert all(line.chunk == 8 for line in lines_of(held, 32))


def test_wgmma_tiles_are_swizzled_by_128_bytes() -> None:
    own = seen("tensor/06", (128, 128, 128), (0, 0, 0), small=False)
    held = next(each for each in held_arrays(own) if each.array == "tile_b")
    places = held.places.reshape(-1, 64, 2)
    for column, k in product((0, 1, 5, 127), range(64)):
        assert tuple(places[column, k ^ (column % 8 * 8)]) == (k, column)


def test_a_packed_block_holds_its_panels_one_after_the_other() -> None:
    kernel = find_kernel("cpu/05")
    config = small_config(kernel)
    own = observe(kernel, drawn_problem(kernel, config), config=config, model=CPU)
    held = next(each for each in held_arrays(own) if each.array == "block")
    depth, panel = config.KC, config.NV * config.vector_bytes // 4  # type: ignore[attr-defined]
    columns = sorted({column for _, column in own.touched("C")})
    first_k = int(held.places[0, 0])
    for panels, k, column in product(range(len(columns) // panel), range(depth), range(panel)):
        at = panels * panel * depth + k * panel + column
        assert tuple(held.places[at]) == (first_k + k, columns[panels * panel + column])


def test_fragments_are_those_of_ptx() -> None:
    own = seen("tensor/03", (128, 128, 32), (0, 0, 0), small=False)
    layout = own.recorders[0].products[0].layout
    a, b, c = (part.lanes(shape) for part, shape in ((layout.a, (16, 16)), (layout.b, (16, 8)), (layout.sums, (16, 8))))
    for row, k in product(range(16), range(16)):
        assert a[row, k] == row % 8 * 4 + k % 8 // 2
    for k, column in product(range(16), range(8)):
        assert b[k, column] == column * 4 + k % 8 // 2
        assert c[k, column] == k % 8 * 4 + column // 2
    first = own.recorders[0].products[0]
    numbers = np.ascontiguousarray(layout.a.gather(first.a, (16, 16))[0]).view(np.uint16).astype(np.int64) - 1
    assert (numbers == np.arange(16)[:, None] * 32 + np.arange(16)).all()


def test_a_work_group_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"no work-group \(3, 0, 0\) of tiles/02_tiled"):
        seen("tiles/02", (24, 24, 32), (3, 0, 0))
