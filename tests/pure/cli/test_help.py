"""What `tilewright` alone, its help, `--version` and `--debug` print, and what a shell is told when it completes a line."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest
from says import says

import tilewright
from tilewright import kernels
from tilewright.analysis.explain.models import MODELS
from tilewright.cli.completion import SHELLS
from tilewright.cli.main import COMMANDS, GROUPS, main
from tilewright.core.version import VERSION
from tilewright.kernels import LADDERS
from tilewright.measurement.sets import SETS
from tilewright.runtime.environment import version_of

Captured = pytest.CaptureFixture[str]


def text_of(capsys: Captured, *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_without_a_command_the_help_is_printed(capsys: Captured) -> None:
    assert main([]) == 0
    alone = capsys.readouterr().out
    assert alone == text_of(capsys, "--help")


@pytest.mark.parametrize("columns", [1, 10])
def test_the_help_is_printed_on_any_terminal(columns: int, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert "machine:" in text_of(capsys, "--help").splitlines()


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
def test_the_help_has_every_command_in_its_group(
    columns: int, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = text_of(capsys, "--help").splitlines()
    places = [lines.index(f"{title}:") for title in GROUPS]
    assert places == sorted(places)
    for title, group in GROUPS.items():
        after = lines[lines.index(f"{title}:") + 1 :]
        names = [line.split()[0] for line in after[: after.index("")] if re.match(r"  \w", line)]
        assert names == list(group)
    assert all(len(line) < columns for line in lines[: lines.index("options:")])


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_ends_in_examples(name: str, capsys: Captured) -> None:
    _, examples = text_of(capsys, name, "--help").split("examples:\n")
    assert examples.startswith(f"  tilewright {name}")


def test_the_version_of_a_source_tree_that_is_not_installed(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert says(text_of(capsys, "--version"), VERSION)
    assert VERSION == tilewright.__version__ == version_of("tilewright")


@pytest.mark.parametrize("arguments", [["--debug", "show", "tiles/2"], ["show", "tiles/2", "--debug"]], ids=" ".join)
def test_debug_shows_the_traceback_and_the_sentence(
    arguments: list[str], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(rung: str) -> None:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    monkeypatch.setattr(kernels, "find_kernel", fail)
    assert main(arguments) == 1
    debugged = capsys.readouterr().err
    assert "Traceback" in debugged
    assert main(["show", "tiles/2"]) == 1
    plain = capsys.readouterr().err
    assert "Traceback" not in plain
    assert says(plain, "utf-8", "0xff")
    assert debugged.endswith(plain)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_gets_its_script(shell: str, capsys: Captured) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "_ARGCOMPLETE" in script
    assert "tilewright" in script


def completions(line: str, tmp_path: Path) -> set[str]:
    """What the program answers when a shell completes a line."""
    answer = tmp_path / "answer"
    asked = {
        "_ARGCOMPLETE": "1", "_ARGCOMPLETE_SHELL": "fish", "_ARGCOMPLETE_IFS": "\n", "COMP_LINE": line,
        "COMP_POINT": str(len(line)), "_ARGCOMPLETE_STDOUT_FILENAME": str(answer), "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "tilewright"],
        env={**os.environ, **asked},
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(answer.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("tilewright ", set(COMMANDS)),
        ("tilewright la", {"ladder"}),
        ("tilewright ladder ", set(LADDERS)),
        ("tilewright ladder --publ", {"--published"}),
        ("tilewright show tiles/02", {"tiles/02_tiled", "tiles/02_tiled[CSDN]"}),
        ("tilewright ladder --rung tiles/02", {"tiles/02_tiled", "tiles/02_tiled[CSDN]"}),
        ("tilewright run mi", {"mine.cl"}),
        ("tilewright explain tiles/2 --device-model h", {"h100", "h200", "hd4870", "hd5870", "hd4000", "hd5000"}),
        ("tilewright bench --sets squares,ski", {"squares,skinny"}),
        ("tilewright plan 8 --dtype float6", {"float64"}),
        ("tilewright run mine.cl --problem t", {"transpose"}),
        ("tilewright plan ", set()),
        ("tilewright compare r", {"record.json"}),
        ("tilewright ladder cpu --rung ", {kernel.name for kernel in LADDERS["cpu"].kernels}),
        ("tilewright inspect tiles/2 --arch x86-64-v4", {"x86-64-v4"}),
    ],
)
def test_a_line_is_completed(line: str, wanted: set[str], tmp_path: Path) -> None:
    (tmp_path / "mine.cl").touch()
    (tmp_path / "mine.txt").touch()
    (tmp_path / "record.json").touch()
    found = completions(line, tmp_path)
    assert wanted == found


def test_options_are_offered_after_a_hyphen_alone(tmp_path: Path) -> None:
    assert "--build-option" in completions("tilewright run -", tmp_path)
    assert not any(each.startswith("-") for each in completions("tilewright run ", tmp_path))


@pytest.mark.parametrize(
    ("command", "values"),
    [("explain", [model.name for model in MODELS]), ("bench", SETS), ("tune", SETS), ("ladder", LADDERS)],
)
def test_help_names_the_values(command: str, values: Iterable[str], capsys: Captured) -> None:
    words = re.sub(r"-\s+", "-", text_of(capsys, command, "--help"))
    assert [each for each in values if not re.search(rf"\b{re.escape(each)}\b", words)] == []
    assert "{values}" not in words


def test_completion_of_names_loads_neither_numpy_nor_a_driver(tmp_path: Path) -> None:
    code = (
        "import sys; from tilewright.cli.completers import rungs, ladders, kernels; rungs(); ladders(); kernels(''); "
    )
    code += "print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "rich", "pyopencl"} & set(loaded)


@pytest.mark.parametrize(
    ("encoding", "language", "told"),
    [("ascii", "ru", True), ("ascii", "zh", True), ("koi8-r", "ru", False), ("koi8-r", "zh", True), ("ascii", "en", False),
     ("utf-8", "zh", False)],
)  # fmt: skip
def test_letters_that_standard_output_lacks_are_told(encoding: str, language: str, told: bool) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "tilewright.cli.main", "list", "--lang", language],
        capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding},
    )  # fmt: skip
    assert found.returncode == 0
    assert says(found.stderr.decode(encoding), encoding, language, "PYTHONIOENCODING=utf-8") == told
    assert found.stderr.count(b"\n") == told
