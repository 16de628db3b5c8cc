"""Runs one work-group of a kernel in the interpreter, and says which elements of the matrices it touches, step by step."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.kernel import Config, Kernel, Step
from ...core.problem import Problem, inputs_of, output_of
from ...errors import InvalidInput
from ..explain import PrintedExplanation
from ..explain.clc.lexer import Position
from ..explain.clc.types import Space
from ..explain.group_choice import count_groups
from ..explain.loop_places import LoopPlace
from ..explain.models import Model
from ..explain.plans import explain_step, starting_buffers
from ..explain.simt.machine_state import Group
from .accesses import Access, AccessRecorder
from .matrices import NOWHERE, Matrix, copied_matrix, matrices_of, numbers_of, origins, runs_needed, tagged_arrays

Places = npt.NDArray[np.int64]
STEPS = 400_000  # loop iterations and calls of one launch
DRAWN_STEP = 1
DRAWN_ITEM = 37  # in the second warp
OUTSIDE = -1  # the step of accesses before, behind or beside the loop over steps


@dataclass(frozen=True)
class Held:
    """What an array of the work-group holds at a moment: for each of its elements the number of the matrix (the problem's
    inputs in their order, -1 for none) and the place there. `written` says which elements were ever written."""

    array: str
    accesses: int
    itemsize: int
    row: int  # elements of a row, 0 if the array has no rows
    which: npt.NDArray[np.int64]
    places: Places
    written: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Observed:
    """One work-group of one launch, as it ran. `matrices` are by the kernel's argument names; `recorders` one for each run."""

    kernel: Kernel
    config: Config
    problem: Problem
    group: Group
    counts: Group
    local_size: tuple[int, ...]
    model: Model
    matrices: Mapping[str, Matrix]
    recorders: tuple[AccessRecorder, ...]
    explanation: PrintedExplanation

    @property
    def accesses(self) -> list[Access]:
        return self.recorders[0].accesses

    @property
    def output(self) -> str:
        """The name of the matrix that is written."""
        return output_of(self.problem).name

    @property
    def items(self) -> int:
        return int(np.prod(self.local_size))

    @cached_property
    def globals(self) -> list[Access]:
        """The accesses of the matrices, in order."""
        return [each for each in self.accesses if each.space is Space.GLOBAL and each.buffer in self.matrices]

    @cached_property
    def loop(self) -> LoopPlace | None:
        """The loop over steps: of the outermost loops that load inputs, the one that touches most of the matrices."""
        places = self.explanation.loops
        outer = [
            each
            for each in places
            if not any(other.position != each.position and other.holds(each.position) for other in places)
        ]
        loaded: Counter[Position] = Counter()
        kinds: dict[Position, set[str]] = {each.position: set() for each in outer}
        for access in self.globals:
            name = self.matrices[access.buffer].name
            for each in outer:
                if each.holds(access.position):
                    kinds[each.position].add(name)
                    loaded[each.position] += len(access.items) * (access.is_load and name != self.output)
        best = max(outer, key=lambda each: (bool(loaded[each.position]), len(kinds[each.position])), default=None)
        return best if best is not None and loaded[best.position] else None

    @cached_property
    def _nested_in_one_place(self) -> bool:
        """Whether several loops stand at one position: a macro made them."""
        return sum(each.position == self.loop.position for each in self.explanation.loops if self.loop) > 1

    def step_of(self, access: Access) -> int:
        """The step in which an access is made: a pass of the loop over steps, or a run of the loops inside it where a macro made
        all. 0 for all where there is no loop."""
        if self.loop is None:
            return 0
        if not self.loop.holds(access.position):
            return OUTSIDE
        counts = access.runs if self._nested_in_one_place else access.passes
        return max(counts.get(self.loop.position, 1) - 1, 0)

    @cached_property
    def steps(self) -> list[int]:
        """The steps in which inputs are loaded."""
        loads = (each for each in self.globals if each.is_load and self.matrices[each.buffer].name != self.output)
        return sorted({step for step in map(self.step_of, loads) if step != OUTSIDE})

    @cached_property
    def step(self) -> int | None:
        """The step that is drawn, None if there are no steps to tell apart: the second one, in which nothing is special."""
        return self.steps[min(DRAWN_STEP, len(self.steps) - 1)] if len(self.steps) > 1 else None

    @cached_property
    def item(self) -> int:
        """The work-item that is drawn: one that computes something, not at an edge if it can be helped."""
        writers = {item for each in self.globals if self.matrices[each.buffer].name == self.output and not each.is_load
                   for item in each.items.tolist()}  # fmt: skip
        return sorted(writers)[min(DRAWN_ITEM, len(writers) * 5 // 9)] if writers else 0

    def touched(
        self, matrix: str, *, step: int | None = None, item: int | None = None, stores: bool | None = None
    ) -> set[tuple[int, int]]:
        """Row and column of the elements of `matrix` (A, B, C, input, output) that the group touches: in one step, by one
        work-item, by loads or stores alone."""
        found: set[tuple[int, int]] = set()
        for access in self.globals:
            own = self.matrices[access.buffer]
            if own.name != matrix or (stores is not None and stores == access.is_load):
                continue
            if step is not None and self.step_of(access) != step:
                continue
            offsets = access.offsets if item is None else access.offsets[access.items == item]
            found.update(map(tuple, own.elements(offsets, access.size).tolist()))
        return found

    def matrix_number(self, number: int) -> Matrix:
        """The input with that number, as the kernel reads it."""
        name = inputs_of(self.problem)[number].name
        return next(each for each in self.matrices.values() if each.name == name)

    def held(self, snapshot: int) -> Held:
        """What a local or private array held at a snapshot."""
        first = self.recorders[0].snapshots[snapshot]
        segment = self.recorders[0].arrays[first.array]
        element = self._element(segment.row[1])
        found = [numbers_of(each.snapshots[snapshot].data, self.problem.dtype, element) for each in self.recorders]
        which, places = origins(found, self.problem)
        written: npt.NDArray[np.bool_] = np.all(first.written.reshape(-1, element), axis=1)
        which = np.where(written, which, NOWHERE)
        row = segment.row[0] // element
        return Held(first.array, first.accesses, element, row, which, places, written)

    def _element(self, declared: int) -> int:
        """Bytes of an element of an array: fp16 may be kept as fp32 there."""
        itemsize = next(iter(self.matrices.values())).itemsize
        return 4 if itemsize == 2 and declared == 4 else itemsize


def observe(
    kernel: Kernel, problem: Problem, *, config: Config | None = None, group: Group | None = None, model: Model
) -> Observed:
    """Run one work-group of the kernel's own launch, after the whole of the launches before it."""
    config = config or kernel.config
    steps = kernel.steps(kernel, config, problem)
    at = next(index for index, step in enumerate(steps) if step.kernel.source == kernel.source)
    main = steps[at]
    ndrange = main.config.ndrange(main.problem)
    counts = count_groups(ndrange.global_size, ndrange.local_size)
    group = group or _drawn_group(problem, counts)
    if any(not 0 <= place < count for place, count in zip(group, counts, strict=True)):
        raise InvalidInput(f"there is no work-group {group} of {kernel.name}; the NDRange has {counts}")
    recorders: list[AccessRecorder] = []
    buffers: list[dict[str, np.ndarray]] = []
    explanation: Any = None
    for run in range(runs_needed(problem)):
        arrays, unset = starting_buffers(steps, problem, tagged_arrays(problem, run))
        for before in steps[:at]:
            _run(before, arrays, unset, "all", model)
        buffers.append(dict(arrays))
        explanation, recorder = _recorded(main, arrays, unset, group, model)
        recorders.append(recorder)
    matrices = _with_joined_names(_matrices(main, problem, buffers), recorders[0].accesses)
    return Observed(
        kernel, config, problem, group, counts, ndrange.local_size, model, matrices, tuple(recorders), explanation
    )


def _drawn_group(problem: Problem, counts: Group) -> Group:
    """The second work-group in both dimensions; of a transpose one off the diagonal, where input and output differ."""
    return min(1, counts[0] - 1), min(1, counts[1] - 1) if problem.operation == "gemm" else 0, 0


def _with_joined_names(matrices: dict[str, Matrix], accesses: list[Access]) -> dict[str, Matrix]:
    """Arguments that get one buffer are one for the interpreter, called C=bias."""
    found = dict(matrices)
    for name in {each.buffer for each in accesses if "=" in each.buffer}:
        known = next((matrices[each] for each in name.split("=") if each in matrices), None)
        if known is not None:
            found[name] = known
    return found


def _run(step: Step, arrays: dict[str, np.ndarray], unset: set[str], groups: Any, model: Model) -> None:
    found = explain_step(step, arrays, unset, ({}, {}), groups=groups, model=model, step_limit=STEPS)
    for name, value in found.outputs.items():
        arrays[step.buffer_of(name)] = value
        unset.discard(step.buffer_of(name))


def _recorded(
    step: Step, arrays: dict[str, np.ndarray], unset: set[str], group: Group, model: Model
) -> tuple[PrintedExplanation, AccessRecorder]:
    made: list[AccessRecorder] = []

    def recorder(rules: Model) -> AccessRecorder:
        made.append(AccessRecorder(rules))
        return made[-1]

    found = explain_step(
        step, arrays, unset, ({}, {}), groups=[group], model=model, step_limit=STEPS, recorder=recorder
    )
    made[0].take_snapshots()
    return found, made[0]


def _matrices(main: Step, problem: Problem, buffers: list[dict[str, np.ndarray]]) -> dict[str, Matrix]:
    """The matrices behind the arguments of a launch."""
    known = matrices_of(problem)
    found: dict[str, Matrix] = {}
    for parameter in main.kernel.signature.parameters:
        if not parameter.pointer or main.pointer_of(parameter.name) is not None:
            continue
        buffer = main.buffer_of(parameter.name)
        if buffer in known:
            found[parameter.name] = known[buffer]
        elif buffer in buffers[0]:
            copied = copied_matrix(buffer, [each[buffer] for each in buffers], problem, known)
            if copied is not None:
                found[parameter.name] = copied
    return found
