"""The public calls of `explain`: what a kernel does to memory, counted without a GPU, driver or compiler."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from math import prod
from typing import Any, Unpack

from ..core.checked import check_functions, check_object, checked_count, checked_lists, checked_mapping
from ..core.custom import Geometry
from ..core.defaults import EXPLAIN_STEPS
from ..core.device import DeviceInfo
from ..core.includes import with_includes
from ..core.kernel import Config, Kernel, notes_on
from ..core.language import Sentence
from ..core.launch_options import LaunchOptions
from ..core.own_problem import OWN
from ..core.problem import Problem
from ..core.problems import check_memory, dtype_refusal, make_problem
from ..core.shown import Shown
from ..core.sizes import Sides, Size, as_size
from ..core.source import without_comments
from ..errors import InvalidInput, UnknownName, Unsupported
from ..kernels.settings import KernelName, Settings, chosen_kernel, with_settings
from .arguments import ready_kernel
from .explain import NVIDIA, Explanation, Model, PrintedExplanation, explain_kernel, find_model
from .explain.explain import Groups
from .explain.models import CPU
from .explain.simt.machine import Watch, not_watched
from .explain.totals import changes
from .explain.what_if import Answer, pitch_variations, table
from .explain.what_if import sweep as answers_to

DEFAULT_SIZES = {"gemm": (256, 256, 64), "transpose": (256, 256), "copy": (256, 256)}
SEQUENTIAL_SIZE = (32, 32, 32)  # where a few work-items do everything, every step of them is interpreted
FEW_ITEMS = 16
MOST_ITEMS = 8192  # work-items of a group: no known driver allows more
ANY_DEVICE = DeviceInfo("any device", "", kind="gpu", local_bytes=2**31, fp64=True, fp16=True)
CPU_RULES = Sentence(
    "work-groups of one work-item are for CPUs: loads and stores are counted in cache lines, each work-item by itself. Rules of "
    "GPUs are not applied; --device-model nvidia applies them"
)
HARMLESS = ("-cl-", "-w", "-W", "-O", "-g")  # how compiler options begin that change no access


def explain(
    kernel: KernelName,
    size: Size | None = None,
    *,
    dtype: str | None = None,
    offset: int = 0,
    model: Model | str | None = None,
    settings: Settings | None = None,
    global_size: Sides | None = None,
    local_size: Sides | None = None,
    config: Config | None = None,
    macros: Mapping[str, str | int] | None = None,
    pitches: Mapping[str, int] | None = None,
    groups: Groups = None,
    steps: int = EXPLAIN_STEPS,
    watch: Watch = not_watched,
    **own: Unpack[LaunchOptions],
) -> PrintedExplanation:
    """What `kernel` does to memory: its sectors, bank conflicts, races and other faults. `print` it to read it.

    `kernel` is a rung's name ("transpose/05"), a `.cl` file of your own with its `global_size` and `local_size` in work-items
    ("M,N" and "16,16"), or a Kernel (`custom_kernel` makes one). `own` are the arguments of a file: entry, arguments,
    bind, init ... (`LaunchOptions`); what is left out is guessed, and `assumed` says how. `size` is (m, n, k) or (rows,
    columns), or one number for a square; 256 x 256 x 64 or 256 x 256 if left out (32 x 32 x 32 for the kernels of a
    single work-item). `dtype` is the kernel's usual one if left out; `offset` are the columns that a transpose or copy
    leaves out. `model` names the hardware whose rules count: "nvidia" (checked against an H200's counters), "amd64",
    "amd32", "intel8", "intel16", "gt200" or "cpu". If left out it is "cpu" for work-groups of one work-item, and "nvidia"
    for others.

    `settings` change fields of a rung's configuration, and its geometry with them, or macros of a file. `config` and
    `macros` replace the kernel's own without a check. `pitches` replace the row lengths, in elements, of local arrays.
    `groups` are the work-groups to run: a list of (x, y, z), "all", or None. None runs all if that takes at most about half
    a second; else it runs those at the ends, in the middle and some others. If a kernel has several launches, the last is
    returned, and `earlier` holds the others. A launch that needs more than `steps` loop iterations and calls ends there, and
    `stop` says how far it came. `watch` is called again and again with the steps taken and the work-groups begun; True ends
    the launch.

    UnknownName for a kernel, setting, macro or array that does not exist; Unsupported for a dtype or settings that the
    kernel refuses; SourceError, with file, line and column, for what the front end cannot read.

    >>> found = explain("transpose/05", pitches={"tile": 16})
    >>> [(each.position.line, each.operation, each.degree) for each in found.accesses if each.is_local]
    [(23, 'store', 1.0), (30, 'load', 8.0)]
    """
    steps = checked_count("steps", steps)
    macros, pitches = checked_mapping("macros", macros), checked_mapping("pitches", pitches)
    check_functions(watch=watch)
    check_object("config", config, (Config, type(None)), "a kernel's configuration, such as find_kernel(...).config")
    chosen = ready_kernel(chosen_kernel(kernel, settings, global_size, local_size, **own), size, dtype)
    chosen = replace(chosen, config=config or chosen.config)
    problem = problem_of(chosen, size, dtype, offset)
    check_launch(chosen, problem)
    if settings:
        check_constraints(chosen, problem)
    explained = explain_kernel(
        chosen,
        problem,
        model=rules_for(chosen, problem, model),
        groups=groups,
        macros=macros,
        pitches=pitches,
        step_limit=steps,
        partial=True,
        watch=watch,
    )
    if not explained:
        raise InvalidInput(f"{chosen.name} ({chosen.config}): the NDRange is empty, so there is nothing to explain")
    *earlier, last = explained
    rounding = chosen.config.rounding(problem) if isinstance(chosen.config, Geometry) else ""
    why = CPU_RULES if model is None and last.model is CPU else ""
    assumed = notes_on(chosen)
    return replace(last, earlier=tuple(earlier), rounding=rounding, why_model=why, assumed=assumed)


def rules_for(kernel: Kernel, problem: Problem, model: Model | str | None) -> Model:
    """The device's rules: those asked for, or those of a CPU for work-groups of one work-item, NVIDIA's for others."""
    if isinstance(model, Model):
        return model
    if model is not None:
        return find_model(model)
    return CPU if kernel.config.ndrange(problem).group_items == 1 else NVIDIA


def problem_of(kernel: Kernel, size: Size | None, dtype: str | None, offset: int) -> Problem:
    """The problem with which a kernel is explained. Unsupported for a dtype that the kernel does not have; InvalidInput for a
    problem without elements, and for one that does not fit in memory."""
    problem = make_problem(kernel, default_size(kernel) if size is None else size, dtype, offset)
    if refusal := dtype_refusal(kernel, problem.dtype):
        raise Unsupported(refusal)
    if not all(each.elements for each in problem.operands):
        raise InvalidInput(f"{problem.title} is empty: nothing is launched, so there is nothing to explain")
    check_memory(problem)
    return problem


def default_size(kernel: Kernel) -> tuple[int, ...]:
    """The size used if none is given: large enough for several work-groups, or, for kernels that leave all work to fewer than
    FEW_ITEMS work-items, small enough for them to end. Arguments of a kernel's own need none."""
    if kernel.operation == OWN:
        return (1,)
    sizes = DEFAULT_SIZES[kernel.operation]
    geometry = kernel.config.ndrange(make_problem(kernel, sizes))
    return SEQUENTIAL_SIZE[: len(sizes)] if prod(geometry.global_size) < FEW_ITEMS else sizes


def check_launch(kernel: Kernel, problem: Problem) -> None:
    """InvalidInput for work-groups larger than any device's, and for compiler options that change what a kernel does."""
    items = kernel.config.ndrange(problem).group_items
    if items > MOST_ITEMS:
        raise InvalidInput(
            f"{kernel.name} ({kernel.config}): a work-group of {items:,} work-items; drivers allow {MOST_ITEMS:,}"
        )
    changing = [each for each in kernel.options if not each.strip().startswith(HARMLESS)]
    if changing:
        raise InvalidInput(
            f"the compiler option {changing[0]}: explain does not compile and cannot apply it; give settings and macros by "
            f"-D NAME=VALUE"
        )


def check_constraints(kernel: Kernel, problem: Problem) -> None:
    """Unsupported, with the reason, for settings that the kernel refuses."""
    for sentence in kernel.config.violations(problem, ANY_DEVICE):
        raise Unsupported(f"{kernel.name} ({kernel.config}): {sentence}")


@dataclass(frozen=True, repr=False)
class WhatIf(Shown):
    """The cost of each variation of a kernel. `print` it as a table."""

    answers: tuple[Answer, ...]

    def __str__(self) -> str:
        return "\n".join(table(self.answers))

    def one_line(self) -> str:
        return (
            f"{len(self.answers)} variations, {sum(each.totals is not None for each in self.answers)} of them counted"
        )

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each variation: its settings, then its totals in sectors, wavefronts and requests."""
        return [
            {**dict(each.settings), **(asdict(each.totals) if each.totals is not None else {}), "faults": each.faults,
             "reason": each.reason}
            for each in self.answers
        ]  # fmt: skip


def what_if(
    kernel: KernelName,
    size: Size | None = None,
    *,
    sweep: Mapping[str, Sequence[str | int]] | None = None,
    pitches: Mapping[str, Sequence[int]] | None = None,
    dtype: str | None = None,
    offset: int = 0,
    model: Model | str | None = None,
    settings: Settings | None = None,
    global_size: Sides | None = None,
    local_size: Sides | None = None,
    **own: Unpack[LaunchOptions],
) -> WhatIf:
    """The cost of a kernel with other settings: every combination of the values in `sweep`, then every row length, in
    elements, of the local arrays in `pitches`. The other arguments are those of `explain`.

    A variation that the kernel refuses is an answer with the reason. UnknownName for a setting or an array
    that does not exist; InvalidInput for values that make no geometry.

    >>> print(what_if("transpose/05", sweep={"PAD": (0, 1)}))
    PAD  sectors loaded  sectors stored  wavefronts stored  wavefronts loaded  lost to bank conflicts  faults
      0           8,192           8,192              2,048             16,384                  14,336       0
      1           8,192           8,192              4,096              4,096                   4,096       0  <- best
    """
    chosen, base = chosen_kernel(kernel, None, global_size, local_size, **own), checked_mapping("settings", settings)
    size, offset = None if size is None else as_size(size), checked_count("offset", offset, 0)
    variations: list[dict[str, Any]] = []
    if sweep := checked_lists("sweep", sweep):
        combinations = [dict(zip(sweep, values, strict=True)) for values in product(*sweep.values())]
        check_swept(chosen, base, combinations)
        variations += [{"settings": each} for each in combinations]
    for array, lengths in checked_lists("pitches", pitches).items():
        variations += pitch_variations(array, lengths)

    def ask(**variation: Any) -> Explanation:
        merged = {**variation, "settings": {**base, **variation.get("settings", {})}}
        return explain(chosen, size, dtype=dtype, offset=offset, model=model, **merged)

    return WhatIf(tuple(answers_to(ask, variations)))


def check_swept(kernel: Kernel, base: Settings, combinations: Sequence[Settings]) -> None:
    """UnknownName for a name that is neither a setting of the rung nor a word of the user's file; InvalidInput for values
    that make no geometry."""
    for chosen in combinations:
        with_settings(kernel, {**base, **chosen})
    if isinstance(kernel.config, Geometry):
        code = without_comments(with_includes(kernel.text, kernel.source, {}))
        words = re.findall(r"[A-Za-z_]\w*", " ".join((code, *kernel.config.global_size, *kernel.config.local_size)))
        for name in combinations[0] if combinations else ():
            if name not in words:
                raise UnknownName(f"macro of {kernel.name}", name, dict(kernel.config.defines))


def compare_explanations(before: Explanation, after: Explanation) -> tuple[str, ...]:
    """What changed from one explanation to another, one line for each change. `rung_before` names the kernel to compare with.

    >>> before, after = explain("transpose/04"), explain("transpose/05")
    >>> print(compare_explanations(before, after)[1])
      sectors stored to global memory: 8,192, before 32,768 (4 times fewer)
    """
    check_object("before", before, Explanation, "what explain gives")
    check_object("after", after, Explanation, "what explain gives")
    return tuple(changes(before, after))
