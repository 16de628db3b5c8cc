"""What tests ask of sentences: that they hold names and numbers, in whatever words."""

import re


def says(text: str, *values: object) -> bool:
    """Whether every value stands in the text by itself: 16 is not in "160", "A" not in "At"."""
    return all(re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", text) for value in values)
