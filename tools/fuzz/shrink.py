"""Looks for the smallest case that fails in the same way: with halved sizes, fewer options and plain arrays."""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from .cases import Case, Given, Lie, Out
from .cuda_frameworks import TYPES
from .pairs import tied

MOST_TRIES = 80
PLAIN = Case()


def shrunk(case: Case, fails: Callable[[Case], bool], most: int = MOST_TRIES) -> Case:
    """The case after every simplification with which it still `fails`, tried in turn until none helps."""
    tries = 0
    simpler = True
    while simpler and tries < most:
        simpler = False
        for other in simplifications(case):
            tries += 1
            if tries > most:
                break
            if fails(other):
                case, simpler = other, True
                break
    return case


def simplifications(case: Case) -> Iterator[Case]:
    """Cases that are one step simpler, the largest steps first."""
    for other in _simpler(case):
        if tied(other) != case:
            yield tied(other)


def _simpler(case: Case) -> Iterator[Case]:
    for name in (
        "pair",
        "warm",
        "host_bytes",
        "device_bytes",
        "lead_a",
        "lead_b",
        "activation",
        "precision",
        "bias",
        "scale_b",
        "scale_a",
        "queue",
        "dtype",
        "device",
    ):
        plain = getattr(PLAIN, name)
        if getattr(case, name) != plain:
            yield case.but(**{name: plain})
    if case.lead_a or case.lead_b:
        yield case.but(lead_a=(), lead_b=())
    if case.c is not None and case.out.where not in ("c", "is c"):
        yield case.but(c=None, beta="0")
    for name, plain in (("alpha", "1"), ("beta", "1"), ("trans_a", "N"), ("trans_b", "N")):
        if getattr(case, name) not in (plain, "0"):
            yield case.but(**{name: plain})
    if case.out.where:
        yield case.but(out=Out())
        yield case.but(out=replace(case.out, given=_plainer(case.out.given), distance=0))
    for name in case.operands:
        given = getattr(case, name)
        if given is not None and _plainer(given) != given:
            yield case.but(**{name: _plainer(given)})
            for each in fields(Lie):
                lie = replace(given.lie, **{each.name: getattr(Lie(), each.name)})
                if lie != given.lie:
                    yield case.but(**{name: replace(given, lie=lie)})
    yield from _smaller(case)


def _plainer(given: Given) -> Given:
    """The same type, as an array that lies as usual, of the same framework."""
    return Given(given.dtype, values=given.values, form=given.form if given.form in TYPES else "plain")


def _smaller(case: Case) -> Iterator[Case]:
    for name in ("m", "n", "k"):
        side: int = getattr(case, name)
        for less in sorted({1, side // 2, side - side // 8, side - 1}):
            if 0 < less < side and case.is_product:
                yield case.but(**{name: less})
    for place, side in enumerate(case.shape):
        for less in sorted({1, side // 2, side - 1}):
            if 0 < less < side:
                yield case.but(shape=(*case.shape[:place], less, *case.shape[place + 1 :]))
    if len(case.shape) > 2:
        yield case.but(shape=case.shape[1:])
    values: Any = case.a.values
    if values not in ("ordinary", "integers") and case.is_product:
        plain = {name: replace(given, values="integers") for name, given in case.operands.items()}
        yield case.but(**plain)
