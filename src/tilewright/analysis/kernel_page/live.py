"""What the playground shows of a kernel that is being written: an explanation, or the error, as plain data for a page."""

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...core.custom import own_kernel
from ...core.kernel_options import parsed_options, with_head
from ...errors import SourceError, TilewrightError
from ..explain.annotate import access_line, finding_line, heading, summary
from ..explain.drawing.flow import draw_path, draw_timeline
from ..explain.drawing.requests import draw_access
from ..explain.drawing.source import GRADES, grade
from ..explain.explanation import Explanation
from ..explain.profile import LineAccess
from ..explain.simt import Finding
from ..explain.simt.machine import Watch, not_watched
from ..explain.totals import totals
from ..explain.verdict import findings_and_costs, is_costly, remarks
from ..explanations import explain
from .lines import costs_of, memories_of

FIELDS = "the fields above the kernel"  # where options stand that are not in the kernel's head
_PLACE = re.compile(r":(\d+)(?::(\d+))?: ")


@dataclass(frozen=True)
class Asked:
    """A kernel's file and the fields of the page. Empty fields are left to the head of the file, and to what is usual."""

    path: Path
    global_size: str = ""
    local_size: str = ""
    size: str = ""
    options: str = ""  # as in a head: -D TS=16 --arg n=1024
    model: str = ""


def explained(asked: Asked, watch: Watch = not_watched) -> Explanation:
    """The explanation of the kernel with these fields. The errors are those of `explain`."""
    options = parsed_options(FIELDS, asked.options)
    options.global_size = asked.global_size.strip() or options.global_size
    options.local_size = asked.local_size.strip() or options.local_size
    kernel = own_kernel(asked.path, with_head(asked.path, options))
    return explain(kernel, asked.size.strip() or None, model=asked.model or None, watch=watch)


def to_page(found: Explanation) -> dict[str, Any]:
    """All but the pictures of single accesses. Lines are numbers of the kernel's own file."""
    file = found.entry_position.file
    costs = costs_of((*found.accesses, *found.private_accesses), found.group_count / len(found.groups))
    kind = grade(found)
    return {
        "heading": heading(found),
        "grade": kind,
        "said": GRADES[kind],
        "verdict": [{"text": each.text, "mark": each.mark} for each in (*findings_and_costs(found), *remarks(found))],
        "sums": summary(found),
        "notes": [*found.assumed, *([found.why_model] if found.why_model else [])],
        "memories": [asdict(each) for each in memories_of(found)],
        "totals": asdict(totals(found)),
        "lines": {
            line: {memory: asdict(cost) for memory, cost in each.items()}
            for (name, line), each in costs.items()
            if name == file
        },
        "accesses": [_access(found, each) for each in _accesses(found)],
        "findings": [_finding(found, each) for each in found.findings],
        "stopped": found.stop is not None,
        "seconds": found.seconds,
        "path": draw_path(found).svg(),
        "timeline": draw_timeline(found).svg() if found.profile.barriers else "",
    }


def pictures(found: Explanation, line: int) -> list[str]:
    """The worst request of each access of a line, as SVG. Images have none."""
    chosen = [each for each in _accesses(found) if each.position.line == line and not each.is_image]
    return [draw_access(each, found.model, found.source.line(each.position)).svg() for each in chosen]


def error_of(reason: TilewrightError, path: Path) -> dict[str, Any]:
    """An error as a sentence, with the line and column of the kernel's file that it names; 0 if it names none."""
    text = str(reason)
    if isinstance(reason, SourceError):
        own = Path(reason.file).name in (path.name, path.stem)
        return {"text": reason.reason if own else text, "line": reason.line if own else 0, "column": reason.column}
    place = _PLACE.match(text.removeprefix(str(path)))
    if not text.startswith(str(path)) or place is None:
        return {"text": text, "line": 0, "column": 0}
    return {"text": text[len(str(path)) + place.end() :], "line": int(place[1]), "column": int(place[2] or 0)}


def _accesses(found: Explanation) -> list[LineAccess]:
    """The accesses of the kernel's own file."""
    file = found.entry_position.file
    return [each for each in (*found.accesses, *found.private_accesses) if each.position.file == file]


def _access(found: Explanation, access: LineAccess) -> dict[str, Any]:
    return {
        "line": access.position.line,
        "column": access.position.column,
        "text": " ".join(access_line(access, found.model).split()),
        "costly": is_costly(access),
        "requests": access.requests,
        "cost": access.cost,
        "least": access.ideal,
        "conflicts": access.conflicts,
        "unit": found.model.local_passes if access.is_local else access.unit,
    }


def _finding(found: Explanation, finding: Finding) -> dict[str, Any]:
    """A finding. One in another file, which the kernel includes, has no line here: its text names the place."""
    own = finding.position.file == found.entry_position.file
    text = finding_line(finding) if own else str(finding)
    other = finding.other.line if finding.other is not None and own else 0
    return {
        "line": finding.position.line if own else 0, "column": finding.position.column, "other": other,
        "kind": finding.kind, "fault": finding.is_fault, "text": text,
    }  # fmt: skip
