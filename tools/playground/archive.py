"""The archive of the page: what explaining and grading need of tilewright and NumPy, compiled for the Python of Pyodide."""

import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import tilewright
from tilewright.errors import Unsupported

from .npm import PAGE, TIME_LIMIT_S

PACKAGE = Path(tilewright.__file__).parent
# What each stands on; tests/pure/tools/test_playground_files.py holds both against what is imported.
EXPLAINING = (
    "__init__.py", "errors.py", "core", "kernels", "analysis/__init__.py", "analysis/explanations.py", "analysis/marked_lines.py",
    "analysis/explain", "analysis/arguments", "analysis/kernel_page/__init__.py", "analysis/kernel_page/lines.py",
    "analysis/kernel_page/live.py",
)  # fmt: skip
GRADING = (
    "analysis/captured/__init__.py", "analysis/captured/watched.py", "analysis/causes.py", "analysis/interpreted.py",
    "analysis/checks/__init__.py", "analysis/checks/checked.py", "analysis/checks/measured.py", "runtime/__init__.py",
    "runtime/device.py", "runtime/fences.py", "runtime/run.py", "runtime/verify.py", "learning/__init__.py",
    "learning/counted.py", "learning/lesson.py", "learning/exercises/__init__.py", "learning/exercises/file.py",
    "learning/exercises/goals.py", "learning/exercises/grade.py", "learning/exercises/task.py", "learning/exercises/tasks",
    "learning/exercises/trial.py",
)  # fmt: skip
# Of NumPy's wheel these are left out: nothing here imports them, and a browser would unpack them at every visit.
LEFT_OUT = ("/tests/", "/f2py/", "/testing/", "/include/", "/polynomial/", "/fft/")
ENDINGS = (".py", ".cl", ".h", ".toml")  # of our files
KEPT = (".py", ".so", ".txt", ".md", "METADATA", "LICENSE")
OURS = "in_page.py"  # the page's own module
EPOCH = (2020, 1, 1, 0, 0, 0)  # one date for all, so that equal files make an equal archive
COMPILE = """
import { readFileSync, writeFileSync } from "node:fs";
const [folder, from, to] = process.argv.slice(2);
const { loadPyodide } = await import(folder + "/pyodide.mjs");
const python = await loadPyodide({ indexURL: folder + "/" });
python.FS.writeFile("/sources.zip", new Uint8Array(readFileSync(from)));
python.runPython(`
import importlib.util, marshal, zipfile
with zipfile.ZipFile("/sources.zip") as sources, zipfile.ZipFile("/compiled.zip", "w", zipfile.ZIP_DEFLATED) as compiled:
    for entry in sources.infolist():
        data = sources.read(entry)
        name = entry.filename
        if name.endswith(".py"):
            code = compile(data, name, "exec", dont_inherit=True)
            # No check against the source: flags 1 (PEP 552), then a hash that is not looked at.
            data = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + marshal.dumps(code)
            name += "c"
        compiled.writestr(zipfile.ZipInfo(name, entry.date_time), data, zipfile.ZIP_DEFLATED)
`);
writeFileSync(to, python.FS.readFile("/compiled.zip"));
"""


def files() -> Iterator[tuple[str, Path]]:
    """The files by their names in the archive."""
    yield OURS, PAGE / OURS
    for part in (*EXPLAINING, *GRADING):
        path = PACKAGE / part
        inside = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.suffix in ENDINGS)
        yield from ((f"tilewright/{each.relative_to(PACKAGE).as_posix()}", each) for each in inside)


def write_sources(target: Path, wheel: Path | None = None) -> None:
    """The archive with sources, and with those of NumPy's wheel."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in files():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), path.read_bytes(), zipfile.ZIP_DEFLATED)
        if wheel is not None:
            with zipfile.ZipFile(wheel) as numpy:
                for entry in numpy.infolist():
                    if is_needed(entry.filename):
                        data = numpy.read(entry)
                        archive.writestr(zipfile.ZipInfo(entry.filename, EPOCH), data, zipfile.ZIP_DEFLATED)


def is_needed(name: str) -> bool:
    """Whether the page takes a file of NumPy's wheel. Its licences come along."""
    return name.endswith(KEPT) and not any(each in name for each in LEFT_OUT)


def write_compiled(pyodide: Path, wheel: Path, work: Path, target: Path) -> None:
    """The archive with compiled modules in place of their sources, which a browser would take seconds to compile."""
    write_sources(work / "sources.zip", wheel)
    (work / "compile.mjs").write_text(COMPILE, encoding="utf-8")
    done = subprocess.run(
        ["node", "compile.mjs", str(pyodide), "sources.zip", str(target.resolve())],
        cwd=work, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False,
    )  # fmt: skip
    if done.returncode or not target.exists():
        raise Unsupported(f"Pyodide cannot compile the archive: {done.stderr.strip()[-2000:]}")
