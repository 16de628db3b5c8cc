"""The journal of an output: what is read again, what is refused, and who may write."""

import json
import os
import warnings
from pathlib import Path

import pytest

from tilewright.errors import InvalidInput
from tilewright.library.streamed.journal import Journal, journal_path

PRODUCT = {"what": "product", "sizes": [3, 4, 5], "a": ["memory", 1]}


def test_what_was_added_is_read_again(tmp_path: Path) -> None:
    output = tmp_path / "out.bin"
    journal = Journal(output, PRODUCT)
    journal.add(3, 77)
    journal.add(1, 2**32 - 1)
    journal.close(complete=False)
    again = Journal(output, PRODUCT)
    assert again.sums == {3: 77, 1: 2**32 - 1}
    again.close(complete=True)
    assert not journal_path(output).exists()


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_line_that_was_being_written_is_forgotten(cut: int, tmp_path: Path) -> None:
    output = tmp_path / "out.bin"
    journal = Journal(output, PRODUCT)
    journal.add(3, 77)
    journal.add(41, 123456)
    journal.close(complete=False)
    path = journal_path(output)
    path.write_bytes(path.read_bytes()[:-cut])
    again = Journal(output, PRODUCT)
    assert again.sums == {3: 77}
    again.add(5, 6)
    again.close(complete=False)
    last = Journal(output, PRODUCT)
    assert last.sums == {3: 77, 5: 6}
    last.close(complete=False)


def test_a_first_line_that_was_being_written_begins_anew(tmp_path: Path) -> None:
    output = tmp_path / "out.bin"
    journal_path(output).write_text(json.dumps(PRODUCT)[:20])
    journal = Journal(output, PRODUCT)
    assert journal.sums == {}
    journal.add(0, 1)
    journal.close(complete=False)
    again = Journal(output, PRODUCT)
    assert again.sums == {0: 1}
    again.close(complete=True)


def test_another_product_is_refused_with_what_differs(tmp_path: Path) -> None:
    output = tmp_path / "out.bin"
    Journal(output, PRODUCT).close(complete=False)
    with pytest.raises(InvalidInput, match=r"another product \(sizes: \[3, 4, 5\], not \[3, 4, 6\]\)"):
        Journal(output, {**PRODUCT, "sizes": [3, 4, 6]})
    Journal(output, PRODUCT).close(complete=True)


def test_long_values_are_shown_from_where_they_differ(tmp_path: Path) -> None:
    output, folder = tmp_path / "out.bin", "/a" * 200
    Journal(output, {**PRODUCT, "a": ["file", folder, 1048576, 17]}).close(complete=False)
    with pytest.raises(InvalidInput, match=r"1048576, 17\], not \.\.\..*1048576, 18\]") as raised:
        Journal(output, {**PRODUCT, "a": ["file", folder, 1048576, 18]})
    assert len(str(raised.value)) < 400 + len(str(output))


@pytest.mark.parametrize("text", ["[1, 2]\n", "3\n", "null\n[0, 1]\n"])
def test_lines_of_something_else_are_refused(text: str, tmp_path: Path) -> None:
    journal_path(tmp_path / "out.bin").write_text(text)
    with pytest.raises(InvalidInput, match="is no journal"):
        Journal(tmp_path / "out.bin", PRODUCT)


def test_a_second_writer_is_refused_until_the_first_ends(tmp_path: Path) -> None:
    output = tmp_path / "out.bin"
    journal = Journal(output, PRODUCT)
    with pytest.raises(InvalidInput, match="another call is writing to"):
        Journal(output, PRODUCT)
    journal.close(complete=False)
    Journal(output, PRODUCT).close(complete=True)


def test_a_product_in_place_is_not_begun_twice(tmp_path: Path) -> None:
    output = tmp_path / "out.bin"
    Journal(output, PRODUCT, in_place=True).close(complete=False)
    with pytest.raises(InvalidInput, match="bring back c"):
        Journal(output, PRODUCT, in_place=True)


@pytest.mark.parametrize(
    "line", ["5", "null", "[1]", '{"a":1}', '["x",2]', '"ab"', "[null,2]", "[1e999,2]", "[true,2]", "[" * 100_000]
)
def test_lines_that_are_no_tiles_are_told(line: str, tmp_path: Path) -> None:
    output = tmp_path / "out.bin"
    Journal(output, PRODUCT).close(complete=False)
    with journal_path(output).open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InvalidInput, match="is no journal: remove it"):
        Journal(output, PRODUCT)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_what_is_no_file_is_no_journal(tmp_path: Path) -> None:
    os.mkfifo(journal_path(tmp_path / "out.bin"))
    with pytest.raises(InvalidInput, match="is no file"):
        Journal(tmp_path / "out.bin", PRODUCT)


def test_a_call_that_was_interrupted_as_it_closed_does_not_lock_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The output was refused as that of another call, as long as the process lived."""
    output = tmp_path / "out.bin"
    journal: Journal | None = Journal(output, PRODUCT)
    assert journal is not None
    monkeypatch.setattr(type(journal), "close", lambda self, complete: None)
    journal.close(complete=False)
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        journal = None
    again = Journal(output, PRODUCT)
    again.close(complete=True)
    assert journal is None
