"""From addresses to sectors, lines and wavefronts: pure functions of arrays (requests, lanes) of byte addresses.

An H200's counters confirmed the rules for NVIDIA on 29 patterns. `Model` holds what differs between devices.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ....core.device import DeviceInfo
from ....core.language import Sentence

Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Lanes = tuple[int, ...]
_NOTHING = np.int64(1) << np.int64(62)
WORD = 4
_PLURALS = {
    "pass": Sentence("passes"),
    "access": Sentence("accesses"),
    "wavefront": Sentence("wavefronts"),
    "sector": Sentence("sectors"),
    "cache line": Sentence("cache lines"),
}


@dataclass(frozen=True)
class Model:
    """How a family of devices turns one access of one sub-group into work.

    `lanes` is the width of a sub-group. `sector` and `line` are bytes. Local memory has `banks` banks, each of which gives
    `bank_bytes` bytes in one pass: neighbouring words, or with `bank_pairs` words w and w + `banks`. With `local_is_global`
    there is no local memory of its own: it is counted in sectors of global memory.
    `phases` lists, for accesses of (bytes, operation), the lanes that are served together. Without an entry these are the
    consecutive lanes that fill all banks once. `merges_pairs`: see `wavefronts`. `evidence` says what the rules are based on.
    With `assumes_alignment`, vload and vstore count as the widest instructions that the addresses allow; without it, as the
    narrow ones that are always right. `local_pass` is the word for one pass of a request through local memory.
    `piece` is the word for what a `sector` is. A model that `is_cpu` runs one work-item after the other.
    `register_bytes` is the most bytes of registers for one work-item. `vendors` are lower-case words: the model is for GPUs
    whose vendor's name contains one of them. `aliases` are other names of the model. `sub_group_lanes` is the width of the
    language's sub-groups where requests are counted for another one, as on CPUs.

    `serial_constants`: the constant cache serves one address of a request after the other; without it, constant memory is
    counted as global memory is, and `constants` says how it is read. `sector_per_update`: lanes that update one place of global
    memory by an atomic function move a sector each. `caches` are (name, bytes) of the caches that serve a
    work-group and the whole device, of the model's newest product with known sizes.
    """

    name: str
    title: str
    lanes: int
    sector: int
    line: int
    banks: int
    verified: bool
    evidence: str
    sub_group: str = Sentence("sub-group")
    widest: int = 16
    merges_pairs: bool = False
    phases: tuple[tuple[int, str, tuple[Lanes, ...]], ...] = ()
    assumes_alignment: bool = True
    local_pass: str = Sentence("pass")
    piece: str = Sentence("sector")
    is_cpu: bool = False
    register_bytes: int = 1024
    vendors: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    serial_constants: bool = False
    sector_per_update: bool = False
    constants: str = Sentence("constant memory is counted as global memory is")
    caches: tuple[tuple[str, int], ...] = ()
    sub_group_lanes: int = 0
    bank_bytes: int = WORD
    bank_pairs: bool = False
    local_is_global: bool = False

    @property
    def sub_group_width(self) -> int:
        """Work-items of a sub-group, as get_max_sub_group_size() gives them."""
        return self.sub_group_lanes or self.lanes

    def is_for(self, info: DeviceInfo) -> bool:
        """Whether the device is a GPU of the model's vendors."""
        return info.kind == "gpu" and any(word in info.vendor.lower() for word in self.vendors)

    def phases_of(self, size: int, operation: str) -> tuple[Lanes, ...]:
        """The lanes served together, phase after phase."""
        for own_size, own_operation, phases in self.phases:
            if (own_size, own_operation) == (size, operation):
                return phases
        together = max(1, min(self.lanes, self.banks * self.bank_bytes // max(WORD, size)))
        return tuple(tuple(range(first, first + together)) for first in range(0, self.lanes, together))

    @property
    def period(self) -> int:
        """Shifting all addresses by a multiple of this does not change the counts."""
        return int(np.lcm(np.lcm(self.sector, self.line), self.banks * self.bank_bytes))

    @property
    def local_passes(self) -> str:
        """The plural of `local_pass`."""
        return _PLURALS[self.local_pass]

    @property
    def lost(self) -> str:
        """What becomes of passes of local memory beyond the least."""
        return "more than needed" if self.local_is_global else "lost to bank conflicts"

    @property
    def local_rule(self) -> str:
        """What the passes of local memory are, in a sentence."""
        values = {
            "passes": self.local_passes, "one": self.local_pass, "banks": self.banks, "bytes": self.bank_bytes,
        }  # fmt: skip
        if self.local_is_global:
            return Sentence(
                "Local memory: {passes} that each request took (least in brackets); it lies in global memory on this device.",
                **values,
            )
        if self.bank_bytes == WORD:
            return Sentence(
                "Local memory: {passes} that each request took (least in brackets); a {one} takes one 4-byte word from each of "
                "{banks} banks, so different words of one bank need several.",
                **values,
            )
        if self.bank_pairs:
            return Sentence(
                "Local memory: {passes} that each request took (least in brackets); a {one} takes {bytes} bytes (two words "
                "{banks} apart) from each of {banks} banks, so different pieces of one bank need several.",
                **values,
            )
        return Sentence(
            "Local memory: {passes} that each request took (least in brackets); a {one} takes {bytes} bytes from each of {banks} "
            "banks, so different pieces of one bank need several.",
            **values,
        )

    @property
    def pieces(self) -> str:
        """The plural of `piece`."""
        return _PLURALS[self.piece]

    @property
    def private_room(self) -> int | None:
        """The most bytes of a private array that may stay in registers; None if private memory is not counted: a CPU's
        first cache holds its stack."""
        return None if self.is_cpu else self.register_bytes

    @property
    def constant_pieces(self) -> str:
        """What the cost of constant memory counts."""
        return Sentence("addresses") if self.serial_constants else self.pieces

    @property
    def standing(self) -> str:
        """How far the rules can be trusted."""
        return Sentence("checked against an H200's counters") if self.verified else Sentence("modelled, not measured")


def count_distinct(values: Int64s, valid: Bools) -> Int64s:
    """The number of different valid values in each row."""
    ordered = np.sort(np.where(valid, values, _NOTHING), axis=-1)
    steps = (ordered[..., 1:] != ordered[..., :-1]) & (ordered[..., 1:] != _NOTHING)
    found: Int64s = steps.sum(axis=-1) + (ordered[..., 0] != _NOTHING)
    return found


def blocks_touched(addresses: Int64s, active: Bools, size: int, block: int) -> Int64s:
    """For each request, the number of aligned blocks (sectors, lines) of `block` bytes that its bytes touch."""
    most = (size - 1) // block + 2
    first = addresses // block
    if most == 2 and not (addresses % size)[active].any() and block % size == 0:
        return count_distinct(first, active)
    each = first[..., None] + np.arange(most)
    valid = active[..., None] & (each <= ((addresses + size - 1) // block)[..., None])
    return count_distinct(each.reshape(len(addresses), -1), valid.reshape(len(addresses), -1))


def unique_bytes(addresses: Int64s, active: Bools, size: int) -> Int64s:
    """For each request, the number of different bytes that its lanes ask for."""
    if not (addresses % size)[active].any():
        return count_distinct(addresses // size, active) * size
    each = addresses[..., None] + np.arange(size)
    valid = np.repeat(active, size, axis=1)
    return count_distinct(each.reshape(len(addresses), -1), valid)


def wavefronts(model: Model, addresses: Int64s, active: Bools, size: int, operation: str) -> tuple[Int64s, Int64s]:
    """Passes through local memory of each request, and the fewest possible for its width.

    The cost of a phase is the number of different words in its busiest bank; lanes that read the same word share it. Where a
    bank gives several words in a pass, `bank_units` count instead of words.
    Neighbouring phases merge in loads of 8 or 16 bytes if all lanes T and T^1 (or all T and T^2) have equal addresses.
    A user reported this for compute capability 7 on NVIDIA's forum, and the H200 confirmed it.
    """
    if model.local_is_global:
        return blocks_touched(addresses, active, size, model.sector), -(
            -unique_bytes(addresses, active, size) // model.sector
        )
    phases = model.phases_of(size, operation)
    counts = _passes(model, addresses, active, size, phases)
    fewest = np.stack([active[:, list(lanes)].any(axis=1) for lanes in phases]).sum(axis=0)
    if model.merges_pairs and operation == "load" and size > WORD and len(phases) > 1:
        paired = _paired(addresses, active)
        if paired.any():
            merged = tuple(phases[i] + phases[i + 1] for i in range(0, len(phases), 2))
            together = _passes(model, addresses, active, size, merged)
            counts = np.where(paired, np.minimum(counts, together), counts)
            least = np.stack([active[:, list(lanes)].any(axis=1) for lanes in merged]).sum(axis=0)
            fewest = np.where(paired, least, fewest)
    return counts, np.maximum(fewest, active.any(axis=1))


def _paired(addresses: Int64s, active: Bools) -> Bools:
    lane = np.arange(addresses.shape[1])
    found = np.zeros(len(addresses), bool)
    for distance in (1, 2):
        other = lane ^ distance
        found |= ((addresses == addresses[:, other]) | ~active | ~active[:, other]).all(axis=1)
    return found


def words_of(addresses: Int64s, size: int) -> Int64s:
    """The 4-byte words of each lane's access: (..., lanes, words)."""
    words: Int64s = (addresses // WORD)[..., None] + np.arange(max(1, size // WORD))
    return words


def bank_units(model: Model, words: Int64s) -> Int64s:
    """What a bank gives in one pass, by number, for each 4-byte word: unit u lies in bank u % `banks`."""
    if model.bank_bytes == WORD:
        return words
    held = model.bank_bytes // WORD
    units: Int64s = words // held
    return words // (held * model.banks) * model.banks + words % model.banks if model.bank_pairs else units


def _passes(model: Model, addresses: Int64s, active: Bools, size: int, phases: tuple[Lanes, ...]) -> Int64s:
    total = np.zeros(len(addresses), np.int64)
    per_lane = max(1, size // WORD)
    for lanes in phases:
        chosen = list(lanes)
        words = bank_units(model, words_of(addresses[:, chosen], size)).reshape(len(addresses), -1)
        valid = np.repeat(active[:, chosen], per_lane, axis=1)
        total += _busiest_bank(words, valid, model.banks)
    return total


def _busiest_bank(words: Int64s, valid: Bools, banks: int) -> Int64s:
    ordered = np.sort(np.where(valid, words, _NOTHING), axis=1)
    distinct = np.ones(ordered.shape, bool)
    distinct[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    distinct &= ordered != _NOTHING
    rows, columns = np.nonzero(distinct)
    places = (rows * banks + ordered[rows, columns] % banks).astype(np.intp, copy=False)
    load = np.bincount(places, minlength=len(words) * banks)
    busiest: Int64s = load.reshape(len(words), banks).max(axis=1)
    return busiest


def split_access(size: int, alignment: int, widest: int) -> list[tuple[int, int]]:
    """The instructions for one access of `size` bytes, as (offset, bytes): powers of two up to `widest` that the alignment
    allows."""
    pieces: list[tuple[int, int]] = []
    at = 0
    while at < size:
        piece = min(widest, 1 << ((size - at).bit_length() - 1), alignment)
        pieces.append((at, piece))
        at += piece
    return pieces


def as_rows(values: npt.NDArray[Any], items: int, lanes: int) -> npt.NDArray[Any]:
    """(patterns, groups * items) -> (patterns, groups * sub-groups, lanes); a group's last sub-group may be part empty.

    Work-items fill sub-groups in the order of their linear local id. NVIDIA and AMD do so, and the H200 confirmed it.
    """
    groups = values.shape[1] // items
    per_group = -(-items // lanes)
    shaped = values.reshape(len(values), groups, items)
    if per_group * lanes != items:
        shaped = np.pad(shaped, ((0, 0), (0, 0), (0, per_group * lanes - items)))
    return shaped.reshape(len(values), groups * per_group, lanes)
