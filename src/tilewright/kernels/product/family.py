"""A family of kernels as the choice sees it: its candidates for a product, built when they are asked for."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import Protocol

from ...core.device import DeviceInfo
from ...core.kernel import Config, Kernel
from .call import GemmCall


@dataclass(frozen=True)
class Candidate:
    """A kernel, a configuration for it, and what it would take: an estimate in clock cycles that all families share."""

    kernel: Kernel
    config: Config
    cost: float

    @property
    def rank(self) -> tuple[bool, float]:
        """What orders candidates: kernels in the precision that was asked for come first, then costs decide."""
        return not self.kernel.precision, self.cost

    @property
    def configured(self) -> Kernel:
        return replace(self.kernel, config=self.config)


@dataclass(frozen=True)
class Group:
    """Candidates of a precision that cost `floor` or more; `open` makes them."""

    floor: float
    open: Callable[[], Iterable["Candidate | Group"]]
    precision: str = ""

    @property
    def rank(self) -> tuple[bool, float]:
        return not self.precision, self.floor


Offer = Candidate | Group


def once_checked(kernel: Kernel, config: Config, cost: float, call: GemmCall, device: DeviceInfo) -> Group:
    """A candidate that is offered only if nothing speaks against its configuration, which is asked when its turn comes."""

    def fitting() -> Iterator[Candidate]:
        if not any(config.violations(call, device)):
            yield Candidate(kernel, config, cost)

    return Group(cost, fitting, kernel.precision)


class Family(Protocol):
    """What every folder here offers, in its search.py."""

    def offers(self, call: GemmCall, device: DeviceInfo) -> Iterable[Offer]:
        """The candidates for a product; none where the device lacks what they need."""
        ...


def ranked(families: Sequence[Family], call: GemmCall, device: DeviceInfo) -> Iterator[Candidate]:
    """The candidates of several families, sorted by cost."""
    return cheapest_first(offer for family in families for offer in family.offers(call, device))


Entry = tuple[tuple[bool, float], bool, tuple[int, ...], Offer]


def cheapest_first(offers: Iterable[Offer]) -> Iterator[Candidate]:
    """All candidates in the order of their ranks, equal ones as they are listed. A group is opened when nothing is left that
    is surely cheaper."""
    waiting = [_entry(offer, (place,)) for place, offer in enumerate(offers)]
    heapify(waiting)
    while waiting:
        _, _, path, offer = heappop(waiting)
        if isinstance(offer, Candidate):
            yield offer
            continue
        for place, inner in enumerate(offer.open()):
            heappush(waiting, _entry(inner, (*path, place)))


def _entry(offer: Offer, path: tuple[int, ...]) -> Entry:
    return offer.rank, isinstance(offer, Candidate), path, offer
