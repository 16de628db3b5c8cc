"""The catalogues: nothing said is missing in them, nothing in them is said no more, and translations keep what is no word."""

import re
from collections import Counter
from string import Formatter

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import read_mo

from tilewright.core.kernel import Kernel
from tilewright.kernels import LADDERS
from tools.catalogues.files import TRANSLATED, catalogue, compiled, missing, po_file
from tools.catalogues.messages import SOURCES, first_lines, not_literal, template, titles

TEMPLATE = template()
NUMBER = re.compile(r"\d[\d,.]*\d|\d")


def messages(found: Catalog) -> dict[tuple[str, ...], Message]:
    return {forms(each.id): each for each in found if each.id}


def forms(text: str | list[str] | tuple[str, ...] | None) -> tuple[str, ...]:
    """A message or a translation as its forms: one, or one for each count."""
    return (text,) if isinstance(text, str) else tuple(text or ())


def files(message: Message) -> set[str]:
    return {name for name, _ in message.locations}


def placeholders(text: str) -> set[tuple[str, str, str]]:
    """Names, format specifications and conversions."""
    return {(name, form or "", conversion or "") for _, name, form, conversion in Formatter().parse(text) if name}


def numbers(text: str) -> Counter[str]:
    """The numbers of a text outside its placeholders."""
    return Counter(NUMBER.findall("".join(literal for literal, *_ in Formatter().parse(text))))


@pytest.fixture(params=TRANSLATED)
def code(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_message_of_the_code_is_in_the_catalogue_and_no_other(code: str) -> None:
    found = catalogue(code)
    assert messages(found).keys() == messages(TEMPLATE).keys(), "run `python -m tools.catalogues`"
    assert not found.obsolete
    assert {key: files(each) for key, each in messages(found).items()} == {
        key: files(each) for key, each in messages(TEMPLATE).items()
    }


def test_every_message_is_translated_and_none_is_fuzzy(code: str) -> None:
    found = catalogue(code)
    assert not [each.id for each in found if each.id and each.fuzzy]
    assert not missing(found), "translate them; `python -m tools.catalogues` compiles them"


def test_translations_have_the_placeholders_of_their_messages(code: str) -> None:
    for key, each in messages(catalogue(code)).items():
        wanted = set().union(*map(placeholders, key))
        for said in filter(None, forms(each.string)):
            assert placeholders(said) == wanted, said


def test_translations_have_the_numbers_of_their_messages(code: str) -> None:
    for key, each in messages(catalogue(code)).items():
        for said in filter(None, forms(each.string)):
            assert numbers(said) in [numbers(own) for own in key], said


def test_the_compiled_file_is_that_of_the_text(code: str) -> None:
    """Headers name the version of the compiler, and may differ."""
    with po_file(code).with_suffix(".mo").open("rb") as file:
        committed = {forms(each.id): forms(each.string) for each in read_mo(file) if each.id}
    whole = {key: forms(each.string) for key, each in messages(catalogue(code)).items() if all(forms(each.string))}
    assert committed == whole
    assert compiled(code)


def test_what_is_no_literal_has_a_source() -> None:
    assert not_literal() == {(each.file, each.argument) for each in SOURCES}


def test_the_sources_have_every_title_and_first_line() -> None:
    kernels: list[Kernel] = [kernel for ladder in LADDERS.values() for kernel in ladder.with_originals]
    assert {text for _, text in first_lines()} == {kernel.lesson for kernel in kernels}
    assert {text for _, text in titles()} == {ladder.title for ladder in LADDERS.values()}
    said = messages(TEMPLATE)
    assert all((text,) in said for source in SOURCES for _, text in source.messages())
