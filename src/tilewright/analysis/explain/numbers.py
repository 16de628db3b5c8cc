"""Numbers as the sentences of a verdict have them."""

from collections.abc import Sized


def number(value: float) -> str:
    """A count per request, without decimals if it is whole."""
    return f"{value:.0f}" if abs(value - round(value)) < 0.05 else f"{value:.1f}"


def one_or_several(listed: Sized) -> int:
    """The count for the noun before a list: it is singular or plural, whatever form a number before it would ask for."""
    return min(len(listed), 2)
