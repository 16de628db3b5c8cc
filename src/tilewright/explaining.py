"""The command `explain`: a kernel's memory traffic counted on paper; nothing is run on a device."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from itertools import product
from typing import Any

from .access import Explanation, explain_kernel, find_model
from .access.drawing.picture import save_picture
from .access.serialise import to_dict
from .access.totals import changes
from .access.whatif import Answer, pitch_variations, sweep, table
from .arguments import kernel_of, parse_size, rung_before
from .errors import InvalidInput
from .explanations import default_size
from .kernel import Kernel
from .ladders import make_problem


def explain_command(options: argparse.Namespace) -> int:
    """`tilewright explain`: sectors, bank conflicts, races and other faults of a kernel, counted without a GPU."""
    swept = {name: values.split(",") for name, values in map(_setting, options.sweep)}
    kernel = kernel_of(options)
    if swept or options.pitch:
        print("\n".join(table(what_if(kernel, options, swept))))
        return 0
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
    size = parse_size(options.size) if options.size else default_size(kernel)
    problem = make_problem(kernel, size, options.dtype or kernel.usual_dtype, options.offset)
    return explain_kernel(kernel, problem, model=find_model(options.device_model), **changed)


def what_if(kernel: Kernel, options: argparse.Namespace, swept: Mapping[str, Sequence[str]]) -> list[Answer]:
    """The answers for every combination of swept values, then for every pitch of a local array.

    A field of the kernel's configuration changes the geometry with it; any other name is a macro alone.
    """
    own = {each.name for each in fields(kernel.config)}
    variations: list[dict[str, Any]] = []
    for values in product(*swept.values()) if swept else ():
        chosen = dict(zip(swept, values, strict=True))
        changed = {name: int(value) for name, value in chosen.items() if name in own}
        macros = {name: value for name, value in chosen.items() if name not in own}
        variations.append({"config": replace(kernel.config, **changed), "macros": macros})
    for array, pitches in map(_setting, options.pitch):
        variations += pitch_variations(array, [int(value) for value in pitches.split(",")])
    return sweep(lambda **variation: explain(kernel, options, **variation)[-1], variations)


def _setting(text: str) -> tuple[str, str]:
    name, equals, values = text.partition("=")
    if not equals or not values:
        raise InvalidInput(f"{text!r}: write NAME=VALUE,VALUE,...")
    return name, values


def _print_changes(kernel: Kernel, explanation: Explanation, options: argparse.Namespace) -> None:
    """What changed against the rung before, where there is one."""
    previous = rung_before(kernel)
    if previous is None:
        return
    print("\n".join(changes(explain(previous, options)[-1], explanation)))
