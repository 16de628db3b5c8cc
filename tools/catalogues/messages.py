"""The messages of the code: literals of `translated` and its kin, and the sources of those that are no literals."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from babel.messages.catalog import Catalog

import tilewright
from tilewright.analysis.matrix_drawings import CAPTIONS
from tilewright.kernels import LADDERS
from tilewright.learning.exercises.goals import SENTENCES
from tilewright.reports.page.words import WORDS

ROOT = Path(tilewright.__file__).parent
OWN = "core/language.py"  # the functions themselves
CALLS = {
    "translated": 1,
    "translated_count": 2,
    "Sentence": 1,
}  # the functions, and how many first arguments are messages


@dataclass(frozen=True)
class Source:
    """What a call says that is no literal: the call's file, its first argument, and the messages with the file of each."""

    file: str
    argument: str
    messages: Callable[[], Iterator[tuple[str, str]]]


def titles() -> Iterator[tuple[str, str]]:
    """The titles of ladders."""
    for ladder in LADDERS.values():
        yield f"kernels/ladders/{ladder.name}/__init__.py", ladder.title


def first_lines() -> Iterator[tuple[str, str]]:
    """The first comment line of each rung."""
    for ladder in LADDERS.values():
        for kernel in ladder.with_originals:
            yield kernel.source.relative_to(ROOT).as_posix(), kernel.lesson


def page_words() -> Iterator[tuple[str, str]]:
    """The words of the page of a report."""
    for sentence in WORDS.values():
        yield "reports/page/words.py", sentence


def captions() -> Iterator[tuple[str, str]]:
    """What stands under drawings."""
    for sentence in CAPTIONS.values():
        yield "analysis/matrix_drawings/drawing.py", sentence


def goals() -> Iterator[tuple[str, str]]:
    """What the goals of exercises demand."""
    for sentence in SENTENCES.values():
        yield "learning/exercises/goals.py", sentence


SOURCES = (
    Source("kernels/__init__.py", "ladder.title", titles),
    Source("kernels/__init__.py", "kernel.lesson", first_lines),
    Source("reports/table.py", "row.lesson", first_lines),
    Source("cli/ladder.py", "chosen.title", titles),
    Source("cli/list.py", "ladder.title", titles),
    Source("cli/list.py", "kernel.lesson", first_lines),
    Source("reports/page/words.py", "WORDS[key]", page_words),
    Source("analysis/matrix_drawings/drawing.py", "CAPTIONS[self.kind]", captions),
    Source("analysis/matrix_drawings/request.py", "CAPTIONS['request_part']", captions),
    Source("learning/exercises/goals.py", "SENTENCES[self.measure]", goals),
)


def template() -> Catalog:
    """All messages, each with the files that say it."""
    found = Catalog(project="tilewright", charset="utf-8")
    for name, said in calls():
        texts = tuple(str(each.value) for each in said if isinstance(each, ast.Constant))
        if len(texts) == len(said):
            found.add(texts if len(texts) > 1 else texts[0], locations=[(name, 0)])
    for source in SOURCES:
        for name, message in source.messages():
            found.add(message, locations=[(name, 0)])
    return found


def calls() -> Iterator[tuple[str, list[ast.expr]]]:
    """The file and the message arguments of each call. Python's own parser sees calls inside f-strings, which extractors that
    read tokens pass over."""
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if name != OWN else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
                yield name, node.args[: CALLS[node.func.id]]


def not_literal() -> set[tuple[str, str]]:
    """File and argument of each call whose message is no literal: it must have a Source."""
    return {(name, ast.unparse(each)) for name, said in calls() for each in said if not isinstance(each, ast.Constant)}
