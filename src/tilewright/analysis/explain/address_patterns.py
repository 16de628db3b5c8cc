"""Recognises the pattern of a request's addresses: one word for all, consecutive, strided, along rows or columns."""

from dataclasses import dataclass

import numpy as np

from .models.rules import Model, split_access, wavefronts
from .profile import LineAccess, Request


@dataclass(frozen=True)
class Shape:
    """`kind` is "same", "consecutive", "strided" or "scattered". `stride` is the number of bytes from one lane to the next.
    `runs` counts the stretches of equally spaced lanes. `along` is "row" or "column" in a two-dimensional array."""

    kind: str
    stride: int
    runs: int
    along: str = ""


def active_addresses(request: Request) -> list[int]:
    return [address for address in request.addresses if address is not None]


def shape_of(request: Request, row: tuple[int, int] = (0, 0)) -> Shape:
    """The pattern of a request. `row` is (bytes of a row, bytes of an element) of the array, if it has rows."""
    addresses = np.array(active_addresses(request), dtype=np.int64)
    if len(addresses) < 2 or (addresses == addresses[0]).all():
        return Shape("same", 0, 1)
    steps = np.diff(addresses)
    values, counts = np.unique(steps, return_counts=True)
    stride = int(values[np.argmax(counts)])
    runs = int((steps != stride).sum()) + 1
    along = _along(steps, stride, row)
    if runs > max(2, len(addresses) // 3):
        return Shape("scattered", stride, runs, along)
    if stride == 0:
        return Shape("same", 0, runs, along)
    return Shape("consecutive" if stride == request.size else "strided", stride, runs, along)


def _along(steps: "np.ndarray", stride: int, row: tuple[int, int]) -> str:
    pitch, element = row
    if pitch <= element or stride == 0:  # rows of one element are neither rows nor columns
        return ""
    if stride % pitch == 0:
        return "column"
    return "row" if abs(stride) <= 4 * element else ""


def wavefronts_at_pitch(model: Model, access: LineAccess, request: Request, pitch: int) -> int:
    """Wavefronts of one request if the array's rows had `pitch` elements. 0 if that is unknown: a vector would not be aligned,
    or the array has no rows."""
    row, element = access.row
    if not row or element == 0 or (pitch * element) % min(access.size, 16):
        return 0
    lanes = np.array([[0 if each is None else each for each in request.addresses]], dtype=np.int64)
    active = np.array([[each is not None for each in request.addresses]])
    moved = lanes // row * (pitch * element) + lanes % row
    operation = "load" if access.operation == "load" else "store"
    pieces = split_access(access.size, access.size, model.widest)
    return sum(int(wavefronts(model, moved + at, active, size, operation)[0][0]) for at, size in pieces)


@dataclass(frozen=True)
class PitchAdvice:
    """The shortest pitch, in elements, with the fewest wavefronts at one access, and the one with the fewest at all accesses
    of the array together. `now` is the present pitch."""

    now: int
    best: int
    wavefronts: int
    best_of_all: int
    all_conflict_free: bool


def advise_pitch(model: Model, access: LineAccess, together: tuple[LineAccess, ...]) -> PitchAdvice | None:
    """The pitch that removes the conflicts of `access`, from the row's own length to 33 elements more; None if none is better.

    The best for all accesses `together` counts each as often as it is requested."""
    row, element = access.row
    if not row:
        return None
    now = row // element
    pitches = range(now, now + 34)
    own = {pitch: wavefronts_at_pitch(model, access, access.worst, pitch) for pitch in pitches}
    own = {pitch: count for pitch, count in own.items() if count}
    if not own or min(own.values()) >= own.get(now, 0):
        return None
    best = min(own, key=lambda pitch: (own[pitch], pitch))
    everywhere: dict[int, int] = {}
    for pitch in own:
        counts = [wavefronts_at_pitch(model, each, each.worst, pitch) for each in together]
        if all(counts):
            everywhere[pitch] = sum(count * each.requests for count, each in zip(counts, together, strict=True))
    best_of_all = min(everywhere, key=lambda pitch: (everywhere[pitch], pitch)) if everywhere else best
    least = sum(round(each.ideal_per_request) * each.requests for each in together)
    return PitchAdvice(now, best, own[best], best_of_all, everywhere.get(best_of_all, least + 1) <= least)
