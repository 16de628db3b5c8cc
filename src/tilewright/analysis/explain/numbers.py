"""Numbers as the sentences of a verdict have them."""


def number(value: float) -> str:
    """A count per request, without decimals if it is whole."""
    return f"{value:.0f}" if abs(value - round(value)) < 0.05 else f"{value:.1f}"
