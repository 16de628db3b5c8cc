"""The commands `inspect` and `roofline`: what a compiler made of a kernel, and which peak of a device limits it."""

import argparse
import re
from collections.abc import Mapping
from dataclasses import replace

from ..analysis.inspect import ARCHITECTURES, DEVICE, SIZE, Inspection, inspect_kernel
from ..analysis.inspect.compare import compare
from ..bench.roofline import roofline
from ..core.kernel import Kernel
from ..core.records import to_json
from ..errors import InvalidInput, Unsupported
from ..report.roofline import ROOFLINE_PICTURES, save_roofline
from .arguments import is_file, kernel_of, own_kernel, rung_of, settings_of, size_of
from .outputs import check_target, write_or_rescue

NO_GROUP = "the size of work-groups is not known, and so no occupancy: give --local, such as --local 16,16"


def inspect_command(options: argparse.Namespace) -> int:
    """`tilewright inspect`: what a compiler made of a kernel, one of its listings, or two of them compared."""
    arch = options.arch or DEVICE
    wanted = next((form for form in ("SASS", "PTX", "ISA") if getattr(options, form.lower())), "")
    refuse_unused(options, arch, wanted)
    settings = settings_of(options.define)
    first = inspect_one(options.kernel, arch, settings, options)
    if options.diff is not None:
        second = inspect_one(*other_side(options.diff, options.kernel, arch, settings), options)
        print(
            "\n".join(compare(first, second)) if not options.json else to_json([_short(first), _short(second)]),
            end="\n",
        )
        return 0
    if wanted:
        print(listing_text(first, wanted))
    elif options.json:
        print(to_json(_short(first)), end="")
    else:
        print(first)
    return 0


def refuse_unused(options: argparse.Namespace, arch: str, wanted: str) -> None:
    """InvalidInput for options that the others leave without an effect."""
    if wanted and (options.diff is not None or options.json):
        other = "--json" if options.json else f"--diff {options.diff}"
        raise InvalidInput(
            f"--{wanted.lower()} and {other}: one listing is printed by itself; leave one of the two out"
        )
    if options.device is not None and DEVICE not in (arch, options.diff):
        raise InvalidInput(
            f"--device {options.device}: for --arch {arch} nothing asks a device; leave one of the two out"
        )


def inspect_one(name: str, arch: str, settings: Mapping[str, str], options: argparse.Namespace) -> Inspection:
    """Inspect a rung or a user's file as the options say."""
    own = argparse.Namespace(**{**vars(options), "kernel": name})
    kernel = _file_kernel(own, settings) if is_file(name) else rung_of(own)
    found = inspect_kernel(
        kernel, arch, size_of(options) or SIZE, dtype=options.dtype, offset=options.offset,
        device=options.device, settings={} if is_file(name) else settings,
    )  # fmt: skip
    if is_file(name) and not options.local_size:
        return replace(found, occupancy=None, notes=(*found.notes, NO_GROUP))
    return found


def _file_kernel(options: argparse.Namespace, settings: Mapping[str, str]) -> Kernel:
    """A user's kernel; where no geometry is given, one work-item stands for it, since only its code is looked at."""
    local = options.local_size or ",".join("1" for _ in (options.global_size or "1").split(","))
    return own_kernel(options, options.global_size or local, local, settings)


def other_side(text: str, name: str, arch: str, settings: Mapping[str, str]) -> tuple[str, str, dict[str, str]]:
    """What `--diff` names: settings (BK=8,TM=4), an architecture, or another kernel."""
    if "=" in text:
        return name, arch, {**settings, **settings_of(text.split(","))}
    if text in ARCHITECTURES or re.fullmatch(r"(sm_|gfx)\w+", text):
        return name, text, dict(settings)
    return text, arch, dict(settings)


def listing_text(inspection: Inspection, form: str) -> str:
    """One listing; for `ISA` that of AMD or x86. Unsupported says which there are."""
    forms = {"ISA": ("ISA", "x86", "SASS")}.get(form, (form,))
    for each in forms:
        if each in inspection.texts:
            return inspection.texts[each].rstrip()
    there = ", ".join(inspection.texts) or "no listing"
    reasons = " ".join(inspection.missing)
    raise Unsupported(f"{inspection.name} has no {form}; there is {there}. {reasons}".strip())


def _short(inspection: Inspection) -> Inspection:
    """Without the listings, which are asked for by themselves."""
    return replace(inspection, texts={})


def roofline_command(options: argparse.Namespace) -> int:
    """`tilewright roofline`: which of a device's measured peaks limits a kernel, and the % reached."""
    size = size_of(options) or ()
    kernel = kernel_of(options)
    if options.plot:
        check_target("--plot", options.plot, ROOFLINE_PICTURES)
        if kernel.operation != "gemm":
            raise InvalidInput(
                f"--plot {options.plot}: a {kernel.operation} makes no multiply-adds, and so has no roofline to draw"
            )
    found = roofline(kernel, size, options.device, options.dtype, options.offset, options.seconds)
    if options.plot:
        write_or_rescue(options.plot, found, save_roofline)
    print(to_json(found) if options.json else found, end="" if options.json else "\n")
    if options.plot and not options.json:
        print(f"wrote {options.plot}")
    return int(not found.row.passed)
