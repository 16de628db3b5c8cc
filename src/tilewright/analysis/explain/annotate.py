"""Prints the kernel's source with each line's memory traffic below it."""

from dataclasses import replace
from itertools import groupby

from ..marked_lines import Mark, MarkedLine, marked
from .explanation import Explanation
from .fault_groups import fault_sentences
from .footprint import footprint_lines
from .loop_costs import loop_lines
from .models import Model
from .numbers import number
from .profile import ADDRESSES, LineAccess
from .simt import Finding
from .totals import Totals, totals
from .verdict import findings_and_costs, is_costly, remarks, stop_sentences

NEAR = 1  # lines of the source that are shown before and after one with traffic or findings
RACES_SHOWN = 2  # below a line; the verdict has a sentence for them together
FOLDED = 4  # lines without either that are folded into one
_OPERATIONS = {"load": "load ", "store": "store", "atomic": "atomic"}


def access_line(access: LineAccess, model: Model) -> str:
    """One access in one line: its requests, what each costs, and the least it could cost."""
    space = "const" if access.space == "constant" else access.space
    head = f"{_OPERATIONS[access.operation]} {space:6} {access.buffer:12} {access.requests:>7,} req"
    if access.is_image:
        return f"{head}  {number(access.useful_bytes / max(access.requests, 1)):>5} bytes of texels"
    ideal = number(access.ideal_per_request)
    if access.unit == ADDRESSES:
        return f"{head}  {_counted(access, 'address', 'addresses')} (least {ideal})  {_alike(access)}"
    if access.is_atomic:
        pieces = (model.local_pass, model.local_passes) if access.is_local else (model.piece, model.pieces)
        turns = number(access.turns / access.requests) if access.requests else "0"
        return f"{head}  {_counted(access, *pieces)} (ideal {ideal})  {turns} {'turn' if turns == '1' else 'turns'}"
    if access.is_local:
        degree = "no conflict" if access.degree <= 1 else f"{number(access.degree)}-way conflict"
        return f"{head}  {_counted(access, model.local_pass, model.local_passes)} (least {ideal})  {degree}"
    where = "off-chip, " if access.is_private else ""
    return f"{head}  {_counted(access, model.piece, model.pieces)} (ideal {ideal})  {where}{_used(access, model)}"


def _alike(access: LineAccess) -> str:
    return "one address" if access.cost <= access.ideal else "one after the other"


def _used(access: LineAccess, model: Model) -> str:
    """How much of what moved was asked for; the lines, where they are what takes the time: a cache looks up one a pass."""
    if access.cost <= access.ideal and access.efficiency < 0.995:
        return "least possible"
    lines = number(access.lines / access.requests) if access.requests else "0"
    limits = access.lines > max(access.requests, access.cost * access.sector / model.line) and not model.is_cpu
    return f"{100 * access.efficiency:.3g}% used" + (f", {lines} lines" if limits else "")


def _counted(access: LineAccess, one: str, several: str) -> str:
    count = number(access.per_request)
    return f"{count:>5} {(one if count == '1' else several).ljust(len(several))}"


def finding_line(finding: Finding) -> str:
    times = f", {finding.count:,} times" if finding.count > 1 else ""
    example = f" ({finding.example}{times})" if finding.example else ""
    return f"{finding.kind}: {finding.text}{example}"


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
            out.append(MarkedLine(f"       ... lines {lines[0]} to {lines[-1]} move no data", Mark.NOTE))
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
    sizes = "x".join(map(str, explanation.global_size)) + " by " + "x".join(map(str, explanation.local_size))
    return f"{explanation.name}: {explanation.entry}, {sizes} work-items, {explanation.model.title}"


def whole_launch(group_count: int) -> str:
    """The work-groups that the sums cover."""
    return "the only work-group" if group_count == 1 else f"all {group_count:,} work-groups together"


def summary(explanation: Explanation) -> list[str]:
    """The sums of the whole NDRange."""
    found = totals(explanation)
    about = "" if found.exact else "about "
    pieces = explanation.model.pieces
    lines = [
        f"in {whole_launch(explanation.group_count)}:",
        f"global memory: {about}{found.global_load_sectors:,} {pieces} loaded in {found.global_load_requests:,} requests, "
        f"{found.global_store_sectors:,} stored in {found.global_store_requests:,}",
    ]
    if found.wavefronts:
        passes = explanation.model.local_passes
        lines.append(
            f"local memory: {about}{found.local_load_wavefronts:,} {passes} of loads, {found.local_store_wavefronts:,} of "
            f"stores, {found.conflicts:,} of them lost to bank conflicts"
        )
    images = [each for each in explanation.accesses if each.is_image]
    if images:
        scale = explanation.group_count / len(explanation.groups)
        amounts = [
            round(scale * sum(each)) for each in zip(*((a.useful_bytes, a.requests) for a in images), strict=True)
        ]
        lines.append(f"images: {about}{amounts[0]:,} bytes of texels in {amounts[1]:,} requests")
    lines += _special_sums(found, explanation.model, about)
    return lines + footprint_lines(explanation) + loop_lines(explanation)


def _special_sums(found: Totals, model: Model, about: str) -> list[str]:
    """The sums of constant memory, off-chip private arrays and atomic functions, where there are any."""
    lines = []
    if found.constant_requests:
        lines.append(
            f"constant memory: {about}{found.constant_cost:,} {model.constant_pieces} in {found.constant_requests:,} requests"
        )
    if found.private_requests:
        lines.append(
            f"private arrays, off-chip: {about}{found.private_sectors:,} {model.pieces} in {found.private_requests:,} requests"
        )
    if found.atomic_requests:
        lines.append(
            f"atomic functions: {about}{found.atomic_updates:,} updates in {found.atomic_requests:,} requests, which take "
            f"{found.atomic_turns:,} turns"
        )
    return lines


def legend(explanation: Explanation) -> list[str]:
    """How to read the lines below the source lines."""
    model = explanation.model
    run, all_groups = len(explanation.groups), explanation.group_count
    whose = f"{run} of its {all_groups:,} work-groups" if run < all_groups else "all its work-groups"
    whose = "its only work-group" if all_groups == 1 else whose
    lines = [
        f"> shows the memory traffic of the line above, in {whose}: req = memory instructions issued, one per "
        f"{model.sub_group}{f' ({model.lanes} work-items)' if model.lanes > 1 else ''}."
    ]
    if any(each.is_image for each in explanation.accesses):
        lines.append(
            "Images: the different bytes of texels that each request asked for; how they lie in memory is not public, so sectors "
            "are not counted. A filter's further texels are not counted either."
        )
    if any(each.space == "global" for each in explanation.accesses):
        lines.append(
            f"Global memory: {model.pieces} = {model.sector}-byte pieces that each request moved (ideal in brackets); used = the "
            "part of their bytes that was asked for."
        )
    if any(each.is_local for each in explanation.accesses):
        lines.append(
            f"Local memory: {model.local_passes} that each request took (least in brackets); a {model.local_pass} takes one "
            f"4-byte word from each of {model.banks} banks, so different words of one bank need several."
        )
    spaces = {each.space for each in (*explanation.accesses, *explanation.private_accesses)}
    if "constant" in spaces:
        lines.append(f"Constant memory: {model.constants}.")
    if "private" in spaces:
        lines.append(
            f"Private arrays, off-chip: {model.pieces} of memory in which the 4-byte words of a {model.sub_group}'s lanes stand "
            "side by side, so equal subscripts share them."
        )
    if any(each.is_atomic for each in explanation.accesses):
        lines.append(
            f"Atomic functions: turns = the most work-items of a {model.sub_group} that update one place in a request."
        )
    return lines


def report(explanation: Explanation, whole_source: bool = False) -> list[MarkedLine]:
    """The whole report: heading, verdict, sums, other launches, notes, then the source with its legend."""
    return [
        MarkedLine(heading(explanation), Mark.HEADING),
        *marked(explanation.assumed, Mark.NOTE),
        *marked([explanation.why_model] if explanation.why_model else [], Mark.NOTE),
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
    sizes = " by ".join("x".join(map(str, each)) for each in (helper.global_size, helper.local_size))
    text = (
        f"launched before {main.entry}: {helper.name}, {sizes} work-items: {found.global_load_sectors:,} "
        f"{helper.model.pieces} loaded, {found.global_store_sectors:,} stored, {len(helper.faults)} faults"
    )
    texts = [f"- {helper.name}: {each}" for each in fault_sentences(helper.faults, helper.model)]
    texts += [f"- {helper.name}: {each}" for each in stop_sentences(helper)]
    return [MarkedLine(text), *marked(texts, Mark.FAULT)]
