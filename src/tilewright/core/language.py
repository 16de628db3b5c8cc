"""The language of sentences for people: chosen by `use_language` (--lang), else by LANGUAGE, LC_ALL, LC_MESSAGES and LANG.

Sentences are translated by GNU gettext's catalogues, `locale/LANGUAGE/LC_MESSAGES/tilewright.mo`, which
`python -m tools.catalogues` compiles from the `.po` files beside them. A sentence without a translation stays English.

What people read is `translated` where it is shown. Records, JSON and SARIF stay English: what goes into them is made
`in_english`, or kept as a `Sentence`, which is English until it is `shown`.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from gettext import NullTranslations, translation
from pathlib import Path
from typing import Any

from ..errors import UnknownName

ENGLISH = "en"
LANGUAGES = {ENGLISH: "English", "zh": "中文", "ru": "русский"}
LOCALE = Path(__file__).parents[1] / "locale"
VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")  # the order of GNU gettext

_chosen: list[str] = []


def use_language(code: str) -> None:
    """Speak a language from now on: "en", "zh" or "ru". UnknownName for another."""
    if code not in LANGUAGES:
        raise UnknownName("language", code, LANGUAGES)
    _chosen[:] = [code]


def language() -> str:
    """The language of sentences: the chosen one, else the first of the environment's that there is, else English."""
    return _chosen[0] if _chosen else _of_environment()


@contextmanager
def in_english() -> Iterator[None]:
    """A context in which sentences stay English: for records, and for what programs read."""
    before = _chosen[:]
    _chosen[:] = [ENGLISH]
    try:
        yield
    finally:
        _chosen[:] = before


@cache
def _of_environment() -> str:
    """As the process was started."""
    value = next(filter(None, (os.environ.get(each) for each in VARIABLES)), "")
    codes = (each[:2].lower() for each in value.split(":"))
    return next((code for code in codes if code in LANGUAGES), ENGLISH)


class Sentence(str):
    """An English sentence, or a word in one, that a record or a table keeps. In the values of `translated`, and by `shown`, it
    is said in the chosen language. Its own values may be sentences, too."""

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, /, **values: object) -> "Sentence":
        self = super().__new__(cls, template.format(**values) if values else template)
        self.template, self.values = template, values
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (self.template,), self.values


def translated(sentence: str, /, **values: object) -> str:
    """A sentence in the chosen language, with its {names} filled in. The English sentence is its own key. What is called
    without values is taken as it is, braces included."""
    code = language()
    if code == ENGLISH or not sentence:
        return sentence.format(**values) if values else str(sentence)
    text = _catalogue(code).gettext(sentence)
    return text.format(**_shown(values)) if values else text


def translated_count(one: str, several: str, count: int | str, /, **values: object) -> str:
    """The sentence for this count, in the chosen language: English has one for 1 and another for all others. A count that
    people read as "1,024" or "1.6" is given as this text."""
    code, number = language(), _whole(count)
    if code == ENGLISH:
        return (one if number == 1 else several).format(**values)
    return _catalogue(code).ngettext(one, several, number).format(**_shown(values))


def _whole(count: int | str) -> int:
    """The number whose form a count takes. Fractions have the form of 2: so it is in each of the languages."""
    digits = str(count).replace(",", "")
    return int(digits) if digits.isdecimal() else 2


def shown(text: str) -> str:
    """A text of a record in the chosen language: a Sentence is translated, any other text stays as it is."""
    return translated(text.template, **text.values) if isinstance(text, Sentence) else text


def _shown(values: dict[str, object]) -> dict[str, object]:
    return {name: shown(each) if isinstance(each, Sentence) else each for name, each in values.items()}


@cache
def _catalogue(code: str) -> NullTranslations:
    return translation("tilewright", LOCALE, [code], fallback=True)
