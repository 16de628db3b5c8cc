"""Prints the kernel's source with each line's memory traffic below it."""

from .explanation import Explanation
from .models import Model
from .profile import LineAccess
from .simt import Finding
from .totals import totals
from .verdict import number, verdict

_OPERATIONS = {"load": "load ", "store": "store", "atomic": "atomic"}


def access_line(access: LineAccess, model: Model) -> str:
    """One access in one line: its requests, what each costs, and the least it could cost."""
    head = f"{_OPERATIONS[access.operation]} {access.space:6} {access.buffer:12} {access.requests:>7,} req"
    ideal = number(access.ideal_per_request)
    if access.is_local:
        degree = "no conflict" if access.degree <= 1 else f"{number(access.degree)}-way conflict"
        return f"{head}  {_counted(access, model.local_pass, model.local_passes)} (least {ideal})  {degree}"
    return f"{head}  {_counted(access, 'sector', 'sectors')} (ideal {ideal})  {100 * access.efficiency:.3g}% used"


def _counted(access: LineAccess, one: str, several: str) -> str:
    count = number(access.per_request)
    return f"{count:>5} {(one if count == '1' else several).ljust(len(several))}"


def finding_line(finding: Finding) -> str:
    times = f", {finding.count:,} times" if finding.count > 1 else ""
    example = f" ({finding.example}{times})" if finding.example else ""
    return f"{finding.kind}: {finding.text}{example}"


def annotated_source(explanation: Explanation) -> list[str]:
    """The kernel's file line by line. Below a line, `>` marks its traffic, `!` a fault and `~` a note."""
    file = explanation.entry_position.file
    below: dict[int, list[str]] = {}
    for access in explanation.accesses:
        if access.position.file == file:
            below.setdefault(access.position.line, []).append(f"     > {access_line(access, explanation.model)}")
    for finding in explanation.findings:
        if finding.position.file == file:
            mark = "!" if finding.is_fault else "~"
            below.setdefault(finding.position.line, []).append(f"     {mark} {finding_line(finding)}")
    out: list[str] = []
    texts = explanation.source.file(file)
    last = max((line for line, text in texts.items() if text.strip()), default=0)
    for line, text in texts.items():
        if line > last:
            break
        out.append(f"{line:4}   {text}".rstrip())
        out += below.get(line, [])
    return out + elsewhere(explanation, file)


def elsewhere(explanation: Explanation, file: str) -> list[str]:
    """Traffic and findings in other files, which macros and includes bring in."""
    lines = [
        f"     > {each.position}: {access_line(each, explanation.model)}"
        for each in explanation.accesses
        if each.position.file != file
    ]
    lines += [f"     ! {each}" for each in explanation.findings if each.position.file != file]
    return lines


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
    lines = [
        f"in {whole_launch(explanation.group_count)}:",
        f"global memory: {about}{found.global_load_sectors:,} sectors loaded in {found.global_load_requests:,} requests, "
        f"{found.global_store_sectors:,} stored in {found.global_store_requests:,}",
    ]
    if found.wavefronts:
        passes = explanation.model.local_passes
        lines.append(
            f"local memory: {about}{found.local_load_wavefronts:,} {passes} of loads, {found.local_store_wavefronts:,} of "
            f"stores, {found.conflicts:,} of them lost to bank conflicts"
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
        f"{model.sub_group} ({model.lanes} work-items)."
    ]
    if any(not each.is_local for each in explanation.accesses):
        lines.append(
            f"Global memory: sectors = {model.sector}-byte pieces that each request moved (ideal in brackets); used = the part "
            "of their bytes that was asked for."
        )
    if any(each.is_local for each in explanation.accesses):
        lines.append(
            f"Local memory: {model.local_passes} that each request took (least in brackets); a {model.local_pass} takes one "
            f"4-byte word from each of {model.banks} banks, so different words of one bank need several."
        )
    return lines


def report(explanation: Explanation) -> list[str]:
    """The whole report: heading, legend, annotated source, verdict, sums."""
    sentences = [f"- {line}" for line in verdict(explanation)]
    source = annotated_source(explanation)
    return [heading(explanation), *legend(explanation), "", *source, "", *sentences, "", *summary(explanation)]
