"""Files are written whole or not at all."""

import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tilewright.core.files import write_atomically, write_named
from tilewright.kernels import find_kernel
from tilewright.learning.exercises.grade import with_text


def test_a_file_is_replaced_whole_with_its_mode_and_through_links(tmp_path: Path) -> None:
    path, link = tmp_path / "a.json", tmp_path / "link.json"
    path.write_text("before")
    path.chmod(0o640)
    link.symlink_to(path)
    write_atomically(link, b"after")
    assert path.read_bytes() == b"after"
    assert path.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()
    assert {each.name for each in tmp_path.iterdir()} == {"a.json", "link.json"}


def test_a_failure_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text("before")

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match=r"No space.*a\.json"):
        write_atomically(path, b"after")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_threads_may_write_one_file_at_a_time(tmp_path: Path) -> None:
    """They had one temporary file, which each removed while the other wrote to it."""
    path = tmp_path / "a.json"
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: write_atomically(path, bytes([number % 4]) * 20_000), range(200)))
    assert len(set(path.read_bytes())) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_process_left_is_not_in_the_way(tmp_path: Path) -> None:
    """Processes in containers often have the same number, and a file of that number was there."""
    path = tmp_path / "a.json"
    (tmp_path / f".a.json.{os.getpid()}.part").touch()
    write_atomically(path, b"x")
    assert path.read_bytes() == b"x"


def test_a_name_may_be_as_long_as_names_may_be(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 255)
    write_atomically(path, b"x")
    assert path.read_bytes() == b"x"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_what_is_no_regular_file_is_written_itself(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space"):
        write_atomically(Path("/dev/full"), b"x")
    assert Path("/dev/full").is_char_device()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(pipe, b"text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("write", [write_atomically, write_named])
def test_an_error_names_the_file_that_does_not_fit(write: Callable[[Path, bytes], None]) -> None:
    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
        write(Path("/dev/full"), b"text")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_temporary_file_of_code_that_does_not_fit_is_named(tmp_path: Path) -> None:
    kernel = find_kernel("tiles/2")
    (tmp_path / kernel.source.name).symlink_to("/dev/full")
    with pytest.raises(OSError, match=re.escape(kernel.source.name)):
        with_text(kernel, "text", tmp_path)
