"""Programs run in this process behave as under `python`: output, exit status, errors, arguments, paths."""

import subprocess
import sys
from pathlib import Path

import pytest

from tilewright.errors import InvalidInput
from tilewright.runtime.programs import code, module, run_program, script

RUNNER = (
    "import sys; from tilewright.runtime.programs import *; sys.exit(run_program({maker}({name!r}), {arguments!r}))"
)
PROGRAMS = {
    "facts": "import sys, helper\nprint(__name__, __file__, sys.argv, sys.path[0], sys.modules['__main__'].__file__, __spec__)",
    "fails": "import helper\nhelper.fail()\n",
    "nested": "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise KeyError('own')\n",
    "broken": "x = (\n",
    "leaves": "import sys\nsys.exit(int(sys.argv[1]))\n",
    "complains": "import sys\nsys.exit('a sentence')\n",
    "interrupted": "raise KeyboardInterrupt\n",
    "threads": "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.05), print('late'))).start()\n",
    "hooked": "import sys\nsys.excepthook = lambda kind, error, trace: print('hook', error)\nraise ValueError('own')\n",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in PROGRAMS.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "helper.py").write_text("def fail():\n    raise ValueError('own')\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def both(maker: str, name: str, command: list[str], arguments: list[str]) -> tuple[str, str, str, str]:
    """Output and errors by Python itself, and by us."""
    plain = subprocess.run([sys.executable, *command, *arguments], capture_output=True, text=True, check=False)
    runner = RUNNER.format(maker=maker, name=name, arguments=arguments)
    ours = subprocess.run([sys.executable, "-c", runner], capture_output=True, text=True, check=False)
    status = -ours.returncode if plain.returncode < 0 else ours.returncode
    assert status in (plain.returncode, -130 if plain.returncode == -2 else plain.returncode)
    return plain.stdout, ours.stdout, plain.stderr, ours.stderr


@pytest.mark.parametrize(
    "name", ["facts", "fails", "nested", "broken", "complains", "interrupted", "threads", "hooked"]
)
def test_a_script_runs_as_under_python(folder: Path, name: str) -> None:
    out, ours, err, our_err = both("script", f"{name}.py", [f"{name}.py"], ["a", "--b"])
    assert out == ours
    assert err == our_err


def test_a_module_runs_as_under_python(folder: Path) -> None:
    (folder / "package").mkdir()
    (folder / "package" / "__main__.py").write_text("import sys\nprint(__name__, sys.argv, __package__, __spec__.name)")
    out, ours, _, err = both("module", "package", ["-m", "package"], ["x"])
    assert out == ours, err


@pytest.mark.parametrize("number", ["0", "3", "256"])
def test_the_exit_status_is_the_programs(folder: Path, number: str) -> None:
    own = int(number) & 0xFF
    assert run_program(script("leaves.py"), [number]) == own


def test_code_runs_and_leaves_no_trace(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.argv, sys.path[:], sys.modules["__main__"]
    assert run_program(code("import sys; print(sys.argv, __name__); sys.path.append('x'); sys.argv = []"), ["a"]) == 0
    assert capsys.readouterr().out == "['-c', 'a'] __main__\n"
    assert (sys.argv, sys.path, sys.modules["__main__"]) == before


@pytest.mark.parametrize(
    ("make", "name", "words"),
    [
        (script, "none.py", "no script none.py"),
        (script, ".", "is a folder"),
        (module, "none.such", "no module none.such"),
    ],
)
def test_what_is_not_there_is_told(folder: Path, make: object, name: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        make(name)  # type: ignore[operator]
