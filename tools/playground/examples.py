"""The kernels that the playground offers: rungs and known-bad kernels as files of one's own, with a head that launches them."""

import re
from dataclasses import dataclass
from pathlib import Path

from tilewright.analysis.explanations import default_size
from tilewright.core.kernel import Kernel
from tilewright.core.problems import make_problem
from tilewright.kernels import find_kernel

ROOT = Path(__file__).parents[2]
OWN = (
    ("A product of one's own", ROOT / "examples" / "my_gemm.cl", ""),
    (
        "Sums of rows: a tree in local memory", ROOT / "playground" / "kernels" / "sum_of_rows.cl",
        "Begin the tree with halves instead of neighbours: then no two work-items meet in a bank.",
    ),
)  # fmt: skip
LETTERS = {"row": "r", "column": "c"}
COMPUTED = {"ROW_LENGTH": "K"}  # macros that configurations compute from a problem's sizes


@dataclass(frozen=True)
class Example:
    """A kernel of the package, and its global and local size in the words of a head."""

    name: str
    title: str
    global_size: str
    local_size: str
    goal: str = ""
    size: str = ""  # of the problem, where the usual one does not show the fault


RUNGS = (
    Example("transpose/04_naive", "Transpose: naive", "COLUMNS,ROWS", "16,16", "Make the stores as cheap as the loads."),
    Example(
        "transpose/05_tiled", "Transpose: a tile in local memory", "COLUMNS,ROWS", "TILE,TILE",
        "Free the loads of bank conflicts: PAD is the number of unused elements at the end of a row of the tile.",
    ),
    Example("rows/01_naive", "Product: one element a work-item, uncoalesced", "M,N", "16,16"),
    Example("tiles/01_naive", "Product: one element a work-item", "M,N", "BM,BN"),
    Example("tiles/02_tiled", "Product: tiles in local memory", "M,N", "BM,BN"),
    Example("tiles/03_more_work_per_item", "Product: several elements a work-item", "M,N/TN", "BM,BN/TN"),
    Example("tiles/04_wide_types", "Product: vectors of elements", "M/TM,N", "BM/TM,BN"),
)  # fmt: skip
KNOWN_BAD = (
    Example("known_bad/02_tile_race", "Race: a missing barrier", "M,N", "BM,BN", "Find the race, and mend it."),
    Example("known_bad/06_divergent_barrier", "A barrier that some do not reach", "M,N", "BM,BN", "Mend it.", "40"),
    Example("known_bad/07_uninitialised_local", "Local memory that nobody set", "M,N", "BM,BN", "Mend it.", "40"),
    Example("known_bad/08_rest_of_k_dropped", "The rest of K left out", "M,N", "BM,BN", "Mend it.", "40"),
    Example(
        "known_bad/03_eight_way_conflict", "Bank conflicts: columns of a tile", "COLUMNS,ROWS", "TILE,TILE",
        "Bring the wavefronts down to one a request.",
    ),
)  # fmt: skip


def head(kernel: Kernel, global_size: str, local_size: str, code: str) -> str:
    """The options with which a file of this code does what the kernel does."""
    words = [f"--problem {kernel.operation}", f"--global {global_size}", f"--local {local_size}"]
    if kernel.operation == "gemm":
        words.append(f"--order {''.join(LETTERS[each] for each in kernel.orders)}")
    fields = kernel.config.macros(make_problem(kernel, default_size(kernel), kernel.usual_dtype))
    named = f"{code} {global_size} {local_size}"  # where a macro of the configuration may be named
    macros = {name: value for name, value in {**fields, **COMPUTED}.items() if re.search(rf"\b{name}\b", named)}
    return " ".join([*words, *(f"-D {name}={value}" for name, value in macros.items())])


def source(example: Example) -> str:
    """The kernel's text with its head below the first sentence."""
    kernel = find_kernel(example.name)
    first, rest = kernel.text.split("\n", 1)
    options = head(kernel, example.global_size, example.local_size, kernel.text)
    return f"{first}\n// tilewright: {options}\n{rest}"


def entries(examples: tuple[Example, ...]) -> list[dict[str, str]]:
    """The form that the page reads, which is that of exercises, too."""
    return [
        {"name": each.name, "title": each.title, "source": source(each), "goal": each.goal, "size": each.size}
        for each in examples
    ]


def groups() -> dict[str, list[dict[str, str]]]:
    """All examples by the title of their group."""
    own = [
        {"name": path.stem, "title": title, "source": path.read_text(encoding="utf-8"), "goal": goal, "size": ""}
        for title, path, goal in OWN
    ]
    return {"Rungs of ladders": entries(RUNGS), "Faulty and slow on purpose": entries(KNOWN_BAD), "Of one's own": own}
