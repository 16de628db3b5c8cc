"""What a product of chunks multiplies, and in which types it is summed and given."""

from typing import Any, NamedTuple


class Arithmetic(NamedTuple):
    """The types of a sum and of the result, and the precision of the products."""

    sum: str
    result: str
    precision: str | None


class Factor(NamedTuple):
    """An operand of one product: a chunk, and the part of it that is multiplied."""

    chunk: Any
    part: tuple[slice, ...]

    @property
    def values(self) -> Any:
        return self.chunk[self.part]
