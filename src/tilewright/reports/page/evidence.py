"""What a page adds to a ladder's record: counts of `explain`, bounds, and machine code, made when the page is made."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...analysis.inspect import ARCHITECTURES, Inspection, inspect
from ...core.device import DeviceInfo
from ...core.kernel import Kernel
from ...core.records import Record, Row
from ...errors import TilewrightError, UnknownName
from ...kernels import find_kernel
from ...measurement.why import Why, why
from .subjects import at_one_size
from .words import say

PATIENCE_S = 7.0  # for counting all rungs of a page
_INSTALLING = re.compile(r": [^:;]*\bpip install [^;]*")


@dataclass(frozen=True)
class Evidence:
    """By the name of a rung: its kernel, counts and bound, and its machine code. What is not there has a note."""

    kernels: Mapping[str, Kernel] = field(default_factory=dict)
    answers: Mapping[str, Why] = field(default_factory=dict)
    inspections: Mapping[str, Inspection] = field(default_factory=dict)
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def evidence_of(record: Record, arch: str = "") -> Evidence:
    """The evidence about the rungs of a record at its largest size, by today's kernels and the rules of its device. The machine
    code is that of `arch`, or of the record's GPU: compilers for CPUs take seconds for each rung, so they are asked for."""
    shown = at_one_size(record)
    rungs = [row for row in shown.rows if not row.is_baseline and row.backend == "opencl"]
    kernels, notes = _kernels(rungs)
    known = tuple(row for row in rungs if row.name in kernels)
    answers = why(replace(shown, rows=known), list(kernels.values()), patience_s=PATIENCE_S) if known else []
    wanted = arch or architecture_of(record.environment.device)
    inspections = {}
    for row in known:
        code, note = _machine_code(kernels[row.name], record.dtype, wanted)
        if code is not None:
            inspections[row.name] = code
        if note:
            notes[row.name] = (*notes.get(row.name, ()), note)
    return Evidence(kernels, {each.row.name: each for each in answers}, inspections, notes)


def _kernels(rows: list[Row]) -> tuple[dict[str, Kernel], dict[str, tuple[str, ...]]]:
    """Today's kernels of these rows, and a note for each row whose name is no longer one."""
    kernels: dict[str, Kernel] = {}
    notes: dict[str, tuple[str, ...]] = {}
    for row in rows:
        try:
            kernels[row.name] = find_kernel(row.name)
        except UnknownName:
            notes[row.name] = (say("rung.unknown", rung=row.name),)
    return kernels, notes


def architecture_of(info: DeviceInfo) -> str:
    """The architecture that `inspect` compiles for in the place of a GPU; "" if it has none."""
    if info.compute_capability is not None:
        name = f"sm_{info.compute_capability[0]}{info.compute_capability[1]}"
    else:
        name = info.name.split(":")[0] if info.kind == "gpu" else ""
    return name if name in ARCHITECTURES else ""


def _machine_code(kernel: Kernel, dtype: str, arch: str) -> tuple[Inspection | None, str]:
    """The machine code's counts, and a sentence about what is missing."""
    if not arch:
        return None, say("code.not_asked")
    try:
        found = inspect(kernel, arch, dtype=dtype)
    except (TilewrightError, OSError) as reason:
        return None, say("code.refused", arch=arch, reason=for_others(str(reason).strip().splitlines()[0]))
    if found.mix is None and found.resources is None:
        return None, say("code.missing", arch=arch, reason=for_others("; ".join(found.missing)))
    return replace(found, texts={}, missing=tuple(map(for_others, found.missing))), ""


def for_others(sentence: str) -> str:
    """A sentence without the command that installs a tool on this machine: a page is read on others."""
    return _INSTALLING.sub("", sentence)


def grouped_notes(evidence: Evidence) -> list[str]:
    """Each note once, with the rungs that it is about."""
    rungs: dict[str, list[str]] = {}
    uncounted = {name: (answer.note,) for name, answer in evidence.answers.items() if answer.note}
    for found in (uncounted, evidence.notes):
        for name, notes in found.items():
            for note in notes:
                rungs.setdefault(note, []).append(name)
    return [
        note if names[0] in note else say("notes.of", rungs=", ".join(names), note=note)
        for note, names in rungs.items()
    ]
