"""The time that one warp needs for a piece of machine code, alone on its scheduler: instructions issue in order, and wait for
the registers that they read. Loads that do not depend on each other are in flight together, which is what Little's law asks.

Latencies of arithmetic: Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking" (2018), table 4.1.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..inspect import instruction_kinds as kinds
from ..inspect.machine_code import Instruction

ALU, CONVERTED, SHUFFLED, CONSTANT, SPECIAL = 4.5, 14.0, 23.0, 30.0, 20.0  # cycles until the result can be read
BARRIER = 25.0  # cycles of a barrier at which nobody waits for another
_NVIDIA = re.compile(r"\b(UR|R|UP|P)(\d+)(\.64)?")
_AMD = re.compile(r"\b([vsa])(?:(\d+)|\[(\d+):(\d+)\])")
_WIDE = {"64": 2, "96": 3, "128": 4}
Registers = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Step:
    """What an instruction reads and writes, and the cycles until its result is there. `waits` says that it waits for all."""

    reads: Registers
    writes: Registers
    latency: float
    waits: bool = False


def step_of(instruction: Instruction, load_latency: Callable[[Instruction], float]) -> Step:
    """`load_latency` gives the cycles of a load from memory."""
    kind = instruction.effects[0].kind if instruction.effects else kinds.OTHER
    operands = instruction.text.split(None, 1)[1] if " " in instruction.text else ""
    if instruction.text.startswith("@"):
        operands = instruction.text.split(None, 2)[-1]
    found = registers(instruction, operands)
    if kind in (kinds.GLOBAL_STORE, kinds.LOCAL_STORE, kinds.PRIVATE_STORE, kinds.BARRIER, kinds.CONTROL, kinds.WAIT):
        reads: Registers = tuple(each for _, group in found for each in group)
        waits = kind in (kinds.BARRIER, kinds.WAIT) and "waitcnt" in instruction.opcode
        return Step(reads, (), BARRIER if kind == kinds.BARRIER else 1.0, waits)
    writes = found[0][1] if found and found[0][0] < 6 else ()
    reads = tuple(each for _, group in found[1:] for each in group)
    guard = tuple(("P", int(number)) for number in re.findall(r"^@!?P(\d)", instruction.text))
    return Step((*reads, *guard), widened(instruction, writes), latency_of(instruction, kind, load_latency))


def registers(instruction: Instruction, operands: str) -> list[tuple[int, Registers]]:
    """The registers named in the operands, each with its place in the text."""
    if instruction.opcode[:1].isupper():
        return [
            (match.start(), tuple((match[1], int(match[2]) + at) for at in range(2 if match[3] else 1)))
            for match in _NVIDIA.finditer(operands)
        ]
    found = []
    for match in _AMD.finditer(operands):
        first, last = int(match[2] or match[3]), int(match[2] or match[4])
        found.append((match.start(), tuple((match[1], number) for number in range(first, last + 1))))
    return found


def widened(instruction: Instruction, writes: Registers) -> Registers:
    """All the registers of a wide result."""
    if not writes or not instruction.opcode[:1].isupper():
        return writes
    count = next((_WIDE[each] for each in instruction.opcode.split(".") if each in _WIDE), 1)
    if "WIDE" in instruction.opcode or instruction.opcode.startswith(("DFMA", "DADD", "DMUL")):
        count = 2
    name, number = writes[0]
    return tuple((name, number + at) for at in range(count))


def latency_of(instruction: Instruction, kind: str, load_latency: Callable[[Instruction], float]) -> float:
    if kind in (kinds.GLOBAL_LOAD, kinds.LOCAL_LOAD, kinds.PRIVATE_LOAD, kinds.ATOMIC, kinds.COPY):
        return load_latency(instruction)
    if kind == kinds.SHUFFLE:
        return SHUFFLED
    if kind == kinds.CONSTANT_LOAD or instruction.opcode.startswith(("S2R", "S2UR")):
        return CONSTANT
    if instruction.opcode.startswith("MUFU"):
        return SPECIAL
    return CONVERTED if kind == kinds.CONVERT else ALU


def cycles(steps: Iterable[Step], loops: bool) -> float:
    """Cycles of one warp for these instructions; those of an iteration in the midst of many if it `loops`."""
    code = list(steps)
    ready: dict[tuple[str, int], float] = {}
    now, latest, ends = 0.0, 0.0, []
    for _ in range(3 if loops else 1):
        for step in code:
            now = max([now + 1.0, *(ready.get(each, 0.0) for each in (*step.reads, *step.writes))])
            if step.waits:
                now = max(now, latest)
            for each in step.writes:
                ready[each] = now + step.latency
            if step.writes:
                latest = max(latest, now + step.latency)
            else:
                now += step.latency - 1.0
        ends.append(now)
    return ends[-1] - ends[-2] if loops else max(now, latest if code else 0.0)
