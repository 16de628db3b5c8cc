"""The cases of a switch: their values in the type of its subject, which work-items have them, and how these enter.

A case may stand deep in the body of its switch. Those who enter there wait in `Frame.entries` until its place in the text
comes. A statement with such a case inside is run even if nobody reaches it from above.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..clc.lexer import Position
from ..clc.tree import Case, Declaration, Span, Statement, Switch
from ..clc.typed_constants import wrapped
from ..clc.types import LONG, Scalar, Type, promoted
from ..clc.walk import cases_of, nodes_below
from .compiled_code import Frame, Run, Step, Value
from .masks import Mask


class Label(NamedTuple):
    """The values of a case: `more` follow the first one. They count as 64 bits that wrap."""

    first: int
    more: int

    def holds(self, value: Value) -> npt.NDArray[np.bool_]:
        if not self.more:
            return np.asarray(value == self.first)
        found: npt.NDArray[np.bool_] = np.asarray(value - np.int64(self.first)).view(np.uint64) <= np.uint64(self.more)
        return found


def has_case(labels: Sequence[Label | None], value: Value) -> npt.NDArray[np.bool_]:
    """Whether a case has the value."""
    alone = np.array([each.first for each in labels if each is not None and not each.more], np.int64)
    found: npt.NDArray[np.bool_] = np.isin(value, alone)
    for each in labels:
        found = found | each.holds(value) if each is not None and each.more else found
    return found


def entries_of(statement: Statement) -> tuple[int, ...]:
    """The cases inside of a statement at which a switch around it is entered."""
    return tuple(id(case) for case in cases_of(statement))


def waits(frame: Frame, entries: tuple[int, ...]) -> bool:
    """Whether somebody has yet to enter at one of these cases."""
    return any(entry in frame.entries for entry in entries)


def waiting(frame: Frame, mask: Mask, entries: tuple[int, ...]) -> Mask:
    """The lanes of `mask`, and those that wait at these cases."""
    for entry in entries:
        mask = mask.union(frame.entries.get(entry))
    return mask


def enter(case: Case) -> Step:
    """Those who wait at a case go on from there together with those who come from above."""
    entry = id(case)
    return lambda frame, mask: mask.union(frame.entries.pop(entry, None))


def open_block(steps: list[Step], entries: list[tuple[int, ...]]) -> Step:
    """A block with cases inside: where nobody has come so far, only what has cases is run."""

    def run(frame: Frame, mask: Mask) -> Mask:
        for step, own in zip(steps, entries, strict=True):
            if mask.any or waits(frame, own):
                mask = step(frame, mask)
        return mask

    return run


def open_branches(
    test: Run, then: Step, otherwise: Step | None, entries: tuple[tuple[int, ...], tuple[int, ...]]
) -> Step:
    """An if with cases inside of its branches."""

    def run(frame: Frame, mask: Mask) -> Mask:
        yes = no = mask
        if mask.any:
            known = test(frame, mask)
            yes, no = mask.where(known), mask.except_where(known)
        through = then(frame, yes) if yes.any or waits(frame, entries[0]) else yes
        if otherwise is not None and (no.any or waits(frame, entries[1])):
            no = otherwise(frame, no)
        return through.union(no)

    return run


def passes_declaration(statement: Statement) -> bool:
    """Whether somebody who enters at a case of `statement` may pass a declaration."""
    if isinstance(statement, Switch) or not entries_of(statement):
        return False
    inner = [each for each in nodes_below(statement) if isinstance(each, Statement)]
    return any(isinstance(each, Declaration) or passes_declaration(each) for each in inner)


def labels_of_cases(cases: Sequence[Case], subject: Type) -> list[Label | None]:
    """The labels' values in the promoted type of the subject, as int64 has their bits (C99 6.8.4.2)."""
    kind = promoted(subject) if isinstance(subject, Scalar) and not subject.is_float else LONG
    out: list[Label | None] = []
    known: list[Span] = []
    for case in cases:
        label = None
        if case.values is not None:
            span = Span(wrapped(case.values.first, kind), wrapped(case.values.last, kind))
            check_case(span, known, case.position)
            known.append(span)
            label = Label(wrapped(span.first, LONG), span.last - span.first)
        out.append(label)
    return out


def check_case(span: Span, known: Sequence[Span], position: Position) -> None:
    """A case has values, and none that an earlier case has."""
    if span.last < span.first:
        raise position.error(f"the range {span.first} ... {span.last} is empty")
    for other in known:
        if span.first <= other.last and other.first <= span.last:
            raise position.error(f"there are two cases for {max(span.first, other.first)}")
