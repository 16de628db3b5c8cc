"""Files that are never seen half written."""

import os
import secrets
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file under a temporary name beside it and rename it. OSError leaves the file as it was.

    Links are followed. What is no regular file, such as /dev/stdout, is written directly, and so is a file in a folder that
    takes no new files.
    """
    target = path.resolve()
    if target.exists() and (not target.is_file() or not os.access(target.parent, os.W_OK)):
        write_named(path, content)
        return
    # Not the process's number alone: its threads may write the file, too, and processes in containers often have the same one.
    temporary = target.with_name(f".tilewright-{secrets.token_hex(8)}.part")
    try:
        with temporary.open("xb") as file:
            file.write(content)
        if target.exists():
            temporary.chmod(target.stat().st_mode)
        temporary.replace(target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # a full disk is found by a write, which knows no name
        raise


def write_named(path: Path, content: bytes) -> None:
    """Write a file directly. An OSError of a full disk names the file, too."""
    try:
        path.write_bytes(content)
    except OSError as error:
        error.filename = error.filename or str(path)
        raise
