"""The words of the page: all in one place, each used, and no sentence written elsewhere."""

import re
import string
from pathlib import Path

import pytest

import tilewright
from tilewright.reports.page.words import WORDS, factor, say

FOLDER = Path(tilewright.__file__).parent / "reports" / "page"
SOURCES = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py") if path.name != "words.py"}
FAMILIES = ("operation.", "verdict.")  # whose last word is a value of the record


def named_keys() -> set[str]:
    """The keys that stand in the sources, between quotation marks."""
    return {word for text in SOURCES.values() for word in re.findall(r'"([a-z_]+(?:\.[a-z_0-9]+)?)"', text)}


def test_every_sentence_is_used() -> None:
    assert [key for key in WORDS if key not in named_keys() and not key.startswith(FAMILIES)] == []


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_said_is_there(name: str) -> None:
    said = re.findall(r'\bsay\(\s*"([^"]+)"', SOURCES[name])
    assert [key for key in said if key not in WORDS] == []


@pytest.mark.parametrize("key", WORDS)
def test_a_sentence_has_named_values_alone(key: str) -> None:
    assert all(name is None or name.isidentifier() for _, name, _, _ in string.Formatter().parse(WORDS[key]))


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        say("ladder.alone", rung="tiles/01")


def test_ratios_have_two_decimals_where_they_matter() -> None:
    assert [factor(value) for value in (1.1, 0.987, 17.24, 0.05678)] == ["1.10", "0.99", "17.2", "0.0568"]
