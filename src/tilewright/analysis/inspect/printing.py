"""Prints counted instructions and registers, of the whole kernel and of its main loop."""

import re
from collections.abc import Iterable, Iterator

from ..marked_lines import Mark, MarkedLine
from . import instruction_kinds as kinds
from .counts import Loop, Mix, Resources
from .sass import counters

ORDER = (
    kinds.MATRIX, kinds.FMA, kinds.FLOAT, kinds.GLOBAL_LOAD, kinds.GLOBAL_STORE, kinds.COPY, kinds.LOCAL_LOAD,
    kinds.LOCAL_STORE, kinds.PRIVATE_LOAD, kinds.PRIVATE_STORE, kinds.LOAD, kinds.STORE, kinds.GATHERED, kinds.SCATTERED,
    kinds.CONSTANT_LOAD, kinds.ATOMIC, kinds.SHUFFLE, kinds.BARRIER, kinds.INTEGER, kinds.CONVERT, kinds.MOVE, kinds.WAIT,
    kinds.CONTROL, kinds.OTHER,
)  # fmt: skip


def registers_line(used: Resources, form: str) -> str:
    """Registers and spills in words."""
    what = "vector registers of the processor" if form == "x86" else "of a work-item"
    if used.sub_group:
        what = f"of a hardware thread, which runs {used.sub_group} work-items"
    scalar = f" and {used.scalar_registers} scalar ones of a wavefront" if used.scalar_registers else ""
    spilled = ", ".join(f"{number:,} {kind}" for kind, number in used.spilled.items() if number)
    if not used.spilled:
        return f"{used.registers} {what}{scalar}"
    return f"{used.registers} {what}{scalar}, {'spilled: ' + spilled if spilled else 'none spilled'}"


def count_table(form: str, mix: Mix, loop: Loop | None) -> Iterator[str]:
    """Instructions by kind, of the whole kernel and of its main loop."""
    mixes = (mix, loop.mix) if loop else (mix,)
    yield f"  {'':28}{'in all':>10}{'in its loop' if loop else '':>13}{loop_words(loop) if loop else ''}".rstrip()
    yield _row(f"instructions ({form})", *(each.instructions for each in mixes))
    for name in effect_names(*mixes):
        yield _row(name, *(each.effects.get(name, 0) for each in mixes))
    if any(each.multiply_adds != each.count(kinds.FMA) for each in mixes):
        yield _row("scalar multiply-adds", *(each.multiply_adds for each in mixes))
    for words, ratio in (("integer", "integer_per_fma"), ("local loads", "local_loads_per_fma")):
        values = [getattr(each, ratio) for each in mixes]
        if any(values):
            texts = ["-" if value is None else f"{value:.3g}" for value in values]
            shown = "".join(f"{text:>{width}}" for text, width in zip(texts, (10, 13), strict=False))
            yield f"  {words + ' per multiply-add':28}{shown}"
    if form == "SASS":
        own = [counters(each.opcodes) for each in mixes]
        yield "  counters: " + ", ".join(f"{name} {' / '.join(str(each[name]) for each in own)}" for name in own[0])


def loop_words(loop: Loop) -> str:
    """Where a loop lies: its source lines, if they are known, and how many inner loops are left out."""
    inside = {0: "", 1: "without the loop inside it"}.get(loop.inner, f"without the {loop.inner} loops inside it")
    if not loop.lines:
        return f" ({inside})" if inside else ""
    own = {file: lines for file, lines in loop.lines.items() if not file.split("/")[-1].startswith("rendered.")}
    file, (first, last) = max((own or loop.lines).items(), key=lambda item: item[1][1] - item[1][0])
    return f" ({', '.join(filter(None, (f'{file}:{first}-{last}', inside)))})"


def effect_names(*mixes: Mix) -> list[str]:
    """The names of all counts in these mixes, in print order: by kind, widest first."""
    names = {name for mix in mixes for name in mix.effects}

    def place(name: str) -> tuple[int, int]:
        kind, _, bits = name.rpartition(" ")
        if not bits.isdigit():
            kind, bits = name, "0"
        return ORDER.index(kind), -int(bits)

    return sorted(names, key=place)


def _row(name: str, *numbers: int) -> str:
    pairs = zip(numbers, (10, 13), strict=False)
    return f"  {name:28}" + "".join(f"{number:>{width},}" if number else f"{'-':>{width}}" for number, width in pairs)


def marked_inspection(lines: Iterable[str]) -> list[MarkedLine]:
    """The lines of an inspection or a comparison, each with what it says: notes, spills, what is missing, changed counts."""
    return [MarkedLine(line, _mark(line)) for line in lines]


def _mark(line: str) -> Mark:
    words = line.strip()
    if words.startswith("note:"):
        return Mark.NOTE
    if words.startswith("missing") or "spilled: " in words:
        return Mark.COST
    change = re.search(r"\s([+-])[\d,]+$", line)
    if change is None:
        return Mark.PLAIN
    return Mark.MORE if change[1] == "+" else Mark.LESS
