"""Symmetric products on GPUs: half of C and its mirror image, or all of C where that takes less time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

from ..core.device import DeviceInfo
from ..core.plan import violations
from ..core.types import element_type
from ..kernels.product.call import GemmCall
from ..kernels.product.config import ProductConfig
from ..kernels.product.cost import mirroring_cycles
from ..kernels.product.family import Candidate
from ..kernels.product.symmetric import whole

HALVED = "B is A transposed: the lower triangle of C is computed, and mirrored"


@dataclass(frozen=True)
class Way:
    """A product as it is to be planned, its candidates, and why it is planned so."""

    call: GemmCall
    candidates: Iterator[Candidate]
    note: str


def cheaper_way(call: GemmCall, device: DeviceInfo, ranked: Callable[[GemmCall], Iterator[Candidate]]) -> Way:
    """A symmetric product by its triangle, or as any other by a kernel that sums all elements alike, whichever the cost
    models prefer."""
    mirroring = mirroring_cycles(call, device)
    half, halved = _first(ranked(call), call, device)
    full = whole(call)
    alike = (each for each in ranked(full) if _is_symmetric(each, full))
    one, candidates = _first(alike, full, device)
    if half is None and one is None:
        return Way(call, ranked(call), HALVED)  # the plan says why there is none
    if one is None or (half is not None and (half.rank[0], half.cost + mirroring) <= one.rank):
        return Way(call, halved, HALVED)
    note = f"B is A transposed, but all of C is computed: about {one.cost:,.0f} cycles"
    if half is not None:
        note += f" against {half.cost + mirroring:,.0f} for the lower triangle and its mirror image"
    return Way(full, candidates, note)


def _is_symmetric(candidate: Candidate, call: GemmCall) -> bool:
    """Whether all of C comes out symmetric to the last bit. Complex numbers do not: a sum adds a.x b.y and a.y b.x in turn."""
    own = candidate.config
    return element_type(call.dtype).parts == 1 and isinstance(own, ProductConfig) and own.sums_alike(call)


def _first(
    candidates: Iterator[Candidate], call: GemmCall, device: DeviceInfo
) -> tuple[Candidate | None, Iterator[Candidate]]:
    """The first candidate that fits, and all candidates from it on."""
    for each in candidates:
        if not any(violations(each.configured, each.config, call, device)):
            return each, chain((each,), candidates)
    return None, iter(())
