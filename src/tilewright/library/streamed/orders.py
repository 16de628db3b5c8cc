"""In which order the tiles of a strip are computed, so that a device seldom waits for its link. Plain numbers.

A strip is a group of panels of one operand that stay on a device, while those of the other operand pass by. Three rules:

- A device that has nothing yet begins in a corner: its first tile needs one panel of each operand, and each further panel makes
  tiles with all that are there. A corner that is a square makes x^2 / (2 s^2 k) flops of x bytes in elements of s bytes, which
  is the most. So a device of F flop/s behind a link of L byte/s waits for s^2 k F / (2 L^2) seconds in any order: 19 ms of 280
  for float16 of 44,544 a side at 640 TFLOP/s and 55 GB/s, 32 ms at 42 GB/s.
- In the middle, each panel that passes by is multiplied with all that stay, and goes.
- The last panels that pass by stay until the end: each panel of the group is multiplied with all of them, and goes. The next
  group's panel is loaded in its place meanwhile, and begins with the same panels that pass by.
"""

from collections.abc import Sequence

Pair = tuple[int, int]  # a panel that stays, and one that passes by


def arrivals(staying: int, passing: int, ratio: float) -> list[bool]:
    """In which order so many panels of both operands are loaded, and whether each is of the operand that stays: of that of which
    there are fewer bytes, while both have some left.

    `ratio`: the bytes of a panel that stays, divided by those of a panel that passes by.
    """
    found = []
    own = others = 0
    while own < staying or others < passing:
        stays = others == passing or (own < staying and own * ratio <= others)
        own, others = own + stays, others + (not stays)
        found.append(stays)
    return found


def corner(staying: Sequence[int], passing: Sequence[int], ratio: float) -> list[Pair]:
    """All tiles of some panels, in the order in which the panels arrive: each with all that are there."""
    pairs: list[Pair] = []
    own = others = 0
    for stays in arrivals(len(staying), len(passing), ratio):
        if stays:
            pairs += [(staying[own], other) for other in passing[:others]]
            own += 1
        else:
            pairs += [(each, passing[others]) for each in staying[:own]]
            others += 1
    return pairs


def strip_of(staying: Sequence[int], passing: Sequence[int], kept: int, ratio: float, fresh: bool) -> list[Pair]:
    """All tiles of a strip, if a device keeps so many panels that pass by. `fresh`: it has no panels yet; otherwise it has
    the first ones that pass by."""
    first, middle, last = passing[:kept], passing[kept : max(kept, len(passing) - kept)], passing[kept:][-kept:]
    begun = corner(staying, first, ratio) if fresh else [(own, other) for own in staying for other in first]
    between = [(own, other) for other in middle for own in staying]
    return [*begun, *between, *((own, other) for own in staying for other in last)]
