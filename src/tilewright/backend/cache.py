"""Compiled programs on disk, keyed by content: a broken or foreign entry is rebuilt, never trusted."""

import hashlib
import os
import tempfile
from pathlib import Path

MAGIC = b"tilewright program 1\n"


def cache_folder() -> Path:
    """Where the user's caches lie: XDG_CACHE_HOME or ~/.cache, LOCALAPPDATA on Windows; a user without a home has
    them among the temporary files."""
    base = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base) / "tilewright"
    try:
        return Path.home() / ".cache" / "tilewright"
    except RuntimeError:
        return Path(tempfile.gettempdir()) / f"tilewright-{os.getuid()}"


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
        """The payload, or None if there is none or the file is truncated or damaged."""
        try:
            data = (self.folder / f"{key}.bin").read_bytes()
        except OSError:
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
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self.folder, suffix=".part")
        except OSError:
            return
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + hashlib.sha256(payload).digest() + payload)
            Path(temporary).replace(self.folder / f"{key}.bin")
        except OSError:
            Path(temporary).unlink(missing_ok=True)
