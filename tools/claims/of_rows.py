"""What the MQL5 article claims about memory."""

from tilewright.analysis.explain.models import find_model
from tilewright.analysis.explain.numbers import number
from tilewright.analysis.explain.plans import explain_kernel
from tilewright.analysis.explain.totals import totals
from tilewright.kernels.known_bad import KNOWN_BAD

from .counts import PRODUCT, Judgement, explained, is_ideal, judged, per_request, problem_of, requests, sectors

BEFORE_VECTORS, VECTORS = "rows/05_private_row", "rows/08_float4_row[published]"


def both_operands_coalesced(model: str) -> Judgement:
    found = explained("rows/02_coalesced[published]", model)
    a, b = (per_request(found, name) for name in "AB")
    lanes, least = find_model(model).lanes, max(1, 4 * find_model(model).lanes // find_model(model).sector)
    return judged(
        all(is_ideal(found, name) for name in "AB"),
        f"stride 1 in time is not coalescing: the {lanes} work-items of a request lie in different rows, so A takes "
        f"{number(a)} sectors a request and B {number(b)}, where {least} hold as many words side by side",
    )


def private_sum(model: str) -> Judgement:
    names = ("rows/02_coalesced[published]", "rows/03_private_sum")
    before, after = (requests(explained(name, model), "C") for name in names)
    return judged(
        before == 2 * PRODUCT[2] * after,
        f"requests to C fall from {before:,} to {after:,}, {before / after:.0f} times fewer",
    )


def private_row(model: str) -> Judgement:
    names = ("rows/04_row_per_item", BEFORE_VECTORS)
    before, after = (requests(explained(name, model), "A") for name in names)
    off_chip = any(each.is_private for each in explained(BEFORE_VECTORS, model).private_accesses)
    there = "a private array whose index varies lies in off-chip memory, too" if off_chip else "it stays in registers"
    return judged(
        before == PRODUCT[1] * after,
        f"requests to A fall from {before:,} to {after:,}, N = {PRODUCT[1]} times; as many reads of the copy take their "
        f"place, and {there}",
        in_part=off_chip,
    )


def local_column(model: str) -> Judgement:
    before, after = (explained(name, model) for name in (BEFORE_VECTORS, "rows/06_local_column[whole column]"))
    fewer = sectors(before, "B") / sectors(after, "B")
    local = totals(after).local_load_wavefronts
    rules = find_model(model)
    if rules.local_is_global:
        return judged(
            sectors(after, "B") + local < sectors(before, "B"),
            f"sectors of B fall {fewer:.0f} times, but local memory is global memory there, and {local:,} sectors of it take "
            "their place",
        )
    return judged(
        fewer > 1,
        f"sectors of B fall {fewer:.0f} times, but a request for B was one sector for all work-items already, and "
        f"{local:,} {rules.local_passes} of local memory take their place",
        in_part=local > 0,
    )


def local_column_is_right(model: str) -> Judgement:
    kernel = next(each for each in KNOWN_BAD if each.source.stem == "01_row_race")
    found = explain_kernel(kernel, problem_of(kernel, (64, 64, 64)), model=find_model(model))[-1]
    races = "; ".join(f"{each.text}, {each.count:,} times in {len(found.groups)} groups" for each in found.faults)
    return judged(not found.faults, f"as published it lacks a barrier: {races}" if races else "no fault found")


def float4_rows(model: str) -> Judgement:
    before, after = (explained(name, model) for name in (BEFORE_VECTORS, VECTORS))
    a, b = ((requests(before, name), requests(after, name)) for name in "AB")
    ours = requests(explained("rows/08_float4_row", model), "B")
    return judged(
        a[1] < a[0],
        f"the vectors are built of single elements: requests to A stay at {a[1]:,}, to B at {b[1]:,}; read through pointers to "
        f"vectors, as in our rung, those to B fall to {ours:,}",
        in_part=True,
    )
