"""Count memory traffic, bank conflicts, races and other faults of a kernel, without a GPU."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .quantities import count, seconds

if TYPE_CHECKING:
    from ..analysis.explain import Explanation
    from ..analysis.marked_lines import MarkedLine
    from ..core.kernel import Kernel

EXAMPLES = """\
  tilewright explain tiles/2
  tilewright explain transpose/5 --sweep PAD=0,1
  tilewright explain mine.cl --global M,N --local 16,16 --html mine.html
  tilewright explain --replay CLIntercept_Dump/app/Replay"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from ..core.defaults import EXPLAIN_S, EXPLAIN_STEPS
    from .json_output import add_json
    from .replayed import add_replay
    from .shared_arguments import add_kernel, add_problem

    add_kernel(parser, needed=False)
    add_replay(parser)
    add_problem(parser.add_argument_group("problem"), "256x256x64, or 256x256")
    parser.add_argument(
        "--device-model", metavar="MODEL",
        help="{values} (default: cpu for work-groups of one work-item, nvidia for others)",
    )  # fmt: skip
    parser.add_argument(
        "--steps", type=count, default=EXPLAIN_STEPS, metavar="STEPS",
        help="loop iterations and calls of a launch, after which counting ends (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--sweep", action="append", default=[], metavar="NAME=VALUES",
        help="try these values of a setting, such as BK=8,16,32; repeat for more settings (default: none)",
    )  # fmt: skip
    parser.add_argument(
        "--pitch", action="append", default=[], metavar="ARRAY=VALUES",
        help="try these row pitches, in elements, of a __local array, such as tile=16,17,33 (default: its own)",
    )  # fmt: skip
    parser.add_argument(
        "--time-limit", type=seconds, default=EXPLAIN_S, metavar="SECONDS",
        help="time after which counting ends, in s (default: %(default)s)",
    )  # fmt: skip
    output = parser.add_argument_group("output")
    output.add_argument(
        "--picture", type=Path, metavar="FILE",
        help="draw sectors, banks and the path of the data as .svg (default: not drawn)",
    )  # fmt: skip
    output.add_argument(
        "--html", type=Path, metavar="FILE",
        help="a page: source as heat map, machine code and worst request of each line, what-if sliders (default: not written)",
    )  # fmt: skip
    output.add_argument(
        "--arch", metavar="ARCH",
        help="whose machine code stands on the page, such as sm_80 (default: sm_90, gfx90a, gfx1100 or dg2, by the model)",
    )  # fmt: skip
    output.add_argument(
        "--source", action="store_true",
        help="print every line of the source, and helper launches whole (default: the lines that move data)",
    )  # fmt: skip
    add_json(output, "what was counted")


def execute(options: argparse.Namespace) -> int:
    """The exit status: 1 if the kernel has faults, or did not end within its steps."""
    if options.replay is not None:
        from .replayed import explain_replayed

        return explain_replayed(options)
    from ..analysis.explain.annotate import report
    from ..analysis.explain.serialise import to_dict
    from ..analysis.explanations import explain
    from ..analysis.marked_lines import MarkedLine
    from ..errors import InvalidInput
    from .coloured import print_lines
    from .kernel_arguments import kernel_and_settings
    from .sizes import size_of
    from .step_progress import Progress

    kernel, settings = kernel_and_settings(options)
    dtype = kernel.usual_dtype if options.dtype is None else options.dtype
    common = {"size": size_of(options), "dtype": dtype, "offset": options.offset, "model": options.device_model}
    if options.arch and not options.html:
        raise InvalidInput(f"--arch {options.arch}: machine code stands on the page; give --html FILE, too")
    if (options.sweep or options.pitch) and not options.html:
        return _what_if(kernel, options, {**common, "settings": settings})
    check_files(options)
    with Progress(f"explaining {kernel.name}", options.steps, options.time_limit) as progress:
        common |= {"steps": options.steps, "watch": progress.watch}
        found = explain(kernel, settings=settings, **common)
        changed = _changes(kernel, found, common)
    launches = (*found.earlier, found)
    for each in (*(found.earlier if options.source else ()), found):
        print_lines(report(each, options.source))
    print_lines([MarkedLine(""), *changed])
    write_files(options, found, [to_dict(each) for each in launches])
    if options.html:
        write_page(options, kernel, found, {**common, "model": found.model}, settings)
    return int(any(each.faults or each.stop for each in launches))


def check_files(options: argparse.Namespace) -> None:
    """InvalidInput for files that cannot be written, before anything is counted."""
    if options.picture:
        from ..analysis.explain.drawing.picture import ENDINGS
        from .outputs import check_target

        check_target("--picture", options.picture, ENDINGS)
    if options.html:
        from ..analysis.kernel_page.variations import check_number
        from .outputs import check_target

        check_target("--html", options.html, (".html", ".htm"))
        check_number(*variations_of(options))
    if options.json:
        from .outputs import check_json

        check_json(options)


def write_files(options: argparse.Namespace, found: Explanation, counted: list[dict[str, Any]]) -> None:
    """Write the files of --json and --picture."""
    if options.json:
        from .outputs import write_json

        write_json(options, counted)
    if options.picture:
        from ..analysis.explain.drawing.picture import save_picture
        from .printing import tell_written

        tell_written([save_picture(found, options.picture)])


def write_page(
    options: argparse.Namespace,
    kernel: Kernel,
    found: Explanation,
    asked: Mapping[str, Any],
    settings: Mapping[str, str],
) -> None:
    """Write the page of --html. What its sliders vary is --sweep and --pitch, or the row pitches of local arrays."""
    from ..analysis.kernel_page.make import make_page
    from ..analysis.kernel_page.page import save_page
    from .printing import tell_written

    swept, pitches = variations_of(options)
    page = make_page(kernel, found, asked, settings=settings, sweep=swept, pitches=pitches, arch=options.arch)
    save_page(page, options.html)
    tell_written([options.html])


def variations_of(options: argparse.Namespace) -> tuple[dict[str, list[str]], dict[str, list[int]]]:
    """What --sweep and --pitch vary: values of settings, and row pitches of local arrays."""
    swept = {name: values.split(",") for name, values in map(_setting, options.sweep)}
    return swept, dict(map(_pitches, options.pitch))


def _what_if(kernel: Kernel, options: argparse.Namespace, common: Mapping[str, Any]) -> int:
    """Print the table of all variations. The exit status: 1 if none of them could be counted."""
    from ..analysis.explanations import what_if
    from ..errors import InvalidInput

    if options.picture or options.json:
        word = "--picture" if options.picture else "--json"
        raise InvalidInput(f"{word}: --sweep and --pitch print a table; use {word} with one variation, given by -D")
    swept, pitches = variations_of(options)
    found = what_if(kernel, sweep=swept, pitches=pitches, **common)
    print(found)
    return int(all(answer.totals is None for answer in found.answers))


def _setting(text: str) -> tuple[str, str]:
    from ..errors import InvalidInput

    name, equals, values = text.partition("=")
    if not equals or not name.isidentifier() or not all(value.strip() for value in values.split(",")):
        raise InvalidInput(f"{text!r}: write NAME=VALUE,VALUE,...")
    return name, values


def _pitches(text: str) -> tuple[str, list[int]]:
    from ..errors import InvalidInput

    array, values = _setting(text)
    if not all(value.isdecimal() and int(value) for value in values.split(",")):
        raise InvalidInput(f"--pitch {array}={values}: pitches are whole numbers of at least 1")
    return array, [int(value) for value in values.split(",")]


def _changes(kernel: Kernel, found: Explanation, common: Mapping[str, Any]) -> list[MarkedLine]:
    """What changed against the rung before, if there is one."""
    from ..analysis.explain.totals import marked_changes
    from ..analysis.explanations import default_size, explain
    from ..analysis.marked_lines import MarkedLine
    from ..core.language import translated
    from ..errors import TilewrightError
    from ..kernels import rung_before

    previous = rung_before(kernel)
    if previous is None:
        return []
    if common.get("size") is None and default_size(previous) != default_size(kernel):
        text = translated(
            "not compared with {kernel}, whose size is another; --size gives both the same", kernel=previous.name
        )
        return [MarkedLine(text)]
    try:
        before = explain(previous, **{**common, "model": found.model})
    except TilewrightError as reason:
        text = translated(
            "not compared with {kernel}, which cannot be explained with these options: {reason}",
            kernel=previous.name, reason=reason,
        )  # fmt: skip
        return [MarkedLine(text)]
    if before.stop or found.stop:
        text = translated(
            "not compared with {kernel}: one of the two did not end within its steps", kernel=previous.name
        )
        return [MarkedLine(text)]
    return marked_changes(before, found)
