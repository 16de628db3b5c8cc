"""The command `explain`: a kernel's memory traffic counted on paper; nothing is run on a device."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from .access import Explanation, explain_kernel, find_model
from .access.drawing.picture import ENDINGS, save_picture
from .access.serialise import to_dict
from .access.totals import changes
from .access.whatif import Answer, pitch_variations, sweep, table
from .arguments import check_geometry, kernel_of, parse_size, rung_before
from .custom import Geometry
from .device import DeviceInfo
from .errors import InvalidInput, TilewrightError, Unsupported
from .explanations import check_explainable, default_size
from .inspection.examine import with_settings
from .kernel import Config, Kernel
from .ladders import make_problem
from .outputs import check_target
from .problem import Problem

MOST_ITEMS = 8192  # work-items of a group: no known driver allows more
ANY_DEVICE = DeviceInfo("any device", "", kind="gpu", local_bytes=2**31, fp64=True, fp16=True)
HARMLESS = ("-cl-", "-w", "-W", "-O", "-g")  # how compiler options begin that change no access


def explain_command(options: argparse.Namespace) -> int:
    """`tilewright explain`: sectors, bank conflicts, races and other faults of a kernel, counted without a GPU."""
    swept = {name: values.split(",") for name, values in map(_setting, options.sweep)}
    kernel = kernel_of(options)
    refuse_compiler_options(kernel)
    if options.picture:
        check_target("--picture", options.picture, ENDINGS)
    if swept or options.pitch:
        answers = what_if(kernel, options, swept)
        print("\n".join(table(answers)))
        return int(all(answer.totals is None for answer in answers))
    explanations = explain(kernel, options)
    if options.json:
        print(json.dumps([to_dict(each) for each in explanations], indent=1))
    else:
        for each in explanations:
            print(each, end="\n\n")
        _print_changes(kernel, explanations[-1], options)
    if options.picture:
        print(f"wrote {save_picture(explanations[-1], options.picture)}")
    return int(any(each.faults for each in explanations))


def explain(kernel: Kernel, options: argparse.Namespace, **changed: Any) -> tuple[Explanation, ...]:
    """Explain every launch of a kernel at the size and on the hardware model that the options name."""
    size = parse_size(options.size) if options.size is not None else default_size(kernel)
    problem = make_problem(kernel, size, options.dtype or kernel.usual_dtype, options.offset)
    check_explainable(problem)
    refuse_geometry(replace(kernel, config=changed.get("config", kernel.config)), problem, options)
    return explain_kernel(kernel, problem, model=find_model(options.device_model), **changed)


def refuse_geometry(kernel: Kernel, problem: Problem, options: argparse.Namespace) -> None:
    """InvalidInput for work-groups larger than any device's; Unsupported for settings that the rung itself would refuse."""
    items = kernel.config.ndrange(problem).group_items
    if items > MOST_ITEMS:
        raise InvalidInput(
            f"{kernel.name} ({kernel.config}): a work-group of {items:,} work-items; drivers allow {MOST_ITEMS:,}"
        )
    if options.define or options.sweep:
        for sentence in kernel.config.violations(problem, ANY_DEVICE):
            raise Unsupported(f"{kernel.name} ({kernel.config}): {sentence}")


def refuse_compiler_options(kernel: Kernel) -> None:
    """InvalidInput for compiler options that change what a kernel does: nothing is compiled here."""
    changing = [each for each in kernel.options if not each.strip().startswith(HARMLESS)]
    if changing:
        raise InvalidInput(
            f"--build-option {changing[0]}: explain compiles nothing and cannot obey it; macros are given by -D NAME=VALUE"
        )


def what_if(kernel: Kernel, options: argparse.Namespace, swept: Mapping[str, Sequence[str]]) -> list[Answer]:
    """The answers for every combination of swept values, then for every pitch of a local array.

    A field of the kernel's configuration changes the geometry with it; any other name is a macro alone.
    """
    variations: list[dict[str, Any]] = []
    for values in product(*swept.values()) if swept else ():
        variations.append(variation_of(kernel, dict(zip(swept, values, strict=True))))
    for array, pitches in map(_setting, options.pitch):
        if not all(value.isdecimal() and int(value) for value in pitches.split(",")):
            raise InvalidInput(f"--pitch {array}={pitches}: pitches are whole numbers of at least 1")
        variations += pitch_variations(array, [int(value) for value in pitches.split(",")])
    return sweep(lambda **variation: explain(kernel, options, **variation)[-1], variations)


def variation_of(kernel: Kernel, chosen: Mapping[str, str]) -> dict[str, Any]:
    """The configuration and the macros for one choice of values."""
    if isinstance(kernel.config, Geometry):
        defines = dict(kernel.config.defines)
        own = {name: value for name, value in chosen.items() if name in defines}
        others: Mapping[str, str | int] = {name: value for name, value in chosen.items() if name not in own}
        config: Config = replace(kernel.config, defines=tuple({**defines, **own}.items()))
    else:
        changed, others = with_settings(kernel, chosen)
        config = changed.config
    check_geometry(replace(kernel, config=config), " ".join(f"{name}={value}" for name, value in chosen.items()))
    return {"config": config, "macros": others}


def _setting(text: str) -> tuple[str, str]:
    name, equals, values = text.partition("=")
    if not equals or not name.isidentifier() or not all(value.strip() for value in values.split(",")):
        raise InvalidInput(f"{text!r}: write NAME=VALUE,VALUE,...")
    return name, values


def _print_changes(kernel: Kernel, explanation: Explanation, options: argparse.Namespace) -> None:
    """What changed against the rung before, where there is one."""
    previous = rung_before(kernel)
    if previous is None:
        return
    try:
        before = explain(previous, options)[-1]
    except TilewrightError as reason:
        print(f"not compared with {previous.name}, which cannot be explained so: {reason}")
        return
    print("\n".join(changes(before, explanation)))
