"""The cases of a switch: their values in the type of its subject, and which work-items have them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..clc.lexer import Position
from ..clc.tree import Span, Switch
from ..clc.typed_constants import wrapped
from ..clc.types import LONG, Scalar, Type, promoted
from .compiled_code import Value


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


def labels_of_cases(switch: Switch, subject: Type) -> list[Label | None]:
    """The labels' values in the promoted type of the subject, as int64 has their bits (C99 6.8.4.2)."""
    kind = promoted(subject) if isinstance(subject, Scalar) and not subject.is_float else LONG
    out: list[Label | None] = []
    known: list[Span] = []
    for case in switch.cases:
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
