"""The command `explain`: a kernel's memory traffic counted on paper; nothing is run on a device."""

import argparse
import json
from collections.abc import Mapping
from typing import Any

from ..analysis.explain import Explanation
from ..analysis.explain.serialise import to_dict
from ..analysis.explanations import compare_explanations, explain, what_if
from ..core.kernel import Kernel
from ..errors import InvalidInput, TilewrightError
from ..kernels import rung_before
from .arguments import kernel_and_settings, size_of


def explain_command(options: argparse.Namespace) -> int:
    """`tilewright explain`: the annotated source, or the table of `--sweep` and `--pitch`; 1 if there are faults."""
    kernel, settings = kernel_and_settings(options)
    dtype = kernel.usual_dtype if options.dtype is None else options.dtype
    common = {"size": size_of(options), "dtype": dtype, "offset": options.offset, "model": options.device_model}
    if options.sweep or options.pitch:
        return _what_if(kernel, options, {**common, "settings": settings})
    if options.picture:
        check_picture(options)
    found = explain(kernel, settings=settings, **common)
    launches = (*found.earlier, found)
    if options.json:
        print(json.dumps([to_dict(each) for each in launches], indent=1))
    else:
        for each in launches:
            print(each, end="\n\n")
        _print_changes(kernel, found, common)
    if options.picture:
        from ..analysis.explain.drawing.picture import save_picture

        print(f"wrote {save_picture(found, options.picture)}")
    return int(any(each.faults for each in launches))


def check_picture(options: argparse.Namespace) -> None:
    """InvalidInput for a picture that cannot be written, before anything is counted."""
    from ..analysis.explain.drawing.picture import ENDINGS  # drawings and plots are imported where they are asked for
    from .outputs import check_target

    check_target("--picture", options.picture, ENDINGS)


def _what_if(kernel: Kernel, options: argparse.Namespace, common: Mapping[str, Any]) -> int:
    """Print the table of all variations; 1 if none of them could be counted."""
    if options.picture or options.json:
        word = "--picture" if options.picture else "--json"
        raise InvalidInput(
            f"{word}: --sweep and --pitch print one table; explain a variation by itself, with -D, for that"
        )
    swept = {name: values.split(",") for name, values in map(_setting, options.sweep)}
    found = what_if(kernel, sweep=swept, pitches=dict(map(_pitches, options.pitch)), **common)
    print(found)
    return int(all(answer.totals is None for answer in found.answers))


def _setting(text: str) -> tuple[str, str]:
    name, equals, values = text.partition("=")
    if not equals or not name.isidentifier() or not all(value.strip() for value in values.split(",")):
        raise InvalidInput(f"{text!r}: write NAME=VALUE,VALUE,...")
    return name, values


def _pitches(text: str) -> tuple[str, list[int]]:
    array, values = _setting(text)
    if not all(value.isdecimal() and int(value) for value in values.split(",")):
        raise InvalidInput(f"--pitch {array}={values}: pitches are whole numbers of at least 1")
    return array, [int(value) for value in values.split(",")]


def _print_changes(kernel: Kernel, found: Explanation, common: Mapping[str, Any]) -> None:
    """What changed against the rung before, where there is one."""
    previous = rung_before(kernel)
    if previous is None:
        return
    try:
        before = explain(previous, **common)
    except TilewrightError as reason:
        print(f"not compared with {previous.name}, which cannot be explained so: {reason}")
        return
    print("\n".join(compare_explanations(before, found)))
