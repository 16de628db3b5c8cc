"""Chooses sizes for drawings: a few work-groups and a few steps, so that elements can be seen."""

from dataclasses import fields, replace
from math import prod
from typing import Any

from ...core.kernel import Config, Kernel
from ...core.problem import Problem
from ...core.problems import make_problem
from ...core.types import element_type

FAR = 80640  # a side at which a kernel's tiles are measured: a multiple of most of them
SMALL_TILE = 16  # of smaller ones there are three on a side, of others two
LARGE_TILE = 512  # from here on a work-group is taken to have all of a side
FREE_SIDE, FREE_DEPTH = 16, 16  # where a group has all of a side, or no step of K
ALONE = 8  # the sides where one work-item does everything
BLOCKS = {"KC": 8, "CHUNK": 16}  # steps of K that are packed or copied at a time, instead of hundreds


def small_config(kernel: Kernel) -> Config:
    """The kernel's smallest configuration, with small blocks."""
    return with_small_blocks((kernel.config, *kernel.smaller)[-1])


def with_small_blocks(given: Config) -> Config:
    """A configuration with small blocks for caches, which are hundreds of steps deep: they are only repeated."""
    config: Any = given
    names = {each.name for each in fields(config)}
    changed = {name: small for name, small in BLOCKS.items() if name in names and getattr(config, name) > small}
    if "MR" in names and getattr(config, "BM", 0) > 2 * config.MR:
        changed["BM"] = 2 * config.MR
    if getattr(config, "packed_bytes", 0):
        panel = config.NV * config.vector_bytes
        changed["packed_bytes"] = 2 * panel * changed.get("KC", config.KC)
    found: Config = replace(config, **changed)
    return found


def drawn_problem(kernel: Kernel, config: Config) -> Problem:
    """A problem of two or three work-groups on each side, and about four steps of K."""
    if kernel.operation == "gemm" and prod(config.ndrange(make_problem(kernel, (FAR, FAR, FAR))).global_size) == 1:
        return make_problem(kernel, (ALONE, ALONE, ALONE))
    if kernel.operation != "gemm":
        return make_problem(kernel, tuple(_side(kernel, config, at, 2) for at in range(2)))
    m, n = (_side(kernel, config, at, 3) for at in range(2))
    return make_problem(kernel, (m, n, _depth(kernel, config, m, n)))


def _side(kernel: Kernel, config: Config, at: int, sides: int) -> int:
    tile = tile_side(kernel, config, at, sides)
    if tile is None:
        return FREE_SIDE
    return tile * (3 if tile <= SMALL_TILE else 2)


def tile_side(kernel: Kernel, config: Config, at: int, sides: int) -> int | None:
    """How many rows (`at` 0) or columns (1) of the result one work-group covers, by the work-groups at large sizes: None if
    all."""
    size = [FAR] * 2 + [64] * (sides - 2)
    double = [2 * each if index == at else each for index, each in enumerate(size)]
    groups = [_groups(kernel, config, tuple(each)) for each in (size, double)]
    for one, two in zip(*groups, strict=True):
        if two == 2 * one and one:
            return FAR // one if FAR // one < LARGE_TILE else None
    return None


def _groups(kernel: Kernel, config: Config, size: tuple[int, ...]) -> list[int]:
    ndrange = config.ndrange(make_problem(kernel, size))
    return [whole // own for whole, own in zip(ndrange.global_size, ndrange.local_size, strict=True)]


def _depth(kernel: Kernel, config: Config, m: int, n: int) -> int:
    """K: four steps of a block, as far as all elements of fp16 inputs can be told apart."""
    block = next((getattr(config, name) for name in ("BK", "KC", "CHUNK") if getattr(config, name, 0)), 0)
    if not block:
        return FREE_DEPTH
    steps = 4 if block * 4 <= 64 else 3
    if element_type(kernel.usual_dtype).itemsize < 4 and prod((max(m, n), block)) > 1 << 13:
        steps = 3
    return int(block * steps)
