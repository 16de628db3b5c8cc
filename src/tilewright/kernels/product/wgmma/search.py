"""Which configurations of main_loop.cl a product on a Hopper GPU may run, the cheapest first."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product

from ....core.device import DeviceInfo
from ....core.kernel import Kernel
from ....core.problem import Gemm, Problem
from ..call import GemmCall, call_of
from ..gemv.search import VECTORS
from ..portable.search import candidates as portable_candidates
from .config import LEAST_STEPS, WgmmaConfig
from .cost import cost
from .kernels import KERNELS, MOST_WHOLE, REQUIRES
from .maps import LINE, alignment, fetch_refusal, steps_of

# Tiles of C: BM, BN, STAGES, CONSUMERS_M, CONSUMERS_N. As many stages as local memory holds beside the slots for C.
SPACE = (
    (128, 256, 4, 2, 1), (256, 128, 4, 2, 1), (192, 192, 3, 3, 1), (128, 192, 4, 2, 1), (128, 128, 6, 2, 1), (64, 256, 5, 1, 1),
    (256, 64, 4, 2, 1), (64, 192, 6, 1, 1), (64, 128, 8, 1, 1), (128, 64, 8, 2, 1), (64, 64, 12, 1, 1),
)  # fmt: skip
# The same where B is multiplied from registers; for A, rows and columns change places.
HELD = (
    (256, 128, 4, 1, 2), (128, 256, 4, 1, 2), (128, 128, 6, 1, 2), (64, 256, 4, 1, 2), (128, 64, 8, 1, 1), (64, 128, 8, 1, 1),
    (32, 256, 5, 1, 2), (32, 128, 10, 1, 1), (32, 64, 16, 1, 1),
)  # fmt: skip
BAND = 2048  # rows of C in tiles that are computed at a time, or fewer


def configurations(call: GemmCall, device: DeviceInfo) -> Iterator[WgmmaConfig]:
    """Every tile by itself, and with those cut along k that are left; packed only what must be, or is fetched slowly."""
    for shape in shapes(call):
        config = replace(shape, groups=device.compute_units)
        if call.precision == "fp8":
            config = replace(config, PROMOTE=1 if config.BM * config.BN // config.consumers <= MOST_WHOLE else 2)
        apart = replace(config, apart=True)
        for own in (config,) if any(apart.apart_violations(apart.orientation(call))) else (apart, config):
            for split, pack in product((1, *splits(own, call)), packs(own, call)):
                each = replace(own, split=split, pack=pack)
                if not any(each.violations(call, device)):
                    yield each


def shapes(call: GemmCall) -> Iterator[WgmmaConfig]:
    """Tiles, and where elements are so wide that wgmma takes them across k only from registers, which operand is held."""
    found = [WgmmaConfig(*shape) for shape in SPACE]
    if call.dtype == "float32":
        found += [WgmmaConfig(*shape, held="B") for shape in HELD]
        found += [WgmmaConfig(bn, bm, stages, n, m, held="A") for bm, bn, stages, m, n in HELD]
    yield from (replace(each, GROUP_M=min(each.GROUP_M, BAND // each.BM)) for each in found)


def packs(config: WgmmaConfig, call: GemmCall) -> Iterator[str]:
    """Which operands may be copied first: those that must be, without and with those whose lines straddle two of the cache's."""
    must = [name for name in ("A", "B") if fetch_refusal(call, name, config.held)]
    # B first, which decides where the model sees no difference: A that straddles costs less.
    may = [name for name in ("B", "A") if name not in must and alignment(call, name) < LINE]
    for count in range(len(may) + 1):
        for others in combinations(may, count):
            yield "".join(sorted((*must, *others)))


def splits(config: WgmmaConfig, call: GemmCall) -> tuple[int, ...]:
    """Into how many parts the k of a tile may be cut: so many that all work-groups get one, or half of them."""
    left = config.tiles(config.oriented(call)) % config.groups
    most = min(config.groups // max(left, 1), steps_of(call) // LEAST_STEPS)
    return tuple(parts for parts in (most // 2, most) if parts > 1 and left)


def candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The kernels for a Gemm or StridedGemm on a Hopper GPU, the cheapest first, where they beat the portable ones."""
    if not isinstance(problem, Gemm) or any(feature not in device.features for feature, _ in REQUIRES):
        return ()
    call = call_of(problem)
    kernel = next(
        (each for each in KERNELS if (each.dtypes, each.precision) == ((call.dtype,), problem.precision)), None
    )
    if kernel is None or 0 in (call.k, call.batch) or min(call.m, call.n) <= VECTORS:
        return ()
    limit = min(each.cost for each in portable_candidates(problem, device))
    found = [(cost(config, call.row_major, device), config) for config in configurations(call.row_major, device)]
    ranked = sorted((each for each in found if each[0] < limit or problem.precision), key=lambda each: each[0])
    if not ranked:
        return () if found else (kernel,)  # the plan then says why it cannot
    return tuple(replace(kernel, config=config) for _, config in ranked)
