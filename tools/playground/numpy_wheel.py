"""NumPy for Pyodide: found or fetched, and compared with the checksum that Pyodide's own list of packages has."""

import hashlib
import json
import shutil
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tilewright.errors import InvalidInput, Unsupported

from .npm import cache_folder

RELEASES = "https://cdn.jsdelivr.net/pyodide/v{version}/full/{name}"  # where Pyodide publishes its packages
TIME_LIMIT_S = 120


def listed(pyodide: Path) -> dict[str, Any]:
    """What Pyodide's list says of NumPy: file_name, sha256, version."""
    found: dict[str, Any] = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]["numpy"]
    return found


def numpy_wheel(pyodide: Path, given: Path | None = None) -> Path:
    """The wheel that belongs to this Pyodide: the given file, that in the cache, or the published one.

    InvalidInput for a given file with another checksum; Unsupported if it cannot be fetched.
    """
    wanted = listed(pyodide)
    kept = cache_folder() / str(wanted["file_name"])
    if given is not None:
        check(given.read_bytes(), wanted, str(given))
        keep(given.read_bytes(), kept)
    elif not kept.exists():
        version = json.loads((pyodide / "package.json").read_text(encoding="utf-8"))["version"]
        data = fetched(RELEASES.format(version=version, name=kept.name), kept.name)
        check(data, wanted, "what was fetched")
        keep(data, kept)
    check(kept.read_bytes(), wanted, str(kept))
    return kept


def check(data: bytes, wanted: dict[str, Any], name: str) -> None:
    """InvalidInput if the bytes are not those of the list."""
    found = hashlib.sha256(data).hexdigest()
    if found != wanted["sha256"]:
        raise InvalidInput(
            f"{name} is not {wanted['file_name']}: its SHA-256 is {found}, and Pyodide's list has {wanted['sha256']}; give the "
            "wheel of this version by --numpy, and remove a damaged file from the cache"
        )


def keep(data: bytes, kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(".part")
    part.write_bytes(data)
    shutil.move(part, kept)


def fetched(address: str, name: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=TIME_LIMIT_S) as answer:
            data: bytes = answer.read()
    except (urllib.error.URLError, TimeoutError) as error:
        reason = getattr(error, "reason", error)
        raise Unsupported(
            f"{name} cannot be fetched from Pyodide's releases ({reason}); fetch it elsewhere, and give it by --numpy"
        ) from error
    return data
