"""The verdict: sentences about a kernel's faults and memory traffic, worst first."""

from ..marked_lines import Mark, MarkedLine, marked
from .address_patterns import PitchAdvice, active_addresses, advise_pitch, shape_of
from .coverage import coverage_notes
from .explanation import Explanation
from .fault_groups import fault_sentences
from .group_choice import last_group
from .loop_costs import dropped_rests
from .numbers import number
from .profile import ADDRESSES, LineAccess
from .reuse import reuse_sentences
from .special_memory import atomic_sentence, constant_sentence, private_sentences

_POOR = 0.75
_VERBS = {"load": "reads", "store": "writes", "atomic": "updates"}


def verdict(explanation: Explanation) -> list[str]:
    """Sentences: what was not run, faults, costs with the largest first, what is cheap, then notes."""
    return [each.text for each in (*findings_and_costs(explanation), *remarks(explanation))]


def findings_and_costs(explanation: Explanation) -> list[MarkedLine]:
    """The answer: faults, then costs with the largest first, then what costs as little as it can."""
    faults = fault_sentences(explanation.faults, explanation.model)
    causes = [explanation.rounding] if explanation.rounding and faults else []
    lines = marked([*causes, *faults, *stop_sentences(explanation)], Mark.FAULT)
    scale = explanation.group_count / max(1, len(explanation.groups))
    costly = [each for each in explanation.accesses if is_costly(each)]
    costs = [(scale * excess(each), cost_sentence(explanation, each)) for each in costly]
    costs += reuse_sentences(explanation) + private_sentences(explanation)
    lines += marked((text for _, text in sorted(costs, key=lambda each: -each[0])), Mark.COST)
    known = [each for each in explanation.accesses if not each.is_image]
    if fine := [each for each in known if not is_costly(each)]:
        lines.append(MarkedLine(_fine(fine, len(known))))
    if explanation.accesses and not known:
        lines.append(
            MarkedLine(
                "only images are read or written: how they lie in memory is not public, so no sectors are counted"
            )
        )
    if not explanation.accesses:
        lines.append(MarkedLine("no work-item that was run reads or writes global or local memory"))
    return lines


def remarks(explanation: Explanation) -> list[MarkedLine]:
    """Findings that are no faults, and what the counts are based on."""
    harmless = [each for each in explanation.findings if not each.is_fault]
    texts = fault_sentences(harmless, explanation.model)
    if explanation.rounding and not explanation.faults:
        texts.append(explanation.rounding)
    return marked([*texts, *notes(explanation)], Mark.NOTE)


def stop_sentences(explanation: Explanation) -> list[str]:
    """How far a run came that used up its steps, and what is unknown therefore. Faults happened before the stop, so they
    are named before it."""
    stop = explanation.stop
    if stop is None:
        return []
    why = "The faults happened before, and may be why it does not end. " if explanation.faults else ""
    ended, chosen = f"{stop.ended:,} of {stop.chosen:,}", f"{explanation.group_count:,}"
    return [
        f"stopped at line {stop.position.line} after {stop.steps:,} steps (loop iterations and calls): {ended} chosen "
        f"work-groups ran to their end, of {chosen} in all. Counts are of what ran; faults and costs behind it, and the "
        f"result, are unknown. {why}If the loop ends at all, a smaller --size, or larger --steps and --time-limit, show more"
    ]


def is_costly(access: LineAccess) -> bool:
    """Whether an access costs much more than it must. One word for all lanes uses little of its sector, but needs all of it.
    Of atomic functions the turns count that work-items take at one place."""
    if access.is_atomic:
        return access.requests < _POOR * access.turns
    return access.ideal < _POOR * access.cost


def excess(access: LineAccess) -> int:
    """The sectors, wavefronts, addresses or turns beyond the fewest. Updates of one place wait for each other, whichever
    work-group makes them."""
    if access.is_atomic:
        return max(access.turns - access.requests, access.hottest)
    return access.cost - access.ideal


def cost_sentence(explanation: Explanation, access: LineAccess) -> str:
    """The cost of one access, and its cause."""
    if access.is_atomic:
        return atomic_sentence(explanation, access)
    if access.unit == ADDRESSES:
        return constant_sentence(access)
    return local_sentence(explanation, access) if access.is_local else global_sentence(explanation, access)


def global_sentence(explanation: Explanation, access: LineAccess) -> str:
    """The cost of one global access, and its cause."""
    model = explanation.model
    where = f"line {access.position.line} {_VERBS[access.operation]} {access.buffer}"
    cost = (
        f"{number(access.per_request)} {model.pieces} a request where {number(access.ideal_per_request)} "
        f"{'is' if round(access.ideal_per_request, 1) == 1 else 'are'} enough"
    )
    used = f"{100 * access.efficiency:.3g}% of the bytes moved are used"
    return f"{where} {_manner(access, explanation)}: {cost}; {used}"


def _manner(access: LineAccess, explanation: Explanation) -> str:
    shape, sub_group = shape_of(access.worst), explanation.model.sub_group
    if shape.kind == "same":
        addresses = len(set(active_addresses(access.worst)))
        if addresses == 1:
            return f"at one address for the whole {sub_group}"
        return f"at {addresses} addresses{_by_rows(addresses, explanation) or f' for the whole {sub_group}'}"
    if shape.kind == "consecutive" and shape.runs == 1:
        return f"consecutively, but not aligned to {explanation.model.pieces}"
    if shape.kind == "consecutive":
        return f"in {shape.runs} separate stretches{_by_rows(shape.runs, explanation)}"
    if shape.kind == "strided":
        return f"with a stride of {abs(shape.stride)} bytes from one work-item to the next"
    return "at scattered addresses"


def _by_rows(count: int, explanation: Explanation) -> str:
    """Says that a narrow work-group is the cause: a sub-group holds `count` of its rows."""
    width = explanation.local_size[0]
    if count < 2 or width * count != explanation.model.lanes:
        return ""
    return f", one for each row of the {width}-wide group that a {explanation.model.sub_group} holds"


def local_sentence(explanation: Explanation, access: LineAccess) -> str:
    """The cost of one local access, its cause, and the pitch that removes the conflict."""
    shape = shape_of(access.worst, access.row)
    manner = {"column": "column-wise", "row": "row-wise"}.get(shape.along, "")
    if not manner:
        manner = (
            f"with a stride of {abs(shape.stride)} bytes" if shape.kind == "strided" else "at conflicting addresses"
        )
    least = number(access.ideal_per_request)
    sentence = (
        f"line {access.position.line} {_VERBS[access.operation]} {access.buffer} {manner}: "
        f"{number(access.per_request)} {explanation.model.local_passes} where {least} {'is' if least == '1' else 'are'} enough"
    )
    together = tuple(each for each in explanation.accesses if each.is_local and each.buffer == access.buffer)
    advice = advise_pitch(explanation.model, access, together)
    if advice is None:
        return sentence
    return sentence + _advised(access.buffer, advice, alone=len(together) == 1)


def _advised(buffer: str, advice: PitchAdvice, alone: bool) -> str:
    """The recommended pitch: elements from one row of the array to the next."""
    now = f"(rows of {buffer} are {advice.now} elements apart now)"
    if alone or (advice.all_conflict_free and advice.best_of_all == advice.best):
        return f"; a pitch of {advice.best} would give {advice.wavefronts} {now}"
    if advice.all_conflict_free:
        return f"; a pitch of {advice.best_of_all} would free all accesses of {buffer} {now}"
    if advice.best_of_all == advice.now:
        return f"; no pitch frees all accesses of {buffer}, and {advice.now}, as it is, is best for them together"
    return f"; no pitch frees all accesses of {buffer}: {advice.best_of_all} would be best for them together {now}"


def _fine(fine: list[LineAccess], count: int) -> str:
    lines = sorted({each.position.line for each in fine})
    listed = ", ".join(map(str, lines[:12])) + (" ..." if len(lines) > 12 else "")
    where = f"line{'s' if len(lines) > 1 else ''} {listed}"
    nearly = "nearly " if any(each.cost > each.ideal for each in fine) else ""
    if len(fine) == 1:
        return f"the requests of the {'only' if count == 1 else 'other'} access ({where}) are {nearly}as cheap as they can be"
    which = "all" if len(fine) == count else "the other"
    return f"the requests of {which} {len(fine)} accesses ({where}) are {nearly}as cheap as they can be"


def notes(explanation: Explanation) -> list[str]:
    """What the counts are based on."""
    model = explanation.model
    run, all_groups = len(explanation.groups), explanation.group_count
    lines = [
        f"counts are of the accesses in the source, by the rules of {model.title} ({model.standing}); a compiler may merge "
        "or drop accesses, and caches may serve what is fetched again"
    ]
    if run < all_groups:
        lines.append(f"{run} of {all_groups:,} work-groups were run: {_group_names(explanation)}")
    if explanation.stop is None:
        with_last = last_group(explanation.global_size, explanation.local_size) in explanation.groups
        lines += coverage_notes(explanation.coverage, run, all_groups, with_last)
        lines += dropped_rests(explanation) if with_last else []
    wide = sorted({each.position.line for each in explanation.accesses if each.assumed_wide})
    if wide:
        lines.append(
            f"lines {', '.join(map(str, wide))}: vload and vstore promise no alignment; they are counted as the widest "
            "instructions that the addresses allow; a compiler that does not know the addresses issues narrower ones"
        )
    return lines


def _group_names(explanation: Explanation) -> str:
    dimensions = len(explanation.global_size)
    names = ["(" + ",".join(map(str, group[:dimensions])) + ")" for group in explanation.groups]
    return ", ".join(names[:16]) + (" ..." if len(names) > 16 else "")
