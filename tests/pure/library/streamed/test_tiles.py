"""Tile plans: each element once, buffers within the limit, bytes counted against a simulation of the order of tiles."""

import random as chance
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from tilewright.errors import InvalidInput
from tilewright.library.streamed.fitting import MOST_TILES, tile_plans
from tilewright.library.streamed.matrices import Part
from tilewright.library.streamed.rates import Rates, Sizes
from tilewright.library.streamed.tiles import TilePlan

RATES = Rates(50e12, 50e9)


def sizes(m: int, n: int, k: int, batch: int = 1, itemsize: int = 4) -> Sizes:
    return Sizes(m, n, k, batch, itemsize, itemsize, itemsize, itemsize)


def random_sizes(count: int) -> Iterator[tuple[Sizes, int]]:
    draw = chance.Random(5)
    for _ in range(count):
        m, n, k = (int(10 ** draw.uniform(0, 4.5)) for _ in range(3))
        yield sizes(m, n, k, draw.choice([1, 1, 1, 3])), int(10 ** draw.uniform(5.3, 9))


def test_tiles_cover_each_element_once() -> None:
    draw = chance.Random(3)
    for _ in range(200):
        m, n = draw.randint(1, 300), draw.randint(1, 300)
        held, kept, devices = draw.randint(1, 9), draw.choice((2, 4)), draw.randint(1, 3)
        sides = draw.randint(1, m), draw.randint(1, n)
        plan = TilePlan(sizes(m, n, 64, 2), *sides, 64, draw.choice("AB"), held, kept, 3, devices)
        seen = np.zeros((2, m, n), int)
        numbers = set()
        for tile in (tile for strip in plan.strips() for tile in strip):
            part = plan.part(tile)
            seen[(tile.matrix, *part.index)] += 1
            numbers.add(tile.number)
        assert (seen == 1).all()
        assert numbers == set(range(plan.tiles))


def test_panels_cover_k_once() -> None:
    for k, depth in ((100, 100), (100, 64), (128, 64), (1, 1), (1000, 333)):
        plan = TilePlan(sizes(64, 64, k), 64, 64, depth, "A")
        assert [first for first, _ in map(plan.panel, range(plan.panels))] == list(range(0, k, depth))
        assert sum(deep for _, deep in map(plan.panel, range(plan.panels))) == k


def simulated_bytes(plan: TilePlan) -> int:
    """Bytes to a device with the plan's buffers, of which a new panel gets the one that was used longest ago."""
    kept: dict[str, list[tuple[int, ...]]] = {"A": [], "B": []}
    slots = dict(zip("AB", plan.slots, strict=False))
    total = 0
    for tile in (tile for strip in plan.strips() for tile in strip):
        part = plan.part(tile)
        for panel in range(plan.panels):
            depth = plan.panel(panel)[1]
            for name, key, nbytes in (
                ("A", (tile.matrix, tile.row, panel), part.rows * depth * plan.sizes.a_bytes),
                ("B", (tile.matrix, tile.column, panel), part.columns * depth * plan.sizes.b_bytes),
            ):
                if key in kept[name]:
                    kept[name].remove(key)
                else:
                    total += nbytes
                kept[name] = [*kept[name], key][-slots[name] :]
    return total


@pytest.mark.parametrize("stays", ["A", "B"])
@pytest.mark.parametrize(("held", "kept"), [(1, 2), (2, 2), (3, 4), (5, 2), (9, 4)])
def test_predicted_bytes_are_those_of_the_order_of_tiles(stays: str, held: int, kept: int) -> None:
    for m, n, rows, columns in (
        (960, 640, 5, 4),
        (640, 960, 4, 7),
        (640, 640, 1, 5),
        (640, 640, 5, 1),
        (640, 640, 1, 1),
        (1600, 1600, 10, 10),
    ):
        plan = TilePlan(sizes(m, n, 500), -(-m // rows), -(-n // columns), 500, stays, held, kept)
        counted = simulated_bytes(plan)
        assert counted <= plan.bytes_in * 1.01
        assert counted >= plan.bytes_in * 0.99  # the last panel may be shorter than the others


def test_buffers_never_exceed_the_limit() -> None:
    fitted = 0
    for each, limit in random_sizes(300):
        try:
            found = [tiles for _, tiles in tile_plans(each, limit, RATES)]
        except InvalidInput:
            continue
        fitted += 1
        assert all(plan.device_bytes <= limit for plan in found)
        assert all(plan.tiles * plan.panels <= MOST_TILES for plan in found)
        best = found[0]
        assert best.predicted(RATES) > 0
        assert Part(0, best.m, 0, best.n).elements * each.c_bytes == best.slot_bytes[2]
    assert fitted > 200


def test_whole_sums_come_first_where_they_fit() -> None:
    assert tile_plans(sizes(100_000, 100_000, 100_000), 16 * 10**9, RATES)[0][1].panels == 1
    assert tile_plans(sizes(4096, 4096, 10**7), 10**8, RATES)[0][1].panels > 1


def test_large_tiles_keep_the_device_busy() -> None:
    """100,000 x 100,000 float32 with 16 GB of an H200's memory: 0.9 of the rate in one piece and more."""
    each = sizes(100_000, 100_000, 100_000)
    best = tile_plans(each, 16 * 10**9, RATES)[0][1]
    assert best.flops / best.predicted(RATES) > 0.9 * RATES.flops
    assert best.seconds(RATES)[1] < best.seconds(RATES)[0]


def test_narrow_lines_of_files_are_read_seldom() -> None:
    """B by rows has a line for each element of k in each panel: its panel stays. A by columns has the same."""
    rates = Rates(3e11, 6e9, lost=0.5)
    each = replace(sizes(8000, 8000, 8000), files=(True, True, False))
    assert tile_plans(each, 180 * 10**6, rates)[0][1].stays == "B"
    turned = replace(each, by_columns=(True, True, False))
    assert tile_plans(turned, 180 * 10**6, rates)[0][1].stays == "A"


def test_several_devices_get_enough_tiles_to_end_together() -> None:
    each = sizes(4096, 4096, 4096)
    assert tile_plans(each, 10**9, RATES)[0][1].tiles < 12
    assert tile_plans(each, 10**9, RATES, devices=3)[0][1].tiles >= 12


@pytest.mark.parametrize("limit", [1000, 98_303])
def test_a_limit_below_the_smallest_tile_is_refused(limit: int) -> None:
    with pytest.raises(InvalidInput, match=rf"limit of {limit:,} bytes .* need 98,304 bytes$"):
        tile_plans(sizes(500, 500, 500), limit, RATES)
    assert tile_plans(sizes(500, 500, 500), 98_304, RATES)
