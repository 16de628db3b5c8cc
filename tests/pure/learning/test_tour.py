"""The tour: its stops, its text at any width and in any language, and how far the reader came."""

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from rich.cells import cell_len

import tilewright
from tilewright.cli.main import main
from tilewright.core import language
from tilewright.core.language import LANGUAGES
from tilewright.kernels import LADDERS, find_kernel
from tilewright.learning import progress
from tilewright.learning.counted import compared_rung
from tilewright.learning.lesson import Guess
from tilewright.learning.progress import Tours, load_tours, save_tours
from tilewright.learning.stops import code_diff, option_words, rungs_of, stop_at
from tilewright.learning.tour_text import answer_lines, before_guess, device_lines, guess_lines, joined

PARTS = (before_guess, guess_lines, answer_lines, device_lines)
PLACEHOLDER = re.compile(r"\{[\w-]+:[^{}\n]+\}")
CODE = ("  +", "  -", "   ")


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    language._chosen.clear()


def test_a_stop_has_what_changed_and_the_counted_answer() -> None:
    stop = stop_at(find_kernel("tiles/2"), "en")
    assert stop.place == "tiles/02"
    assert "+    __local REAL tile_a[BK][BM];" in stop.diff
    assert stop.right is not None
    assert stop.options[stop.right] == "20 times fewer"
    assert "work-group" in stop.drawing
    assert max(map(len, stop.drawing.splitlines())) <= 80
    assert any("20 times fewer" in sentence for sentence in stop.counts)


def test_of_a_rung_with_variants_the_lesson_is_of_one() -> None:
    rungs = rungs_of(LADDERS["rows"])
    assert len(rungs) == len({each.source for each in LADDERS["rows"].kernels})
    assert rungs[0].name == "rows/00_sequential[r-k-c]"
    stop = stop_at(rungs[0], "en")
    assert stop.right is not None
    assert f"{stop.options[stop.right]} times" in stop.answer


def test_the_first_rung_shows_its_code() -> None:
    assert code_diff(find_kernel("tiles/1")).startswith("__kernel void gemm")


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_of_prose_is_wider_than_the_terminal(code: str, width: int) -> None:
    language.use_language(code)
    stop = replace(stop_at(find_kernel("tiles/2"), code), drawing="")  # a drawing has 80 columns on any terminal
    for part in PARTS:
        for line in part(stop, width):
            if not line.text.startswith(CODE):
                assert cell_len(line.text) <= max(width, 60), line.text


def test_a_rung_is_compared_with_the_variant_that_the_lesson_before_it_is_of() -> None:
    names = {
        each: compared_rung(find_kernel(each))
        for each in ("rows/00[r-c-k]", "rows/01", "tiles/02", "transpose/08[4x4]")
    }
    assert [each and each.name for each in names.values()] == [
        None, "rows/00_sequential[r-k-c]", "tiles/01_naive", "transpose/07_rows_per_item",
    ]  # fmt: skip


def test_a_whole_tour_refuses_a_device(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tour", "tiles", "--all", "--device", "0"]) == 2
    assert "measures nothing" in capsys.readouterr().err


def test_options_are_words() -> None:
    ratios = (Fraction(1, 32), Fraction(1), Fraction(2), Fraction(0))
    assert option_words(Guess("?", "sectors_loaded", ratios)) == ("32 times fewer", "as many", "2 times more", "none")
    counts = (Fraction(1), Fraction(2048))
    assert option_words(Guess("?", "barriers", counts, is_ratio=False)) == ("1", "2,048")


def test_lines_of_a_paragraph_are_joined_as_the_script_wants() -> None:
    assert joined("one\ntwo\n\nthree") == "one two\n\nthree"
    assert joined("工作项\n沿着 K\n方向，\nwarp 32\n次") == "工作项沿着 K 方向，warp 32 次"
    assert joined("- a\n- b") == "- a\n- b"


def test_progress_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "tours_file", lambda: tmp_path / "own" / "tours.json")
    assert load_tours() == Tours()
    save_tours(Tours({"tiles": "tiles/06"}, {"tiles/02": True, "tiles/03": False, "rows/01": True}))
    assert load_tours().next == {"tiles": "tiles/06"}
    assert load_tours().right_of("tiles") == (1, 2)


@pytest.mark.parametrize("damaged", [b"{broken", b'{"next": {"\xff": "a"}}', b'{"x": ' + b"[" * 100_000])
def test_progress_that_cannot_be_read_is_none(damaged: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "tours.json"
    file.write_bytes(damaged)
    monkeypatch.setattr(progress, "tours_file", lambda: file)
    assert load_tours() == Tours()


@pytest.mark.parametrize("name", LADDERS)
def test_the_whole_tour_is_a_text(name: str) -> None:
    found = tilewright.tour(name)
    assert len(found.to_rows()) == len(rungs_of(LADDERS[name])) == len(found.rungs)
    assert not PLACEHOLDER.search(str(found)), "every number is filled in"
    assert str(found.ladder.name) in repr(found)


def test_a_ladder_without_lessons_has_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = replace(LADDERS["tiles"], name="bare", kernels=())
    assert "the ladder bare has no lessons" in str(tilewright.tour(bare))
    monkeypatch.setattr("tilewright.api.learning.find_ladder", lambda name: bare)
    assert main(["tour", "bare"]) == 2
    assert "the ladder bare has no lessons" in capsys.readouterr().err


def test_the_printed_tour_begins_where_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tour", "tiles", "--from", "tiles/11", "--all"]) == 0
    assert capsys.readouterr().out.startswith("tiles/11")
    assert main(["tour", "tiles", "--from", "tensor/1", "--all"]) == 2
    assert "the tour of tiles has tiles/01 to tiles/11" in capsys.readouterr().err


def typed(answers: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal at which a reader types `answers`, and then ends the input."""
    left = iter(answers)

    def answer(question: str) -> str:
        found = next(left, None)
        if found is None:
            raise EOFError
        return found

    monkeypatch.setattr("builtins.input", answer)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)


@pytest.mark.parametrize(
    ("answers", "following"),
    [(["q"], "tiles/01"), ([], "tiles/01"), (["9", "x", "1", "q"], "tiles/02"), (["", "", "q"], "tiles/02")],
)
def test_a_reader_may_stop_at_every_question(
    answers: list[str],
    following: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "tours_file", lambda: tmp_path / "tours.json")
    typed(answers, monkeypatch)
    assert main(["tour", "tiles", "--no-device"]) == 0
    assert capsys.readouterr().out.endswith("`tilewright tour tiles` goes on here\n")
    assert load_tours().next == {"tiles": following}
