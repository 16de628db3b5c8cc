"""The lessons: there in every language, with numbers that agree, and guesses whose right option is what is counted."""

import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from says import says

from tilewright.core.language import ENGLISH, LANGUAGES, translated_count, use_language
from tilewright.errors import InvalidInput
from tilewright.kernels import LADDERS, find_kernel
from tilewright.learning import lesson as lessons
from tilewright.learning.counted import Counted, counted, right_option
from tilewright.learning.lesson import (
    COUNTED_VARIANTS,
    LESSONS,
    Lesson,
    find_case,
    lesson_file,
    lesson_place,
    read_lesson,
)
from tilewright.learning.placeholders import filled

PLACES = sorted(
    f"{file.parent.name}/{file.stem}" for file in LESSONS.glob(f"{ENGLISH}/*/*.md") if file.parent.name in LADDERS
)
OTHERS = [language for language in LANGUAGES if language != ENGLISH]
PLACEHOLDER = re.compile(r"\{[^{}]+\}")
CODE = re.compile(r"`[^`]*`")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
RUSSIAN_TIMES = re.compile(r"(?<![/\d.,])(\d[\d.,]*)\s+(раза?)\b")


def texts(lesson: Lesson) -> dict[str, str]:
    parts = {
        name: getattr(lesson, name) for name in ("title", "question", "idea", "answer", "devices", "source", "task")
    }
    choices = [lesson.guess.question, *lesson.guess.choices]
    return {**parts, "guess": "\n".join(choices), "hints": "\n".join(lesson.hints)}


def numbers(text: str) -> Counter[str]:
    """The numbers of a text outside of code, without thousands separators, and a decimal comma as a point."""
    plain = CODE.sub("", PLACEHOLDER.sub("", text))
    found = (re.sub(r",(?=\d{3}\b)", "", each) for each in NUMBER.findall(plain))
    return Counter(each.replace(",", ".") for each in found)


def wrong_russian_times(text: str) -> list[str]:
    """Numbers of times with the form of another number: it is "2.5 раза" and "8 раз"."""
    use_language("ru")
    return [
        f"{number} {word}" for number, word in RUSSIAN_TIMES.findall(text)
        if f" {word} " not in translated_count("{ratio} time more", "{ratio} times more", number, ratio=number)
    ]  # fmt: skip


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("place", PLACES)
def test_a_lesson_is_translated_with_its_numbers(place: str, language: str) -> None:
    assert lesson_file(place, language).is_file(), f"a lesson has a translation: {lesson_file(place, language)}"
    english, other = read_lesson(place, ENGLISH), read_lesson(place, language)
    assert (english.guess.measure, english.guess.options, english.guess.right) == (
        other.guess.measure, other.guess.options, other.guess.right,
    )  # fmt: skip
    for name, text in texts(english).items():
        translated = texts(other)[name]
        assert bool(text) == bool(translated), name
        assert Counter(PLACEHOLDER.findall(text)) == Counter(PLACEHOLDER.findall(translated)), name
        assert numbers(text) == numbers(translated), name
        assert Counter(CODE.findall(text)) == Counter(CODE.findall(translated)), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_translation_is_of_a_lesson(language: str) -> None:
    for file in (LESSONS / language).glob("*/*.md"):
        assert lesson_file(f"{file.parent.name}/{file.stem}", ENGLISH).is_file()


@pytest.mark.parametrize("place", PLACES)
def test_a_lesson_says_what_is_counted(place: str) -> None:
    kernel = find_kernel(COUNTED_VARIANTS.get(place, place))
    counts: Counted = counted(kernel)
    lesson = read_lesson(place, ENGLISH)
    assert lesson_place(kernel) == place
    assert "{" not in "".join(filled(text, counts) for text in texts(lesson).values())
    assert not wrong_russian_times(" ".join(filled(text, counts) for text in texts(read_lesson(place, "ru")).values()))
    guess, right = lesson.guess, right_option(lesson.guess, counts)
    assert right is not None
    if guess.measure:
        now, was = counts.measure(guess.measure), counts.measure_before(guess.measure)
        assert now is not None
        exact = Fraction(now, was) if guess.is_ratio and was else Fraction(now)
        assert abs(float(guess.options[right]) - float(exact)) <= 0.06 * float(exact), exact
        assert len(set(guess.options)) == len(guess.options) >= 3


def test_rungs_that_are_counted_at_different_sizes_are_not_compared() -> None:
    counts = counted(find_kernel("rows/01"))
    assert counts.measure("sectors_loaded") is not None
    assert counts.measure_before("sectors_loaded") is None
    assert "rows/00_sequential[r-k-c] is counted at another size" in counts.reason


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_hint_has_no_indentation_of_its_list(language: str) -> None:
    assert not [each for each in read_lesson("tiles/02", language).hints if "\n " in each]


WHOLE = lesson_file("tiles/02", ENGLISH).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("## Guess", "## Guesss", ("lacks Guess", "has Guesss")),
        ("# Square tiles in local memory\n", "", ("title",)),
        (WHOLE[WHOLE.index("## Hints") :], "", ("lacks Hints",)),
        ("options: 1/64", "options: fewer", ("options: fewer",)),
        ("options: 1/64", "options: 1/0", ("options: 1/0",)),
    ],
)
def test_what_a_lesson_lacks_is_named(
    old: str, new: str, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert WHOLE.count(old) >= 1
    file = tmp_path / "en" / "tiles" / "02.md"
    file.parent.mkdir(parents=True)
    file.write_text(WHOLE.replace(old, new, 1), encoding="utf-8")
    monkeypatch.setattr(lessons, "LESSONS", tmp_path)
    with pytest.raises(InvalidInput) as raised:
        read_lesson("tiles/02", ENGLISH)
    assert says(str(raised.value), str(file), *words)


def test_what_a_case_lacks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All its sections are needed, so that none is named that one may write."""
    text = lesson_file("cases/02", ENGLISH).read_text(encoding="utf-8")
    file = tmp_path / "en" / "cases" / "02.md"
    file.parent.mkdir(parents=True)
    file.write_text(text[: text.index("## Answer")], encoding="utf-8")
    monkeypatch.setattr(lessons, "LESSONS", tmp_path)
    with pytest.raises(InvalidInput) as raised:
        find_case("cases/02")
    assert str(raised.value).endswith("it lacks Answer: under a heading of two # each, write Symptom, Hints, Answer")
