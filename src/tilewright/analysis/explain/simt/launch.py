"""Runs a kernel in the interpreter: binds arguments, chooses batches of groups, collects results and findings."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from ....errors import InvalidInput, UnknownName
from ..clc.image_types import ImageType
from ..clc.lexer import Position
from ..clc.tree import Function, Program
from ..clc.types import Pointer, Scalar, Space, Struct, Type, Vector
from .compiled_code import Frame, Memory, Register, Symbol, Value
from .context import FunctionCode
from .findings import Finding
from .images import Image, Sampler, bound
from .machine import Machine, OutOfSteps, Watch, not_watched
from .machine_state import Group, Recorder
from .masks import Mask
from .places import MemoryPlace
from .segments import Segment
from .statements import StatementCompiler

STEP_LIMIT = 4_000_000
LANES_AT_ONCE = 4096
LARGEST_GROUP, MOST_GROUPS = 1 << 16, 1 << 20


@dataclass(frozen=True)
class LocalMemory:
    """The argument for a `__local` pointer: its bytes for each work-group."""

    size: int


Argument = npt.NDArray[Any] | LocalMemory | Image | Sampler | complex | Sequence[float]


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
    sub_group: int = 32,
) -> Launch:
    """Runs `groups` of the NDRange in lockstep, up to LANES_AT_ONCE lanes at a time. The arrays in `arguments` are not
    changed: written buffers are in `outputs`, under the argument's name. `pitches` sets the row length, in elements, of
    two-dimensional local arrays. `fill` is the value of every byte that was never set. `unset` names the buffers without
    initial contents. A run that needs more than `step_limit` steps raises OutOfSteps, or ends early if it may be `partial`.
    `watch` is called again and again, and ends the run by True. `sub_group` is the number of work-items in a sub-group."""
    function = program.functions[entry]
    items = int(np.prod(np.array(local_size, dtype=np.int64)))
    slots = max(1, min(len(groups), LANES_AT_ONCE // items))
    stopped, ended = None, 0
    machine = Machine(global_size, local_size, slots, recorder, step_limit, fill, watch, sub_group)
    with np.errstate(all="ignore"):
        compiler = StatementCompiler(machine, program, contract, pitches)
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
                    raise
                stopped = Position(error.file, error.line, error.column)
                break
            ended += len(batch)
    outputs = {name: _output(segment, array) for name, (segment, array) in buffers.items() if segment.written}
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
        return compiler.function(function.name, function.position)
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


def _output(segment: Segment, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return segment.data.view(array.dtype).reshape(array.shape)


def all_groups(global_size: Sequence[int], local_size: Sequence[int]) -> list[Group]:
    """Every work-group of an NDRange, x fastest."""
    counts = [size // own for size, own in zip(global_size, local_size, strict=True)] + [1, 1]
    if counts[0] * counts[1] * counts[2] > MOST_GROUPS:
        raise InvalidInput(
            f"{counts[0] * counts[1] * counts[2]:,} work-groups cannot all be run, only {MOST_GROUPS:,}; name some, or leave the "
            "choice to explain"
        )
    return [(x, y, z) for z, y, x in product(range(counts[2]), range(counts[1]), range(counts[0]))]


def check_sizes(function: Function, global_size: Sequence[int], local_size: Sequence[int]) -> None:
    if not 1 <= len(global_size) <= 3 or len(global_size) != len(local_size):
        raise InvalidInput(
            f"global size {tuple(global_size)} and local size {tuple(local_size)} need 1 to 3 numbers each"
        )
    for dimension, (size, own) in enumerate(zip(global_size, local_size, strict=True)):
        if own > LARGEST_GROUP:
            raise InvalidInput(f"dimension {dimension}: no device has work-groups of {own:,} work-items")
        if own < 1 or size < own or size % own:
            raise InvalidInput(
                f"dimension {dimension}: the global size {size} must be a multiple of the local size {own}, as OpenCL 1.2 asks"
            )
    needed = function.work_group
    if needed is not None:
        given = tuple(local_size) + (1,) * (3 - len(local_size))
        if given != tuple(needed) + (1,) * (3 - len(needed)):
            raise InvalidInput(f"{function.name} asks for work-groups of {needed}, not {tuple(local_size)}")


def bind(
    machine: Machine, function: Function, arguments: Mapping[str, Argument], unset: Collection[str] = ()
) -> tuple[list[Value], dict[str, tuple[Segment, npt.NDArray[Any]]]]:
    """The values of the kernel's parameters, and the segments behind its buffers."""
    names = [parameter.name for parameter in function.parameters]
    missing = [name for name in names if name not in arguments]
    unknown = [name for name in arguments if name not in names]
    if missing or unknown:
        said = [f"no value for {', '.join(missing)}"] if missing else []
        said += [f"no parameter called {', '.join(unknown)}"] if unknown else []
        raise InvalidInput(f"{function.name}({', '.join(names)}): {'; '.join(said)}")
    values: list[Value] = []
    buffers: dict[str, tuple[Segment, npt.NDArray[Any]]] = {}
    for parameter in function.parameters:
        given, kind = arguments[parameter.name], parameter.type
        if isinstance(kind, Pointer):
            segment = _segment(machine, parameter.name, kind, given, parameter.name not in unset)
            values.append(segment.address)
            if isinstance(given, np.ndarray):
                buffers[parameter.name] = (segment, given)
                machine.recorder.follow(segment, given)
        elif isinstance(kind, ImageType):
            segment, array = _image(machine, parameter.name, kind, given)
            values.append(segment.address)
            buffers[parameter.name] = (segment, array)
        else:
            values.append(_number(parameter.name, kind, given))
    return values, buffers


def _image(machine: Machine, name: str, kind: ImageType, given: Argument) -> tuple[Segment, npt.NDArray[Any]]:
    image = Image(given) if isinstance(given, np.ndarray) else given
    if not isinstance(image, Image):
        raise InvalidInput(f"argument {name!r} is an {kind}: give an Image, not {type(given).__name__}")
    raw = np.ascontiguousarray(image.array).reshape(-1).view(np.uint8)
    segment = machine.memory.buffer(name, raw, Space.IMAGE, image.array.flags.writeable)
    machine.memory.images[int(segment.address)] = bound(segment, name, image, kind)
    return segment, image.array


def _segment(machine: Machine, name: str, kind: Pointer, given: Argument, initialised: bool) -> Segment:
    if kind.space is Space.LOCAL:
        size = given.size if isinstance(given, LocalMemory) else given
        if not isinstance(size, int | np.integer) or isinstance(size, bool) or size <= 0:
            raise InvalidInput(f"argument {name!r} is local memory: give its bytes for each work-group")
        return machine.memory.local(name, int(size))
    if not isinstance(given, np.ndarray):
        raise InvalidInput(f"argument {name!r} is a buffer: give a NumPy array, not {type(given).__name__}")
    raw = np.ascontiguousarray(given).reshape(-1).view(np.uint8)
    writable = kind.space is Space.GLOBAL and not kind.constant and given.flags.writeable
    return machine.memory.buffer(name, raw, kind.space, writable, initialised)


def _number(name: str, kind: Type, given: Argument) -> Value:
    if isinstance(given, Sampler):
        given = given.bits
    if isinstance(kind, Struct):
        raw = np.ascontiguousarray(given).reshape(-1).view(np.uint8)
        if raw.size != kind.size:
            raise InvalidInput(f"argument {name!r} is a {kind} of {kind.size} bytes, but {raw.size} were given")
        return raw.reshape(-1, 1)
    if isinstance(given, np.ndarray | LocalMemory) and not isinstance(kind, Vector):
        raise InvalidInput(f"argument {name!r} is a {kind}: give a number, not {type(given).__name__}")
    if isinstance(kind, Vector):
        if isinstance(given, complex):
            given = [given.real, given.imag]
        elements = np.asarray(given).reshape(-1).astype(kind.element.dtype)
        if elements.size != kind.width:
            raise InvalidInput(f"argument {name!r} is a {kind}: give {kind.width} numbers, not {elements.size}")
        return elements.reshape(-1, 1)
    if not isinstance(kind, Scalar):
        raise InvalidInput(f"argument {name!r} of type {kind} cannot be given")
    return np.asarray(given).astype(kind.dtype)[()]
