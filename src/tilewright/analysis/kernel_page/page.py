"""Writes the page: one file that needs nothing else. What the sliders show was counted before."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from ...core.files import write_atomically
from ...core.html_page import whole_page
from ...core.language import in_english
from ..explain.annotate import access_line, finding_line, heading, summary
from ..explain.drawing.flow import draw_path, draw_timeline
from ..explain.drawing.requests import draw_access
from ..explain.drawing.source import GRADES, grade
from ..explain.explanation import Explanation
from ..explain.verdict import verdict
from ..inspect import Inspection
from ..inspect.machine_code import Instruction
from .lines import Cost, Memory, Place, costs_of, files_of, memories_of, positions_of
from .machine_lines import instructions_of
from .variations import Variation

FOLDER = Path(__file__).parent
MOST_INSTRUCTIONS = 400  # of one line; unrolled loops have more


@dataclass(frozen=True)
class Page:
    """What the page is made of. `own` are the varied settings as the kernel itself has them. `inspection` and `variations` may
    be missing; `notes` say why."""

    explanation: Explanation
    variations: Sequence[Variation] = ()
    own: Mapping[str, str] = field(default_factory=dict)
    inspection: Inspection | None = None
    notes: Sequence[str] = ()

    @property
    def files(self) -> list[str]:
        return files_of(self.explanation)

    @property
    def memories(self) -> list[Memory]:
        return memories_of(self.explanation)

    @property
    def costs(self) -> Mapping[Place, Mapping[str, Cost]]:
        found = self.explanation
        return costs_of((*found.accesses, *found.private_accesses), found.group_count / len(found.groups))

    def key(self, place: Place) -> str:
        """The name of a line in the page."""
        return f"{self.files.index(place[0])}-{place[1]}"


def save_page(page: Page, path: Path) -> None:
    """Write the page, whole or not at all."""
    write_atomically(path, html(page).encode())


@in_english()
def html(page: Page) -> str:
    """The whole page."""
    style, script = ((FOLDER / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return whole_page(heading(page.explanation), style, "\n".join(sections(page)), script, data_of(page))


def data_of(page: Page) -> dict[str, Any]:
    """What the script needs: memories, variations with the costs of their lines, and the line that is shown first. The first
    variation is the kernel as it is."""
    costs = page.costs
    whole = Variation({}, costs, len(page.explanation.faults), "")
    values: dict[str, list[str]] = {}
    for each in page.variations:
        for name, value in each.settings.items():
            values.setdefault(name, [])
            values[name] += [value] if value not in values[name] else []
    first = max(costs, key=lambda place: sum(cost.cost for cost in costs[place].values()), default=None)
    return {
        "memories": [{"key": each.key, "unit": each.unit} for each in page.memories],
        "values": values,
        "variations": [_variation(page, each) for each in (whole, *page.variations)],
        "first": page.key(first) if first else "",
    }


def _variation(page: Page, variation: Variation) -> dict[str, Any]:
    files = page.files
    lines = {
        page.key(place): {name: (cost.requests, cost.cost, cost.least) for name, cost in line.items()}
        for place, line in variation.costs.items()
        if place[0] in files
    }
    return {
        "settings": dict(variation.settings), "lines": lines, "faults": variation.faults, "reason": variation.reason,
    }  # fmt: skip


def sections(page: Page) -> Iterator[str]:
    """The page from top to bottom."""
    found = page.explanation
    yield f"<h1>{escape(heading(found))}</h1>"
    kind = grade(found)
    sentences = "".join(f"<li>{escape(line)}</li>" for line in verdict(found))
    yield f'<div class="verdict {kind}"><strong>{escape(GRADES[kind])}</strong><ul>{sentences}</ul></div>'
    yield "".join(f'<p class="soft">{escape(line)}</p>' for line in (*summary(found), *page.notes))
    yield from sliders(page)
    yield sums(page)
    machine = instructions_of(page.inspection, page.files) if page.inspection else {}
    tables = "".join(source_table(page, file, machine) for file in page.files)
    yield (
        "<h2>Source</h2><p class=soft>Colours: the stronger, the more of all the cost; green: no more than it must, "
        "yellow: less than twice, red: twice and more. Point at a line to see its worst request; click to keep it.</p>"
        "<noscript>The counts of lines need JavaScript.</noscript>"
        f'<div class="columns"><div class="lines">{tables}</div><aside class="panel" id="panel"></aside></div>'
    )
    yield f"<h2>From global memory to registers</h2><figure>{draw_path(found).svg()}</figure>"
    if found.profile.barriers:
        yield f"<h2>Between the barriers</h2><figure>{draw_timeline(found).svg()}</figure>"
    yield from templates(page, machine)


def sliders(page: Page) -> Iterator[str]:
    """A slider for each setting that was varied; it begins at the kernel's own value."""
    values = data_of(page)["values"]
    if not values:
        return
    inputs = "".join(
        f"<label><span>{escape(name)}: <output></output></span><input type=range name='{escape(name, quote=True)}' min=0 "
        f"max={len(each) - 1} step=1 value={each.index(page.own[name]) if page.own.get(name) in each else 0}></label>"
        for name, each in values.items()
    )
    yield f'<h2>What if</h2><div class="sliders">{inputs}</div><p id="said" class="note"></p>'


def sums(page: Page) -> str:
    """The table of sums of each memory, which the script fills."""
    rows = "".join(f'<tr id="sum-{each.key}" data-title="{escape(each.title)}"></tr>' for each in page.memories)
    said = "" if page.variations else '<p id="said"></p>'
    return (
        f"<table class=sums><thead><tr><th>memory</th><th>requests</th><th>cost</th><th>least</th><th></th></tr></thead>"
        f"<tbody>{rows}</tbody></table>{said}"
    )


def source_table(page: Page, file: str, machine: Mapping[Place, Sequence[Instruction]]) -> str:
    """One file: its lines, a cell for each memory, and how many machine instructions come from each line."""
    told = {place for place, _ in told_places(page, machine)}
    faulty = {(each.position.file, each.position.line) for each in page.explanation.faults}
    heads = "".join(f"<th>{escape(each.title)} {escape(each.unit)}</th>" for each in page.memories)
    code = f"<th>{escape(page.inspection.form)}</th>" if page.inspection and machine else ""
    rows = []
    texts = page.explanation.source.file(file)
    last = max((line for line, text in texts.items() if text.strip()), default=0)
    for line, text in texts.items():
        place = (file, line)
        if line > last or (file != page.files[0] and place not in told):
            continue
        kind = " ".join(["told"] * (place in told) + ["faulty"] * (place in faulty))
        cells = "<td class=cost></td>" * len(page.memories)
        count = f"<td>{len(machine.get(place, ())) or ''}</td>" if code else ""
        rows.append(
            f'<tr data-line="{page.key(place)}" class="{kind}"{" tabindex=0" if place in told else ""}>'
            f"{cells}{count}<td class=number>{line}</td><td class=code>{escape(text)}</td></tr>"
        )
    name = f"<caption>{escape(file)}</caption>" if file != page.files[0] else ""
    head = f"<thead><tr>{heads}{code}<th></th><th class=code></th></tr></thead>"
    return f"<table>{name}{head}<tbody>{''.join(rows)}</tbody></table>"


def told_places(
    page: Page, machine: Mapping[Place, Sequence[Instruction]]
) -> list[tuple[Place, Sequence[Instruction]]]:
    """The lines with something to say: accesses, findings or machine code."""
    marked = [(each.file, each.line) for each in positions_of(page.explanation)]
    return [(place, machine.get(place, ())) for place in dict.fromkeys((*marked, *machine))]


def templates(page: Page, machine: Mapping[Place, Sequence[Instruction]]) -> Iterator[str]:
    """What the panel shows for each line."""
    for place, code in told_places(page, machine):
        parts = "".join(told(page, place, code))
        yield f'<template id="line-{page.key(place)}"><h2>line {place[1]}</h2>{parts}</template>'


def told(page: Page, place: Place, code: Sequence[Instruction]) -> Iterator[str]:
    """One line: its findings, its accesses with their worst requests, and its machine code."""
    found = page.explanation
    for finding in found.findings:
        if (finding.position.file, finding.position.line) == place:
            kind = "fault" if finding.is_fault else "note"
            yield f"<p class={kind}>{escape(finding_line(finding))}</p>"
    for access in (*found.accesses, *found.private_accesses):
        if (access.position.file, access.position.line) == place:
            yield f"<h3>{escape(' '.join(access_line(access, found.model).split()))}</h3>"
            if not access.is_image and not access.is_private:  # how those lie in memory is not drawn
                text = found.source.line(access.position)
                yield f"<figure>{draw_access(access, found.model, text).svg()}</figure>"
    if code and page.inspection:
        shown = "\n".join(each.text for each in code[:MOST_INSTRUCTIONS])
        more = f"\n... and {len(code) - MOST_INSTRUCTIONS:,} more" if len(code) > MOST_INSTRUCTIONS else ""
        title = f"{len(code):,} instructions of {page.inspection.form} for {page.inspection.arch}"
        yield f"<h3>{escape(title)}</h3><pre>{escape(shown + more)}</pre>"
