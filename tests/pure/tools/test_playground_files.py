"""What the playground is made of: the parts of the package that `explain` imports, its kernels, its lock file."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from paths import BENCHMARKS, DOCS
from says import says

from tilewright import explain
from tilewright.analysis.explain.explanation import Explanation
from tilewright.analysis.explain.models import MODELS
from tilewright.analysis.explain.totals import totals
from tilewright.analysis.kernel_page.live import Asked, error_of, explained, pictures, to_page
from tilewright.errors import InvalidInput, TilewrightError, Unsupported
from tilewright.learning.exercises.file import MARK
from tilewright.learning.exercises.task import all_tasks, find_task
from tools.playground import numpy_wheel as wheels
from tools.playground.archive import GRADING, files, write_sources
from tools.playground.build import offered
from tools.playground.examples import KNOWN_BAD, RUNGS, Example, groups, source
from tools.playground.measure import lines
from tools.playground.npm import LOCK, PAGE

ALLOWED = {"tilewright", "numpy", "in_page"}
FAULTS = {"known_bad/02_tile_race", "known_bad/06_divergent_barrier", "known_bad/07_uninitialised_local"}


def asked(folder: Path, text: str, **fields: str) -> Asked:
    path = folder / "kernel.cl"
    path.write_text(text, encoding="utf-8")
    return Asked(path, **fields)


def error_in(folder: Path, text: str, **fields: str) -> dict[str, object]:
    question = asked(folder, text, **fields)
    with pytest.raises(TilewrightError) as raised:
        explained(question)
    return error_of(raised.value, question.path)


def test_the_archive_explains_and_grades_with_numpy_and_the_standard_library_alone(tmp_path: Path) -> None:
    """The archive alone, in a Python without any other package: what it imports must be in it, and nothing else."""
    write_sources(tmp_path / "archive.zip")
    with zipfile.ZipFile(tmp_path / "archive.zip") as archive:
        archive.extractall(tmp_path / "site")
    code = f"""
import sys
from pathlib import Path
sys.path = [{str(tmp_path / "site")!r}, *(each for each in sys.path if not each.endswith("src"))]

class Blocked:
    def find_spec(self, name, path=None, target=None):
        first = name.split(".")[0]
        if first not in sys.stdlib_module_names and first not in {ALLOWED!r} and not first.startswith("_"):
            raise ImportError(f"{{name}} is blocked")

sys.meta_path.insert(0, Blocked())
from tilewright.analysis.kernel_page.live import Asked, explained, to_page, pictures
import tilewright
assert tilewright.__file__.startswith({str(tmp_path)!r}), tilewright.__file__
for name in sys.argv[1:]:
    found = explained(Asked(Path(name)))
    page = to_page(found)
    pictures(found, page["accesses"][0]["line"])
    print(page["grade"])
explaining = set(sys.modules)
from tilewright.learning.exercises.grade import grade_file
grade = grade_file(Path({str(tmp_path / "exercise.cl")!r}))
print("passed" if grade.passed else grade)
print(*(name for name in sys.modules if name not in explaining and name.startswith("tilewright.")))
"""
    text = f"// {MARK} cases/03\n{find_task('cases/03').solution}"
    (tmp_path / "exercise.cl").write_text(text, encoding="utf-8")
    names = []
    for number, example in enumerate(RUNGS[:2]):
        names.append(str(tmp_path / f"{number}.cl"))
        Path(names[-1]).write_text(source(example), encoding="utf-8")
    done = subprocess.run([sys.executable, "-I", "-c", code, *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *grades, imported = done.stdout.splitlines()
    assert grades == ["costly", "costly", "passed"]
    beyond = {
        name for name in imported.split() if not name.startswith("tilewright.core.")
    }  # all of core is there anyway
    assert {module(part) for part in GRADING if "." in part} == beyond


def module(part: str) -> str:
    """The name of a module by its file in the package."""
    return f"tilewright.{part.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"


def test_the_archive_holds_no_file_twice_and_all_are_there() -> None:
    names = [name for name, _ in files()]
    assert len(set(names)) == len(names)
    assert {"in_page.py", "tilewright/__init__.py", "tilewright/kernels/prelude/opencl.cl"} <= set(names)
    assert not [name for name, path in files() if not path.is_file()]
    floors = {name.split("/")[1] for name in names if name.startswith("tilewright/")}
    assert not floors & {"cli", "measurement", "api", "reports", "advice"}
    beyond = [name for name in names if re.match(r"tilewright/(runtime|learning)/", name)]
    assert set(beyond) == {name for name in beyond if name.removeprefix("tilewright/") in GRADING or "/tasks/" in name}
    assert not [name for name in names if "/lessons/" in name]
    assert {f"tilewright/learning/exercises/tasks/{name}.toml" for name in all_tasks()} <= set(names)


@pytest.mark.parametrize("example", [*RUNGS, *KNOWN_BAD], ids=lambda each: each.name)
def test_an_example_counts_what_its_kernel_does(example: Example, tmp_path: Path) -> None:
    page = explained(asked(tmp_path, source(example), size=example.size))
    rung = explain(example.name, example.size or None)
    assert totals(page) == totals(rung)
    assert [each.cost for each in page.accesses] == [each.cost for each in rung.accesses]
    assert bool(page.faults) == bool(rung.faults) == (example.name in FAULTS)


def test_the_page_is_offered_models_and_kernels() -> None:
    found = offered()
    assert [each["name"] for each in found["models"]] == [each.name for each in MODELS]  # type: ignore[attr-defined]
    kernels = [each for group in groups().values() for each in group]
    assert all({"name", "title", "source", "goal"} <= set(each) for each in kernels)
    assert len({each["name"] for each in kernels}) == len(kernels)
    json.dumps(found)


def test_a_page_has_what_explain_has(tmp_path: Path) -> None:
    found = explained(asked(tmp_path, source(KNOWN_BAD[0])))
    page = to_page(found)
    assert page["grade"] == "fault"
    assert {(each["line"], each["other"]) for each in page["findings"] if each["kind"] == "data race"} == races(found)
    assert sum(line["global"]["cost"] for line in page["lines"].values() if "global" in line) == totals(found).sectors
    line = page["accesses"][0]["line"]
    drawn = pictures(found, line)
    assert len(drawn) == sum(each["line"] == line for each in page["accesses"])
    assert all(each.startswith("<svg") for each in drawn)
    json.dumps(page)


def races(found: Explanation) -> set[tuple[int, int]]:
    return {(each.position.line, each.other.line) for each in found.findings if each.is_race and each.other is not None}


def test_an_error_names_its_line(tmp_path: Path) -> None:
    text = source(RUNGS[0])
    wrong = error_in(tmp_path, text.replace("const size_t x =", "const size_t x = ="))
    assert wrong["line"] == next(n for n, line in enumerate(text.splitlines(), 1) if "const size_t x =" in line)
    assert "kernel.cl" not in str(wrong["text"])
    head = error_in(tmp_path, text.replace("--problem", "--problm"))
    assert head["line"] == 2
    assert says(str(head["text"]), "--problm")
    fields = error_in(tmp_path, text, options="--nope")
    assert fields["line"] == 0
    assert says(str(fields["text"]), "--nope")
    assert error_in(tmp_path, "int x;")["line"] == 0
    assert says(str(error_in(tmp_path, text, model="nvdia")["text"]), "nvidia")


def test_fields_win_over_the_head(tmp_path: Path) -> None:
    text = source(RUNGS[0])
    wide = explained(asked(tmp_path, text, local_size="32,8", size="64x64", model="amd64"))
    assert (wide.local_size[:2], wide.global_size[:2], wide.model.name) == ((32, 8), (64, 64), "amd64")


def test_the_lock_file_has_checksums_and_names_no_host() -> None:
    text = LOCK.read_text(encoding="utf-8")
    packages = {name: each for name, each in json.loads(text)["packages"].items() if name}
    assert all(each["integrity"].startswith("sha512-") for each in packages.values())
    assert "://" not in text
    exact = json.loads((PAGE / "package.json").read_text(encoding="utf-8"))
    for name, version in {**exact["dependencies"], **exact["devDependencies"]}.items():
        assert packages[f"node_modules/{name}"]["version"] == version


def test_the_guide_has_the_times_of_the_record() -> None:
    record = json.loads((BENCHMARKS / "cpu-intel-playground.json").read_text(encoding="utf-8"))
    runs, visits = record["runs"], record["visits"]
    slowest = max(runs, key=lambda name: runs[name]["median_s"])
    page = (DOCS / "howto" / "playground.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|.*\| [\d.]+ \|$", page, re.M)
    told = [row.split("|")[3].strip() for row in rows]
    times = [visits["empty_cache_s"], visits["median_s"], runs["sum_of_rows"]["median_s"], runs[slowest]["median_s"]]
    assert told == [f"{times[0]:.1f}", f"{times[1]:.1f}", f"{times[2]:.2f}", f"{times[3]:.2f}"]
    assert slowest in rows[-1]
    assert str(runs["sum_of_rows"]["lines"]) in rows[-2]
    assert len(lines(record)) == 2 + len(runs)


def pyodide_with(folder: Path, checksum: str) -> Path:
    entry = {"file_name": "numpy-1-wasm.whl", "sha256": checksum, "version": "1"}
    (folder / "pyodide-lock.json").write_text(json.dumps({"packages": {"numpy": entry}}))
    (folder / "package.json").write_text('{"version": "1.0"}')
    return folder


def test_a_wheel_of_another_checksum_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_PLAYGROUND_CACHE", str(tmp_path / "cache"))
    pyodide = pyodide_with(tmp_path, "0" * 64)
    (tmp_path / "given.whl").write_bytes(b"wheel")
    with pytest.raises(InvalidInput) as raised:
        wheels.numpy_wheel(pyodide, tmp_path / "given.whl")
    assert says(str(raised.value), "given.whl", "numpy-1-wasm.whl", "0" * 64)
    assert not (tmp_path / "cache").exists()


def test_a_wheel_that_cannot_be_fetched_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_PLAYGROUND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(wheels, "RELEASES", (tmp_path / "{version}" / "{name}").as_uri())
    with pytest.raises(Unsupported) as raised:
        wheels.numpy_wheel(pyodide_with(tmp_path, "0" * 64))
    assert says(str(raised.value), "numpy-1-wasm.whl", "--numpy")
