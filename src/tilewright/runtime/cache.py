"""Compiled programs on disk, keyed by content: a broken entry, or one of another user, is rebuilt, never trusted."""

import hashlib
import os
import tempfile
from pathlib import Path

from .home import distrust, make_own_folder, read_own, user_home

MAGIC = b"tilewright program 1\n"


def cache_folder() -> Path:
    """Where this process keeps what it may find again: the user's own folder, or a private one if that is not fit."""
    return user_home().folder


def content_key(*parts: str) -> str:
    """One key for texts; their lengths keep ("ab", "c") and ("a", "bc") apart."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()


class BinaryCache:
    """A folder of files `<key>.bin`: a magic line, the payload's digest, the payload."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> bytes | None:
        """The payload, or None if there is none, the file is truncated or damaged, or others could write to it.

        Drivers run what they are given, and a digest says nothing of who wrote it.
        """
        data = read_own(self.folder / f"{key}.bin")
        if data is None:
            return None
        head = len(MAGIC) + 32
        payload = data[head:]
        intact = data.startswith(MAGIC) and data[len(MAGIC) : head] == hashlib.sha256(payload).digest()
        return payload if intact else None

    def put(self, key: str, payload: bytes) -> None:
        """Write to a temporary name and rename, so that readers and other writers never see half a file.

        A folder that cannot be written to costs the next process a build, nothing else; `doctor` reports it.
        """
        try:
            make_own_folder(self.folder)
            if distrust(self.folder):
                return
            handle, temporary = tempfile.mkstemp(dir=self.folder, suffix=".part")
        except OSError:
            return
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + hashlib.sha256(payload).digest() + payload)
            Path(temporary).replace(self.folder / f"{key}.bin")
        except OSError:
            Path(temporary).unlink(missing_ok=True)
