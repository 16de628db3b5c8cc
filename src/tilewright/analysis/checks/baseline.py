"""Baselines: the measures of kernels as they were, in a JSON file that is kept with the sources."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...core.files import write_atomically
from ...errors import RecordError
from .checked import CheckedKernel

FORMAT = "tilewright baseline 1"
Baseline = Mapping[str, Mapping[str, float]]


def load_baseline(path: Path) -> Baseline:
    """The measures of each kernel by its name. RecordError for a file that is no baseline."""
    if path.exists() and not path.is_file():
        raise RecordError(f"{path} cannot be read: it is not a file")
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{path} is no JSON: {error}") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT or not _are_measures(found.get("kernels")):
        raise RecordError(f"{path} is no baseline of tilewright check ({FORMAT!r})")
    return found["kernels"]  # type: ignore[no-any-return]


def _are_measures(found: object) -> bool:
    return isinstance(found, dict) and all(
        isinstance(each, dict) and all(isinstance(value, int | float) for value in each.values())
        for each in found.values()
    )


def save_baseline(path: Path, kernels: Iterable[CheckedKernel]) -> None:
    """Write the measures of the kernels that could be explained."""
    measures = {each.name: each.values() for each in kernels if each.measures}
    text = json.dumps({"format": FORMAT, "kernels": measures}, indent=1, sort_keys=True)
    write_atomically(path, f"{text}\n".encode())
