"""Exact numbers -> floating-point numbers, rounded once to nearest even."""

from decimal import Decimal
from fractions import Fraction

import numpy as np

from .types import Scalar


def exact_number(digits: str, hexadecimal: bool) -> Fraction:
    """The value that the digits of a literal mean."""
    if not hexadecimal:
        return Fraction(Decimal(digits))
    mantissa, _, exponent = digits[2:].partition("p")
    whole, _, part = mantissa.partition(".")
    return Fraction(int(whole + part, 16)) * Fraction(2) ** (int(exponent) - 4 * len(part))


def rounded(exact: Fraction, kind: Scalar) -> float:
    """The number of `kind` that is nearest to `exact`; infinity beyond the largest."""
    limits = np.finfo(kind.dtype)
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    step = Fraction(2) ** (max(exponent, int(limits.minexp)) - int(limits.nmant))
    nearest = round(exact / step) * step
    if abs(nearest) > Fraction(float(limits.max)):
        return float("inf") if exact > 0 else float("-inf")
    return float(nearest)
