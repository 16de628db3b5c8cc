"""The verdict: sentences about a kernel's faults and memory traffic, worst first."""

from ...core.language import Sentence, shown, translated, translated_count
from ..marked_lines import Mark, MarkedLine, marked
from .address_patterns import PitchAdvice, active_addresses, advise_pitch, shape_of
from .coverage import coverage_notes
from .explanation import Explanation
from .fault_groups import fault_sentences
from .group_choice import last_group
from .loop_costs import dropped_rests
from .numbers import number, one_or_several
from .profile import ADDRESSES, LineAccess
from .reuse import reuse_sentences
from .special_memory import atomic_sentence, constant_sentence, private_sentences

_POOR = 0.75
_VERBS = {"load": Sentence("reads"), "store": Sentence("writes"), "atomic": Sentence("updates")}


def verdict(explanation: Explanation) -> list[str]:
    """Sentences: what was not run, faults, costs with the largest first, what is cheap, then notes."""
    return [each.text for each in (*findings_and_costs(explanation), *remarks(explanation))]


def findings_and_costs(explanation: Explanation) -> list[MarkedLine]:
    """The answer: faults, then costs with the largest first, then what costs as little as it can."""
    faults = fault_sentences(explanation.faults, explanation.model)
    causes = [shown(explanation.rounding)] if explanation.rounding and faults else []
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
                translated(
                    "only images are read or written: how they lie in memory is not public, so no sectors are counted"
                )
            )
        )
    if not explanation.accesses:
        lines.append(MarkedLine(translated("no work-item that was run reads or writes global or local memory")))
    return lines


def remarks(explanation: Explanation) -> list[MarkedLine]:
    """Findings that are no faults, and what the counts are based on."""
    harmless = [each for each in explanation.findings if not each.is_fault]
    texts = fault_sentences(harmless, explanation.model)
    if explanation.rounding and not explanation.faults:
        texts.append(shown(explanation.rounding))
    return marked([*texts, *notes(explanation)], Mark.NOTE)


def stop_sentences(explanation: Explanation) -> list[str]:
    """How far a run came that used up its steps, and what is unknown therefore. Faults happened before the stop, so they
    are named before it."""
    stop = explanation.stop
    if stop is None:
        return []
    sentences = [
        translated(
            "stopped at line {line} after {steps:,} steps (loop iterations and calls): {ended:,} of {chosen:,} chosen "
            "work-groups ran to their end, of {all:,} in all. Counts are of what ran; faults and costs behind it, and the "
            "result, are unknown.",
            line=stop.position.line, steps=stop.steps, ended=stop.ended, chosen=stop.chosen, all=explanation.group_count,
        )
    ]  # fmt: skip
    if explanation.faults:
        sentences.append(translated("The faults happened before, and may be why it does not end."))
    sentences.append(
        translated("If the loop ends at all, a smaller --size, or larger --steps and --time-limit, show more")
    )
    return [" ".join(sentences)]


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
    banked = access.is_local and not explanation.model.local_is_global
    return local_sentence(explanation, access) if banked else global_sentence(explanation, access)


def global_sentence(explanation: Explanation, access: LineAccess) -> str:
    """The cost of one global access, and its cause."""
    model = explanation.model
    return translated_count(
        "line {line} {does} {buffer} {manner}: {cost} {pieces} a request where {least} is enough; {used}% of the bytes moved "
        "are used",
        "line {line} {does} {buffer} {manner}: {cost} {pieces} a request where {least} are enough; {used}% of the bytes moved "
        "are used",
        1 if round(access.ideal_per_request, 1) == 1 else 2,
        line=access.position.line, does=_VERBS[access.operation], buffer=access.buffer, manner=_manner(access, explanation),
        cost=number(access.per_request), pieces=model.pieces, least=number(access.ideal_per_request),
        used=f"{100 * access.efficiency:.3g}",
    )  # fmt: skip


def _manner(access: LineAccess, explanation: Explanation) -> str:
    shape, sub_group = shape_of(access.worst), explanation.model.sub_group
    if shape.kind == "same":
        addresses = len(set(active_addresses(access.worst)))
        if addresses == 1:
            return translated("at one address for the whole {sub_group}", sub_group=sub_group)
        if _by_rows(addresses, explanation):
            return translated(
                "at {count} addresses, one for each row of the {width}-wide group that a {sub_group} holds",
                count=addresses, width=explanation.local_size[0], sub_group=sub_group,
            )  # fmt: skip
        return translated("at {count} addresses for the whole {sub_group}", count=addresses, sub_group=sub_group)
    if shape.kind == "consecutive" and shape.runs == 1:
        return translated("consecutively, but not aligned to {pieces}", pieces=explanation.model.pieces)
    if shape.kind == "consecutive" and _by_rows(shape.runs, explanation):
        return translated(
            "in {count} separate stretches, one for each row of the {width}-wide group that a {sub_group} holds",
            count=shape.runs, width=explanation.local_size[0], sub_group=sub_group,
        )  # fmt: skip
    if shape.kind == "consecutive":
        return translated("in {count} separate stretches", count=shape.runs)
    if shape.kind == "strided":
        return translated("with a stride of {bytes} bytes from one work-item to the next", bytes=abs(shape.stride))
    return translated("at scattered addresses")


def _by_rows(count: int, explanation: Explanation) -> bool:
    """Whether a narrow work-group is the cause: a sub-group holds `count` of its rows."""
    return count >= 2 and explanation.local_size[0] * count == explanation.model.lanes


def local_sentence(explanation: Explanation, access: LineAccess) -> str:
    """The cost of one local access, its cause, and the pitch that removes the conflict."""
    least = number(access.ideal_per_request)
    sentence = translated_count(
        "line {line} {does} {buffer} {manner}: {cost} {passes} where {least} is enough",
        "line {line} {does} {buffer} {manner}: {cost} {passes} where {least} are enough",
        1 if least == "1" else 2,
        line=access.position.line, does=_VERBS[access.operation], buffer=access.buffer, manner=_local_manner(access),
        cost=number(access.per_request), passes=explanation.model.local_passes, least=least,
    )  # fmt: skip
    together = tuple(each for each in explanation.accesses if each.is_local and each.buffer == access.buffer)
    advice = advise_pitch(explanation.model, access, together)
    if advice is None:
        return sentence
    return sentence + _advised(access.buffer, advice, alone=len(together) == 1)


def _local_manner(access: LineAccess) -> str:
    shape = shape_of(access.worst, access.row)
    if shape.along:
        return translated("column-wise") if shape.along == "column" else translated("row-wise")
    if shape.kind == "strided":
        return translated("with a stride of {bytes} bytes", bytes=abs(shape.stride))
    return translated("at conflicting addresses")


def _advised(buffer: str, advice: PitchAdvice, alone: bool) -> str:
    """The recommended pitch: elements from one row of the array to the next."""
    if alone or (advice.all_conflict_free and advice.best_of_all == advice.best):
        return translated(
            "; a pitch of {best} would give {passes} (rows of {buffer} are {now} elements apart now)",
            best=advice.best, passes=advice.wavefronts, buffer=buffer, now=advice.now,
        )  # fmt: skip
    if advice.all_conflict_free:
        return translated(
            "; a pitch of {best} would free all accesses of {buffer} (rows of {buffer} are {now} elements apart now)",
            best=advice.best_of_all, buffer=buffer, now=advice.now,
        )  # fmt: skip
    if advice.best_of_all == advice.now:
        return translated(
            "; no pitch frees all accesses of {buffer}, and {now}, as it is, is best for them together",
            buffer=buffer, now=advice.now,
        )  # fmt: skip
    return translated(
        "; no pitch frees all accesses of {buffer}: {best} would be best for them together (rows of {buffer} are {now} "
        "elements apart now)",
        best=advice.best_of_all, buffer=buffer, now=advice.now,
    )  # fmt: skip


def _fine(fine: list[LineAccess], count: int) -> str:
    lines = sorted({each.position.line for each in fine})
    listed = ", ".join(map(str, lines[:12])) + (" ..." if len(lines) > 12 else "")
    where = translated_count("line {lines}", "lines {lines}", one_or_several(lines), lines=listed)
    nearly = any(each.cost > each.ideal for each in fine)
    values = {"count": len(fine), "where": where}
    if len(fine) == count == 1:
        if nearly:
            return translated("the requests of the only access ({where}) are nearly as cheap as they can be", **values)
        return translated("the requests of the only access ({where}) are as cheap as they can be", **values)
    if len(fine) == count:
        if nearly:
            return translated(
                "the requests of all {count} accesses ({where}) are nearly as cheap as they can be", **values
            )
        return translated("the requests of all {count} accesses ({where}) are as cheap as they can be", **values)
    if nearly:
        return translated_count(
            "the requests of the other access ({where}) are nearly as cheap as they can be",
            "the requests of the other {count} accesses ({where}) are nearly as cheap as they can be",
            len(fine), **values,
        )  # fmt: skip
    return translated_count(
        "the requests of the other access ({where}) are as cheap as they can be",
        "the requests of the other {count} accesses ({where}) are as cheap as they can be",
        len(fine), **values,
    )  # fmt: skip


def notes(explanation: Explanation) -> list[str]:
    """What the counts are based on."""
    model = explanation.model
    run, all_groups = len(explanation.groups), explanation.group_count
    lines = [
        translated(
            "counts are of the accesses in the source, by the rules of {model} ({standing}); a compiler may merge or drop "
            "accesses, and caches may serve what is fetched again",
            model=model.title, standing=model.standing,
        )
    ]  # fmt: skip
    if run < all_groups:
        lines.append(
            translated(
                "{run} of {all:,} work-groups were run: {groups}",
                run=run, all=all_groups, groups=_group_names(explanation),
            )
        )  # fmt: skip
    if explanation.stop is None:
        with_last = last_group(explanation.global_size, explanation.local_size) in explanation.groups
        lines += coverage_notes(explanation.coverage, run, all_groups, with_last)
        lines += dropped_rests(explanation) if with_last else []
    wide = sorted({each.position.line for each in explanation.accesses if each.assumed_wide})
    if wide:
        lines.append(
            translated(
                "lines {lines}: vload and vstore promise no alignment; they are counted as the widest instructions that the "
                "addresses allow; a compiler that does not know the addresses issues narrower ones",
                lines=", ".join(map(str, wide)),
            )
        )
    return lines


def _group_names(explanation: Explanation) -> str:
    dimensions = len(explanation.global_size)
    names = ["(" + ",".join(map(str, group[:dimensions])) + ")" for group in explanation.groups]
    return ", ".join(names[:16]) + (" ..." if len(names) > 16 else "")
