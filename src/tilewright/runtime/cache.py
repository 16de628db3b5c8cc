"""Compiled programs on disk, keyed by content. An entry that is damaged, or that others can change, is never used."""

import hashlib
import os
import tempfile
from pathlib import Path

from .home import distrust, make_own_folder, note_trouble, read_own, user_home

MAGIC = b"tilewright program 2\n"


def cache_folder() -> Path:
    """The folder for this process's caches: the user's own, or a private one if the user's own is not safe."""
    return user_home().folder


def content_key(*parts: str) -> str:
    """One key for several texts. It contains their lengths, so ("ab", "c") and ("a", "bc") have different keys."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()


class BinaryCache:
    """A folder of files `<key>.bin`: a magic line, the digest of key and payload, the payload."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> bytes | None:
        """The payload, or None if the file is missing, truncated, damaged or another key's, or if others could write to it.

        Drivers run these programs, and a digest does not prove who wrote them.
        """
        data = read_own(self.folder / f"{key}.bin")
        if data is None:
            return None
        head = len(MAGIC) + 32
        payload = data[head:]
        intact = data.startswith(MAGIC) and data[len(MAGIC) : head] == _digest(key, payload)
        return payload if intact else None

    def put(self, key: str, payload: bytes) -> None:
        """Write to a temporary name and rename, so that no other process sees half a file.

        If the folder cannot be written to, the next process compiles again; `doctor` reports it.
        """
        try:
            make_own_folder(self.folder)
            if reason := distrust(self.folder):
                self._not_kept(reason)
                return
            handle, temporary = tempfile.mkstemp(dir=self.folder, suffix=".part")
        except OSError as error:
            self._not_kept(f"{self.folder}: {error.strerror}")
            return
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + _digest(key, payload) + payload)
            Path(temporary).replace(self.folder / f"{key}.bin")
        except BaseException as error:
            Path(temporary).unlink(missing_ok=True)
            if not isinstance(error, OSError):
                raise
            self._not_kept(f"{self.folder}: {error.strerror}")

    def _not_kept(self, reason: str) -> None:
        note_trouble(f"{reason}: nothing is kept there, every process compiles, tries or measures again")


def _digest(key: str, payload: bytes) -> bytes:
    return hashlib.sha256(key.encode() + payload).digest()
