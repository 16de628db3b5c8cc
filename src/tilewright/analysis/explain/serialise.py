"""An explanation as plain data for JSON."""

from dataclasses import asdict
from typing import Any

from ...core.language import in_english
from .clc.lexer import Position
from .explanation import Explanation, Stop
from .footprint import footprints
from .loop_costs import LoopCost, loop_costs
from .profile import LineAccess, Request
from .simt import Finding
from .totals import totals
from .verdict import verdict


def to_dict(explanation: Explanation) -> dict[str, Any]:
    """All but the outputs and the source, in English. Numbers are plain; places are file, line and column."""
    with in_english():
        return _to_dict(explanation)


def _to_dict(explanation: Explanation) -> dict[str, Any]:
    model, found = explanation.model, totals(explanation)
    return {
        "name": explanation.name,
        "entry": explanation.entry,
        "global_size": list(explanation.global_size),
        "local_size": list(explanation.local_size),
        "macros": dict(explanation.macros),
        "model": {"name": model.name, "title": model.title, "verified": model.verified, "evidence": model.evidence},
        "groups": [list(group) for group in explanation.groups],
        "group_count": explanation.group_count,
        "stop": _stop(explanation.stop),
        "rounding": explanation.rounding,
        "assumed": list(explanation.assumed),
        "barriers": explanation.profile.barriers,
        "accesses": [_access(each) for each in explanation.accesses],
        "private_accesses": [_access(each) for each in explanation.private_accesses],
        "footprints": [{**asdict(each), "times": each.times} for each in footprints(explanation)],
        "loops": [_loop(each) for each in loop_costs(explanation)],
        "coverage": [asdict(each) for each in explanation.coverage],
        "private_arrays": [
            {"name": each.name, "bytes": each.nbytes, "off_chip": each.off_chip, **_place(each.position)}
            for each in explanation.private_arrays
        ],
        "findings": [_finding(each) for each in explanation.findings],
        "totals": {name: getattr(found, name) for name in found.__dataclass_fields__},
        "verdict": verdict(explanation),
    }


def _stop(stop: Stop | None) -> dict[str, int] | None:
    if stop is None:
        return None
    return {"line": stop.position.line, "steps": stop.steps, "ended": stop.ended, "chosen": stop.chosen}


def access_rows(explanation: Explanation) -> list[dict[str, Any]]:
    """The accesses as rows of a table, all with the same columns. A cost is in sectors, wavefronts or addresses, as `unit`
    says."""
    return [
        {
            **_asked(each),
            "unit": each.unit,
            "cost": each.cost,
            "ideal": each.ideal,
            "useful_bytes": each.useful_bytes,
            "conflicts": each.conflicts,
            "turns": each.turns,
        }
        for each in (*explanation.accesses, *explanation.private_accesses)
    ]


def _place(position: Position) -> dict[str, Any]:
    return {"file": position.file, "line": position.line, "column": position.column}


def _asked(access: LineAccess) -> dict[str, Any]:
    """Where an access stands, and what it asks for."""
    return {
        **_place(access.position),
        "operation": access.operation,
        "space": access.space,
        "buffer": access.buffer,
        "bytes_per_item": access.size,
        "requests": access.requests,
    }


def _access(access: LineAccess) -> dict[str, Any]:
    unit = "sectors" if access.is_image else access.unit
    return {
        **_asked(access),
        "unit": unit,
        unit: access.cost,
        f"ideal_{unit}": access.ideal,
        "lines_touched": access.lines,
        "useful_bytes": access.useful_bytes,
        "efficiency": access.efficiency,
        "degree": access.degree,
        "conflicts": access.conflicts,
        "turns": access.turns,
        "contention": access.contention,
        "hottest": access.hottest,
        "slots": access.slots,
        "assumed_wide": access.assumed_wide,
        "worst_request": _request(access.worst),
        "by_group": [
            {"group": list(group), "requests": requests, unit: cost} for group, requests, cost in access.by_group
        ],
    }


def _loop(loop: LoopCost) -> dict[str, Any]:
    return {
        **_place(loop.position),
        "last_line": loop.last_line,
        "iterations": loop.iterations,
        "requests": loop.requests,
        "slots": loop.slots,
        "share": loop.share,
    }


def _request(request: Request) -> dict[str, Any]:
    return {
        "addresses": list(request.addresses),
        "bytes_per_item": request.size,
        "group": list(request.group),
        "first_item": request.first_item,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        **_place(finding.position),
        "kind": finding.kind,
        "fault": finding.is_fault,
        "text": finding.text,
        "example": finding.example,
        "other": None if finding.other is None else _place(finding.other),
        "count": finding.count,
        "order": finding.order,
        "scope": finding.scope,
        "after_barrier": finding.after,
    }
