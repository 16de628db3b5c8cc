"""Parts of wgmma/main_loop.cl that need none of its instructions, on every driver: who computes what, and how rows leave."""

from pathlib import Path

import numpy as np
import pytest

from tilewright.core.includes import with_includes
from tilewright.core.kernel import KERNELS, PRELUDE, NDRange
from tilewright.core.source import parse_signature, read_source
from tilewright.runtime.opencl.device import Device

WGMMA = KERNELS / "product" / "wgmma"
MOST_SHARES = 16
# Writes down the shares of each work-group: tile, first step, steps, part.
SHARES = f"""
__kernel void entry(const int tiles_m, const int tiles_n, const int steps, const int whole, const int tiles, __global int* found)
{{
    const Grid grid = {{tiles_m, tiles_n, steps, whole, tiles - whole, get_group_id(0), get_num_groups(0)}};
    __global int* own = found + get_group_id(0) * {MOST_SHARES} * 4;
    for (WorkTile share = first_work(grid); share.steps > 0; share = next_work(grid, share), own += 4)
        own[0] = share.tile, own[1] = share.first, own[2] = share.steps, own[3] = share.part;
}}
"""
PLACES = """
__kernel void entry(const int tiles_m, const int tiles_n, __global int* found)
{
    const Grid grid = {tiles_m, tiles_n, 1, 0, 0, 0, 1};
    const Origin place = origin_of(grid, get_group_id(0));
    __global int* own = found + get_group_id(0) * 3;
    own[0] = place.m, own[1] = place.n, own[2] = place.matrix;
}
"""
# Each share of each work-group of clusters of two: row, column, steps, and the place of partial tiles, or -1.
CLUSTERED = f"""
__kernel void entry(const int tiles_m, const int tiles_n, const int whole, __global int* found)
{{
    const Grid grid = {{tiles_m, tiles_n, 9, whole, tiles_m * tiles_n - whole, get_group_id(0) / CLUSTER,
                       get_num_groups(0) / CLUSTER, get_group_id(0) % CLUSTER}};
    __global int* own = found + get_group_id(0) * {MOST_SHARES} * 5;
    for (WorkTile work = first_work(grid); work.steps > 0; work = next_work(grid, work), own += 5) {{
        const Origin place = origin_of(grid, work.tile);
        own[0] = place.m, own[1] = place.n, own[2] = work.steps;
        own[3] = work.tile < whole ? -1 : tail_tile(grid, work);
    }}
}}
"""
# One warp, and the slab as it lies in memory.
ROWS = """
__kernel void entry(const int M, const int N, const int offset, const int c_row, const __global uint* slab, __global RESULT* C)
{
    __local uint lines[16 * LINE / 4];
    for (int i = get_local_id(0); i < 16 * LINE / 4; i += 32)
        lines[i] = slab[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    store_rows((const __local uchar*)lines, (int2)(2, 1), M + 2, N + 1, C + offset - 2 * c_row - 1, c_row, get_local_id(0));
}
"""


def run(device: Device, file: Path, macros: dict[str, str | int], entry: str, groups: int, items: int,
        output: np.ndarray, *arguments: int | np.ndarray) -> np.ndarray:  # fmt: skip
    """What the kernel `entry`, behind the functions of `file`, leaves in the output."""
    defines = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    text = "\n".join((defines, read_source(PRELUDE / "opencl.cl"), with_includes(read_source(file), file, {}), entry))
    kernel = device.build(text, file.stem, parse_signature(text, file.stem, "entry"), "float32").new_kernel()
    buffers = [device.allocate(each.nbytes) for each in (*arguments, output) if isinstance(each, np.ndarray)]
    arrays = [each for each in (*arguments, output) if isinstance(each, np.ndarray)]
    for buffer, array in zip(buffers, arrays, strict=True):
        device.write(buffer, array)
    kernel.set_args(*(np.int32(each) for each in arguments if not isinstance(each, np.ndarray)), *buffers)
    device.launch(kernel, NDRange((groups * items,), (items,)), "entry")
    device.finish("entry")
    return device.read(buffers[-1], output.size, output.dtype).reshape(output.shape)


@pytest.mark.parametrize(
    ("tiles", "groups", "split"), [((5, 5), 12, 12), ((5, 3), 4, 1), ((3, 6), 13, 2), ((4, 4), 5, 5), ((7, 2), 6, 3)]
)
def test_each_step_of_each_tile_has_one_group(tiles: tuple[int, int], groups: int, split: int, device: Device) -> None:
    count, steps, macros = (
        tiles[0] * tiles[1],
        21,
        {
            "STAGES": 4,
            "BM": 32,
            "BN": 64,
            "GROUP_M": 3,
            "ONE_WAVE": 0,
            "ODD_ROW_LEAD": 0,
            "CLUSTER_M": 1,
            "CLUSTER_N": 1,
        },
    )
    whole = count // groups * groups if split > 1 else count
    output = np.full((groups, MOST_SHARES, 4), -1, np.int32)
    shares = run(
        device,
        WGMMA / "scheduler.cl",
        {**macros, "TAIL_SPLIT": split},
        SHARES,
        groups,
        1,
        output,
        *tiles,
        steps,
        whole,
        count,
    )
    done = np.zeros((count, steps), int)
    parts: dict[int, list[int]] = {tile: [] for tile in range(whole, count)}
    for own in shares:
        own = own[own[:, 0] >= 0]
        assert (own[:-1, 0] < whole).all(), "who waits for others must have nothing else to do for them"
        for tile, first, length, part in own:
            done[tile, first : first + length] += 1
            if tile >= whole:
                parts[tile].append(part)
    assert (done == 1).all()
    assert all(sorted(each) == list(range(split)) for each in parts.values())


@pytest.mark.parametrize("early", [0, 8])
def test_every_tile_has_a_place_of_its_own(early: int, device: Device) -> None:
    macros: dict[str, str | int] = {
        "STAGES": 4,
        "BM": 32,
        "BN": 64,
        "GROUP_M": 3,
        "ONE_WAVE": 0,
        "TAIL_SPLIT": 1,
        "ODD_ROW_LEAD": early,
        "CLUSTER_M": 1,
        "CLUSTER_N": 1,
    }
    output = np.full((2 * 5 * 4, 3), -1, np.int32)
    places = run(device, WGMMA / "scheduler.cl", macros, PLACES, len(output), 1, output, 5, 4)
    assert {tuple(each) for each in places.tolist()} == {
        (m * 32, n * 64, b) for m in range(5) for n in range(4) for b in (0, 1)
    }
    band = places[: 3 * 4]
    assert len({(b, m) for m, _, b in band.tolist()}) == 3  # rows of tiles that are computed together
    assert len({b for _, _, b in band.tolist()}) == (2 if early else 1)


@pytest.mark.parametrize(("down", "across"), [(2, 1), (1, 2)])
def test_work_groups_of_a_cluster_have_neighbouring_tiles_and_equal_shares(
    down: int, across: int, device: Device
) -> None:
    macros: dict[str, str | int] = {"BM": 32, "BN": 64, "GROUP_M": 3, "ONE_WAVE": 0, "TAIL_SPLIT": 3, "ODD_ROW_LEAD": 0}
    macros |= {"CLUSTER_M": down, "CLUSTER_N": across}
    clusters, groups, whole = (5, 4), 6, 18
    output = np.full((2 * groups, MOST_SHARES, 5), -1, np.int32)
    found = run(device, WGMMA / "scheduler.cl", macros, CLUSTERED, len(output), 1, output, *clusters, whole)
    first, second = found[0::2], found[1::2]
    assert (first[:, :, 2] == second[:, :, 2]).all()  # steps
    assert (second - first)[first[:, :, 2] > 0, :2].tolist() == [[32 * (down - 1), 64 * (across - 1)]] * int(
        (first[:, :, 2] > 0).sum()
    )
    done = found[found[:, :, 2] > 0]
    tiles = {(m, n) for m, n, *_ in done.tolist()}
    assert tiles == {(m * 32, n * 64) for m in range(5 * down) for n in range(4 * across)}
    tail = done[done[:, 3] >= 0]
    places = {(m, n): tail[(tail[:, 0] == m) & (tail[:, 1] == n)][:, 3] for m, n in tail[:, :2].tolist()}
    assert all(
        len(each) == 3 and len(set(each)) == 1 for each in places.values()
    )  # three parts, one place for their sums
    assert sorted(each[0] for each in places.values()) == list(range(2 * (20 - whole)))


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
@pytest.mark.parametrize(("m", "n", "c_row", "offset"), [
    (16, 64, 64, 0), (16, 64, 65, 0), (16, 64, 65, 1), (13, 63, 67, 2), (16, 1, 3, 1), (1, 2, 2, 1), (16, 31, 31, 3),
    (5, 100, 101, 0),
])  # fmt: skip
def test_rows_leave_wherever_they_begin(dtype: type, m: int, n: int, c_row: int, offset: int, device: Device) -> None:
    """Every element in its place, and nothing between them touched."""
    size = np.dtype(dtype).itemsize
    columns = 128 // size
    slab: np.ndarray = np.random.default_rng(1).integers(0, 2 ** (8 * size), (16, columns)).astype(dtype)
    pieces = slab.reshape(16, 8, 16 // size)
    permuted = np.take_along_axis(pieces, (np.arange(8) ^ np.arange(16)[:, None] % 8)[:, :, None], 1)
    macros: dict[str, str | int] = {"STAGED": 4, "RESULT_BYTES": size, "RESULT": {2: "ushort", 4: "uint"}[size]}
    macros |= {"LINE": 128, "SLAB": columns, "SLAB_WARPS": 1, "WARP_ROWS": 16}
    output: np.ndarray = np.full(offset + 16 * c_row + 128, 7, dtype)
    slab_words = np.ascontiguousarray(permuted).view(np.uint32).ravel()
    got = run(device, WGMMA / "store_rows.cl", macros, ROWS, 1, 32, output.copy(), m, n, offset, c_row, slab_words)
    width = min(n, columns)
    for row in range(m):
        output[offset + row * c_row :][:width] = slab[row, :width]
    assert (got == output).all()
