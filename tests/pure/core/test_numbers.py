"""Numbers in tables."""

import pytest

from tilewright.core.numbers import figure, scaled_unit


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (65067.3, "65,067"), (100.0, "100"), (8.0712, "8.07"), (0.5, "0.5"), (21770, "21,770"), (99.96, "100"), (99.94, "99.9"),
        (0.0000123, "0.0000123"), (0.0, "0"), (1e9, "1,000,000,000"), (float("nan"), "nan"),
    ],
)  # fmt: skip
def test_numbers_have_three_digits_and_are_never_powers_of_ten(value: float, text: str) -> None:
    assert figure(value) == text


def test_rates_are_tera_from_ten_thousand_on() -> None:
    assert scaled_unit("GFLOP/s", 9999.0) == ("GFLOP/s", 1.0)
    assert scaled_unit("GFLOP/s", 10_000.0) == ("TFLOP/s", 1000.0)
    assert scaled_unit("GB/s", 20_000.0) == ("TB/s", 1000.0)
    assert scaled_unit("rate", 20_000.0) == ("rate", 1.0)
