"""Numbers as people read them: at least three digits, thousands separated, never a power of ten."""

import math


def figure(value: float) -> str:
    """ "21,770", "43.5" or "0.00123".

    >>> [figure(each) for each in (21770.4, 43.51, 0.00123, 0.0)]
    ['21,770', '43.5', '0.00123', '0']
    """
    if not math.isfinite(value):
        return str(value)
    if abs(value) >= 99.95:
        return f"{value:,.0f}"
    text = f"{value:.3g}"
    if "e" not in text:
        return text
    decimals = 2 - math.floor(math.log10(abs(value)))
    return f"{value:.{decimals}f}".rstrip("0")


def scaled_unit(unit: str, largest: float) -> tuple[str, float]:
    """The unit for all rates of a table whose largest is `largest`, and what one of it is in `unit`.

    From 10,000 GFLOP/s on it is TFLOP/s, and TB/s for GB/s.
    """
    return (f"T{unit[1:]}", 1000.0) if largest >= 10_000 and unit.startswith("G") else (unit, 1.0)
