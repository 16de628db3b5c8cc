"""What the page is made of that is not ours: CodeMirror, esbuild and Pyodide, from npm, in a folder of caches."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from tilewright.errors import Unsupported

PAGE = Path(__file__).parents[2] / "playground"
LOCK = PAGE / "package-lock.json"  # exact versions, with the checksums that npm compares
TIME_LIMIT_S = 600


def cache_folder() -> Path:
    """Where fetched files are kept: TILEWRIGHT_PLAYGROUND_CACHE, or a folder in ~/.cache."""
    given = os.environ.get("TILEWRIGHT_PLAYGROUND_CACHE")
    return Path(given) if given else Path.home() / ".cache" / "tilewright-playground"


def run(*words: str, folder: Path) -> None:
    """Run a command. Unsupported, with what it printed, if it fails."""
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=TIME_LIMIT_S, stdin=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        raise Unsupported(
            f"{' '.join(words)} failed with status {done.returncode}:\n{(done.stderr or done.stdout).strip()}"
        )


def check_tools() -> None:
    """Unsupported without Node and npm."""
    missing = [name for name in ("node", "npm") if shutil.which(name) is None]
    if missing:
        raise Unsupported(
            f"the playground is built with Node.js and npm; {' and '.join(missing)} is missing: install Node.js"
        )


def node_modules() -> Path:
    """The packages of the lock file: installed once, then from the cache."""
    check_tools()
    key = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]
    folder = cache_folder() / f"npm-{key}"
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", LOCK.name):
            shutil.copyfile(PAGE / name, folder / name)
        run("npm", "ci", "--no-audit", "--no-fund", folder=folder)
        (folder / "complete").touch()
    return folder / "node_modules"


def bundle(modules: Path, name: str, out: Path) -> None:
    """A script of the page and what it imports, as one file. Pyodide is loaded by the worker itself."""
    options = [
        "--bundle",
        "--format=esm",
        "--minify",
        "--target=es2022",
        "--legal-comments=linked",
        "--log-level=warning",
    ]
    # The sources lie outside the folder of the packages, so esbuild is told where to look.
    environment = {**os.environ, "NODE_PATH": str(modules)}
    esbuild = shutil.which("esbuild", path=str(modules / ".bin")) or "esbuild"
    done = subprocess.run(
        [esbuild, str(PAGE / name), *options, f"--outfile={(out / name).resolve()}"],
        cwd=PAGE, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False,
    )  # fmt: skip
    if done.returncode:
        raise Unsupported(f"esbuild cannot bundle {name}:\n{done.stderr.strip()}")
