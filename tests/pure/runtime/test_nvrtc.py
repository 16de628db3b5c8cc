"""NVRTC as it is opened, without one: another library in its place."""

import ctypes
from pathlib import Path

import pytest

from tilewright.runtime.cuda import nvrtc


class FakeLibrary:
    """Version 13.0, for one architecture."""

    opened: list[str]

    def __init__(self, path: str) -> None:
        self.opened.append(path)
        if "builtins" in path and not Path(path).read_bytes():
            raise OSError("file too short")

    def nvrtcVersion(self, major: object, minor: object) -> None:
        _put(major, 13)
        _put(minor, 0)

    def nvrtcGetNumSupportedArchs(self, count: object) -> None:
        _put(count, 1)

    def nvrtcGetSupportedArchs(self, numbers: ctypes.Array) -> None:
        numbers[0] = 90


def _put(place: object, value: int) -> None:
    ctypes.cast(place, ctypes.POINTER(ctypes.c_int))[0] = value  # type: ignore[arg-type]


@pytest.mark.parametrize("content", [None, b"", b"whole"], ids=["missing", "damaged", "whole"])
def test_the_file_beside_it_that_it_needs_is_opened_with_it(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeLibrary, "opened", [], raising=False)
    monkeypatch.setattr(ctypes, "CDLL", FakeLibrary)
    library, builtins = tmp_path / "libnvrtc.so.13", tmp_path / "libnvrtc-builtins.so.13.0"
    (tmp_path / "libnvrtc-builtins.so.12.8").write_bytes(b"of another version")
    if content is not None:
        builtins.write_bytes(content)
    nvrtc._open.cache_clear()
    found = nvrtc._open(str(library))
    nvrtc._open.cache_clear()
    assert found is not None
    assert (found.version, found.architectures) == ("NVRTC 13.0", (90,))
    assert FakeLibrary.opened == [str(library), *([str(builtins)] if content is not None else [])]
