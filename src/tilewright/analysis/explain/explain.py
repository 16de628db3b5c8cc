"""Explains a kernel: runs chosen work-groups in the interpreter and returns their traffic and faults as one record."""

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from time import perf_counter
from typing import Any

from ...core.language import Sentence
from ...core.shown import Shown
from ...core.sizes import is_whole
from ...errors import InvalidInput, SourceError, UnknownName, quoted
from ..marked_lines import plain_text
from .annotate import report
from .clc import Program, parse_program
from .coverage import Coverage
from .explanation import Explanation, Stop
from .group_choice import all_are_affordable, choose_groups, count_groups
from .loop_places import loop_places
from .models import NVIDIA, Model, model_of_width
from .private_arrays import private_arrays
from .profile import Profile
from .recorder import TrafficRecorder
from .serialise import access_rows
from .simt import Finding, all_groups, run_kernel
from .simt.findings import COUNTED, GROUPS, UNINITIALISED, UNUSED
from .simt.launch import STEP_LIMIT, Launch, check_sizes
from .simt.launch_arguments import Argument, check_arrays
from .simt.machine import Watch, not_watched
from .simt.machine_state import Group
from .source_lines import SourceText

Groups = Sequence[Group] | str | None


class PrintedExplanation(Shown, Explanation):
    """An explanation whose text is what `tilewright explain` prints."""

    def __str__(self) -> str:
        """The verdict, the sums, and the lines of the source that move data."""
        return plain_text(report(self))

    def one_line(self) -> str:
        ran = f"{len(self.groups):,} of {self.group_count:,} work-groups"
        return f"{self.name} by the rules of {self.model.name}, {len(self.faults)} faults in {ran}"

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each access of the source to memory: requests, cost and least cost, and where it stands."""
        return access_rows(self)


def explain_source(
    source: str,
    *,
    filename: str = "kernel.cl",
    macros: Mapping[str, str | int] | None = None,
    entry: str | None = None,
    global_size: Sequence[int],
    local_size: Sequence[int],
    arguments: Mapping[str, Argument],
    include: Sequence[Path | str] = (),
    model: Model = NVIDIA,
    groups: Groups = None,
    contract: bool = False,
    step_limit: int = STEP_LIMIT,
    pitches: Mapping[str, int] | None = None,
    unset: Collection[str] = (),
    partial: bool = False,
    watch: Watch = not_watched,
    offset: Sequence[int] = (),
    ragged: bool = False,
    typed: bool = True,
    standard: str | None = None,
    recorder: Callable[[Model], TrafficRecorder] = TrafficRecorder,
) -> PrintedExplanation:
    """Explain OpenCL C text.

    `macros` are the `-D` options, `f(x)` with a replacement for one with parameters. `standard` is the value of `-cl-std`,
    such as CL3.0; without it the predefined macros say 1.2, as in drivers. `entry` is the kernel's name, and may be left out
    if there is only one. `arguments` has a NumPy array for each buffer, a number or list of numbers for each scalar or
    vector, and LocalMemory(bytes) for each `__local` pointer. An array that is not writeable is a read-only buffer. `groups`
    lists the work-groups to run, or is "all" or None. None means all if that takes at most about half a second, else a choice
    (`choose_groups`). With `contract`, a multiply-add is rounded once, as compilers do by default on hardware with fused
    multiply-add; addresses stay the same. `pitches` sets the row length, in elements, of two-dimensional local arrays.
    `unset` names buffers without initial contents: reading an element that the kernel has not written is a fault. A run of
    more than `step_limit` loop iterations and calls raises SourceError. If it may be `partial`, it ends there instead, and
    `Explanation.stop` says how far it came. `watch` is called again and again with the steps taken and the work-groups begun;
    True ends the run. None is a null pointer; arrays that share memory are one buffer. `offset` is added to global ids. A
    `ragged` NDRange has smaller work-groups at its edges. Unless `typed` is false, arrays must have the parameters' types.
    `recorder` makes what observes a run.

    SourceError names file, line and column of what cannot be read or run. InvalidInput says which argument is wrong.
    """
    begin = perf_counter()
    program = parse_program(source, filename, macros, include, standard)
    name = choose_entry(program, entry, filename)
    function = program.functions[name]
    check_sizes(function, global_size, local_size, ragged)
    if typed:
        check_arrays(function, arguments)
    chosen = _groups(groups, global_size, local_size)
    model = model_of_width(model, function.sub_group)
    launch = functools.partial(
        run_kernel, program, name, global_size, local_size, arguments, step_limit=step_limit, pitches=pitches, unset=unset,
        partial=partial, watch=watch, offset=offset, sub_group=function.sub_group or model.sub_group_width,
        contract=contract if program.contract is None else program.contract and contract,
    )  # fmt: skip
    runs = _Runs(launch, functools.partial(recorder, model))
    run = runs.of(chosen)
    if groups is None:
        run = runs.of_all_if_affordable(run, global_size, local_size)
    return PrintedExplanation(
        name=filename,
        entry=name,
        entry_position=function.position,
        global_size=tuple(global_size),
        local_size=tuple(local_size),
        macros=dict(macros or {}),
        profile=run.profile,
        findings=_judged(run, runs),
        outputs=run.launch.outputs,
        source=SourceText(source, filename),
        group_count=prod(count_groups(global_size, local_size)),
        seconds=perf_counter() - begin,
        coverage=run.coverage,
        loops=loop_places(program, name, run.launch.machine.iterations),
        private_arrays=private_arrays(program, name, model.private_room),
        stop=_stop(run, step_limit),
    )


@dataclass(frozen=True)
class _Run:
    """What was seen while work-groups ran."""

    groups: Sequence[Group]
    launch: Launch
    profile: Profile
    coverage: tuple[Coverage, ...]


@dataclass(frozen=True)
class _Runs:
    """Runs of one kernel with the same arguments."""

    launch: Callable[..., Launch]
    recorder: Callable[[], TrafficRecorder]

    def of(self, groups: Sequence[Group], fill: int = 0) -> _Run:
        """A run of these work-groups. `fill` is the value of every byte that was never set."""
        counting = self.recorder()
        launch = self.launch(groups, counting, fill=fill)
        return _Run(groups, launch, counting.profile(), counting.coverage())

    def of_all_if_affordable(self, first: _Run, global_size: Sequence[int], local_size: Sequence[int]) -> _Run:
        """A run of all work-groups, if it takes not too long after the `first` run of some."""
        if not all_are_affordable(global_size, local_size, len(first.groups), first.launch.machine.steps_taken):
            return first
        groups = all_groups(global_size, local_size)
        if len(groups) <= len(first.profile.groups) or first.launch.stopped is not None:
            return replace(first, groups=groups)
        return self.of(groups)


def _judged(run: _Run, runs: _Runs) -> tuple[Finding, ...]:
    """The findings of a run. Where their kind depends on unset bytes or on the order of the work-groups, it runs again."""
    findings = run.launch.findings
    if run.launch.stopped is not None:
        return findings
    if any(map(may_be_unused, findings)):
        findings = _without_unused(findings, run, lambda: runs.of(run.groups, 0xFF))
    if any(each.kind == COUNTED for each in findings):
        findings = _in_any_order(findings, runs.of(run.groups[::-1]).launch.findings)
    return findings


def _stop(run: _Run, step_limit: int) -> Stop | None:
    """Where and after how much a run ended early."""
    launch = run.launch
    if not launch.stopped:
        return None
    return Stop(launch.stopped, min(step_limit, launch.machine.steps_taken), launch.ended, len(run.groups))


def _without_unused(findings: tuple[Finding, ...], first: _Run, run: Callable[[], _Run]) -> tuple[Finding, ...]:
    """Finds reads of unset private values that are no faults, since nothing depends on them: the kernel stores the same values
    to the same places when `run` fills every unset byte with 0xFF (NaN, -1) instead of 0. Such values may be moved and
    dropped."""
    try:
        second = run()
    except SourceError:
        return findings
    launch, other = first.launch, second.launch
    same = (
        launch.outputs.keys() == other.outputs.keys()
        and all(array.tobytes() == other.outputs[key].tobytes() for key, array in launch.outputs.items())
        and [each.cost for each in first.profile.accesses] == [each.cost for each in second.profile.accesses]
        and [each.kind for each in launch.findings if each.is_fault]
        == [each.kind for each in other.findings if each.is_fault]
    )
    if not same:
        return findings
    return tuple(_unused(each) if may_be_unused(each) else each for each in findings)


def _unused(finding: Finding) -> Finding:
    text = Sentence("{read}; but nothing that the kernel stores depends on it", read=finding.text)
    return replace(finding, kind=UNUSED, text=text)


def _in_any_order(findings: tuple[Finding, ...], reversed_order: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Races ordered by a counter are real races if the counter did not order them when the groups ran in reverse order."""
    real = {(each.position, each.other): each for each in reversed_order if each.kind == GROUPS}
    return tuple(real.get((each.position, each.other), each) if each.kind == COUNTED else each for each in findings)


def may_be_unused(finding: Finding) -> bool:
    """A read of an unset private variable. In local memory, which others see, such a read is always a fault."""
    return finding.kind == UNINITIALISED and "private '" in finding.text


def choose_entry(program: Program, entry: str | None, filename: str) -> str:
    kernels = program.kernels
    if not kernels:
        raise InvalidInput(f"{filename} holds no __kernel function")
    if entry is None:
        if len(kernels) > 1:
            raise InvalidInput(f"{filename} holds {len(kernels)} kernels ({', '.join(kernels)}); name one as the entry")
        return kernels[0]
    if entry not in kernels:
        raise UnknownName("kernel", entry, kernels)
    return entry


def _groups(groups: Groups, global_size: Sequence[int], local_size: Sequence[int]) -> list[Group]:
    if groups is None:
        return choose_groups(global_size, local_size)
    if isinstance(groups, str):
        if groups != "all":
            raise InvalidInput(f"groups={quoted(groups)}: give a list of groups, such as [(0, 0, 0)], or 'all'")
        return all_groups(global_size, local_size)
    _check_groups(groups)
    counts = count_groups(global_size, local_size)
    for group in groups:
        if len(group) != 3 or any(not 0 <= at < count for at, count in zip(group, counts, strict=False)):
            raise InvalidInput(f"there is no work-group {group}; the NDRange has {'x'.join(map(str, counts))}")
    return list(groups)


def _check_groups(groups: Any) -> None:
    lists = isinstance(groups, Sequence) and all(isinstance(each, Sequence) for each in groups)
    if not lists or not all(is_whole(at) for group in groups for at in group):
        raise InvalidInput(f"groups={quoted(groups)}: give a list of groups, such as [(0, 0, 0)], or 'all'")
