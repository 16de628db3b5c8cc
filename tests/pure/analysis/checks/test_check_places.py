"""`check`: where a TOML file's kernels lie, and which exit status CI sees."""

from pathlib import Path

import pytest

from tilewright import check
from tilewright.cli.main import main
from tilewright.errors import InvalidInput

COPY = "__kernel void same(__global float *x) { x[get_global_id(0)] += 1; }\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a kernel in a folder below."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "same.cl").write_text(COPY)
    return tmp_path


def table(file: str) -> Path:
    """A TOML file in the current folder for one kernel."""
    path = Path("mine.toml")
    path.write_text(f"[[kernel]]\nfile = {file}\nglobal = [64]\nlocal = [32]\n")
    return path


@pytest.mark.parametrize("file", ["kernels/same.cl", "./kernels/../kernels/same.cl"])
def test_a_kernel_may_lie_in_another_folder(file: str, folder: Path) -> None:
    for named in (file, (folder / file).as_posix()):
        (found,) = check(table(f"'{named}'")).kernels
        assert found.values()["sectors x"] == 4
        assert not found.problems


@pytest.mark.parametrize("file", ["''", "'.'", "'kernels'", "'tiles/02'"])
def test_what_names_no_kernel_file_is_told(file: str) -> None:
    with pytest.raises(InvalidInput, match=r"mine.toml: file = .*: name a \.cl file, from the folder of mine.toml"):
        check(table(file))


def test_a_file_that_is_no_text_is_told() -> None:
    with pytest.raises(InvalidInput, match="file = 3 is no str"):
        check(table("3"))


@pytest.mark.parametrize("text", ["", "{}", "no JSON"])
def test_what_is_no_baseline_is_not_taken_for_a_problem(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Status 1 is for kernels with problems."""
    Path("base.json").write_text(text)
    assert main(["check", "kernels/same.cl", "--baseline", "base.json"]) == 2
    assert "base.json is no " in capsys.readouterr().err
