"""Prints the kernel's source with each line's memory traffic below it."""

from dataclasses import replace
from itertools import groupby

from ...core.language import Sentence, shown, translated, translated_count
from ...core.wide_text import padded, width_of
from ..marked_lines import Mark, MarkedLine, marked
from .explanation import Explanation
from .fault_groups import fault_sentences
from .footprint import footprint_lines
from .loop_costs import loop_lines
from .models import Model
from .numbers import number
from .profile import ADDRESSES, LineAccess
from .simt import Finding
from .terms import term
from .totals import Totals, totals
from .verdict import findings_and_costs, is_costly, remarks, stop_sentences

NEAR = 1  # lines of the source that are shown before and after one with traffic or findings
RACES_SHOWN = 2  # below a line; the verdict has a sentence for them together
FOLDED = 4  # lines without either that are folded into one
_CONSTANT = Sentence("const")


def access_line(access: LineAccess, model: Model) -> str:
    """One access in one line: its requests, what each costs, and the least it could cost."""
    head = f"{_place(access)} {access.buffer:12} {access.requests:>7,} {translated('req')}"
    if access.is_image:
        texels = number(access.useful_bytes / max(access.requests, 1))
        return f"{head}  {texels:>5} {translated('bytes of texels')}"
    ideal = number(access.ideal_per_request)
    if access.unit == ADDRESSES:
        cost = _counted(access, translated("address"), translated("addresses"))
        return f"{head}  {cost} {translated('(least {count})', count=ideal)}  {_alike(access)}"
    if access.is_atomic:
        pieces = (model.local_pass, model.local_passes) if access.is_local else (model.piece, model.pieces)
        turns = number(access.turns / access.requests) if access.requests else "0"
        said = translated_count("{count} turn", "{count} turns", turns, count=turns)
        return f"{head}  {_counted(access, *map(shown, pieces))} {_ideal(ideal)}  {said}"
    if access.is_local:
        degree = translated("no conflict")
        if access.degree > 1:
            degree = translated("{count}-way conflict", count=number(access.degree))
        if model.local_is_global:
            degree = translated("in global memory")
        cost = _counted(access, shown(model.local_pass), shown(model.local_passes))
        return f"{head}  {cost} {translated('(least {count})', count=ideal)}  {degree}"
    where = translated("off-chip, ") if access.is_private else ""
    cost = _counted(access, shown(model.piece), shown(model.pieces))
    return f"{head}  {cost} {_ideal(ideal)}  {where}{_used(access, model)}"


def _place(access: LineAccess) -> str:
    """The columns of the operation and of the memory, as wide in every line."""
    load, store, own = (shown(term(each)) for each in ("load", "store", access.operation))
    spaces = [shown(term(each)) for each in ("global", "local")]
    space = _CONSTANT if access.space == "constant" else term(access.space)
    return f"{padded(own, max(map(width_of, (load, store))))} {padded(shown(space), max(map(width_of, spaces)))}"


def _ideal(count: str) -> str:
    return translated("(ideal {count})", count=count)


def _alike(access: LineAccess) -> str:
    return translated("one address") if access.cost <= access.ideal else translated("one after the other")


def _used(access: LineAccess, model: Model) -> str:
    """How much of what moved was asked for; the lines, where they are what takes the time: a cache looks up one a pass."""
    if access.cost <= access.ideal and access.efficiency < 0.995:
        return translated("least possible")
    lines = number(access.lines / access.requests) if access.requests else "0"
    limits = access.lines > max(access.requests, access.cost * access.sector / model.line) and not model.is_cpu
    used = f"{100 * access.efficiency:.3g}"
    return (
        translated("{used}% used, {lines} lines", used=used, lines=lines)
        if limits
        else translated("{used}% used", used=used)
    )


def _counted(access: LineAccess, one: str, several: str) -> str:
    count = number(access.per_request)
    return f"{count:>5} {padded(one if count == '1' else several, width_of(several))}"


def finding_line(finding: Finding) -> str:
    values = {"kind": finding.kind, "text": finding.text, "example": finding.example, "count": finding.count}
    if finding.example and finding.count > 1:
        return translated("{kind}: {text} ({example}, {count:,} times)", **values)
    return (
        translated("{kind}: {text} ({example})", **values)
        if finding.example
        else translated("{kind}: {text}", **values)
    )


def annotated_source(explanation: Explanation) -> list[str]:
    """The kernel's file line by line. Below a line, `>` marks its traffic, `!` a fault and `~` a note."""
    return [each.text for each in marked_source(explanation, whole=True)]


def marked_source(explanation: Explanation, whole: bool) -> list[MarkedLine]:
    """The kernel's file with what was counted below each line. Unless it is `whole`, stretches without traffic or findings
    are folded into one line each."""
    file = explanation.entry_position.file
    below: dict[int, list[MarkedLine]] = {}
    for access in (*explanation.accesses, *explanation.private_accesses):
        if access.position.file == file:
            below.setdefault(access.position.line, []).append(marked_access(access, explanation.model))
    for finding in explanation.findings:
        if finding.position.file == file:
            races = [
                each for each in explanation.findings if each.is_race and each.position.line == finding.position.line
            ]
            if finding in races[RACES_SHOWN:]:
                continue
            mark, sign = (Mark.FAULT, "!") if finding.is_fault else (Mark.NOTE, "~")
            line = MarkedLine(f"     {sign} {finding_line(finding)}", mark)
            below.setdefault(finding.position.line, []).append(line)
    texts = explanation.source.file(file)
    last = max((line for line, text in texts.items() if text.strip()), default=0)
    shown = [line for line in texts if line <= last]
    near = {line + away for line in (*below, explanation.entry_position.line) for away in range(-NEAR, NEAR + 1)}
    out: list[MarkedLine] = []
    for folded, run in groupby(shown, key=lambda line: not whole and line not in near):
        lines = list(run)
        if folded and len(lines) >= FOLDED:
            text = translated("... lines {first} to {last} move no data", first=lines[0], last=lines[-1])
            out.append(MarkedLine(f"       {text}", Mark.NOTE))
            continue
        for place in lines:
            out.append(MarkedLine(f"{place:4}   {texts[place]}".rstrip(), Mark.CODE))
            out += below.get(place, [])
    return out + elsewhere(explanation, file)


def marked_access(access: LineAccess, model: Model, place: str = "") -> MarkedLine:
    """The line of one access. It is a cost if the access needs more than the least."""
    return MarkedLine(f"     > {place}{access_line(access, model)}", Mark.COST if is_costly(access) else Mark.PLAIN)


def elsewhere(explanation: Explanation, file: str) -> list[MarkedLine]:
    """Traffic and findings in other files, which macros and includes bring in."""
    lines = [
        marked_access(each, explanation.model, f"{each.position}: ")
        for each in (*explanation.accesses, *explanation.private_accesses)
        if each.position.file != file
    ]
    others = (each for each in explanation.findings if each.position.file != file)
    return lines + [MarkedLine(f"     ! {each}", Mark.FAULT if each.is_fault else Mark.NOTE) for each in others]


def heading(explanation: Explanation) -> str:
    return translated(
        "{kernel}: {entry}, {all} by {group} work-items, {model}",
        kernel=explanation.name, entry=explanation.entry, all="x".join(map(str, explanation.global_size)),
        group="x".join(map(str, explanation.local_size)), model=explanation.model.title,
    )  # fmt: skip


def whole_launch(group_count: int) -> str:
    """The work-groups that the sums cover."""
    if group_count == 1:
        return translated("the only work-group")
    return translated("all {count:,} work-groups together", count=group_count)


def summary(explanation: Explanation) -> list[str]:
    """The sums of the whole NDRange."""
    found = totals(explanation)
    about = "" if found.exact else translated("about ")
    lines = [
        translated("in {whole}:", whole=whole_launch(explanation.group_count)),
        translated(
            "global memory: {about}{loaded:,} {pieces} loaded in {loads:,} requests, {stored:,} stored in {stores:,}",
            about=about, pieces=explanation.model.pieces, loaded=found.global_load_sectors, loads=found.global_load_requests,
            stored=found.global_store_sectors, stores=found.global_store_requests,
        ),
    ]  # fmt: skip
    if found.new_lines:
        lines.append(
            translated(
                "another cache line than the {sub_group} touched before at the same place: {about}{count:,} times",
                sub_group=explanation.model.sub_group, about=about, count=found.new_lines,
            )
        )  # fmt: skip
    if found.wavefronts:
        lines.append(_local_sums(found, explanation.model, about))
    images = [each for each in explanation.accesses if each.is_image]
    if images:
        scale = explanation.group_count / len(explanation.groups)
        amounts = [
            round(scale * sum(each)) for each in zip(*((a.useful_bytes, a.requests) for a in images), strict=True)
        ]
        lines.append(
            translated(
                "images: {about}{bytes:,} bytes of texels in {requests:,} requests",
                about=about, bytes=amounts[0], requests=amounts[1],
            )
        )  # fmt: skip
    lines += _special_sums(found, explanation.model, about)
    return lines + footprint_lines(explanation) + loop_lines(explanation)


def _local_sums(found: Totals, model: Model, about: str) -> str:
    """The sums of local memory."""
    values = {
        "about": about, "passes": model.local_passes, "loads": found.local_load_wavefronts,
        "stores": found.local_store_wavefronts, "lost": found.conflicts,
    }  # fmt: skip
    if model.local_is_global:
        return translated(
            "local memory: {about}{loads:,} {passes} of loads, {stores:,} of stores, {lost:,} of them more than needed",
            **values,
        )
    return translated(
        "local memory: {about}{loads:,} {passes} of loads, {stores:,} of stores, {lost:,} of them lost to bank conflicts",
        **values,
    )


def _special_sums(found: Totals, model: Model, about: str) -> list[str]:
    """The sums of constant memory, off-chip private arrays and atomic functions, where there are any."""
    lines = []
    if found.constant_requests:
        lines.append(
            translated(
                "constant memory: {about}{cost:,} {pieces} in {requests:,} requests",
                about=about, cost=found.constant_cost, pieces=model.constant_pieces, requests=found.constant_requests,
            )
        )  # fmt: skip
    if found.private_requests:
        lines.append(
            translated(
                "private arrays, off-chip: {about}{cost:,} {pieces} in {requests:,} requests",
                about=about, cost=found.private_sectors, pieces=model.pieces, requests=found.private_requests,
            )
        )  # fmt: skip
    if found.atomic_requests:
        lines.append(
            translated(
                "atomic functions: {about}{updates:,} updates in {requests:,} requests, which take {turns:,} turns",
                about=about, updates=found.atomic_updates, requests=found.atomic_requests, turns=found.atomic_turns,
            )
        )  # fmt: skip
    return lines


def legend(explanation: Explanation) -> list[str]:
    """How to read the lines below the source lines."""
    model, accesses = explanation.model, explanation.accesses
    lines = [_requests(explanation)]
    if any(each.is_image for each in accesses):
        lines.append(
            translated(
                "Images: the different bytes of texels that each request asked for; how they lie in memory is not public, so "
                "sectors are not counted. A filter's further texels are not counted either."
            )
        )
    if any(each.space == "global" for each in accesses):
        lines.append(
            translated(
                "Global memory: {pieces} = {bytes}-byte pieces that each request moved (ideal in brackets); used = the part of "
                "their bytes that was asked for.",
                pieces=model.pieces, bytes=model.sector,
            )
        )  # fmt: skip
    if any(each.is_local for each in accesses):
        lines.append(shown(model.local_rule))
    return [*lines, *_special_legend(explanation)]


def _requests(explanation: Explanation) -> str:
    """Whose requests are counted."""
    model, run, count = explanation.model, len(explanation.groups), explanation.group_count
    if count == 1:
        whose = translated("its only work-group")
    elif run < count:
        whose = translated("{run} of its {all:,} work-groups", run=run, all=count)
    else:
        whose = translated("all its work-groups")
    if model.lanes == 1:
        return translated(
            "> shows the memory traffic of the line above, in {whose}: req = memory instructions issued, one per {sub_group}.",
            whose=whose, sub_group=model.sub_group,
        )  # fmt: skip
    return translated(
        "> shows the memory traffic of the line above, in {whose}: req = memory instructions issued, one per {sub_group} "
        "({lanes} work-items).",
        whose=whose, sub_group=model.sub_group, lanes=model.lanes,
    )  # fmt: skip


def _special_legend(explanation: Explanation) -> list[str]:
    """How to read the lines of constant memory, off-chip private arrays and atomic functions."""
    model, lines = explanation.model, []
    spaces = {each.space for each in (*explanation.accesses, *explanation.private_accesses)}
    if "constant" in spaces:
        lines.append(translated("Constant memory: {rule}.", rule=model.constants))
    if "private" in spaces:
        lines.append(
            translated(
                "Private arrays, off-chip: {pieces} of memory in which the 4-byte words of a {sub_group}'s lanes stand side by "
                "side, so equal subscripts share them.",
                pieces=model.pieces, sub_group=model.sub_group,
            )
        )  # fmt: skip
    if any(each.is_atomic for each in explanation.accesses):
        lines.append(
            translated(
                "Atomic functions: turns = the most work-items of a {sub_group} that update one place in a request.",
                sub_group=model.sub_group,
            )
        )
    return lines


def report(explanation: Explanation, whole_source: bool = False) -> list[MarkedLine]:
    """The whole report: heading, verdict, sums, other launches, notes, then the source with its legend."""
    return [
        MarkedLine(heading(explanation), Mark.HEADING),
        *marked(explanation.assumed, Mark.NOTE),
        *marked([shown(explanation.why_model)] if explanation.why_model else [], Mark.NOTE),
        *(replace(each, text=f"- {each.text}") for each in findings_and_costs(explanation)),
        MarkedLine(""),
        *marked(summary(explanation)),
        *(line for each in explanation.earlier for line in launch_before(each, explanation)),
        MarkedLine(""),
        *marked(legend(explanation), Mark.NOTE),
        MarkedLine(""),
        *marked_source(explanation, whole_source),
        MarkedLine(""),
        *(replace(each, text=f"- {each.text}") for each in remarks(explanation)),
    ]


def launch_before(helper: Explanation, main: Explanation) -> list[MarkedLine]:
    """A launch before the kernel itself: one line, and its faults."""
    found = totals(helper)
    text = translated(
        "launched before {main}: {kernel}, {all} by {group} work-items: {loaded:,} {pieces} loaded, {stored:,} stored, {faults} "
        "faults",
        main=main.entry, kernel=helper.name, all="x".join(map(str, helper.global_size)),
        group="x".join(map(str, helper.local_size)), loaded=found.global_load_sectors, pieces=helper.model.pieces,
        stored=found.global_store_sectors, faults=len(helper.faults),
    )  # fmt: skip
    texts = [f"- {helper.name}: {each}" for each in fault_sentences(helper.faults, helper.model)]
    texts += [f"- {helper.name}: {each}" for each in stop_sentences(helper)]
    return [MarkedLine(text), *marked(texts, Mark.FAULT)]
