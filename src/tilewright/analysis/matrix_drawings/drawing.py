"""The record of one drawing, and the words under it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...core.language import translated

Values = dict[str, str | int]
CAPTIONS = {
    "operands": (
        "In step {step} of {steps}, work-group {group} of {kernel} reads this many elements: {a_step} of {a} and "
        "{b_step} of {b}; in all {a_all} and {b_all}, for {c_all} of {c}, {c_item} of them by one work-item."
    ),
    "product": (
        "Work-group {group} of {kernel} reads this many elements: {a_all} of {a} and {b_all} of {b}, for {c_all} of "
        "{c}, {c_item} of them by one work-item."
    ),
    "copy": (
        "Work-group {group} of {kernel} reads this many elements: {a_all} of {a}, and writes {c_all} of {c}; "
        "work-item {item} reads {a_item} and writes {c_item}."
    ),
    "sequence": (
        "The first {shown} of the {steps} steps of work-group {group} of {kernel}: what each reads has the stronger colour."
    ),
    "register_tile": (
        "At k = {k}, work-item {item} of {kernel} uses this many elements: {a_item} of {a} and {b_item} of {b}, for {c_item} of "
        "{c} that it computes."
    ),
    "owners": (
        "Which work-item computes each of the first {rows} x {columns} elements of {c} of work-group {group} of {kernel}."
    ),
    "local_memory": (
        "How {array} of {kernel} lies in local memory, {banks} banks of 4 bytes a row; line {line} takes {cost} {passes}, and "
        "{ideal} at least."
    ),
    "engine_memory": (
        "How {array} of {kernel}, with elements of {a}, lies in local memory, {banks} banks of 4 bytes a row: TMA "
        "writes it, and no work-item reads or writes it itself."
    ),
    "packed": "{array} of {kernel} holds a block of {a}, packed in the order in which it is used: {elements} elements.",
    "fragments": "One {instruction} of {kernel}: the number in each element is the lane whose registers hold it.",
    "request": "One request of a {sub_group} of {kernel} to each matrix: {parts}.",
    "request_part": "{operation} {matrix} (lanes: {lanes}, elements: {elements}, {piece}s of {bytes} bytes: {sectors})",
}  # fmt: skip


@dataclass(frozen=True)
class MatrixDrawing:
    """One drawing. `kind` is a key of CAPTIONS and `values` are its numbers and names: `caption` is made of both. `svg` needs
    nothing else; `text` has at most 80 columns."""

    name: str
    kind: str
    values: Mapping[str, str | int] = field(repr=False)
    svg: str = field(repr=False)
    text: str = field(repr=False)

    @property
    def caption(self) -> str:
        """One sentence in the chosen language."""
        return translated(CAPTIONS[self.kind], **self.values)
