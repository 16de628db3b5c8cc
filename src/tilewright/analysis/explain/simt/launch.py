"""Runs a kernel in the interpreter: binds arguments, chooses batches of groups, collects results and findings."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ....errors import InvalidInput, UnknownName
from ..clc.lexer import Position
from ..clc.tree import Function, Program
from .compiled_code import Frame, Memory, Register, Symbol, Value
from .context import FunctionCode
from .findings import Finding
from .launch_arguments import Argument, bind
from .machine import Machine, OutOfSteps, Watch, not_watched
from .machine_state import Group, Recorder
from .masks import Mask
from .off_chip import off_chip_arrays
from .places import MemoryPlace
from .segments import Segment
from .statements import StatementCompiler

STEP_LIMIT = 4_000_000
LANES_AT_ONCE = 4096
LARGEST_GROUP, MOST_GROUPS = 1 << 16, 1 << 20


@dataclass
class Launch:
    """The result of a run: the buffers that the kernel wrote, and the findings. `stopped` is where it ran out of steps, after
    `ended` work-groups had run to their end."""

    outputs: dict[str, npt.NDArray[Any]]
    findings: tuple[Finding, ...]
    machine: Machine
    stopped: Position | None = None
    ended: int = 0


def run_kernel(
    program: Program,
    entry: str,
    global_size: Sequence[int],
    local_size: Sequence[int],
    arguments: Mapping[str, Argument],
    groups: Sequence[Group],
    recorder: Recorder,
    *,
    contract: bool = False,
    step_limit: int = STEP_LIMIT,
    pitches: Mapping[str, int] | None = None,
    fill: int = 0,
    unset: Collection[str] = (),
    partial: bool = False,
    watch: Watch = not_watched,
    offset: Sequence[int] = (),
    sub_group: int = 32,
) -> Launch:
    """Runs `groups` of the NDRange in lockstep, up to LANES_AT_ONCE lanes at a time. The arrays in `arguments` are not
    changed: written buffers are in `outputs`, under the argument's name. `pitches` sets the row length, in elements, of
    two-dimensional local arrays. `fill` is the value of every byte that was never set. `unset` names the buffers without
    initial contents. A run that needs more than `step_limit` steps raises OutOfSteps, or ends early if it may be `partial`.
    `watch` is called again and again, and ends the run by True. `offset` is that of the global ids. `sub_group` is the number
    of work-items in a sub-group."""
    function = program.functions[entry]
    items = prod(int(each) for each in local_size)
    slots = max(1, min(len(groups), LANES_AT_ONCE // items))
    stopped, ended = None, 0
    machine = Machine(global_size, local_size, slots, recorder, step_limit, fill, watch, offset, sub_group)
    with np.errstate(all="ignore"):
        compiler = StatementCompiler(machine, program, contract, pitches)
        compiler.off_chip = off_chip_arrays(program, entry, recorder.private_room)
        compiled = compile_entry(compiler, function)
        if compiler.pitches:
            raise UnknownName("local array", next(iter(compiler.pitches)), machine.memory.local_names())
        values, buffers = bind(machine, function, arguments, unset)
        for batch in _batches(groups, slots):
            frame = Frame(compiled.slots)
            everyone = machine.begin(batch)
            for (_, symbol), value in zip(compiled.parameters, values, strict=True):
                _pass(machine, frame, everyone, symbol, value, function)
            try:
                _execute(compiled, frame, everyone, function)
            except OutOfSteps as error:
                if not partial:
                    raise error.with_findings(machine.findings.all()) from None
                stopped = Position(error.file, error.line, error.column)
                break
            ended += len(batch)
    outputs = {name: _output(*found) for name, found in buffers.items() if found[0].written}
    return Launch(outputs, machine.findings.all(), machine, stopped, ended)


def _execute(compiled: FunctionCode, frame: Frame, everyone: Mask, function: Function) -> None:
    assert compiled.body is not None
    try:
        compiled.body(frame, everyone)
    except RecursionError:
        raise function.position.error(
            f"{function.name} holds calls or expressions that are nested too deeply"
        ) from None


def compile_entry(compiler: StatementCompiler, function: Function) -> FunctionCode:
    try:
        return compiler.function(function, function.position)
    except RecursionError:
        raise function.position.error(f"{function.name} holds an expression that is nested too deeply") from None


def _pass(machine: Machine, frame: Frame, mask: Mask, symbol: Symbol, value: Value, function: Function) -> None:
    """Gives a parameter its value."""
    if isinstance(symbol, Register):
        frame.slots[symbol.slot] = value
    elif isinstance(symbol, Memory):
        place = MemoryPlace(machine, symbol.type, symbol.address, symbol.space, False, function.position, counted=False)
        place.store(frame, mask, place.locate(frame, mask), value)


def _batches(groups: Sequence[Group], slots: int) -> Iterator[Sequence[Group]]:
    for first in range(0, len(groups), slots):
        yield groups[first : first + slots]


def _output(segment: Segment, array: npt.NDArray[Any], begin: int) -> npt.NDArray[Any]:
    return segment.data[begin : begin + array.nbytes].view(array.dtype).reshape(array.shape)


def all_groups(global_size: Sequence[int], local_size: Sequence[int]) -> list[Group]:
    """Every work-group of an NDRange, x fastest."""
    counts = [-(-size // own) for size, own in zip(global_size, local_size, strict=True)] + [1, 1]
    if counts[0] * counts[1] * counts[2] > MOST_GROUPS:
        raise InvalidInput(
            f"{counts[0] * counts[1] * counts[2]:,} work-groups cannot all be run, only {MOST_GROUPS:,}; name some, or leave the "
            "choice to explain"
        )
    return [(x, y, z) for z, y, x in product(range(counts[2]), range(counts[1]), range(counts[0]))]


def check_sizes(
    function: Function, global_size: Sequence[int], local_size: Sequence[int], ragged: bool = False
) -> None:
    """InvalidInput for sizes that no launch may have. A `ragged` one may end with smaller work-groups, as in OpenCL 2."""
    if not 1 <= len(global_size) <= 3 or len(global_size) != len(local_size):
        raise InvalidInput(
            f"global size {tuple(global_size)} and local size {tuple(local_size)} need 1 to 3 numbers each"
        )
    for dimension, (size, own) in enumerate(zip(global_size, local_size, strict=True)):
        if own > LARGEST_GROUP:
            raise InvalidInput(f"dimension {dimension}: no device has work-groups of {own:,} work-items")
        if ragged and size >= 1 and own >= 1:
            continue
        if own < 1 or size < own or size % own:
            raise InvalidInput(
                f"dimension {dimension}: the global size {size} must be a multiple of the local size {own}, as OpenCL 1.2 asks; "
                "--ragged allows smaller work-groups at the edges"
            )
    needed = function.work_group
    if needed is not None:
        given = tuple(local_size) + (1,) * (3 - len(local_size))
        if given != tuple(needed) + (1,) * (3 - len(needed)):
            raise InvalidInput(f"{function.name} asks for work-groups of {needed}, not {tuple(local_size)}")
