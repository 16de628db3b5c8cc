"""The commands `inspect` and `roofline`: what a compiler made of a kernel, and which ceiling of a device binds it."""

import argparse
import re
from collections.abc import Mapping
from dataclasses import replace

from .arguments import kernel_of, parse_size
from .custom import custom_kernel
from .errors import InvalidInput, Unsupported
from .inspection import ARCHITECTURES, DEVICE, SIZE, Inspection, inspect_kernel
from .inspection.changes import compare
from .kernel import Kernel
from .records import to_json
from .report.roof import save_roof
from .rooflines import roofline

NO_GROUP = "the size of work-groups is not known, and so no occupancy: give --local, such as --local 16,16"


def inspect_command(options: argparse.Namespace) -> int:
    """`tilewright inspect`: registers, occupancy and instructions of a kernel, for any architecture, here or not."""
    arch = options.arch or DEVICE
    settings = settings_of(options.define)
    first = inspect_one(options.kernel, arch, settings, options)
    if options.diff:
        second = inspect_one(*other_side(options.diff, options.kernel, arch, settings), options)
        print(
            "\n".join(compare(first, second)) if not options.json else to_json([_short(first), _short(second)]),
            end="\n",
        )
        return 0
    wanted = next((form for form in ("SASS", "PTX", "ISA") if getattr(options, form.lower())), "")
    if wanted:
        print(listing_text(first, wanted))
    elif options.json:
        print(to_json(_short(first)), end="")
    else:
        print(first)
    return 0


def inspect_one(name: str, arch: str, settings: Mapping[str, str], options: argparse.Namespace) -> Inspection:
    """Inspect a rung or a user's file as the options say."""
    own = argparse.Namespace(**{**vars(options), "kernel": name})
    is_file = name.endswith(".cl")
    kernel = _file_kernel(own, settings) if is_file else kernel_of(own)
    found = inspect_kernel(
        kernel, arch, parse_size(options.size) if options.size else SIZE, dtype=options.dtype, offset=options.offset,
        device=options.device, settings={} if is_file else settings,
    )  # fmt: skip
    if is_file and not options.local_size:
        return replace(found, occupancy=None, notes=(*found.notes, NO_GROUP))
    return found


def _file_kernel(options: argparse.Namespace, settings: Mapping[str, str]) -> Kernel:
    """A user's kernel; where no geometry is given, one work-item stands for it, since only its code is looked at."""
    if options.global_size and options.local_size:
        return kernel_of(options)
    local = options.local_size.split(",") if options.local_size else ["1"]
    wanted = options.global_size.split(",") if options.global_size else local
    return custom_kernel(options.kernel, wanted, local, settings, options.problem, options.order, options.build_option)


def other_side(text: str, name: str, arch: str, settings: Mapping[str, str]) -> tuple[str, str, dict[str, str]]:
    """What `--diff` names: settings (BK=8,TM=4), an architecture, or another kernel."""
    if "=" in text:
        return name, arch, {**settings, **settings_of(text.split(","))}
    if text in ARCHITECTURES or re.fullmatch(r"(sm_|gfx)\w+", text):
        return name, text, dict(settings)
    return text, arch, dict(settings)


def settings_of(definitions: list[str]) -> dict[str, str]:
    """ "BK=8" as {"BK": "8"}."""
    found = {}
    for each in definitions:
        name, _, value = each.partition("=")
        if not re.fullmatch(r"\w+", name):
            raise InvalidInput(f"{each!r}: write NAME=VALUE")
        found[name] = value or "1"
    return found


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
    """`tilewright roofline`: which of a device's measured ceilings binds a kernel, and how near it came."""
    size = parse_size(options.size) if options.size else ()
    found = roofline(kernel_of(options), size, options.device, options.dtype, options.offset, options.seconds)
    print(to_json(found) if options.json else found, end="" if options.json else "\n")
    if options.plot:
        save_roof(found, options.plot)
        print(f"wrote {options.plot}")
    return int(found.row.status != "ok")
