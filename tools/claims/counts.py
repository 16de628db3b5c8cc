"""The count that decides each claim of the four source systems about memory."""

from dataclasses import dataclass
from functools import cache

from tilewright.analysis.explain.explanation import Explanation
from tilewright.analysis.explain.models import GT200, find_model
from tilewright.analysis.explain.numbers import number
from tilewright.analysis.explain.plans import explain_kernel
from tilewright.analysis.explain.profile import LineAccess
from tilewright.analysis.explain.totals import Totals, totals
from tilewright.core.kernel import Config, Kernel
from tilewright.core.problem import Copy, Gemm, Problem, Transpose
from tilewright.kernels import find_kernel
from tilewright.kernels.known_bad import KNOWN_BAD

PRODUCT = (256, 256, 64)
MATRIX = (256, 256)


@dataclass(frozen=True)
class Judgement:
    """`holds` is "true", "false" or "in part"."""

    holds: str
    because: str


def judged(holds: bool, because: str, in_part: bool = False) -> Judgement:
    return Judgement(("in part" if in_part else "true") if holds else "false", because)


def problem_of(kernel: Kernel, product: tuple[int, int, int] = PRODUCT) -> Problem:
    """The problem of this page that a kernel solves."""
    if kernel.operation == "gemm":
        return Gemm(*product, "float32", *kernel.orders)
    return (Copy if kernel.operation == "copy" else Transpose)(*MATRIX, "float32")


@cache
def explained(name: str, model: str = "nvidia", macros: tuple[tuple[str, int], ...] = ()) -> Explanation:
    """A rung's own launch at the size of this page."""
    kernel = find_kernel(name)
    return explain_kernel(kernel, problem_of(kernel), model=find_model(model), macros=dict(macros))[-1]


@cache
def small_tiles(name: str) -> Explanation:
    """A rung of `tiles` with the 16 x 16 groups of the articles."""
    kernel = find_kernel(name)
    config: Config = next(each for each in kernel.smaller if getattr(each, "BM", 0) == 16)
    return explain_kernel(kernel, problem_of(kernel), config=config)[-1]


def of(name: str) -> Totals:
    return totals(explained(name))


def accesses(explanation: Explanation, buffer: str, operation: str = "load") -> list[LineAccess]:
    return [each for each in explanation.accesses if each.buffer == buffer and each.operation == operation]


def per_request(explanation: Explanation, buffer: str, operation: str = "load") -> float:
    chosen = accesses(explanation, buffer, operation)
    return sum(each.cost for each in chosen) / sum(each.requests for each in chosen)


def local_reads_per_product(explanation: Explanation) -> float:
    """Requests to local memory for each multiply-add of 32 work-items."""
    m, n, k = PRODUCT
    return totals(explanation).local_load_requests / (m * n * k / 32)


def both_operands_coalesced() -> Judgement:
    found = explained("rows/02_coalesced")
    a, b = (per_request(found, name) for name in "AB")
    return judged(
        all(each.efficiency == 1 for name in "AB" for each in accesses(found, name)),
        f"stride 1 in time is not coalescing: the {find_model('nvidia').lanes} work-items of a request lie in different rows, "
        f"so A takes {number(a)} sectors a request and B {number(b)}, where 2 would hold their bytes",
    )


def private_sum() -> Judgement:
    before, after = (_requests(explained(name), "C") for name in ("rows/02_coalesced", "rows/03_private_sum"))
    return judged(
        before / after > 2 * PRODUCT[2],
        f"requests to C fall from {before:,} to {after:,}, {before / after:.0f} times fewer",
    )


def _requests(explanation: Explanation, buffer: str) -> int:
    factor = explanation.group_count / len(explanation.groups)
    return round(factor * sum(each.requests for each in explanation.accesses if each.buffer == buffer))


def private_row() -> Judgement:
    before, after = (_requests(explained(name), "A") for name in ("rows/04_row_per_item", "rows/05_private_row"))
    times = before / after
    return judged(
        times == PRODUCT[1],
        f"requests to A fall from {before:,} to {after:,}: {times:.0f} times fewer, N = {PRODUCT[1]}; as many reads of the "
        "copy take their place, and a private array whose index varies lies in off-chip memory, too",
        in_part=True,
    )


def local_column() -> Judgement:
    before, after = (
        sum(each.cost for each in accesses(explained(name), "B"))
        for name in ("rows/05_private_row", "rows/06_local_column")
    )
    waves = of("rows/06_local_column").local_load_wavefronts
    return judged(
        before > after,
        f"sectors of B fall {before / after:.0f} times, but a request for B was one sector for all work-items already, and "
        f"{waves:,} wavefronts of local memory take their place",
        in_part=waves > 0,
    )


def local_column_is_right() -> Judgement:
    kernel = next(each for each in KNOWN_BAD if each.source.stem == "01_row_race")
    found = explain_kernel(kernel, problem_of(kernel, (64, 64, 64)))[-1]
    races = "; ".join(f"{each.text}, {each.count:,} times in {len(found.groups)} groups" for each in found.faults)
    return judged(not found.faults, f"as published it lacks a barrier: {races}" if races else "no fault found")


def float4_rows() -> Judgement:
    before, after = (_requests(explained(name), "B") for name in ("rows/05_private_row", "rows/08_float4_row"))
    sectors = [per_request(explained(name), "A") for name in ("rows/05_private_row", "rows/08_float4_row")]
    return judged(
        before == 4 * after,
        f"with pointers to vectors, requests to B fall from {before:,} to {after:,}; "
        f"of A each moves {number(sectors[1])} sectors, before "
        f"{number(sectors[0])}, and uses four times as much of them",
    )


def naive_along_the_contiguous_side() -> Judgement:
    found = explained("tiles/01_naive")
    a, b, c = per_request(found, "A"), per_request(found, "B"), per_request(found, "C", "store")
    return judged(
        (a, c) == (4, 4),
        f"a request takes {number(a)} sectors of A and {number(c)} of C, the least for 128 bytes, and {number(b)} of B",
    )


def tiles_load_less() -> Judgement:
    before, after = of("tiles/01_naive"), of("tiles/02_tiled")
    ratio = before.global_load_requests / after.global_load_requests
    sectors = before.global_load_sectors / after.global_load_sectors
    return judged(
        round(ratio) == 32,
        f"requests fall {ratio:.0f} times, as the side of the tile says; sectors only {sectors:.0f} times, because the naive "
        "kernel's request for B is one sector for all 32 work-items",
        in_part=round(sectors) < 32,
    )


def tiles_of_16_change_nothing() -> Judgement:
    before, after = (totals(small_tiles(name)) for name in ("tiles/01_naive", "tiles/02_tiled"))
    ratio = before.global_load_requests / after.global_load_requests
    sectors = before.global_load_sectors / after.global_load_sectors
    because = f"requests fall {ratio:.0f} times, sectors {sectors:.1f} times: a request of B was 2 sectors already"
    return judged(ratio == sectors == 1, because)


def nine_eighths() -> Judgement:
    before, after = (
        local_reads_per_product(explained(name)) for name in ("tiles/02_tiled", "tiles/03_more_work_per_item")
    )
    return judged(
        (before, after) == (2.0, 1.125),
        f"{before:g} and {after:g} requests to local memory for each multiply-add, "
        "as our source is written: it reads A once for all columns",
    )


def wide_types() -> Judgement:
    before, after = of("tiles/03_more_work_per_item"), of("tiles/04_wide_types")
    ratio = before.global_load_requests / after.global_load_requests
    return judged(
        round(ratio) == 4,
        f"load requests to global memory fall {ratio:.3g} times; the sectors stay: {before.global_load_sectors:,} and "
        f"{after.global_load_sectors:,}",
    )


def pad_of_two(name: str) -> Judgement:
    counts = {pad: totals(explained(name, macros=(("PAD", pad),))).conflicts for pad in range(4)}
    best = min(counts, key=lambda pad: (counts[pad], pad))
    listed = ", ".join(f"{pad}: {count:,}" for pad, count in counts.items())
    advice = (
        "" if best == 2 else f"; {best} loses none, but only an even pad keeps pairs of words aligned for 64-bit loads"
    )
    because = f"wavefronts lost to conflicts by pad: {listed}{advice}"
    return judged(counts[2] < counts[0], because, in_part=counts[2] > 0)


def quarter_of_a_read() -> Judgement:
    reads = local_reads_per_product(explained("tiles/06_register_tile"))
    return judged(reads == 0.25, f"{reads:g} requests to local memory for each multiply-add")


def wide_loads_need_no_pad() -> Judgement:
    found = explained("tiles/07_wide_loads")
    lost = totals(found).conflicts
    ratio = of("tiles/06_register_tile").global_load_requests / totals(found).global_load_requests
    return judged(
        lost == 0,
        f"{lost:,} wavefronts lost to conflicts; load requests to global memory fall {ratio:.3g} times",
    )


def naive_transpose() -> Judgement:
    found = explained("transpose/04_naive")
    loads, stores = per_request(found, "input"), per_request(found, "output", "store")
    because = f"{number(loads)} sectors a load, {number(stores)} a store, where 4 are enough for either"
    return judged(loads == 4 and stores > 4, because)


def uncoalesced_copy() -> Judgement:
    found = explained("transpose/03_uncoalesced_copy")
    loads, stores = per_request(found, "input"), per_request(found, "output", "store")
    return judged(loads > 4 and stores > 4, f"{number(loads)} sectors a load and {number(stores)} a store")


def tiled_transpose_coalesces() -> Judgement:
    found = explained("transpose/05_tiled")
    loads, stores = per_request(found, "input"), per_request(found, "output", "store")
    return judged(
        (loads, stores) == (4, 4), f"{number(loads)} sectors a load and {number(stores)} a store, 4 being the least"
    )


def pitch_17() -> Judgement:
    now, then = (explained("transpose/05_tiled", model) for model in ("nvidia", GT200.name))
    return judged(
        totals(now).conflicts == 0,
        f"{number(per_request(now, 'tile'))} wavefronts a load and {number(per_request(now, 'tile', 'store'))} a store on 32 "
        "lanes, for a request covers two rows of the tile; on the half-warps of 2009 it was "
        f"{number(per_request(then, 'tile'))}. A 32 x 32 tile with a pitch of 33 is free of conflicts",
    )


def pitch_16() -> Judgement:
    now, then = (explained("transpose/05_tiled", model, (("PAD", 0),)) for model in ("nvidia", GT200.name))
    return judged(
        totals(now).conflicts > 0,
        f"a column load takes {number(per_request(now, 'tile'))} wavefronts on 32 lanes, and took "
        f"{number(per_request(then, 'tile'))} on 16",
    )
