"""Which configurations of main_loop.cl a product on a Hopper GPU may run, the cheapest first."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import combinations, product

from ....core.device import DeviceInfo
from ....core.kernel import Kernel
from ....core.types import element_type
from ..call import GemmCall, remembered
from ..family import Candidate, Group, Offer, once_checked
from .config import LEAST_STEPS, WgmmaConfig
from .cost import cost, least_cost
from .kernels import KERNELS, MOST_WHOLE, REQUIRES
from .maps import LINE, alignment, load_refusal, steps_of, straddles

# Tiles of C: BM, BN, STAGES, CONSUMERS_M, CONSUMERS_N. As many stages as local memory holds beside the slots for C.
SPACE = (
    (128, 256, 4, 2, 1), (256, 128, 4, 2, 1), (192, 192, 3, 3, 1), (128, 192, 4, 2, 1), (128, 128, 6, 2, 1), (64, 256, 5, 1, 1),
    (256, 64, 4, 2, 1), (64, 192, 6, 1, 1), (64, 128, 8, 1, 1), (128, 64, 8, 2, 1), (64, 64, 12, 1, 1),
)  # fmt: skip
# For products of 16-bit elements whose tiles are one wave: 1536 x 1536 is 96 tiles of 128 x 192, and 128 of 192 x 96.
ONE_WAVE_SPACE = ((192, 96, 4, 3, 1), (128, 160, 4, 2, 1))
# The same where B is multiplied from registers; for A, rows and columns change places.
REGISTER_SPACE = (
    (256, 128, 4, 1, 2), (128, 256, 4, 1, 2), (128, 128, 6, 1, 2), (64, 256, 4, 1, 2), (128, 64, 8, 1, 1), (64, 128, 8, 1, 1),
    (32, 256, 5, 1, 2), (32, 128, 10, 1, 1), (32, 64, 16, 1, 1),
)  # fmt: skip
CLUSTERS = ((1, 2), (2, 1))  # CLUSTER_M, CLUSTER_N
LEAST_SIDE = 3  # rows or columns of C: with fewer, memory is all that counts, which other kernels read as fast
SWIZZLE_ROWS = 2048  # rows of C in a swizzle group, or fewer


def configurations(call: GemmCall, device: DeviceInfo) -> Iterator[WgmmaConfig]:
    """Every configuration that nothing speaks against."""
    return (each for each in _tried(call, device) if not any(each.violations(call, device)))


def _tried(call: GemmCall, device: DeviceInfo) -> Iterator[WgmmaConfig]:
    """Every tile with and without split tiles in the tail wave. Only what must be, or is loaded slowly, is packed."""
    return (each for tile in _tiles(call, device) for each in _ways(tile, call))


def _tiles(call: GemmCall, device: DeviceInfo) -> Iterator[WgmmaConfig]:
    """Every tile, and with even and odd rows of C as two matrices where that can be; also in clusters, where lines straddle."""
    clustered = "clusters" in device.features and not call.symmetric and straddles(call)
    for shape in shapes(call.dtype, call.precision, device.compute_units):
        if not shape.register_operand and shape.BN % 64 and call.n <= 64:
            continue  # of 4096 x 32 x 4096 six parts of k of a tile of 192 x 96 took 6% longer than narrower tiles
        even_odd = _variant(shape, 1, "", True)
        for each in (shape,) if any(even_odd.even_odd_violations(call)) else (even_odd, shape):
            yield from (_in_clusters(each, *cluster) for cluster in CLUSTERS if clustered)
            yield each


@cache
def _in_clusters(config: WgmmaConfig, down: int, across: int) -> WgmmaConfig:
    """The same with clusters of work-groups, whose tiles count as one in a swizzle group."""
    return replace(config, CLUSTER_M=down, CLUSTER_N=across, GROUP_M=max(1, config.GROUP_M // down))


def _ways(tile: WgmmaConfig, call: GemmCall) -> Iterator[WgmmaConfig]:
    """Only what must be packed is for clusters: they are there to leave it out."""
    ways = packs(call, tile.register_operand)
    for split, pack in product((1, *splits(tile, call)), ways[:1] if tile.cluster > 1 else ways):
        yield _variant(tile, split, pack, tile.even_odd_rows)


@cache
def _variant(config: WgmmaConfig, tail_split: int, pack: str, even_odd_rows: bool) -> WgmmaConfig:
    return replace(config, tail_split=tail_split, pack=pack, even_odd_rows=even_odd_rows)


@cache
def shapes(dtype: str, precision: str = "", groups: int = 132) -> tuple[WgmmaConfig, ...]:
    """Tiles, and where elements are so wide that wgmma takes them across k only from registers, which operand lies there."""
    found = [WgmmaConfig(*shape, groups=groups) for shape in SPACE]
    if element_type(dtype).itemsize == 2:
        found += [WgmmaConfig(*shape, groups=groups) for shape in ONE_WAVE_SPACE]
    if dtype == "float32":
        found += [WgmmaConfig(*shape, register_operand="B", groups=groups) for shape in REGISTER_SPACE]
        found += [
            WgmmaConfig(bn, bm, stages, n, m, register_operand="A", groups=groups)
            for bm, bn, stages, m, n in REGISTER_SPACE
        ]
    if precision == "fp8":
        found = [replace(each, PROMOTE=1 if each.BM * each.BN // each.consumers <= MOST_WHOLE else 2) for each in found]
    return tuple(replace(each, GROUP_M=min(each.GROUP_M, SWIZZLE_ROWS // each.BM)) for each in found)


@remembered
def packs(call: GemmCall, register_operand: str) -> tuple[str, ...]:
    """Which operands may be copied first: those that must be, without and with those whose lines straddle two of L2's."""
    must = [name for name in ("A", "B") if load_refusal(call, name, register_operand)]
    # B first, which decides where the model sees no difference: A that straddles costs less.
    may = [name for name in ("B", "A") if name not in must and alignment(call, name) < LINE]
    chosen = (others for count in range(len(may) + 1) for others in combinations(may, count))
    return tuple("".join(sorted((*must, *others))) for others in chosen)


def splits(config: WgmmaConfig, call: GemmCall) -> tuple[int, ...]:
    """Into how many parts the k of a tile may be split: so many that all work-groups get one, or half of them."""
    tail = config.tiles(config.oriented(call)) % config.groups
    most = min(config.groups // max(tail, 1), steps_of(call) // LEAST_STEPS)
    return tuple(splits for splits in (most // 2, most) if splits > 1 and tail)


def offers(call: GemmCall, device: DeviceInfo) -> Iterator[Offer]:
    """The kernel of the product's type and precision in every configuration that can solve it; if there is none, one before
    all others, for which the plan says why it cannot."""
    if any(feature not in device.features for feature, _ in REQUIRES):
        return
    wanted = ((call.dtype,), call.precision)
    kernel = next((each for each in KERNELS if (each.dtypes, each.precision) == wanted), None)
    if kernel is None or 0 in (call.k, call.batch) or min(call.m, call.n) < LEAST_SIDE:
        return
    own = call.row_major
    if next(configurations(own, device), None) is None:
        yield Candidate(kernel, kernel.config, 0.0)
        return
    for tile in _tiles(own, device):
        floor = least_cost(tile, max((1, *splits(tile, own))), bool(packs(own, tile.register_operand)[0]), own, device)
        yield Group(floor, partial(_offers, kernel, tile, own, device), kernel.precision)


def _offers(kernel: Kernel, tile: WgmmaConfig, call: GemmCall, device: DeviceInfo) -> Iterator[Group]:
    return (once_checked(kernel, each, cost(each, call, device), call, device) for each in _ways(tile, call))
