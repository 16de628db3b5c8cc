"""What the guides say of kernels of one's own and of CI is what a reader sees who does it."""

import re
from pathlib import Path

import pytest
from paths import DOCS, ROOT

import tilewright
from tilewright.cli.main import main

OWN = (DOCS / "howto" / "own-kernel.md").read_text(encoding="utf-8")
CI = (DOCS / "howto" / "ci.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLUR = """__kernel void blur(__global const float *src, __global float *dst, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height)
        dst[y * width + x] = src[y * width + x] + src[y * width + max(x - 1, 0)];
}
"""
SAXPY = """__kernel void saxpy(__global float *y, __global const float *x, float a, int n)
{
    int i = get_global_id(0);
    if (i < n)
        y[i] += a * x[i];
}
"""
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def blocks(page: str, language: str = "") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.M | re.S)


def printed(command: str, capsys: Captured) -> list[str]:
    assert main(command.split()) == 0
    return capsys.readouterr().out.splitlines()


def test_the_readme_shows_a_part_of_what_why_prints(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    command, *shown = blocks(README)[0].splitlines()
    lines = iter(printed(command.removeprefix("$ tilewright "), capsys))
    assert all(line in lines for line in shown if line != "...")  # in this order


def test_guesses_are_printed_as_options(capsys: Captured) -> None:
    Path("mine.cl").write_text(BLUR)
    command, *shown = blocks(OWN)[0].splitlines()
    assert printed(command.removeprefix("$ tilewright "), capsys)[: len(shown)] == shown


def test_the_kernel_of_the_guide_is_explained_and_checked() -> None:
    (kernel, *_) = blocks(OWN, "c")
    Path("mine.cl").write_text(kernel)
    assert tilewright.explain("mine.cl", 64).faults == ()
    (head, *_) = blocks(CI, "c")
    Path("mine.cl").write_text(head + kernel.split("\n", 2)[2])
    (found,) = tilewright.check("mine.cl").kernels
    assert {each.name for each in tilewright.check("mine.cl").kernels} == {"mine.cl:mine 256x256 by 16x16"}
    assert not found.problems


def test_what_the_guide_checks_is_checked() -> None:
    _, two, *_ = blocks(CI, "c")
    Path("two.cl").write_text(two)
    assert [each.entry for each in tilewright.check("two.cl").kernels] == ["scale", "clear"]
    (table,) = blocks(CI, "toml")
    Path("saxpy.cl").write_text(SAXPY)
    Path("tilewright.toml").write_text(table)
    assert not tilewright.check(["two.cl", "saxpy.cl"]).problems


def test_the_guides_messages_are_those_of_the_program() -> None:
    """Left of each remedy: words in capitals between quotes, dots and figures stand for what differs."""
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    source = re.sub(r'"\s*\n\s*f?"', "", source)  # literals that go on in the next line
    messages = re.findall(r"^\| (.*?) \|", OWN.split("## If it fails")[1], re.M)[2:]
    assert len(messages) > 4
    parts = [part for message in messages for part in re.split(r"'[A-Z]+'|\.\.\.|\d+", message)]
    assert [part for part in parts if part.strip(" ,") not in source] == []
