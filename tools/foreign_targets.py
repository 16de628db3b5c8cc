"""Inspects the foreign-style kernels of the tests for every target, and writes how many compile into a page.

    python -m tools.foreign_targets docs/reference/inspect.md

The text between the page's marks `<!-- foreign targets -->` and `<!-- end foreign targets -->` is replaced. A kernel counts as
compiled if its instructions and registers are known; those that are not are named, with the reason.
"""

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import tilewright
from tilewright.errors import TilewrightError
from tools.pages.refresh import refresh

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))  # the kernels are the tests' own

from foreign import FOLDER, Launch, launches  # noqa: E402

TARGETS = (
    "sm_70",
    "sm_80",
    "sm_90",
    "sm_100",
    "sm_120",
    "gfx90a",
    "gfx942",
    "gfx1100",
    "tgllp",
    "dg2",
    "pvc",
    "bmg",
    "x86-64-v2",
    "x86-64-v3",
    "x86-64-v4",
)
MARK = "foreign targets"


@dataclass(frozen=True)
class Outcome:
    """A kernel on a target: "" if it compiled and was counted, else why not. `form` is the code that was counted."""

    name: str
    target: str
    reason: str
    form: str = ""
    partly: bool = False  # some called functions are not counted
    stand_ins: bool = False  # short formulas stand in the place of the vendor's longer code


def outcome(launch: Launch, target: str) -> Outcome:
    try:
        found = tilewright.inspect(
            FOLDER / f"{launch.name}.cl", target, settings=launch.macros, global_size=launch.global_size,
            local_size=launch.local_size, entry=launch.entry, arguments=launch.arguments,
        )  # fmt: skip
    except TilewrightError as refusal:
        return Outcome(launch.name, target, first_error(str(refusal)))
    reason = "" if found.mix is not None else " ".join(found.missing) or "no code"
    partly = found.resources is None or says(found, "not counted", "not in the counts")
    return Outcome(launch.name, target, reason, found.form, partly, says(found, "what stands for them here"))


def says(found: tilewright.Inspection, *words: str) -> bool:
    return any(word in note for note in found.notes for word in words)


def first_error(message: str) -> str:
    lines = message.splitlines()
    return next((line.strip() for line in lines if "error:" in line), lines[0])


def table(outcomes: list[Outcome]) -> str:
    """A Markdown table: a row for each target, and the reasons below it."""
    heads = (
        "target",
        "compiled and counted",
        "with calls that are not counted",
        "with formulas for the vendor's code",
        "counted",
    )
    lines = [f"| {' | '.join(heads)} |", "| --- | ---: | ---: | ---: | --- |"]
    for target in dict.fromkeys(each.target for each in outcomes):
        own = [each for each in outcomes if each.target == target]
        good = [each for each in own if not each.reason]
        forms = ", ".join(sorted({each.form for each in good}))
        partly = sum(each.partly for each in good)
        formulas = sum(each.stand_ins for each in good)
        share = f"{len(good)} of {len(own)} = {len(good) / len(own):.0%}"
        lines.append(f"| {target} | {share} | {partly} | {formulas} | {forms} |")
    reasons = dict.fromkeys((each.name, each.reason) for each in outcomes if each.reason)
    for name, reason in reasons:
        targets = ", ".join(each.target for each in outcomes if (each.name, each.reason) == (name, reason))
        lines += ["", f"`{name}`, {targets}: {reason}"]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    outcomes: list[Outcome] = []

    def block(words: Sequence[str], folder: Path) -> str:
        return table(outcomes)

    for target in options.targets.split(","):
        with ThreadPoolExecutor(options.workers) as pool:
            outcomes += pool.map(partial(outcome, target=target), launches())
        refresh(options.page, {MARK: block})  # after each target: a run of all takes minutes
        print(table(outcomes), flush=True)


if __name__ == "__main__":
    main()
