"""Two inspections side by side: two rungs, two configurations or two architectures."""

from collections.abc import Iterator

from .counts import Mix
from .printing import effect_names, loop_words, registers_line
from .record import Inspection

WIDTH = 14


def compare(before: Inspection, after: Inspection) -> list[str]:
    """The lines of a comparison: each kernel, its resources, and its instructions in all and in its main loop."""
    lines = [f"  {letter}: {each.name}" for letter, each in (("A", before), ("B", after))]
    if before.origin != after.origin:
        lines += [f"     {letter} by {each.origin}" for letter, each in (("A", before), ("B", after)) if each.origin]
    lines += ["", f"  {'':30}{'A':>{WIDTH}}{'B':>{WIDTH}}", *_resources(before, after)]
    if before.mix is not None and after.mix is not None:
        lines += ["", *_mixes(f"instructions in all ({before.form}, {after.form})", before.mix, after.mix)]
    if before.loop is not None and after.loop is not None:
        lines += ["", *_mixes("in the loop that does the work", before.loop.mix, after.loop.mix)]
        lines += [f"  loop of {letter}:{loop_words(each.loop)}" for letter, each in _loops(before, after) if each.loop]
    for letter, each in (("A", before), ("B", after)):
        lines += [f"missing for {letter}: {sentence}" for sentence in each.missing]
    if before.form and after.form and before.form != after.form:
        lines.append("note: the instruction sets differ; compare what instructions do, not how many there are")
    return lines


def _loops(before: Inspection, after: Inspection) -> Iterator[tuple[str, Inspection]]:
    for letter, each in (("A", before), ("B", after)):
        if each.loop is not None and loop_words(each.loop):
            yield letter, each


def _resources(before: Inspection, after: Inspection) -> Iterator[str]:
    yield _row("work-items of a work-group", before.group_items, after.group_items)
    if before.resources is not None and after.resources is not None:
        old, new = before.resources, after.resources
        yield _row("registers", old.registers, new.registers)
        if old.scalar_registers or new.scalar_registers:
            yield _row("scalar registers", old.scalar_registers, new.scalar_registers)
        yield _row("local memory, bytes", old.local_bytes, new.local_bytes)
        yield _row("stack, bytes", old.stack_bytes, new.stack_bytes)
    for letter, each in (("A", before), ("B", after)):
        if each.resources is not None and each.resources.spills:
            yield f"  {letter} spills: {registers_line(each.resources, each.form)}"
    if before.occupancy is not None and after.occupancy is not None:
        parts = [f"{each.occupancy.part:.0%}" for each in (before, after) if each.occupancy]
        limiters = [each.occupancy.limiter for each in (before, after) if each.occupancy]
        yield f"  {'occupancy':30}{parts[0]:>{WIDTH}}{parts[1]:>{WIDTH}}"
        yield f"  {'  limited by':30}{limiters[0]:>{WIDTH}}{limiters[1]:>{WIDTH}}"


def _mixes(title: str, before: Mix, after: Mix) -> Iterator[str]:
    yield f"  {title}"
    yield _row("instructions", before.instructions, after.instructions)
    for name in effect_names(before, after):
        yield _row(name, before.effects.get(name, 0), after.effects.get(name, 0))
    for words, one, other in (
        ("integer per multiply-add", before.integer_per_fma, after.integer_per_fma),
        ("local loads per multiply-add", before.local_loads_per_fma, after.local_loads_per_fma),
    ):
        if one or other:
            shown = ("-" if value is None else f"{value:.3g}" for value in (one, other))
            yield f"  {words:30}" + "".join(f"{text:>{WIDTH}}" for text in shown)


def _row(name: str, before: int, after: int) -> str:
    change = f"{after - before:>+{WIDTH},}" if after != before else ""
    return f"  {name:30}{before:>{WIDTH},}{after:>{WIDTH},}{change}"
