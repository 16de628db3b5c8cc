"""Writes the playground as a folder of static files."""

import hashlib
import json
import shutil
import tempfile
from pathlib import Path

from tilewright.analysis.explain.models import MODELS
from tilewright.core.version import VERSION

from . import exercises
from .archive import write_compiled
from .examples import groups
from .npm import PAGE, bundle, node_modules
from .numpy_wheel import numpy_wheel

COPIED = ("index.html", "style.css")
BUNDLED = ("main.js", "worker.js")
# Of npm's package; the rest is for Node, types and consoles.
PYODIDE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")


def build(out: Path, numpy: Path | None = None) -> None:
    """Write all files into `out`. `numpy` is NumPy's wheel for Pyodide, where it cannot be fetched."""
    modules = node_modules()
    pyodide = modules / "pyodide"
    wheel = numpy_wheel(pyodide, numpy)
    (out / "pyodide").mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        shutil.copyfile(PAGE / name, out / name)
    for name in BUNDLED:
        bundle(modules, name, out)
    for name in PYODIDE:
        shutil.copyfile(pyodide / name, out / "pyodide" / name)
    (out / "pyodide" / "pyodide-lock.json").write_text(json.dumps(empty_list(pyodide)), encoding="utf-8")
    own = {"archive": write_archive(pyodide, wheel, out), "site_packages": site_packages(pyodide)}
    (out / "playground.json").write_text(json.dumps({**own, **offered()}), encoding="utf-8")
    (out / "exercises.json").write_text(json.dumps(exercises.entries()), encoding="utf-8")


def empty_list(pyodide: Path) -> dict[str, object]:
    """Pyodide's list of packages without any: what the page needs is in its archive."""
    whole = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))
    return {**whole, "packages": {}}


def write_archive(pyodide: Path, wheel: Path, out: Path) -> str:
    """Write the archive, and return its name, which has a part of its checksum: caches never mix versions."""
    for old in out.glob("tilewright-*.zip"):
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "compiled.zip")
        write_compiled(pyodide, wheel, Path(folder), made)
        name = f"tilewright-{hashlib.sha256(made.read_bytes()).hexdigest()[:12]}.zip"
        shutil.copyfile(made, out / name)
    return name


def site_packages(pyodide: Path) -> str:
    """Where packages lie in Pyodide's file system."""
    python = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))["info"]["python"]
    return f"/lib/python{'.'.join(python.split('.')[:2])}/site-packages"


def offered() -> dict[str, object]:
    """What the page offers before Python is there: device models and kernels."""
    models = [{"name": each.name, "title": each.title} for each in MODELS]
    return {"version": VERSION, "models": models, "examples": groups()}
