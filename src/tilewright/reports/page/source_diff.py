"""The source of a rung beside that of the rung before: what is new, what is gone, and what each line costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from html import escape
from itertools import dropwhile

from ...analysis.explain import Explanation
from ...analysis.kernel_page.lines import Cost, Memory, costs_of, memories_of
from ...core.kernel import Kernel
from ...core.language import shown
from .words import say

NEAR = 2  # unchanged lines that are shown before and behind a changed one
POOR = 2.0  # from this multiple of the least cost on a line is red

LineCosts = Mapping[int, Mapping[str, Cost]]  # by line and by the key of a memory


@dataclass(frozen=True)
class DiffLine:
    """One line. `kind` is "same", "new", "gone", or "cut" for lines that are left out. A line that is gone has no number."""

    kind: str
    number: int
    text: str
    costs: Mapping[str, Cost] = field(default_factory=dict)


def own_costs(explanations: Sequence[Explanation]) -> LineCosts:
    """The costs of each line of the kernel's own file, summed over its launches."""
    if not explanations:
        return {}
    file = explanations[-1].entry_position.file
    sums: dict[int, dict[str, Cost]] = {}
    for each in explanations:
        factor = each.group_count / max(len(each.groups), 1)
        for (name, number), costs in costs_of((*each.accesses, *each.private_accesses), factor).items():
            line = sums.setdefault(number, {}) if name == file else {}
            for key, cost in costs.items():
                line[key] = _sum(line.get(key, Cost()), cost)
    return sums


def _sum(one: Cost, other: Cost) -> Cost:
    return Cost(one.requests + other.requests, one.cost + other.cost, one.least + other.least)


def diff_lines(kernel: Kernel, before: Kernel | None, costs: LineCosts, costs_before: LineCosts) -> list[DiffLine]:
    """The lines of both sources in order, without the comments at their tops. Unchanged lines are left out that cost nothing
    and are not near a change."""
    new, old = without_header(kernel.text), without_header(before.text) if before is not None else []
    found: list[DiffLine] = []
    texts = [text for _, text in old], [text for _, text in new]
    for tag, i, i_end, j, j_end in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if tag != "equal":
            found += [DiffLine("gone", 0, text, costs_before.get(number, {})) for number, text in old[i:i_end]]
        kind = "same" if tag == "equal" or before is None else "new"
        found += [DiffLine(kind, number, text, costs.get(number, {})) for number, text in new[j:j_end]]
    return found if before is None else _shortened(found)


def without_header(text: str) -> list[tuple[int, str]]:
    """The numbered lines of a file behind the comment at its top."""
    lines = list(enumerate(text.splitlines(), 1))
    return list(dropwhile(lambda line: not line[1].strip() or line[1].startswith("//"), lines))


def _shortened(lines: Sequence[DiffLine]) -> list[DiffLine]:
    wanted = {at for at, line in enumerate(lines) if line.costs or line.kind != "same"}
    near = {at + step for at in wanted for step in range(-NEAR, NEAR + 1)}
    found: list[DiffLine] = []
    for at, line in enumerate(lines):
        if at in near:
            found.append(line)
        elif found and found[-1].kind == "cut":
            found[-1] = DiffLine("cut", found[-1].number + 1, "")
        else:
            found.append(DiffLine("cut", 1, ""))
    return found


def heat(cost: Cost, most: int) -> tuple[str, float]:
    """The colour of a cost, green where it is no more than it must be, and its strength: its part of all."""
    excess = cost.cost / max(cost.least, 1)
    tone = "cool" if excess <= 1.05 else "warm" if excess < POOR else "hot"
    return tone, round(0.1 + 0.6 * cost.cost / max(most, 1), 3)


def diff_table(lines: Sequence[DiffLine], explanations: Sequence[Explanation]) -> str:
    """The lines as a table: a column of costs for each memory, then the line. Without counts there are no such columns."""
    memories = memories_of(explanations[-1]) if explanations else []
    most = {
        each.key: max((line.costs[each.key].cost for line in lines if each.key in line.costs), default=1)
        for each in memories
    }
    heads = "".join(f"<th>{escape(shown(each.title))}\n{escape(shown(each.unit))}</th>" for each in memories)
    rows = "".join(_row(line, memories, most) for line in lines)
    return f'<div class="wide code"><table><thead><tr>{heads}<th></th><th></th></tr></thead><tbody>{rows}</tbody></table></div>'


def _row(line: DiffLine, memories: Sequence[Memory], most: Mapping[str, int]) -> str:
    if line.kind == "cut":
        words = say("diff.cut" if line.number > 1 else "diff.cut_one", count=line.number)
        return f'<tr class="cut"><td colspan={len(memories) + 2}>{escape(words)}</td></tr>'
    cells = "".join(_cost_cell(line.costs.get(each.key), each, most[each.key]) for each in memories)
    mark = {"new": "+", "gone": "\u2212"}.get(line.kind, " ")
    return (
        f'<tr class="{line.kind}">{cells}<td class="number">{line.number or ""}</td>'
        f'<td class="text"><span class="sign">{mark}</span>{escape(line.text)}</td></tr>'
    )


def _cost_cell(cost: Cost | None, memory: Memory, most: int) -> str:
    if cost is None or not cost.cost:
        return "<td></td>"
    tone, strength = heat(cost, most)
    words = say(
        "diff.cost", cost=f"{cost.cost:,}", unit=memory.unit, requests=f"{cost.requests:,}", least=f"{cost.least:,}"
    )
    return f'<td style="background:rgba(var(--{tone}),{strength})" title="{escape(words)}">{cost.cost:,}</td>'
