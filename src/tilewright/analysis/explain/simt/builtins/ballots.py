"""Ballots: a condition of each work-item of a sub-group as the bits of a uint4; cl_khr_subgroup_ballot."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...clc.tree import Call
from ...clc.types import INT, UINT, Vector
from ..compiled_code import Code, Frame, Value
from ..context import Context
from ..convert import change, truth
from ..masks import Mask
from ..teams import Teams
from .common import Builtin, apply, arguments

BALLOT = Vector(UINT, 4)
_BITS = 128


def _packed(bits: Any) -> Value:
    """(..., 128) booleans as (4, ...) words."""
    words = np.packbits(np.asarray(bits, bool), axis=-1, bitorder="little").view("<u4")
    return np.ascontiguousarray(np.moveaxis(words, -1, 0)).astype(np.uint32)


def _unpacked(words: Value) -> Any:
    """(4, lanes) words as (lanes, 128) booleans."""
    rows = np.ascontiguousarray(np.moveaxis(np.asarray(words), 0, -1)).astype("<u4")
    return np.unpackbits(rows.view(np.uint8), axis=-1, bitorder="little").astype(bool)


def _ballot(context: Context, call: Call) -> Code:
    (code,) = arguments(context, call, 1)
    teams, test = context.machine.sub_groups, truth(code).run
    if context.machine.sub_group > _BITS:
        raise call.position.error(
            f"a ballot has {_BITS} bits, and the sub-group {context.machine.sub_group} work-items"
        )

    def run(frame: Frame, mask: Mask) -> Value:
        rows = teams.rows(test(frame, mask)) & teams.active(mask)
        bits = np.zeros((teams.count, _BITS), bool)
        bits[:, : rows.shape[1]] = rows
        return _packed(bits)[:, teams.team]

    return Code(BALLOT, run)


def _mask_of(holds: Callable[[Any, Any], Any]) -> Builtin:
    """get_sub_group_eq_mask() and so on: the bits of members that stand in a relation to the reader."""

    def build(context: Context, call: Call) -> Code:
        arguments(context, call, 0)
        teams = context.machine.sub_groups
        bit, size = np.arange(_BITS), teams.sizes[teams.team][:, None]
        value = _packed(holds(bit, teams.place[:, None]) & (bit < size))
        return Code(BALLOT, lambda frame, mask: value)

    return build


def _ballot_argument(context: Context, call: Call, count: int) -> list[Code]:
    codes = arguments(context, call, count)
    if codes[0].type != BALLOT:
        raise call.position.error(f"{call.name} takes a uint4, not {codes[0].type}")
    return codes


def _bit_extract(context: Context, call: Call) -> Code:
    value, index = _ballot_argument(context, call, 2)

    def run(words: Value, at: Value) -> Value:
        bits = _unpacked(words)
        place = np.asarray(at).astype(np.int64) % _BITS
        lanes = max(len(bits), place.size)
        row = np.broadcast_to(bits, (lanes, _BITS))[np.arange(lanes), np.broadcast_to(place, (lanes,))]
        return row.astype(np.int32)

    return apply(INT, run, [value, change(index, UINT)])


def _inverse(context: Context, call: Call) -> Code:
    (value,) = _ballot_argument(context, call, 1)
    teams = context.machine.sub_groups
    return apply(
        INT, lambda words: _own(words, teams)[np.arange(teams.place.size), teams.place].astype(np.int32), [value]
    )


def _own(words: Value, teams: Teams) -> Any:
    """The bits that each lane's sub-group has members for."""
    bits = np.broadcast_to(_unpacked(words), (teams.place.size, _BITS))
    return bits & (np.arange(_BITS) < teams.sizes[teams.team][:, None])


def _count(until: Callable[[Any, Any], Any]) -> Builtin:
    """How many bits are set among those that the reader counts."""

    def build(context: Context, call: Call) -> Code:
        (value,) = _ballot_argument(context, call, 1)
        teams = context.machine.sub_groups
        counted = until(np.arange(_BITS), teams.place[:, None])
        return apply(UINT, lambda words: (_own(words, teams) & counted).sum(axis=1).astype(np.uint32), [value])

    return build


def _find(last: bool) -> Builtin:
    """The lowest or highest bit that is set; undefined without any, 0 here."""

    def build(context: Context, call: Call) -> Code:
        (value,) = _ballot_argument(context, call, 1)
        teams = context.machine.sub_groups

        def run(words: Value) -> Value:
            bits = _own(words, teams)
            found = _BITS - 1 - bits[:, ::-1].argmax(axis=1) if last else bits.argmax(axis=1)
            return np.where(bits.any(axis=1), found, 0).astype(np.uint32)

        return apply(UINT, run, [value])

    return build


BALLOTS: dict[str, Builtin] = {
    "sub_group_ballot": _ballot,
    "sub_group_inverse_ballot": _inverse,
    "sub_group_ballot_bit_extract": _bit_extract,
    "sub_group_ballot_bit_count": _count(lambda bit, own: np.ones(np.broadcast_shapes(bit.shape, own.shape), bool)),
    "sub_group_ballot_inclusive_scan": _count(lambda bit, own: bit <= own),
    "sub_group_ballot_exclusive_scan": _count(lambda bit, own: bit < own),
    "sub_group_ballot_find_lsb": _find(last=False),
    "sub_group_ballot_find_msb": _find(last=True),
    "get_sub_group_eq_mask": _mask_of(lambda bit, own: bit == own),
    "get_sub_group_ge_mask": _mask_of(lambda bit, own: bit >= own),
    "get_sub_group_gt_mask": _mask_of(lambda bit, own: bit > own),
    "get_sub_group_le_mask": _mask_of(lambda bit, own: bit <= own),
    "get_sub_group_lt_mask": _mask_of(lambda bit, own: bit < own),
}
