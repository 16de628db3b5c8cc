"""A family of kernels as the choice sees it: its candidates for a product, built when they are asked for."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import Protocol

from ...core.device import DeviceInfo
from ...core.kernel import Config, Kernel
from .call import GemmCall

# How much faster a program must be by the models than one of the few that most products share, to be built: a first call waits
# for a build about as long as for a hundred thousand launches.
WORTH_A_PROGRAM = 1.15


@dataclass(frozen=True)
class Candidate:
    """A kernel, a configuration for it, and what it would take: an estimate in clock cycles that all families share.

    `few` are those whose programs most products share.
    """

    kernel: Kernel
    config: Config
    cost: float
    few: bool = False

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
    few: bool = False  # whether all of them are

    @property
    def rank(self) -> tuple[bool, float]:
        return not self.precision, self.floor


Offer = Candidate | Group


def once_checked(
    kernel: Kernel, config: Config, cost: float, call: GemmCall, device: DeviceInfo, few: bool = False
) -> Group:
    """A candidate that is offered only if nothing speaks against its configuration, which is asked when its turn comes."""

    def fitting() -> Iterator[Candidate]:
        if not any(config.violations(call, device)):
            yield Candidate(kernel, config, cost, few)

    return Group(cost, fitting, kernel.precision, few)


class Family(Protocol):
    """What every folder here offers, in its search.py."""

    def offers(self, call: GemmCall, device: DeviceInfo) -> Iterable[Offer]:
        """The candidates for a product; none where the device lacks what they need."""
        ...


def ranked(
    families: Sequence[Family], call: GemmCall, device: DeviceInfo, few_programs: bool = False
) -> Iterator[Candidate]:
    """The candidates of several families, sorted by cost. For `few_programs`, others than those that most products share stand
    as if they cost WORTH_A_PROGRAM times as much."""
    offers = (offer for family in families for offer in family.offers(call, device))
    return cheapest_first(offers, WORTH_A_PROGRAM if few_programs else 1.0)


Entry = tuple[tuple[bool, float], bool, tuple[int, ...], Offer]


def cheapest_first(offers: Iterable[Offer], worth_a_program: float = 1.0) -> Iterator[Candidate]:
    """All candidates in the order of their ranks, equal ones as they are listed. A group is opened when nothing is left that
    is surely cheaper."""
    waiting = [_entry(offer, (place,), worth_a_program) for place, offer in enumerate(offers)]
    heapify(waiting)
    while waiting:
        _, _, path, offer = heappop(waiting)
        if isinstance(offer, Candidate):
            yield offer
            continue
        for place, inner in enumerate(offer.open()):
            heappush(waiting, _entry(inner, (*path, place), worth_a_program))


def _entry(offer: Offer, path: tuple[int, ...], worth_a_program: float) -> Entry:
    other, cost = offer.rank
    return (other, cost if offer.few else cost * worth_a_program), isinstance(offer, Candidate), path, offer
