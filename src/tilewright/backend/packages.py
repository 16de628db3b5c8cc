"""Finds libraries and programs that installed Python packages carry."""

import fnmatch
from importlib import metadata
from pathlib import Path


def packaged_file(patterns: tuple[str, ...], *distributions: str) -> Path | None:
    """The first file with such a name that one of these installed distributions brought, or None.

    The file itself is not resolved: where the installer links files to its cache, a library's neighbours are found only
    beside the link.
    """
    for distribution in distributions:
        try:
            files = metadata.files(distribution)
        except metadata.PackageNotFoundError:
            continue
        for file in files or ():
            path = Path(str(file.locate()))
            if any(fnmatch.fnmatch(file.name, pattern) for pattern in patterns) and path.is_file():
                return path.parent.resolve() / path.name
    return None
