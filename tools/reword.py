"""Copies the tree with one more word in every sentence of its comments and docstrings. Code is not changed.

python -m tools.reword FOLDER            the files that git knows, as they are in the working tree, reworded in FOLDER
python -m tools.reword FOLDER --word X   with another word

For maintainers: tests must pass in the copy, because no test may depend on a comment's words.

    python -m tools.reword FOLDER && cd FOLDER && PYTHONPATH=$PWD/src:$PWD python -m pytest tests/pure

Left alone are doctests, and comments that speak to tools, such as `# noqa`, `# type:`, `# fmt:` and `// tilewright:`.
"""

import argparse
import ast
import io
import re
import shutil
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tilewright.errors import InvalidInput

ROOT = Path(__file__).parents[1]
PRAGMA = re.compile(r"(#!|(#|//|/\*)\s*(noqa|type:|fmt:|ruff:|mypy:|pragma|-\*-|clang-format|tilewright:|@)|//@)")
_C_PARTS = re.compile(
    r"""(?P<line>//(?:\\\n|[^\n])*)|(?P<block>/\*.*?\*/)|\\\n|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S
)
_SENTENCE = re.compile(r"(?<=[\w)`\"'])\.(?=\s|$)")
Edit = tuple[int, int, str]  # from, to, and the text that takes the place


def with_word(text: str, word: str) -> str:
    """Prose with the word at the end of every sentence, or at its end where no sentence ends."""
    changed = _SENTENCE.sub(f" {word}.", text)
    return changed if changed != text else f"{text.rstrip()} {word}{text[len(text.rstrip()) :]}"


def reworded_docstring(text: str, word: str) -> str:
    """A docstring's literal, quotes and all. Doctests, and what they print up to the next blank line, stay."""
    opening, body, closing = re.fullmatch(r"([a-zA-Z]*(?:\"{3}|'{3}|\"|'))(.*?)(\"{3}|'{3}|\"|')", text, re.S).groups()  # type: ignore[union-attr]
    lines, in_doctest = [], False
    for line in body.split("\n"):
        in_doctest = line.lstrip().startswith(">>>") or (in_doctest and bool(line.strip()))
        lines.append(line if in_doctest else _SENTENCE.sub(f" {word}.", line))
    changed = "\n".join(lines)
    if changed == body and ">>>" not in body:
        changed = with_word(body, word)
    return f"{opening}{changed}{closing}"


def reworded_python(text: str, word: str) -> str:
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    return spliced(text, list(_python_edits(text, starts, word)))


def _python_edits(text: str, starts: list[int], word: str) -> Iterator[Edit]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        each.body[0].lineno
        for each in ast.walk(ast.parse(text))
        if isinstance(each, documented) and ast.get_docstring(each, clean=False) is not None
    }
    first = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        begin, end = starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]
        if token.type == tokenize.COMMENT and not PRAGMA.search(token.string):
            yield begin, end, with_word(token.string, word)
        elif token.type == tokenize.STRING and first and token.start[0] in docstrings:
            yield begin, end, reworded_docstring(token.string, word)
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            first = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)


def reworded_c(text: str, word: str) -> str:
    def changed(match: re.Match[str]) -> str:
        found = match[0]
        if PRAGMA.match(found) or not (match["line"] or match["block"]):
            return found
        if match["block"]:
            return f"{with_word(found.removesuffix('*/').rstrip(), word)} */"
        return with_word(found, word) if found.strip("/ ") else found

    return _C_PARTS.sub(changed, text)


def spliced(text: str, edits: list[Edit]) -> str:
    for begin, end, new in reversed(edits):
        text = text[:begin] + new + text[end:]
    return text


REWORDED = {".py": reworded_python, ".cl": reworded_c, ".h": reworded_c}


def reword(folder: Path, word: str) -> int:
    """Copies the tree; how many of its files were reworded. InvalidInput for a folder that holds something."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidInput(f"{folder} is not an empty folder: name one that is, or a new one")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    count = 0
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, folder / name
        if not source.is_file():
            continue  # deleted in the working tree
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
        if source.suffix in REWORDED:
            text = source.read_bytes().decode("utf-8")
            changed = REWORDED[source.suffix](text, word)
            target.write_bytes(changed.encode("utf-8"))
            count += changed != text
    return count


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.reword", description="Copies the tree with other words in it."
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--word", default="indeed")
    options = parser.parse_args()
    print(f"{reword(options.folder, options.word)} files reworded in {options.folder}")


if __name__ == "__main__":
    main()
