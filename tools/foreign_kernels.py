"""Explains every kernel of a folder, such as one of fetched repositories, with arguments that are guessed.

python -m tools.foreign_kernels FOLDER [--time-limit 10] [--json FILE]

It says which kernels ran, why the others did not, what faults were found and how long each took. Guessed arguments may be wrong:
look at a fault before you believe it.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic, perf_counter

import numpy as np

from tilewright import explain
from tilewright.analysis.explain.clc import parse_program
from tilewright.core.source import read_source
from tilewright.errors import TilewrightError

QUICK_S, SLOW_S = 0.2, 3.0


@dataclass(frozen=True)
class Outcome:
    """What became of one kernel: its faults, or the sentence that kept it from running. `stopped`: it ended at the limit."""

    file: str
    entry: str
    seconds: float
    faults: tuple[str, ...] = ()
    refused: str = ""
    stopped: bool = False


def kernels_of(path: Path) -> tuple[str, ...]:
    """The kernels of a file. SourceError if it cannot be read."""
    return parse_program(read_source(path), str(path), {}, (path.parent,)).kernels


def outcomes(folder: Path, time_limit: float) -> Iterator[Outcome]:
    """One for each kernel of each .cl file below the folder, and one for each file that cannot be read."""
    for path in sorted(folder.rglob("*.cl")):
        name = str(path.relative_to(folder))
        try:
            entries = kernels_of(path)
        except TilewrightError as reason:
            yield Outcome(name, "", 0.0, refused=first_line(reason))
            continue
        for entry in entries:
            yield outcome(path, name, entry, time_limit)


def outcome(path: Path, name: str, entry: str, time_limit: float) -> Outcome:
    """Explain one kernel."""
    begin, end = perf_counter(), monotonic() + time_limit
    try:
        found = explain(path, entry=entry, watch=lambda steps, groups: monotonic() > end)
    except TilewrightError as reason:
        return Outcome(name, entry, perf_counter() - begin, refused=first_line(reason))
    faults = tuple(sorted({each.kind for each in found.faults}))
    return Outcome(name, entry, perf_counter() - begin, faults, stopped=found.stop is not None)


def first_line(reason: TilewrightError) -> str:
    return str(reason).splitlines()[0]


def report(found: Sequence[Outcome]) -> Iterator[str]:
    """A line for each kernel, then the sums."""
    for each in found:
        said = each.refused or ", ".join(each.faults) or "no fault"
        ended = " (stopped at the limit)" if each.stopped else ""
        yield f"{each.seconds:7.2f} s  {each.file} {each.entry}: {said}{ended}"
    ran = [each for each in found if not each.refused]
    yield f"{len(ran)} of {len(found)} ran; faults in {sum(bool(each.faults) for each in ran)}"
    if ran:
        times = np.array([each.seconds for each in ran])
        yield (
            f"median {np.median(times):.3f} s, 90% below {np.quantile(times, 0.9):.2f} s, longest {times.max():.2f} s; "
            f"{100 * np.mean(times < QUICK_S):.0f}% under {QUICK_S} s, {int((times > SLOW_S).sum())} over {SLOW_S} s"
        )
    for kind, count in Counter(kind for each in ran for kind in each.faults).most_common():
        yield f"{count:5}  {kind}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.foreign_kernels")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds for a kernel (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write the outcomes (default: not written)")
    options = parser.parse_args()
    found = list(outcomes(options.folder, options.time_limit))
    print("\n".join(report(found)))
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
