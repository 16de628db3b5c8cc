"""The workflow of a course: it is written once, and its step grades what lies in exercises/."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tilewright
from tilewright.errors import InvalidInput, UnknownName
from tilewright.learning.classroom import workflow
from tilewright.learning.exercises.file import MARK
from tilewright.learning.exercises.task import find_task

BIN = Path(sys.executable).parent


def script() -> str:
    """The shell script of the step that grades."""
    text = workflow()
    block = text[text.index("run: |\n") + len("run: |\n") :]
    return textwrap.dedent(block[: block.index("      - uses:")])


def run_step(folder: Path) -> subprocess.CompletedProcess[str]:
    summary = {"GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    environment = {**os.environ, **summary, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-e", "-c", script()], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_files_are_written_once(tmp_path: Path) -> None:
    written = tilewright.classroom(tmp_path, ["tiles/2"])
    assert [str(each.relative_to(tmp_path)) for each in written] == [
        ".github/workflows/grade.yml",
        "exercises/tiles_02.cl",
    ]
    written[1].write_text("mine")
    assert tilewright.classroom(tmp_path, ["tiles/2"]) == ()
    assert written[1].read_text() == "mine"


def test_unknown_folders_and_exercises_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no folder"):
        tilewright.classroom(tmp_path / "none")
    with pytest.raises(UnknownName):
        tilewright.classroom(tmp_path, ["tiles/99"])
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(shutil.which("bash") is None, reason="GitHub's runners have bash, this machine does not")
def test_the_step_grades_pull_requests(tmp_path: Path) -> None:
    assert run_step(tmp_path).returncode == 0
    tilewright.classroom(tmp_path, ["tiles/2"])
    failed = run_step(tmp_path)
    assert failed.returncode == 1
    assert "::error file=exercises/tiles_02.cl,line=" in failed.stdout
    assert "- at most 2,048 sectors loaded" in (tmp_path / "summary.md").read_text()
    assert (tmp_path / "grade.sarif").is_file()
    solved = f"// {MARK} tiles/02\n{find_task('tiles/02').solution}"
    (tmp_path / "exercises" / "tiles_02.cl").write_text(solved)
    passed = run_step(tmp_path)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "::error" not in passed.stdout


def test_a_folder_in_a_files_place_is_not_taken_for_the_file(tmp_path: Path) -> None:
    (tmp_path / ".github" / "workflows" / "grade.yml").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        tilewright.classroom(tmp_path)
