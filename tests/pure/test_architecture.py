"""docs/architecture.md names what is there: each file of its tree exists, and each file of the folders that it lists is named."""

import re

import pytest
from paths import DOCS, ROOT

PACKAGE = ROOT / "src" / "tilewright"
PAGE = (DOCS / "architecture.md").read_text(encoding="utf-8")
TREE = PAGE.split("```\nsrc/tilewright/\n")[1].split("```")[0]
FILE = re.compile(r"[\w/]+\.(?:py|cl|h|js|json)\b")
PATTERNS = ("NN_name.cl", "config_NAME.py")  # not files, but how files are named
# Folders whose files the tree names one by one. Of the others it says what they have in common.
LISTED = (
    "core", "runtime", "runtime/opencl", "runtime/cuda", "dispatch", "library", "library/memory", "library/streamed", "blocks",
    "torch", "dask", "mpi", "analysis", "measurement", "reports", "advice", "health", "learning", "learning/exercises", "api",
)  # fmt: skip


def missing(tree: str) -> list[str]:
    """The files that a tree names and that are nowhere in the package."""
    there = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*")}
    named = set(FILE.findall(tree)) - set(PATTERNS)
    return sorted(name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in there))


def test_what_the_tree_names_is_there() -> None:
    assert missing(TREE) == []
    assert missing("core/types.py none.py kernels/types.py main_loop.cl NN_name.cl") == ["kernels/types.py", "none.py"]


@pytest.mark.parametrize("folder", LISTED)
def test_the_tree_names_every_file_of_a_folder(folder: str) -> None:
    names = {path.name for path in (PACKAGE / folder).glob("*.py")} - {"__init__.py"}
    assert names - {each.rpartition("/")[2] for each in FILE.findall(TREE)} == set()


def test_every_tool_is_named() -> None:
    tools = {path.stem for path in (ROOT / "tools").iterdir()} - {"__init__", "__pycache__"}
    assert {name for name in tools if not re.search(rf"tools[/.]{name}\b", PAGE)} == set()
