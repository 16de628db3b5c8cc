"""The table of a run, with a row for each kernel, and its part of benchmarks/sanitize.json."""

import datetime
import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tilewright.runtime.environment import version_of

from .explained import Outcome

RECORD = Path(__file__).parents[2] / "benchmarks" / "sanitize.json"
PACKAGES = ("tilewright", "numpy", "pyopencl", "nvidia-cuda-nvrtc")
MOST_SENTENCES = 5  # of the faults of a row, and of why launches were not run


@dataclass(frozen=True)
class Row:
    """One kernel under one sanitizer: launches that were run, how many of these had faults, and those that were not run."""

    kernel: str
    devices: tuple[str, ...]
    shapes: int
    faults: int
    not_run: int
    seconds: float
    sentences: tuple[str, ...] = ()


def rows_of(outcomes: Iterable[Outcome]) -> list[Row]:
    """The outcomes of all launches, by kernel."""
    by_kernel: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_kernel.setdefault(outcome.kernel, []).append(outcome)
    return [_row(kernel, own) for kernel, own in sorted(by_kernel.items())]


def _row(kernel: str, outcomes: Sequence[Outcome]) -> Row:
    faulty, unread = [each for each in outcomes if each.fault], [each for each in outcomes if each.unread]
    said = [f"{each.problem}: {each.fault}" for each in faulty] + [each.unread for each in unread]
    return Row(
        kernel,
        tuple(dict.fromkeys(each.device for each in outcomes)),
        len(outcomes) - len(unread),
        len(faulty),
        len(unread),
        round(sum(each.seconds for each in outcomes), 1),
        tuple(dict.fromkeys(said))[:MOST_SENTENCES],
    )


def table(rows: Sequence[Row]) -> str:
    """The rows as text; what was wrong, or not run, below the kernel's own line."""
    lines = [f"{'kernel':34} {'shapes':>7} {'faults':>7} {'not run':>8} {'seconds':>8}"]
    for row in rows:
        lines.append(f"{row.kernel:34} {row.shapes:7} {row.faults:7} {row.not_run:8} {row.seconds:8.1f}")
        lines += [f"    {sentence}" for sentence in row.sentences]
    shapes, faults = sum(row.shapes for row in rows), sum(row.faults for row in rows)
    lines.append(f"{len(rows)} kernels, {shapes} launches, {faults} with faults")
    return "\n".join(lines)


def facts(tool: str, device: str, notes: Sequence[str]) -> dict[str, Any]:
    """What a run must say about where it was made."""
    versions = {name: version_of(name) for name in PACKAGES}
    return {
        "tool": tool,
        "device": device,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": versions,
        "notes": list(notes),
    }


def save(part: str, about: Mapping[str, Any], rows: Sequence[Row], path: Path = RECORD) -> None:
    """Put one sanitizer's part into the record and leave the others as they are."""
    record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    record[part] = {**about, "rows": [asdict(row) for row in rows]}
    path.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
