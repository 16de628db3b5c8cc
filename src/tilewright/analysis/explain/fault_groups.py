"""Faults as sentences: what happened first comes first, and races that have one cause are one sentence."""

from collections.abc import Iterable

from ...core.language import translated, translated_count
from .models import Model
from .numbers import one_or_several
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
    if others and not first.is_race:
        lines = sorted({each.position.line for each in same})
        listed = ", ".join(map(str, lines[:_LINES])) + (" ..." if len(lines) > _LINES else "")
        return _at_lines(first, listed, one_or_several(lines))
    label = scope_label(first, model)
    sentence = _at_lines(first, str(first.position.line), 1)
    if label:
        sentence = translated("{sentence}; {remark}", sentence=sentence, remark=label)
    return f"{sentence}{_among(same)}" if others else sentence


def _at_lines(finding: Finding, lines: str, count: int) -> str:
    return translated_count(
        "{kind} at line {lines}: {text}", "{kind} at lines {lines}: {text}", count,
        kind=finding.kind, lines=lines, text=finding.text,
    )  # fmt: skip


def _among(same: list[Finding]) -> str:
    """How many races have the cause of the first, and where."""
    first, *_ = same
    pairs = list(dict.fromkeys(_pair(each) for each in same))
    listed = ", ".join(translated("{one} and {other}", one=a, other=b) for a, b in pairs[:_PAIRS])
    values = {
        "count": len(same), "subject": first.subject, "interval": interval(first),
        "times": sum(each.count for each in same), "lines": listed,
    }  # fmt: skip
    if len(pairs) > _PAIRS:
        return translated(
            ". It is one of {count} in {subject} {interval}, {times:,} times in all: lines {lines} and {more} more",
            more=len(pairs) - _PAIRS, **values,
        )  # fmt: skip
    return translated(". It is one of {count} in {subject} {interval}, {times:,} times in all: lines {lines}", **values)


def _pair(finding: Finding) -> tuple[int, int]:
    other = finding.position if finding.other is None else finding.other
    first, last = sorted((finding.position.line, other.line))
    return first, last


def interval(finding: Finding) -> str:
    """Between which barriers the accesses of a race lie."""
    if finding.after:
        return translated("after the barrier at line {line}", line=finding.after)
    return translated("before any barrier")


def scope_label(finding: Finding, model: Model) -> str:
    """What it means that a race is only within sub-groups."""
    if finding.scope != WITHIN or model.is_cpu or not finding.is_fault:
        return ""
    if model.sub_group == "wavefront":
        return translated(
            "only within a wavefront, whose lanes GCN and CDNA execute together; OpenCL C does not promise it, and narrower "
            "sub-groups break it"
        )
    return translated(
        "only within a {sub_group}: it relies on lockstep, which NVIDIA's GPUs do not keep since Volta (compute capability "
        "7.0); wavefronts of 64 on AMD's GCN and CDNA do",
        sub_group=model.sub_group,
    )
