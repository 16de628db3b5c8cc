"""goto: lanes that jump wait at their label until the lanes before it have come there.

Of the places in a block at which lanes wait, the first in the text always runs next, so lanes meet again as early as they can:
"thread frontiers" with the order of the text (Diamos et al., SIMD Re-Convergence at Thread Frontiers, MICRO 2011).
"""

from collections.abc import Sequence

from ..clc.refused import INTO_BLOCK, OUT_OF_EXPRESSION
from ..clc.tree import (
    Block,
    Break,
    Continue,
    Function,
    Goto,
    Label,
    Loop,
    Node,
    Return,
    Statement,
    Switch,
)
from ..clc.walk import nodes_below, nodes_of
from .compiled_code import Frame, Step
from .machine import Machine
from .masks import Mask
from .switch_labels import passes_declaration, waits


def jumps_in(function: Function) -> bool:
    """Whether control may pass a declaration: by goto, or into a switch whose cases declare variables."""
    return any(
        isinstance(node, Goto) or (isinstance(node, Switch) and passes_declaration(node.body))
        for node in nodes_of(function.body)
    )


def labels_of(statements: Sequence[Statement]) -> dict[str, int]:
    """The labels that stand right in a block, and which of its statements they are."""
    return {each.name: number for number, each in enumerate(statements) if isinstance(each, Label)}


def check_target(goto: Goto, reachable: Sequence[dict[str, int]], function: Function) -> None:
    """A label must stand in a block around the goto."""
    if any(goto.name in labels for labels in reachable):
        return
    known = any(isinstance(node, Label) and node.name == goto.name for node in nodes_of(function.body))
    raise goto.position.error(INTO_BLOCK if known else f"there is no label {goto.name!r} in {function.name}")


def jump(name: str) -> Step:
    def run(frame: Frame, mask: Mask) -> Mask:
        frame.jumps[name] = mask.union(frame.jumps.get(name))
        return mask.nobody()

    return run


def block_with_labels(
    machine: Machine,
    block: Sequence[Statement],
    steps: list[Step],
    labels: dict[str, int],
    entries: list[tuple[int, ...]],
) -> Step:
    """Runs the statements of a block among which labels stand. `entries` are the cases in each at which a switch is entered."""

    def run(frame: Frame, mask: Mask) -> Mask:
        waiting = {number: mask.nobody() for number, own in enumerate(entries) if waits(frame, own)} | {0: mask}
        while waiting:
            at = min(waiting)
            here = waiting.pop(at)
            if at == len(steps):
                return here
            through = steps[at](frame, here)
            if through.any:
                waiting[at + 1] = through.union(waiting.get(at + 1))
            for name, number in labels.items():
                jumped = frame.jumps.pop(name, None)
                if jumped is not None and jumped.any:
                    waiting[number] = jumped.union(waiting.get(number))
                    if number <= at:
                        machine.tick(block[at].position)
        return mask.nobody()

    return run


def check_stays(block: Block) -> None:
    """A statement expression has a value for every lane that begins it, so none may leave it."""
    _check_stays(block, inside=False)


def _check_stays(node: Node, inside: bool) -> None:
    leaves = Return | Goto if inside else Return | Goto | Break | Continue
    if isinstance(node, leaves):
        raise node.position.error(OUT_OF_EXPRESSION.format(word=type(node).__name__.lower()))
    inside = inside or isinstance(node, Loop | Switch)
    for each in nodes_below(node):
        _check_stays(each, inside)
