"""Sentences about constant memory, atomic functions, and private arrays that lie off-chip."""

from .explanation import Explanation
from .numbers import number
from .private_arrays import PrivateArray
from .profile import LineAccess

_INTEGERS = "compilers for NVIDIA's GPUs first add up a warp whose lanes add integers to what they know to be one place"


def constant_sentence(access: LineAccess) -> str:
    """A constant cache that serves the addresses of a request one by one."""
    return (
        f"line {access.position.line} reads {access.buffer} at {number(access.per_request)} addresses of constant memory a "
        "request where 1 is enough: the constant cache serves them one by one. It is made for one address at a time: pass "
        f"{access.buffer} as __global const, or copy it to local memory"
    )


def atomic_sentence(explanation: Explanation, access: LineAccess) -> str:
    """Work-items that update one place must take turns."""
    model, scale = explanation.model, explanation.group_count / max(1, len(explanation.groups))
    mean = number(access.turns / access.requests)
    at_most = f", {access.contention} at most" if access.contention > access.turns / access.requests else ""
    text = (
        f"line {access.position.line} updates {access.buffer} atomically: {mean} work-items of a {model.sub_group} meet at one "
        f"place{at_most}, and take turns"
    )
    if access.is_local:
        text += f"; {access.hottest:,} updates of a work-group go to one place: several copies of {access.buffer}"
        return f"{text}, one for each {model.sub_group} or lane, spread them"
    about = "about " if scale > 1 else ""
    text += (
        f"; {about}{scale * access.hottest:,.0f} of {scale * access.updates:,.0f} updates go to one place, where "
        f"{'the L2 cache makes' if not model.is_cpu else 'cores make'} them one after the other: count in local or private "
        "memory first, and update once for each work-group"
    )
    return f"{text} ({_INTEGERS})" if access.contention == model.lanes and model.serial_constants else text


def private_sentences(explanation: Explanation) -> list[tuple[float, str]]:
    """A sentence for each private array that lies off-chip, and the sectors that its accesses move."""
    scale = explanation.group_count / max(1, len(explanation.groups))
    found = []
    for array in explanation.private_arrays:
        own = [each for each in explanation.private_accesses if each.buffer == array.name]
        if array.off_chip and own:
            found.append((scale * sum(each.cost for each in own), private_sentence(explanation, array, own)))
    return found


def private_sentence(explanation: Explanation, array: PrivateArray, own: list[LineAccess]) -> str:
    """Why an array lies off-chip, what it moves, and what would keep it in registers."""
    model = explanation.model
    if array.subscript is None:
        why = f"has {array.nbytes:,} bytes for each work-item, and the registers of a work-item hold {model.register_bytes:,}"
        cure = "a shorter part of it at a time could stay there"
    else:
        why = (
            f"is indexed at line {array.subscript.line} by what is no constant even with loops unrolled, and registers have no "
            "addresses"
        )
        cure = "with constant subscripts it could stay in registers"
    requests, sectors = sum(each.requests for each in own), sum(each.cost for each in own)
    each = number(sectors / requests)
    text = (
        f"line {array.position.line}: the private array {array.name} {why}: it lies in off-chip memory, {requests:,} requests of "
        f"{each} {model.pieces if each != '1' else model.piece} each"
    )
    scattered = max(own, key=lambda access: access.degree)
    if scattered.degree > 1 and array.subscript is not None and scattered.size >= 4:
        text += f" (the lanes of a {model.sub_group} share {model.pieces} only where their subscripts agree)"
    return f"{text}; {cure} (`tilewright inspect` shows the stack)"
