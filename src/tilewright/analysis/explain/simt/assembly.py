"""Runs statements of inline assembly whose instruction is known: what macros of the kernels' preludes are made of."""

import re
from collections.abc import Callable

from ..clc.refused import ASSEMBLY
from ..clc.tree import Assembly
from .builtins.common import constant_argument_of
from .compiled_code import Frame, Step
from .context import Context
from .masks import Mask
from .warpgroup_products import TEMPLATE, multiply_warpgroup

Build = Callable[[Context, Assembly], Step]


def compile_assembly(context: Context, statement: Assembly) -> Step:
    """What the statement does; an error where its instruction is not known."""
    for pattern, build in _INSTRUCTIONS:
        if pattern.fullmatch(statement.template):
            return build(context, statement)
    raise statement.position.error(ASSEMBLY)


def _nothing(context: Context, statement: Assembly) -> Step:
    """What orders others, or keeps a compiler from moving accesses and values past it."""
    return lambda frame, mask: mask


def _wait_group(context: Context, statement: Assembly) -> Step:
    """cp.async.wait_group: all but so many of a work-item's latest groups of copies have arrived."""
    pending = constant_argument_of(context.value(statement.inputs[0].value), statement.position, "cp.async.wait_group")
    copies = context.machine.pending_copies

    def run(frame: Frame, mask: Mask) -> Mask:
        copies.wait(mask, pending)
        return mask

    return run


# Of these the interpreter has nothing to do: it runs one instruction after the other, and each sees what those before it did.
_ORDERING = (
    r"",
    r"fence\.mbarrier_init\.release\.cluster;",
    r"fence\.proxy\.async\.shared::cta;",
    r"//@wgmma\.(fence|commit_group)\.sync\.aligned;",
    r"//@setmaxnreg\.(dec|inc)\.sync\.aligned\.u32 \d+;",
    r"//@wgmma\.wait_group\.sync\.aligned \d;",
)
_INSTRUCTIONS: tuple[tuple[re.Pattern[str], Build], ...] = (
    *((re.compile(text), _nothing) for text in _ORDERING),
    (TEMPLATE, multiply_warpgroup),
    (re.compile(r"cp\.async\.wait_group %0;"), _wait_group),
)
