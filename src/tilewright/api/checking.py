"""Kernels checked for CI: `check`."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from ..analysis.checks.baseline import Baseline, load_baseline, save_baseline
from ..analysis.checks.checked import FORMAT, CheckedKernel, Problem, check_explained, failed
from ..analysis.checks.sarif import github_annotation, sarif
from ..analysis.checks.targets import Target, targets_of
from ..core.checked import checked_path, checked_paths, checked_switch
from ..core.files import write_atomically
from ..core.numbers import figure
from ..core.shown import Shown
from ..core.sizes import FilePath
from ..errors import SourceError, TilewrightError


class Checked(Shown):
    """The kernels of a check with their measures and problems. `print` it to read the problems."""

    def __init__(self, kernels: Sequence[CheckedKernel]) -> None:
        self.kernels = tuple(kernels)

    @property
    def problems(self) -> tuple[Problem, ...]:
        return tuple(each for kernel in self.kernels for each in kernel.problems)

    def __str__(self) -> str:
        """A line for each problem, as compilers write them, then one for each kernel."""
        lines = [f"{each.file}:{each.line}:{each.column}: {each.message} [{each.rule}]" for each in self.problems]
        lines += [_line(each) for each in self.kernels]
        return "\n".join(lines)

    def one_line(self) -> str:
        return f"{len(self.problems)} problems in {len(self.kernels)} kernels"

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each problem: rule, message, file, line, column."""
        return [vars(each) for each in self.problems]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as docs/reference/check.md and its JSON Schema describe it."""
        return {"format": FORMAT, "kernels": [each.to_dict() for each in self.kernels]}

    def to_sarif(self) -> dict[str, Any]:
        """A SARIF 2.1.0 log."""
        return sarif(self.kernels)

    def save_sarif(self, path: FilePath) -> None:
        """Write the SARIF log."""
        write_atomically(Path(path), f"{json.dumps(self.to_sarif(), indent=1)}\n".encode())

    def annotations(self) -> list[str]:
        """A line for each problem, which GitHub's workflows show beside the source."""
        return [github_annotation(each) for each in self.problems]


def _line(kernel: CheckedKernel) -> str:
    values = kernel.values()
    if not values:
        return f"{kernel.name}: not explained"
    said = ", ".join(f"{name} {figure(values[name])}" for name in ("faults", "conflicts", "sectors", "moved_bytes"))
    return f"{kernel.name}: {'ok' if not kernel.problems else 'failed'} ({said})"


def check(
    files: FilePath | Sequence[FilePath],
    *,
    baseline: FilePath | None = None,
    update_baseline: bool = False,
) -> Checked:
    """Explain kernels, and find what is wrong with them: faults, measures beyond their budgets or worse than a baseline.

    `files` are `.cl` files with a head, and `.toml` files that name kernels, arguments and budgets. `baseline` is a JSON file
    with the measures of an earlier check; it is written if it is not there, or with `update_baseline`. Of checks of one kernel
    with the same sizes all but the first have their settings in their names. A kernel that cannot be explained is a problem,
    not an error.

    InvalidInput or UnknownName for files and budgets that are not understood; RecordError for a file that is no baseline.
    """
    paths, update_baseline = checked_paths("files", files), checked_switch("update_baseline", update_baseline)
    place = None if baseline is None else checked_path("baseline", baseline)
    before: Baseline = (
        {} if place is None or not place.exists() else load_baseline(place)
    )  # never writes over another file
    writes = place is not None and (update_baseline or not place.exists())
    kernels: list[CheckedKernel] = []
    for target in {each.key: each for path in paths for each in targets_of(path)}.values():
        kernels.append(_checked(target, {} if writes else before, [each.name for each in kernels]))
    checked = Checked(kernels)
    if writes and place is not None:
        save_baseline(place, checked.kernels)
    return checked


def _checked(target: Target, before: Baseline, others: Collection[str]) -> CheckedKernel:
    try:
        return check_explained(target.file, target.explained(), target.budgets, before, others, target.variant)
    except SourceError as error:
        return failed(target.file, target.entry, str(error), error.line, error.column)
    except TilewrightError as error:
        return failed(target.file, target.entry, str(error))
