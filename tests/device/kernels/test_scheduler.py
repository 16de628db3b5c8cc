"""product/scheduler.cl on every driver: each panel of each tile is multiplied by exactly one work-group, in the order of k."""

import numpy as np
import pytest

from tilewright.core.kernel import KERNELS, PRELUDE, NDRange
from tilewright.core.source import parse_signature, read_source
from tilewright.runtime.opencl.device import Device

MOST_PARTS = 64

# Writes down the parts that each work-group computes: tile, first panel, the panel where it ends.
RECORDER = """
__kernel void record(const int whole, const int tiles, const int steps, __global int* parts)
{
    Work work = before_work(whole, tiles, steps);
    __global int* own = parts + get_group_id(0) * MOST_PARTS * 3;
    for (next_work(&work, whole, tiles, steps); work.first < work.last; next_work(&work, whole, tiles, steps)) {
        own[0] = work.number, own[1] = work.first, own[2] = work.last;
        own += 3;
    }
}

__kernel void places(const int M, const int N, __global int* found)
{
    const int number = get_global_id(0);
    const int2 place = tile_coordinates(number, M, N);
    found[2 * number] = place.x, found[2 * number + 1] = place.y;
}

__kernel void groups(const int panels, __global int* found)
{
    found[get_global_id(0)] = group_of(get_global_id(0), panels);
}
"""


def source(shared: int, skip_divisions: int = 1) -> str:
    macros = {
        "STREAM_K": shared,
        "SKIP_DIVISIONS": skip_divisions,
        "BM": 32,
        "BN": 64,
        "GROUP_M": 3,
        "MOST_PARTS": MOST_PARTS,
        "REAL": "float",
    }
    macros |= {"REAL_IS_INTEGER": 0, "REAL_IS_DOUBLE": 0}
    defines = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    schedule = read_source(KERNELS / "product" / "scheduler.cl")
    return "\n".join((defines, read_source(PRELUDE / "opencl.cl"), schedule, RECORDER))


def run(
    device: Device, entry: str, shared: int, groups: int, output: np.ndarray, *scalars: int, skip_divisions: int = 1
) -> np.ndarray:
    text = source(shared, skip_divisions)
    program = device.build(text, entry, parse_signature(text, "schedule", entry), "float32")
    kernel, buffer = program.new_kernel(), device.allocate(output.nbytes)
    device.write(buffer, output)
    kernel.set_args(*map(np.int32, scalars), buffer)
    device.launch(kernel, NDRange((groups,), (1,)), entry)
    device.finish(entry)
    return device.read(buffer, output.size, output.dtype).reshape(output.shape)


@pytest.mark.parametrize(
    ("tiles", "groups", "steps"),
    [(1, 1, 1), (5, 1, 3), (7, 5, 4), (3, 8, 5), (1, 12, 12), (40, 13, 7), (26, 13, 2), (12, 13, 1)],
)
def test_each_panel_has_one_group(tiles: int, groups: int, steps: int, device: Device) -> None:
    for shared in (0, 1):
        whole = tiles // groups * groups if shared else tiles
        parts = run(
            device, "record", shared, groups, np.full((groups, MOST_PARTS, 3), -1, np.int32), whole, tiles, steps
        )
        count = np.zeros((tiles, steps), int)
        for own in parts:
            for number, first, last in own[own[:, 0] >= 0]:
                assert 0 <= first < last <= steps
                count[number, first:last] += 1
        assert (count == 1).all(), f"{tiles} tiles of {steps} panels, {groups} groups, shared={shared}: {count}"


def test_the_group_that_has_a_panel_is_found(device: Device) -> None:
    tiles, groups, steps = 4, 13, 7
    parts = run(device, "record", 1, groups, np.full((groups, MOST_PARTS, 3), -1, np.int32), 0, tiles, steps)
    owner = np.full((tiles, steps), -1)
    for group, own in enumerate(parts):
        for number, first, last in own[own[:, 0] >= 0]:
            owner[number, first:last] = group
    panels = tiles * steps
    text = source(1)
    program = device.build(text, "groups", parse_signature(text, "schedule", "groups"), "float32")
    kernel, found = program.new_kernel(), np.zeros(panels * groups, np.int32)
    buffer = device.allocate(found.nbytes)
    kernel.set_args(np.int32(panels), buffer)
    device.launch(kernel, NDRange((panels * groups,), (panels,)), "groups")  # as many groups as `record` had
    assert (device.read(buffer, found.size, found.dtype)[:panels] == owner.ravel()).all()


@pytest.mark.parametrize("skip_divisions", [0, 1])
def test_tiles_have_each_place_once(skip_divisions: int, device: Device) -> None:
    for m, n in ((32, 64), (33, 65), (1000, 64), (320, 700)):
        rows, columns = -(-m // 32), -(-n // 64)
        output = np.zeros((rows * columns, 2), np.int32)
        found = run(device, "places", 0, rows * columns, output, m, n, skip_divisions=skip_divisions)
        assert sorted(map(tuple, found.tolist())) == [(row, column) for row in range(rows) for column in range(columns)]
