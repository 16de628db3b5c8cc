"""What NVIDIA's SDK sample claims about memory."""

from tilewright.analysis.explain.models import find_model
from tilewright.analysis.explain.numbers import number
from tilewright.analysis.explain.totals import totals

from .counts import Judgement, explained, is_ideal, judged, per_request

TILED = "transpose/05_tiled"


def naive_transpose(model: str) -> Judgement:
    found = explained("transpose/04_naive", model)
    loads, stores = per_request(found, "input"), per_request(found, "output", "store")
    because = f"{number(loads)} sectors a load, {number(stores)} a store, where {number(loads)} are enough for either"
    return judged(is_ideal(found, "input") and stores > loads, because)


def uncoalesced_copy(model: str) -> Judgement:
    found = explained("transpose/03_uncoalesced_copy", model)
    loads, stores = per_request(found, "input"), per_request(found, "output", "store")
    because = f"{number(loads)} sectors a load and {number(stores)} a store"
    return judged(not is_ideal(found, "input") and not is_ideal(found, "output", "store"), because)


def tiled_transpose_coalesces(model: str) -> Judgement:
    found = explained(TILED, model)
    loads, stores = per_request(found, "input"), per_request(found, "output", "store")
    return judged(
        is_ideal(found, "input") and is_ideal(found, "output", "store"),
        f"{number(loads)} sectors a load and {number(stores)} a store, the least",
    )


def pitch_16(model: str) -> Judgement:
    found = explained(TILED, model, (("PAD", 0),))
    because = f"a column load takes {number(per_request(found, 'tile'))} wavefronts on {find_model(model).lanes} lanes"
    return judged(totals(found).conflicts > 0, because)


def pitch_17(model: str) -> Judgement:
    found, lanes = explained(TILED, model), find_model(model).lanes
    counted = (
        f"{number(per_request(found, 'tile'))} wavefronts a load and {number(per_request(found, 'tile', 'store'))} a store on "
        f"{lanes} lanes"
    )
    free = totals(found).conflicts == 0
    two_rows = ", for a request covers two rows of the tile. A 32 x 32 tile with a pitch of 33 is free of conflicts"
    return judged(free, counted.replace("1 wavefronts", "1 wavefront") if free else counted + two_rows)
