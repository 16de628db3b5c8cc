"""Every rung has its drawings: well-formed, small, and such that a phone and a terminal can show them."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from tilewright.analysis.matrix_drawings import CAPTIONS, matrix_drawings
from tilewright.analysis.matrix_drawings.panels import rectangles
from tilewright.analysis.matrix_drawings.terminal import scale
from tilewright.core.kernel import Kernel
from tilewright.core.language import use_language
from tilewright.errors import SourceError
from tilewright.kernels import LADDERS, find_kernel

# These store their tiles by TMA, in assembly that explain does not run.
UNREAD = ("tensor/08", "tensor/09")
RUNGS = [each for ladder in LADDERS.values() for each in ladder.kernels if not each.name.startswith(UNREAD)]


@pytest.mark.parametrize("kernel", RUNGS, ids=lambda kernel: kernel.name)
def test_every_rung_is_drawn(kernel: Kernel) -> None:
    drawings = matrix_drawings(kernel)
    names = [each.name for each in drawings]
    assert names[0] == "operands"
    assert "request" in names
    assert len(set(names)) == len(names)
    for each in drawings:
        root = ElementTree.fromstring(each.svg)
        assert float(root.get("width", "0")) <= 375
        assert len(each.svg.encode()) < 60_000
        assert "prefers-color-scheme:dark" in each.svg
        assert max(map(len, each.text.splitlines())) <= 80
        assert each.kind in CAPTIONS
        assert each.caption.endswith(".")
        assert "- " not in each.caption, "a word was broken"
        assert kernel.name in each.caption


@pytest.mark.parametrize(("rung", "names"), [
    ("tiles/01", ["operands", "sequence", "request"]),
    ("tiles/02", ["operands", "sequence", "request", "local_memory_tile_a", "local_memory_tile_b"]),
    ("tiles/11", ["operands", "sequence", "register_tile", "owners", "request"]),
    ("transpose/04", ["operands", "request"]),
    ("transpose/05", ["operands", "request", "local_memory_tile"]),
    ("cpu/04", ["operands", "sequence", "request", "packed_panel"]),
    ("tensor/02", ["operands", "sequence", "register_tile", "owners", "request", "local_memory_tile_a",
                   "local_memory_tile_b", "fragments"]),
])  # fmt: skip
def test_a_rung_has_the_drawings_of_what_it_does(rung: str, names: list[str]) -> None:
    assert [each.name for each in matrix_drawings(find_kernel(rung))] == names


@pytest.mark.parametrize("language", ["zh", "ru"])
def test_characters_speak_the_language_and_pictures_stay_english(language: str) -> None:
    english = matrix_drawings(find_kernel("tiles/02"))[0]
    assert english.text.endswith("░ work-group   ▒ this step   █ one work-item   + next step")
    assert english.caption.startswith("In step 2 of 4, work-group (1, 1) of tiles/02_tiled reads")
    use_language(language)
    other = matrix_drawings(find_kernel("tiles/02"))[0]
    assert other.svg == english.svg
    assert not re.findall("[a-z]{3,}", other.caption.replace("tiles/02_tiled", ""))
    below = other.text.splitlines()[-3:]
    assert "BM=8" in below[0]
    assert not re.findall("[a-z]{3,}", "".join(below))


def test_the_size_may_be_given() -> None:
    (first, *_) = matrix_drawings(find_kernel("tiles/02"), (64, 96, 128))
    assert "A  64 x 128" in first.svg
    assert first.values["steps"] == 4


def test_a_request_counts_its_sectors() -> None:
    drawn = {each.name: each for each in matrix_drawings(find_kernel("rows/03"))}
    assert "load A (lanes: 32, elements: 16, sectors of 32 bytes: 16)" in drawn["request"].caption
    assert "load B (lanes: 32, elements: 2, sectors of 32 bytes: 2)" in drawn["request"].caption


def test_the_terminal_shows_the_tile_of_a_step() -> None:
    text = matrix_drawings(find_kernel("tiles/02"))[0].text.splitlines()
    rows = [line for line in text if line.startswith("░░░░░░░░▒▒▒▒")]
    assert len(rows) == 8
    assert rows[0] == "░" * 8 + "▒" * 8 + "+" * 8 + "░" * 8 + "   " + "·" * 8 + "░" * 8 + "·" * 8


@pytest.mark.parametrize("rung", UNREAD)
def test_a_kernel_that_cannot_be_run_is_refused_by_a_sentence(rung: str) -> None:
    with pytest.raises(SourceError, match="inline assembly"):
        matrix_drawings(find_kernel(rung))


def test_elements_become_few_rectangles() -> None:
    square = {(row, column) for row in range(3) for column in range(4)}
    assert rectangles(square) == [(0, 0, 3, 4)]
    assert sorted(rectangles(square | {(7, 2)})) == [(0, 0, 3, 4), (7, 2, 1, 1)]
    assert scale([100], 78) == 2
