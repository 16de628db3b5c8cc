"""Writes benchmarks/counters.md from the record."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from .cases import NOT_RUN
from .compare import EQUAL, FEWER, MERGED, MOVED, UNEXPLAINED
from .special_page import section

_MEANING = {
    EQUAL: "the same sectors or wavefronts, for the same bytes",
    MERGED: "the same bytes by fewer, wider instructions",
    MOVED: "the same in sum, but booked on another line of the same kernel",
    FEWER: "fewer bytes: a value that is used again stays in a register, or is loaded only where it is needed",
    UNEXPLAINED: "none of these",
}
_TITLES = {
    "ladder": "The ladders",
    "known bad": "The known-bad kernels",
    "production": "The library's kernels",
    "pattern": "Patterns",
}


def lines_of(case: dict[str, Any]) -> Iterator[list[Any]]:
    for launch in case["launches"]:
        yield from launch["lines"]


def page(record: dict[str, Any], special: Sequence[dict[str, Any]], changed: Sequence[str] = ()) -> str:
    """The page; `special` is the record of the special memories, `changed` are the names of cases whose code has changed since
    they were counted."""
    cases = record["cases"]
    lines = [line for case in cases for line in lines_of(case)]
    verdicts = Counter(line[7] for line in lines)
    again = [line for line in lines if line[7] != EQUAL and line[8]]
    launches = sum(len(case["launches"]) for case in cases)
    right = Counter(case["result"] for case in cases)
    out = [
        "# What `explain` predicts, and what a GPU counts",
        "",
        f"{len(cases)} kernels with {launches} launches were run as CUDA on an {record['device']} ({record['driver']}; "
        f"{record['compiler']}, `-O3`) under {record['profiler']}, and explained by `tilewright.analysis.explain` with all their "
        f"work-groups. Compared are, for each line of source that touches memory, the sectors of global memory "
        "(`memory_l2_theoretical_sectors_global`) or the wavefronts of local memory (`memory_l1_wavefronts_shared`), and "
        "the bytes that lanes asked for. The CUDA counterparts are the same source with another prelude; "
        f"{right['right']} of the {len(cases) - right['not checked']} whose results have a reference were checked and are "
        "right.",
        "",
        f"**Of {len(lines)} lines, {verdicts[EQUAL]} are equal to the last sector and wavefront; "
        f"{len(lines) - verdicts[EQUAL] - verdicts[UNEXPLAINED]} are what the compiler made of the line; "
        f"{verdicts[UNEXPLAINED]} are unexplained.**",
        "",
        "| verdict | lines | meaning |",
        "| --- | --- | --- |",
        *(f"| {name} | {verdicts[name]} | {meaning} |" for name, meaning in _MEANING.items()),
        "",
        "Each kernel was compiled a second time with `volatile` accesses, which a compiler may neither merge nor drop, as far "
        f"as C++ allows. {len(again)} of the {len(lines) - verdicts[EQUAL]} lines that differ are in such a counterpart. "
        f"{sum(line[8] == EQUAL for line in again)} of them are equal there; the others are booked on another line, or moved by "
        "the assembler, which may do that even to volatile accesses.",
        "",
        f"Recorded on {record['date']} in `benchmarks/h200-counters.json`, by `python -m tools.counters`. Not run: "
        + "; ".join(f"`known_bad/{name}`, as {why}" for name, why in NOT_RUN.items())
        + ".",
        "A kernel without a line has not been counted yet.",
        "",
    ]
    if changed:
        out += [
            f"Changed since they were counted, so that their lines here are those of older texts: {'; '.join(changed)}.",
            "",
        ]
    return "\n".join([*out, *tables(cases), *differences(cases), *section(special), ""])


def tables(cases: list[dict[str, Any]]) -> list[str]:
    """How many lines of each case are equal, and how the others differ."""
    out = []
    for kind, title in _TITLES.items():
        out += [f"## {title}", "", "| kernel | lines | equal | merged | moved | fewer | unexplained |"]
        out.append("| --- | --- | --- | --- | --- | --- | --- |")
        for case in cases:
            if case["kind"] == kind:
                count = Counter(line[7] for line in lines_of(case))
                cells = (sum(count.values()), *(count[name] or "" for name in _MEANING))
                out.append(f"| {case['name']} | {' | '.join(map(str, cells))} |")
        out.append("")
    return out


def differences(cases: list[dict[str, Any]]) -> list[str]:
    """Every line that is not equal, with the instructions that were executed."""
    out = [
        "## What the compiler did",
        "",
        "Requests and cost (sectors or wavefronts) as predicted from the source and as counted, and the instructions in the "
        'machine code with how often warps executed them. "Volatile" is the verdict where accesses may not be changed.',
        "",
        "| kernel | line | access | predicted | counted | instructions | verdict | volatile |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for case in cases:
        for file, line, operation, space, expected, got, opcodes, verdict, volatile, _ in lines_of(case):
            if verdict == EQUAL:
                continue
            executed = ", ".join(f"{count:,} {name}" for name, count in opcodes.items()) or "none"
            out.append(
                f"| {case['name']} | `{file}:{line}` | {operation} {space} | {expected[0]:,}: {expected[1]:,} "
                f"| {got[0]:,}: {got[1]:,} | {executed} | {verdict} | {volatile} |"
            )
    return [*out, ""]
