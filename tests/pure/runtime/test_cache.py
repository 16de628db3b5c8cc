"""The disk cache of compiled programs: damage, concurrent writers, folders that cannot be written to."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.runtime import home
from tilewright.runtime.cache import MAGIC, BinaryCache, content_key

PAYLOAD = b"a compiled program" * 50


@pytest.fixture
def cache(tmp_path: Path) -> BinaryCache:
    return BinaryCache(tmp_path / "programs")


def test_what_was_put_is_got_back(cache: BinaryCache) -> None:
    assert cache.get("key") is None
    cache.put("key", PAYLOAD)
    assert cache.get("key") == PAYLOAD
    assert [each.name for each in cache.folder.iterdir()] == ["key.bin"], "no temporary file is left"


@pytest.mark.parametrize("kept", [0, 1, len(MAGIC), len(MAGIC) + 31, len(MAGIC) + 32, len(MAGIC) + 40, -1])
def test_a_truncated_entry_is_no_entry(cache: BinaryCache, kept: int) -> None:
    cache.put("key", PAYLOAD)
    entry = cache.folder / "key.bin"
    entry.write_bytes(entry.read_bytes()[:kept])
    assert cache.get("key") is None
    cache.put("key", PAYLOAD)
    assert cache.get("key") == PAYLOAD


@pytest.mark.parametrize("place", [0, len(MAGIC), len(MAGIC) + 32, -1])
def test_one_changed_byte_is_noticed(cache: BinaryCache, place: int) -> None:
    cache.put("key", PAYLOAD)
    entry = cache.folder / "key.bin"
    data = bytearray(entry.read_bytes())
    data[place] ^= 1
    entry.write_bytes(data)
    assert cache.get("key") is None


def test_the_entry_of_another_key_is_no_entry(cache: BinaryCache) -> None:
    """A folder that was brought back wrongly could give one program's kernel in the place of another's."""
    cache.put("key", PAYLOAD)
    (cache.folder / "key.bin").rename(cache.folder / "other.bin")
    assert cache.get("other") is None


def test_an_interrupted_write_leaves_no_file(cache: BinaryCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cache.put("key", PAYLOAD)
    assert not list(cache.folder.iterdir())


def test_a_folder_that_cannot_be_written_to_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = BinaryCache(tmp_path / "file" / "programs")
    cache.put("key", PAYLOAD)
    assert cache.get("key") is None


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "_troubles", {})
    cache = BinaryCache(tmp_path / "programs")
    cache.folder.write_text("in the way")
    cache.put("key", PAYLOAD)
    assert cache.get("key") is None
    (trouble,) = home.cache_troubles()
    assert trouble.startswith(f"{cache.folder} is not a folder: nothing is kept there")


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_different_texts_have_different_keys(first: list[str], second: list[str]) -> None:
    assert (content_key(*first) == content_key(*second)) == (first == second)


WRITER = """
    import sys
    from pathlib import Path
    from tilewright.runtime.cache import BinaryCache
    cache = BinaryCache(Path(sys.argv[1]))
    payload = sys.argv[2].encode() * 20000
    for _ in range(150):
        cache.put("shared", payload)
        found = cache.get("shared")
        # Whose it is does not matter; that it is whole and unmixed does.
        if found is None or len(set(found)) != 1 or len(found) != 20000:
            sys.exit("a reader saw half an entry")
"""


def test_processes_that_write_at_once_never_show_half_an_entry(tmp_path: Path) -> None:
    folder = tmp_path / "programs"
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(folder)]
    writers = [subprocess.Popen([*command, letter], stderr=subprocess.PIPE, text=True) for letter in "abc"]
    complaints = [writer.communicate()[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0], complaints
    assert [each.name for each in folder.iterdir()] == ["shared.bin"]
