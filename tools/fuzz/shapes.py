"""Sizes worth trying: those at which a device's plans change, found by asking the planner, and the planner's constants.

Along lines through the sizes of products and moves every plan is compared with its neighbour's; where they differ, the size
is found by bisection. What was found is kept on disk for the device and this planner's text.
"""

import hashlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import msgspec

import tilewright
from tilewright.core.device import DeviceInfo
from tilewright.core.operands import Layout
from tilewright.core.plan import Plan
from tilewright.core.problem import Gemm
from tilewright.dispatch.choice import plan_copy, plan_product
from tilewright.dispatch.table_files import load_tables
from tilewright.errors import Unsupported
from tilewright.kernels.copy import StridedCopy
from tilewright.runtime.cache import cache_folder
from tilewright.runtime.opencl.vpdpbusd import equipped

from .. import bisection

Sizes = tuple[int, int, int, int]  # m, n, k, batch of a product; rows, columns, 1, batch of a move
MOST_WORK = 2**27  # multiply-adds of a product: a reference takes a tenth of a second
MOST_ELEMENTS = 2**22
LOOKED_AT = 4  # every length is so many times the one before; plans between two that agree are taken to agree, too
FLAGS = 1  # numbers up to this in a configuration's scalars are decisions, larger ones sizes
LARGEST_CONSTANT = 2048

# Lines along which plans are compared: m, n, k, batch, with 0 where the size runs.
PRODUCT_LINES: tuple[Sizes, ...] = (
    (0, 1, 40, 1), (0, 1, 700, 1), (1, 0, 300, 1), (0, 40, 40, 1), (40, 0, 40, 1), (0, 300, 300, 1), (300, 0, 300, 1),
    (1, 1, 0, 1), (5, 7, 0, 1), (64, 64, 0, 1), (200, 1, 0, 1), (300, 300, 0, 1), (1, 300, 0, 1), (130, 3, 0, 1),
    (5, 7, 40, 0), (1, 40, 40, 0), (33, 34, 35, 0), (0, 2, 64, 1), (3, 0, 128, 1),
)  # fmt: skip
# A plan for a GPU ranks hundreds of candidates and takes a tenth of a second: fewer lines there.
GPU_LINES: tuple[Sizes, ...] = (
    (0, 1, 300, 1),
    (0, 300, 300, 1),
    (40, 0, 64, 1),
    (64, 64, 0, 1),
    (5, 7, 40, 0),
    (1, 300, 0, 1),
)
MOVE_LINES: tuple[Sizes, ...] = ((0, 1, 1, 1), (0, 40, 1, 1), (40, 0, 1, 1), (600, 0, 1, 1), (5, 7, 1, 0), (0, 3, 1, 1))


@dataclass(frozen=True)
class Pool:
    """Sizes for one element type: whole tuples beside which plans change, and lengths of blocks, tiles and vectors."""

    changes: tuple[Sizes, ...]
    constants: tuple[int, ...]
    fixed: tuple[int, ...] = ()  # the only lengths, where there are any: so that programs repeat

    def limited(self, changes: int, lengths: int) -> "Pool":
        """A pool of few sizes, for devices on which every other size may be another program; always the same ones."""
        chance = random.Random(lengths)
        some = tuple(chance.sample(self.changes, min(changes, len(self.changes))))
        return Pool(some, self.constants, tuple(self.length(chance) for _ in range(lengths)))

    def sizes(self, chance: random.Random) -> Sizes:
        """Sizes beside a change of plan, or of lengths beside a block's."""
        if self.changes and chance.random() < 0.5:
            place = chance.randrange(4)
            own = list(chance.choice(self.changes))
            own[place] = max(0, own[place] + chance.choice((-1, 0, 0, 1)))
            return own[0], own[1], own[2], own[3]
        m, n, k = (self.length(chance) for _ in range(3))
        while m * n * k > MOST_WORK or max(m * n, m * k, n * k) > MOST_ELEMENTS:
            m, n, k = m // 2, n // 2, k // 2
        return m, n, k, 1

    def length(self, chance: random.Random) -> int:
        """One length: mostly short, sometimes beside a multiple of a block's."""
        if self.fixed:
            return chance.choice(self.fixed)
        kind = chance.random()
        if kind < 0.5 or not self.constants:
            return chance.choice((0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 24, 31, 33))
        if kind < 0.6:
            return chance.randrange(40, 400)
        return max(0, chance.choice(self.constants) * chance.choice((1, 1, 1, 2, 3)) + chance.choice((-1, 0, 1)))


def pool_for(dtype: str, info: DeviceInfo, moves: bool = False) -> Pool:
    """The pool of a type on a device, from the disk if this planner has been asked before."""
    path = cache_folder() / "fuzz" / f"{_key(dtype, info, moves)}.json"
    if path.exists():
        return msgspec.json.decode(path.read_bytes(), type=Pool)
    pool = _scanned(dtype, info, moves)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{random.getrandbits(64)}")  # several children may write at once
    draft.write_bytes(msgspec.json.encode(pool))
    draft.replace(path)
    return pool


def _key(dtype: str, info: DeviceInfo, moves: bool) -> str:
    """Of everything that a plan depends on: the device's facts, and the text of all that plans."""
    root = Path(tilewright.__file__).parent
    folders = (path for name in ("core", "dispatch", "kernels") for path in root.joinpath(name).rglob("*.py"))
    files = sorted([*folders, Path(__file__)])
    facts = {name: sorted(fact) if isinstance(fact, frozenset) else fact for name, fact in vars(info).items()}
    digest = hashlib.sha256(f"{dtype} {moves} {facts}".encode())  # sets print in another order in every process
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:24]


def _scanned(dtype: str, info: DeviceInfo, moves: bool) -> Pool:
    changes: list[Sizes] = []
    constants: set[int] = set()
    known: dict[Sizes, tuple[object, ...]] = {}

    def look(sizes: Sizes) -> tuple[object, ...]:
        if sizes not in known:
            found = _move_plan(sizes, dtype, info) if moves else _product_plan(sizes, dtype, info)
            known[sizes] = signature(found) if found else ()
            constants.update(lengths(found) if found else ())
        return known[sizes]

    products = PRODUCT_LINES if info.kind == "cpu" else GPU_LINES
    for line in MOVE_LINES if moves else products:
        changes += changes_along(line, look)
    return Pool(tuple(dict.fromkeys(changes)), tuple(sorted(constants)))


def changes_along(line: Sizes, look: Callable[[Sizes], tuple[object, ...]]) -> Iterator[Sizes]:
    """The sizes on a line at which `look` answers something else than one before."""
    lengths_tried = [1]
    while _allowed(_at(line, lengths_tried[-1] * LOOKED_AT)):
        lengths_tried.append(lengths_tried[-1] * LOOKED_AT)
    for _, high in bisection.changes(lengths_tried, lambda length: look(_at(line, length))):
        yield _at(line, high)


def _at(line: Sizes, length: int) -> Sizes:
    m, n, k, batch = (each or length for each in line)
    return m, n, k, batch


def _allowed(sizes: Sizes) -> bool:
    m, n, k, batch = sizes
    return m * n * k * batch <= MOST_WORK and batch * max(m * n, m * k, n * k) <= MOST_ELEMENTS


def _product_plan(sizes: Sizes, dtype: str, info: DeviceInfo) -> Plan | None:
    m, n, k, batch = sizes
    out = "float32" if dtype.startswith("float8") else "int32" if dtype == "int8" else None
    try:
        problem = Gemm(m, n, k, dtype, out_dtype=out, batch=batch)
        return plan_product(problem, equipped(info, dtype), load_tables())
    except Unsupported:
        return None


def _move_plan(sizes: Sizes, dtype: str, info: DeviceInfo) -> Plan | None:
    rows, columns, _, batch = sizes
    area = rows * columns
    source, target = Layout(0, columns, 1, area), Layout(0, 1, rows, area)
    try:
        return plan_copy(StridedCopy(rows, columns, dtype, source, target, batch), info)
    except Unsupported:
        return None


def signature(plan: Plan) -> tuple[object, ...]:
    """What a plan decides: its kernels and their configurations, scratch memory, whether there is more than one
    work-group, and each decision among the kernels' arguments."""
    steps = []
    for step in plan.steps:
        geometry = step.config.ndrange(step.problem)
        groups = max(a // max(b, 1) for a, b in zip(geometry.global_size, geometry.local_size, strict=True))
        scalars = {} if geometry.empty else step.config.scalars(step.problem)
        flags = tuple(sorted((name, value) for name, value in scalars.items() if value <= FLAGS))
        steps.append((step.kernel.name, str(step.config), groups > 1, flags))
    return (*steps, *plan.scratch)


def lengths(plan: Plan) -> set[int]:
    """Numbers in a plan's configurations and arguments that a side may be as long as."""
    found: set[int] = set()
    for step in plan.steps:
        own = [getattr(step.config, each.name) for each in fields(step.config)]
        if not step.config.ndrange(step.problem).empty:
            own += list(step.config.scalars(step.problem).values())
        found |= {each for each in own if isinstance(each, int) and 1 < each <= LARGEST_CONSTANT}
    return found
