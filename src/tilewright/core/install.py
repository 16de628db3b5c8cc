"""The commands that install optional packages, for the Python that runs and the way in which tilewright came to it."""

import os
import shlex
import shutil
import sys
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path


def pip_install(*packages: str) -> str:
    """The command that installs packages, quoted for every shell."""
    return " ".join([_installer(), *map(shlex.quote, packages)])


def install_extra(extra: str) -> str:
    """The command that installs an optional extra of tilewright: from the clone or the address that it came from."""
    return " ".join([_installer(), *map(shlex.quote, requirement(extra, _origin()))])


def requirement(extra: str, origin: str) -> list[str]:
    """What an installer gets for an extra. `origin` is direct_url.json (PEP 610), "" for a package from an index."""
    import json  # these take a while, and are seldom needed
    from urllib.parse import unquote, urlparse

    found = json.loads(origin) if origin else {}
    url = found.get("url", "")
    if not url:
        return [f"tilewright[{extra}]"]
    if "dir_info" in found:
        folder = f"{unquote(urlparse(url).path)}[{extra}]"
        return ["-e", folder] if found["dir_info"].get("editable") else [folder]
    system = found.get("vcs_info", {}).get("vcs")
    return [f"tilewright[{extra}] @ {f'{system}+' if system else ''}{url}"]


def _installer() -> str:
    """pip or uv, for the environment of this Python."""
    active = os.environ.get("VIRTUAL_ENV") == sys.prefix
    # Not by importlib.util: a finder of setuptools takes the mere question for pip's start, and withdraws its distutils,
    # without which PyTorch's inductor fails.
    if PathFinder.find_spec("pip") is None and shutil.which("uv"):
        return "uv pip install" if active else f"uv pip install --python {shlex.quote(sys.executable)}"
    return "pip install" if active else f"{shlex.quote(sys.executable)} -m pip install"


@cache
def _origin() -> str:
    import json
    from importlib import metadata

    try:
        return metadata.distribution("tilewright").read_text("direct_url.json") or ""
    except metadata.PackageNotFoundError:
        folder = Path(__file__).parents[3]  # of a source tree that nobody installed
        is_clone = (folder / "pyproject.toml").is_file()
        return json.dumps({"url": folder.as_uri(), "dir_info": {"editable": True}}) if is_clone else ""
