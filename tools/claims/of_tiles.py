"""What the myGEMM tutorial and the CSDN articles claim about memory."""

import numpy as np

from tilewright.analysis.explain.models import find_model
from tilewright.analysis.explain.numbers import number
from tilewright.analysis.explain.plans import explain_kernel
from tilewright.core.problem import random_arrays
from tilewright.kernels import find_kernel
from tilewright.kernels.settings import with_settings

from .counts import Judgement, explained, is_ideal, judged, local_reads_per_product, per_request, problem_of, sums

NAIVE, SWAPPED = "tiles/01_naive", "tiles/01_naive[swapped]"
MORE_WORK = "tiles/03_more_work_per_item[published]"


def naive_along_the_contiguous_side(model: str) -> Judgement:
    found, swapped = explained(NAIVE, model), explained(SWAPPED, model)
    a, c = per_request(found, "A"), per_request(found, "C", "store")
    b, other = per_request(swapped, "B"), per_request(swapped, "C", "store")
    return judged(
        is_ideal(found, "A") and is_ideal(found, "C", "store"),
        f"a request takes {number(a)} sectors of A and {number(c)} of C, the least for 128 bytes; with the dimensions swapped "
        f"{number(b)} of B and {number(other)} of C",
    )


def b_is_uncoalesced_whatever_the_order(model: str) -> Judgement:
    found, swapped = (per_request(explained(name, model), "B") for name in (NAIVE, SWAPPED))
    return judged(
        found > 1 and swapped > 1,
        f"{number(found)} sector a request of B, one address for the whole {find_model(model).sub_group}; with the dimensions "
        f"swapped {number(swapped)}, and then A is read at one address",
    )


def tiles_load_less(model: str) -> Judgement:
    before, after = sums(NAIVE, model), sums("tiles/02_tiled", model)
    ratio = before.global_load_requests / after.global_load_requests
    fewer = before.global_load_sectors / after.global_load_sectors
    return judged(
        round(ratio) == 32,
        f"requests fall {ratio:.0f} times, as the side of the tile says; sectors only {fewer:.0f} times, because the naive "
        "kernel's request for B is one sector for all 32 work-items",
        in_part=round(fewer) < 32,
    )


def tiles_of_16_change_nothing(model: str) -> Judgement:
    before, after = sums("tiles/01_naive[CSDN]", model), sums("tiles/02_tiled[CSDN]", model)
    ratio = before.global_load_requests / after.global_load_requests
    fewer = before.global_load_sectors / after.global_load_sectors
    return judged(
        ratio == fewer == 1,
        f"requests fall from {before.global_load_requests:,} to {after.global_load_requests:,}, sectors from "
        f"{before.global_load_sectors:,} to {after.global_load_sectors:,}, {fewer:.0f} times; the times are of the enqueue",
    )


def sides_are_powers_of_two(model: str) -> Judgement:
    kernel = with_settings(find_kernel("tiles/02_tiled[CSDN]"), {"BM": 24, "BN": 24, "BK": 24})
    problem = problem_of(kernel, (72, 48, 24))
    arrays = random_arrays(problem)
    found = explain_kernel(kernel, problem, model=find_model(model), arrays=arrays, groups="all")[-1]
    reference = problem.reference(arrays)
    wrong = np.abs(found.outputs["C"].reshape(48, 72).T - reference) > problem.error_bound(arrays, reference)
    right = not wrong.any() and not found.faults
    return judged(not right, "tiles of 24 x 24 compute the product" if right else "tiles of 24 x 24 are wrong")


def nine_eighths(model: str) -> Judgement:
    before, after, hoisted = (
        local_reads_per_product(name, model) for name in ("tiles/02_tiled", MORE_WORK, "tiles/03_more_work_per_item")
    )
    return judged(
        (before, hoisted) == (2.0, 1.125),
        f"{before:g} and {after:g} requests to local memory for each multiply-add, as it is written: it reads A again for each "
        f"column. Compilers take that read out of the loop, and then it is {hoisted:g}, as in our rung",
        in_part=after != hoisted,
    )


def wide_types(model: str) -> Judgement:
    names = (MORE_WORK, "tiles/04_wide_types", "tiles/04_wide_types[VEC=8]")
    before, four, eight = (sums(name, model) for name in names)
    ratios = [before.global_load_requests / each.global_load_requests for each in (four, eight)]
    return judged(
        round(ratios[0]) == 4,
        f"load requests to global memory fall {ratios[0]:.3g} times; the sectors stay: {before.global_load_sectors:,} and "
        f"{four.global_load_sectors:,}. Vectors of eight, which the published figure is of, make it {ratios[1]:.3g} times: no "
        "load is wider than 16 bytes",
    )


def pad_of_two(name: str, model: str) -> Judgement:
    counts = {pad: sums(name, model, (("PAD", pad),)).conflicts for pad in range(4)}
    best = min(counts, key=lambda pad: (counts[pad], pad))
    listed = ", ".join(f"{pad}: {count:,}" for pad, count in counts.items())
    advice = (
        ""
        if not counts[2]
        else f"; {best} loses fewest, but only an even pad keeps pairs of words aligned for 64-bit loads"
    )
    because = f"wavefronts lost to conflicts by pad: {listed}{advice}"
    return judged(counts[2] < counts[0], because, in_part=counts[2] > 0)


def quarter_of_a_read(model: str) -> Judgement:
    reads = local_reads_per_product("tiles/06_register_tile[published]", model)
    return judged(reads == 0.25, f"{reads:g} requests to local memory for each multiply-add")


def wide_loads_need_no_pad(model: str) -> Judgement:
    name = "tiles/07_wide_loads[published]"
    lost, whole = sums(name, model).conflicts, sums("tiles/07_wide_loads", model).conflicts
    ratio = (
        sums("tiles/06_register_tile[published]", model).global_load_requests / sums(name, model).global_load_requests
    )
    return judged(
        whole == 0,
        f"as it is written, {lost:,} wavefronts are lost: each vector is stored word by word, with a stride of 16 bytes. Stored "
        f"whole, as our rung does and as compilers may, {whole:,} are; load requests to global memory fall {ratio:.3g} times",
        in_part=lost > 0,
    )
