"""Errors: the tree, the near matches, and status codes in sentences."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from tilewright import errors
from tilewright.errors import (
    BuildFailed,
    OutOfDeviceMemory,
    SourceError,
    StorageFailed,
    TilewrightError,
    UnknownName,
)
from tilewright.runtime.opencl.error_codes import MEANINGS, code_of, error_sentence


def classes() -> list[type[Exception]]:
    return [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)]


def test_every_error_is_in_the_tree_and_in_its_drawing() -> None:
    drawing = errors.__doc__ or ""
    assert {TilewrightError, BuildFailed, SourceError, UnknownName} <= set(classes())
    for each in classes():
        assert issubclass(each, TilewrightError)
        assert each.__name__ in drawing
        assert each.__doc__


def test_an_unknown_name_is_a_lookup_error_with_its_near_matches() -> None:
    error = UnknownName("rung", "tiles/02_tield", ["tiles/01_naive", "tiles/02_tiled", "rows/01_naive"])
    assert isinstance(error, LookupError)
    assert str(error).startswith("no rung is called 'tiles/02_tield'; did you mean tiles/02_tiled")


@pytest.mark.parametrize(
    ("name", "known", "advice"),
    [
        ("cuda", ["0", "1"], "known: 0, 1"),
        ("x", [], "there are none"),
        ("x", [f"n{number}" for number in range(20)], "n10, n11 and 8 more"),
        (["relu"], ["relu", "gelu"], "called ['relu']; known: relu, gelu"),
        (3, ["ieee"], "called 3; known: ieee"),
        ("EPYC", ["0", "AMD EPYC (Intel(R) OpenCL)"], "did you mean AMD EPYC"),
        ("flaot32", ["float32", "float64", "int32"], "did you mean float32"),
    ],
)
def test_advice_fits_the_name(name: object, known: list[str], advice: str) -> None:
    assert advice in str(UnknownName("thing", name, known))


def test_a_source_error_says_where() -> None:
    error = SourceError("mine.cl", 3, 14, "expected ';'")
    assert str(error) == "mine.cl:3:14: expected ';'"
    assert (error.file, error.line, error.column) == ("mine.cl", 3, 14)


@pytest.mark.parametrize(
    "error",
    [
        UnknownName("device", "gpu7", ["cpu"]),
        SourceError("mine.cl", 3, 14, "expected ';'"),
        BuildFailed("mine", "a device", "line 3: error"),
        OutOfDeviceMemory("8 bytes are too many", -4),
        StorageFailed("writing a: no space"),
    ],
)
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_are_copied_and_pickled(error: TilewrightError, again: Callable[[Any], Any]) -> None:
    """A pool of processes waited for ever for a worker's error that could not be read."""
    error.add_note("a note")
    found = again(error)
    assert type(found) is type(error)
    assert (str(found), vars(found)) == (str(error), vars(error))


def test_a_build_failure_holds_the_whole_log() -> None:
    log = "\n".join(f"line {number}" for number in range(200))
    error = BuildFailed("rows/01_naive", "Device", log)
    assert error.log == log
    assert "line 199" in str(error)
    assert "(the driver gave no log)" in str(BuildFailed("a", "b", ""))


@pytest.mark.parametrize("code", MEANINGS)
def test_a_status_is_a_name_and_a_sentence(code: int) -> None:
    name, meaning = MEANINGS[code]
    assert error_sentence(code) == f"OpenCL {name} ({code}): {meaning}"
    assert len(meaning.split()) > 3


def test_a_status_that_nobody_knows_is_still_told() -> None:
    assert "-777" in error_sentence(-777)


def test_the_code_is_found_in_an_exception() -> None:
    assert code_of(RuntimeError("clEnqueueNDRangeKernel failed: INVALID_WORK_GROUP_SIZE - status -54")) == -54
    assert code_of(RuntimeError("nothing to see")) is None
