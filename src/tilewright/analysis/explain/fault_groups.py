"""Faults as sentences: what happened first comes first, and races that have one cause are one sentence."""

from collections.abc import Iterable

from .models import Model
from .simt import Finding
from .simt.findings import WITHIN

_PAIRS = 6  # pairs of lines that a sentence lists
_LINES = 8


def fault_sentences(findings: Iterable[Finding], model: Model) -> list[str]:
    """One sentence for each cause. Races of one memory and scope between the same two barriers are one, as are faults of
    several lines in the same words. What happened first may be the cause of what comes after it."""
    groups: dict[object, list[Finding]] = {}
    for each in sorted(findings, key=lambda each: each.order):
        groups.setdefault(_cause(each), []).append(each)
    return [_sentence(same, model) for same in groups.values()]


def _cause(finding: Finding) -> object:
    if finding.is_race:
        return finding.kind, finding.subject, finding.scope, finding.after
    return finding.kind, finding.text


def _sentence(same: list[Finding], model: Model) -> str:
    first, *others = same
    label = scope_label(first, model)
    if not others:
        return f"{first.kind} at line {first.position.line}: {first.text}{label and f'; {label}'}"
    if not first.is_race:
        lines = sorted({each.position.line for each in same})
        listed = ", ".join(map(str, lines[:_LINES])) + (" ..." if len(lines) > _LINES else "")
        return f"{first.kind} at line{'s' if len(lines) > 1 else ''} {listed}: {first.text}"
    pairs = list(dict.fromkeys(_pair(each) for each in same))
    listed = ", ".join(f"{a} and {b}" for a, b in pairs[:_PAIRS])
    more = f" and {len(pairs) - _PAIRS} more" if len(pairs) > _PAIRS else ""
    return (
        f"{first.kind} at line {first.position.line}: {first.text}{label and f'; {label}'}. It is one of {len(same)} in "
        f"{first.subject} {interval(first)}, {sum(each.count for each in same):,} times in all: lines {listed}{more}"
    )


def _pair(finding: Finding) -> tuple[int, int]:
    other = finding.position if finding.other is None else finding.other
    first, last = sorted((finding.position.line, other.line))
    return first, last


def interval(finding: Finding) -> str:
    """Between which barriers the accesses of a race lie."""
    return f"after the barrier at line {finding.after}" if finding.after else "before any barrier"


def scope_label(finding: Finding, model: Model) -> str:
    """What it means that a race is only within sub-groups."""
    if finding.scope != WITHIN or model.is_cpu or not finding.is_fault:
        return ""
    if model.sub_group == "wavefront":
        return (
            "only within a wavefront, whose lanes GCN and CDNA execute together; OpenCL C does not promise it, and narrower "
            "sub-groups break it"
        )
    return (
        f"only within a {model.sub_group}: it relies on lockstep, which NVIDIA's GPUs do not keep since Volta (compute "
        "capability 7.0); wavefronts of 64 on AMD's GCN and CDNA do"
    )
