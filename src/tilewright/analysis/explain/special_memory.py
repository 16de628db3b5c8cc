"""Sentences about constant memory, atomic functions, and private arrays that lie off-chip."""

from ...core.language import Sentence, translated
from .explanation import Explanation
from .numbers import number
from .private_arrays import PrivateArray
from .profile import LineAccess

_INTEGERS = Sentence(
    "compilers for NVIDIA's GPUs first add up a warp whose lanes add integers to what they know to be one place"
)


def constant_sentence(access: LineAccess) -> str:
    """A constant cache that serves the addresses of a request one by one."""
    return translated(
        "line {line} reads {buffer} at {count} addresses of constant memory a request where 1 is enough: the constant cache "
        "serves them one by one. It is made for one address at a time: pass {buffer} as __global const, or copy it to local "
        "memory",
        line=access.position.line, buffer=access.buffer, count=number(access.per_request),
    )  # fmt: skip


def atomic_sentence(explanation: Explanation, access: LineAccess) -> str:
    """Work-items that update one place must take turns."""
    model, scale = explanation.model, explanation.group_count / max(1, len(explanation.groups))
    values = {
        "line": access.position.line, "buffer": access.buffer, "mean": number(access.turns / access.requests),
        "most": access.contention, "sub_group": model.sub_group,
    }  # fmt: skip
    if access.contention > access.turns / access.requests:
        text = translated(
            "line {line} updates {buffer} atomically: {mean} work-items of a {sub_group} meet at one place, {most} at most, and "
            "take turns",
            **values,
        )
    else:
        text = translated(
            "line {line} updates {buffer} atomically: {mean} work-items of a {sub_group} meet at one place, and take turns",
            **values,
        )
    if access.is_local:
        return text + translated(
            "; {count:,} updates of a work-group go to one place: several copies of {buffer}, one for each {sub_group} or lane, "
            "spread them",
            count=access.hottest, buffer=access.buffer, sub_group=model.sub_group,
        )  # fmt: skip
    values = {
        "about": translated("about ") if scale > 1 else "", "some": scale * access.hottest, "all": scale * access.updates,
    }  # fmt: skip
    if model.is_cpu:
        text += translated(
            "; {about}{some:,.0f} of {all:,.0f} updates go to one place, where cores make them one after the other: count in "
            "local or private memory first, and update once for each work-group",
            **values,
        )
    else:
        text += translated(
            "; {about}{some:,.0f} of {all:,.0f} updates go to one place, where the L2 cache makes them one after the other: "
            "count in local or private memory first, and update once for each work-group",
            **values,
        )
    integers = access.contention == model.lanes and model.serial_constants
    return translated("{sentence} ({remark})", sentence=text, remark=_INTEGERS) if integers else text


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
    requests, sectors = sum(each.requests for each in own), sum(each.cost for each in own)
    each = number(sectors / requests)
    values = {
        "line": array.position.line, "array": array.name, "requests": requests, "cost": each,
        "pieces": model.pieces if each != "1" else model.piece,
    }  # fmt: skip
    if array.subscript is None:
        return translated(
            "line {line}: the private array {array} has {bytes:,} bytes for each work-item, and the registers of a work-item "
            "hold {room:,}: it lies in off-chip memory, {requests:,} requests of {cost} {pieces} each",
            bytes=array.nbytes, room=model.register_bytes, **values,
        ) + translated("; a shorter part of it at a time could stay there (`tilewright inspect` shows the stack)")  # fmt: skip
    text = translated(
        "line {line}: the private array {array} is indexed at line {subscript} by what is no constant even with loops unrolled, "
        "and registers have no addresses: it lies in off-chip memory, {requests:,} requests of {cost} {pieces} each",
        subscript=array.subscript.line,
        **values,
    )
    scattered = max(own, key=lambda access: access.degree)
    if scattered.degree > 1 and scattered.size >= 4:
        text += translated(
            " (the lanes of a {sub_group} share {pieces} only where their subscripts agree)",
            sub_group=model.sub_group, pieces=model.pieces,
        )  # fmt: skip
    return text + translated(
        "; with constant subscripts it could stay in registers (`tilewright inspect` shows the stack)"
    )
