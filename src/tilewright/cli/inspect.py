"""Print registers, occupancy and instructions of a compiled kernel, for a device or, offline, for any architecture."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..analysis.inspect import Inspection
    from ..core.kernel import Kernel

EXAMPLES = """\
  tilewright inspect tiles/6 --arch sm_90
  tilewright inspect tiles/6 --arch sm_90 --diff BK=8
  tilewright inspect mine.cl --global M,N --local 16,16 --sass --arch sm_90"""
NO_GROUP = "occupancy is unknown without the size of work-groups: give --local, such as --local 16,16"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from ..core.defaults import INSPECT_SIDE
    from .json_output import add_json
    from .shared_arguments import add_device, add_kernel, add_problem

    add_kernel(parser)
    add_problem(parser.add_argument_group("problem"), str(INSPECT_SIDE))
    add_device(parser)
    parser.add_argument(
        "--arch", metavar="ARCH",
        help="sm_70 .. sm_120, gfx90a, gfx942, gfx1100, dg2, pvc, bmg, x86-64-v4 ..., or device (default: device)",
    )  # fmt: skip
    parser.add_argument(
        "--diff", metavar="OTHER", help="compare with another rung, settings (BK=8) or ARCH (default: no comparison)"
    )
    output = parser.add_argument_group("output")
    add_json(output)
    listing = output.add_mutually_exclusive_group()
    for form, what in (
        ("sass", "NVIDIA's machine code"),
        ("ptx", "the PTX"),
        ("isa", "AMD's, Intel's or x86 machine code"),
    ):
        listing.add_argument(f"--{form}", action="store_true", help=f"print {what} (default: a summary)")


def execute(options: argparse.Namespace) -> int:
    from ..analysis.inspect import DEVICE
    from ..analysis.inspect.compare import compare
    from ..analysis.inspect.printing import marked_inspection
    from ..core.kernel_options import settings_of
    from .coloured import print_lines
    from .outputs import check_json, write_json

    arch = options.arch or DEVICE
    wanted = next((form for form in ("SASS", "PTX", "ISA") if getattr(options, form.lower())), "")
    refuse_unused(options, arch, wanted)
    check_json(options)
    settings = settings_of(options.define)
    first = inspect_one(options.kernel, arch, settings, options)
    if options.diff is not None:
        second = inspect_one(*other_side(options.diff, options.kernel, arch, settings), options)
        print_lines(marked_inspection(compare(first, second)))
        write_json(options, [_short(first), _short(second)])
        return 0
    if wanted:
        print(listing_text(first, wanted))
    else:
        print_lines(marked_inspection(str(first).split("\n")))
        write_json(options, _short(first))
    return 0


def refuse_unused(options: argparse.Namespace, arch: str, wanted: str) -> None:
    """InvalidInput for options without an effect."""
    from ..analysis.inspect import DEVICE
    from ..errors import InvalidInput

    if wanted and (options.diff is not None or options.json):
        other = "--json" if options.json else f"--diff {options.diff}"
        raise InvalidInput(f"--{wanted.lower()} and {other}: a listing is printed alone; leave one of the two out")
    if options.device is not None and DEVICE not in (arch, options.diff):
        raise InvalidInput(f"--device {options.device}: --arch {arch} uses no device; leave one of the two out")


def inspect_one(name: str, arch: str, settings: Mapping[str, str], options: argparse.Namespace) -> Inspection:
    """Inspect a rung or a user's file."""
    from ..analysis.inspect import inspect
    from ..core.defaults import INSPECT_SIDE
    from ..core.kernel_options import with_head
    from ..errors import InvalidInput
    from .kernel_arguments import is_file, rung_of
    from .sizes import size_of

    own = argparse.Namespace(**{**vars(options), "kernel": name})
    size = size_of(options)
    if size is not None and 0 in size:
        raise InvalidInput(f"--size {options.size}: there is nothing to compute; a size has sides of at least 1")
    if is_file(name):
        own = with_head(Path(name), own)
        kernel = _file_kernel(own, settings)
    else:
        kernel = rung_of(own)
    found = inspect(
        kernel, arch, size or INSPECT_SIDE, dtype=options.dtype, offset=options.offset,
        device=options.device, settings={} if is_file(name) else settings,
    )  # fmt: skip
    if is_file(name) and not own.local_size:
        return replace(found, occupancy=None, notes=(*found.notes, NO_GROUP))
    return found


def _file_kernel(options: argparse.Namespace, settings: Mapping[str, str]) -> Kernel:
    """A user's kernel. Without a geometry its sizes are guessed, and its occupancy is not known."""
    from ..core.custom import own_kernel

    define = [*options.define, *(f"{name}={value}" for name, value in settings.items())]
    return own_kernel(options.kernel, argparse.Namespace(**{**vars(options), "define": define}))


def other_side(text: str, name: str, arch: str, settings: Mapping[str, str]) -> tuple[str, str, dict[str, str]]:
    """The value of `--diff`: settings (BK=8,TM=4), an architecture, or another kernel."""
    from ..analysis.inspect import ARCHITECTURES
    from ..core.kernel_options import settings_of

    if "=" in text:
        return name, arch, {**settings, **settings_of(text.split(","))}
    if text in ARCHITECTURES or re.fullmatch(r"(sm_|gfx)\w+", text):
        return name, text, dict(settings)
    return text, arch, dict(settings)


def listing_text(inspection: Inspection, form: str) -> str:
    """One listing; for `ISA` that of AMD, Intel or x86. Unsupported names the listings that exist."""
    from ..errors import Unsupported

    forms = {"ISA": ("ISA", "Xe", "x86", "SASS")}.get(form, (form,))
    for each in forms:
        if each in inspection.texts:
            return inspection.texts[each].rstrip()
    there = ", ".join(inspection.texts) or "no listing"
    reasons = " ".join(inspection.missing)
    raise Unsupported(f"{inspection.name} has no {form} listing; it has {there}. {reasons}".strip())


def _short(inspection: Inspection) -> Inspection:
    """The inspection without its listings, which have options of their own."""
    return replace(inspection, texts={})
