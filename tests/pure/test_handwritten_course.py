"""The hand-written pages of the course: what they quote of `explain` and `show` is what these print of the kernels on the page,
and the Chinese pages have the same code, quotes and numbers as the English ones."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from paths import DOCS

from tilewright.cli.main import main

ENGLISH, CHINESE = DOCS / "course" / "en", DOCS / "course" / "zh"
NAMES = ("host", "layouts", "memory", "timing")
QUOTING = [page for folder in (ENGLISH, CHINESE) for page in (folder / f"{name}.md" for name in NAMES)]
KERNEL = re.compile(r"// (\w+\.cl): .+\n")
PROMPT = "$ tilewright "
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def fences(page: Path) -> list[str]:
    """The blocks of code of a page."""
    tokens = MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))
    return [token.content for token in tokens if token.type == "fence"]


def kernels(page: Path) -> dict[str, str]:
    """The kernels of a page by the names in their first lines."""
    found = ((KERNEL.match(block), block) for block in fences(page))
    return {match[1]: block for match, block in found if match}


def quotes(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Each command after a prompt, and the lines that the page quotes of its output."""
    for block in fences(page):
        if block.startswith(PROMPT):
            for part in block.split(PROMPT)[1:]:
                command, *lines = part.splitlines()
                yield command, lines


def is_printed(quoted: str, output: str) -> bool:
    """Whether a line of the output begins as the quoted line, in which ` ...` stands for any words."""
    pattern = r".*".join(re.escape(part) for part in quoted.split(" ..."))
    return re.search(f"^{pattern}$", output, re.MULTILINE) is not None


def output_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(shlex.split(command)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("page", QUOTING, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_what_a_page_quotes_is_printed(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in kernels(page).items():
        Path(name).write_text(text)
    for command, lines in quotes(page):
        printed = output_of(command, capsys)
        assert lines, command
        assert [line for line in lines if not is_printed(line, printed)] == [], command


def test_every_kernel_of_a_page_is_explained() -> None:
    for page in QUOTING:
        explained = {word for command, _ in quotes(page) for word in command.split() if word.endswith(".cl")}
        assert kernels(page).keys() == explained, page
    assert len(kernels(ENGLISH / "memory.md")) >= 8


def test_a_wrong_quote_is_found() -> None:
    output = "- line 4 reads x: 8 sectors a request where 4 are enough; and more\nglobal memory: 128 sectors\n"
    assert is_printed("global memory: 128 sectors", output)
    assert is_printed("- line 4 reads x: 8 sectors ...", output)
    assert not is_printed("global memory: 129 sectors", output)
    assert not is_printed("- line 4 reads x: 8 sectors", output)
    assert not is_printed("- line 4 reads y ... and more", output)


def numbers(page: Path) -> list[str]:
    """The numbers of a page's text outside of code and links, in order of size, without thousands separators."""
    tokens = MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))
    texts = [child.content for token in tokens for child in token.children or () if child.type == "text"]
    return sorted(re.sub(r",(?=\d{3}\b)", "", number) for text in texts for number in NUMBER.findall(text))


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_translated_with_its_code_and_numbers(name: str) -> None:
    english, chinese = ENGLISH / f"{name}.md", CHINESE / f"{name}.md"
    assert fences(english) == fences(chinese)
    assert numbers(english) == numbers(chinese)
