"""Rewording changes comments and docstrings, and nothing that runs."""

import ast
from pathlib import Path

import pytest

from tilewright.errors import InvalidInput
from tools.counters.code import normalised
from tools.reword import ROOT, reword, reworded_c, reworded_python

PYTHON = '''"""One. Two (2.5 of them).

>>> 1 + 1.
2.
"""

text = "# no comment."  # a comment
x = 1  # type: ignore[assignment]  # noqa: E1
"""not a docstring."""


def f() -> str:
    \'Short\'
    # whole line. And more.
    return """neither."""
'''


def test_python() -> None:
    changed = reworded_python(PYTHON, "so")
    assert changed.splitlines() == PYTHON.replace("One. Two (2.5 of them).", "One so. Two (2.5 of them) so.").replace(
        "# a comment", "# a comment so").replace("'Short'", "'Short so'").replace(
        "# whole line. And more.", "# whole line so. And more so.").splitlines()  # fmt: skip


def test_opencl() -> None:
    text = '// One. 2.5\nint a; /* b */\nprintf("// not this.");  // tilewright: keep\n// c \\\nstill c\n//\n'
    expected = text.replace("One.", "One so.").replace("b */", "b so */").replace("still c", "still c so")
    assert reworded_c(text, "so") == expected


@pytest.mark.parametrize("path", sorted(ROOT.glob("src/tilewright/kernels/**/*.cl")), ids=lambda path: path.stem)
def test_code_of_kernels_stays(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    changed = reworded_c(text, "so")
    assert (changed != text) == ("//" in text)
    assert normalised(changed) == normalised(text)
    assert changed.count("\n") == text.count("\n")


def without_docstrings(text: str) -> str:
    tree = ast.parse(text)
    for each in ast.walk(tree):
        if isinstance(each, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(each) is not None:
            each.body[0] = ast.Pass()
    return ast.dump(tree)


# Every fourth module: all are tokenised alike.
@pytest.mark.parametrize("path", sorted(ROOT.glob("src/tilewright/**/*.py"))[::4], ids=lambda path: path.stem)
def test_code_of_modules_stays(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    changed = reworded_python(text, "so")
    assert changed != text
    assert without_docstrings(changed) == without_docstrings(text)


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match=tmp_path.name):
        reword(tmp_path, "so")
