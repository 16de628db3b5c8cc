"""The types in which a product of chunks is summed and given."""

from typing import NamedTuple


class Arithmetic(NamedTuple):
    """The types of a sum and of the result, and the precision of the products."""

    sum: str
    result: str
    precision: str | None
