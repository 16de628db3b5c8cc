"""Rules of memory that is neither plain global nor plain local: constant memory, atomic functions, off-chip private arrays."""

import numpy as np

from .models.rules import (
    WORD,
    Bools,
    Int64s,
    Model,
    bank_units,
    blocks_touched,
    count_distinct,
    unique_bytes,
    wavefronts,
)


def constant_passes(addresses: Int64s, active: Bools, size: int) -> tuple[Int64s, Int64s]:
    """Passes of each request through a constant cache that gives one address to all lanes, and the fewest: 1.

    CUDA C++ Programming Guide, "Device Memory Accesses", constant memory: a request is split into as many requests as it has
    different addresses. An H200 counts addresses, not words: two bytes of one word are two (`idc__requests`).
    """
    fewest = np.asarray(active.any(axis=1), np.int64)
    return count_distinct(addresses, active), fewest


def atomic_sectors(addresses: Int64s, active: Bools, sector: int) -> Int64s:
    """Sectors that each request of atomic updates moves where one sector carries one update of each of its places: for each
    sector the largest number of lanes on one place, added up. An H200 counts so (`l1tex__t_sectors_pipe_lsu_mem_global_op_red`).
    """
    rows, lanes = np.nonzero(active)
    places = np.unique(np.stack((rows, addresses[rows, lanes])), axis=1, return_counts=True)
    (rows, places), updates = places
    sectors, which = np.unique(np.stack((rows, places // sector)), axis=1, return_inverse=True)
    most = np.zeros(sectors.shape[1], np.int64)
    np.maximum.at(most, which.ravel(), updates)
    found: Int64s = np.bincount(sectors[0].astype(np.intp, copy=False), weights=most, minlength=len(addresses)).astype(
        np.int64
    )
    return found


def turns(addresses: Int64s, active: Bools) -> Int64s:
    """For each request, the largest number of lanes that have one address: so often that place is updated in turn."""
    rows, lanes = np.nonzero(active)
    places = addresses[rows, lanes]
    order = np.lexsort((places, rows))
    rows, places = rows[order], places[order]
    first = np.ones(len(rows), bool)
    first[1:] = (rows[1:] != rows[:-1]) | (places[1:] != places[:-1])
    starts = np.flatnonzero(first)
    most = np.zeros(len(addresses), np.int64)
    np.maximum.at(most, rows[starts], np.diff(np.append(starts, len(rows))))
    return most


def atomic_passes(model: Model, addresses: Int64s, active: Bools, size: int) -> tuple[Int64s, Int64s]:
    """Passes of atomic updates through local memory, and the fewest for their width. A bank makes one update a pass, also
    if lanes want the same word."""
    _, fewest = wavefronts(model, addresses, active, size, "store")
    rows, lanes = np.nonzero(active)
    banks = (bank_units(model, addresses[rows, lanes] // WORD) % model.banks).astype(np.intp, copy=False)
    updates = np.bincount(rows * model.banks + banks, minlength=len(addresses) * model.banks)
    return np.maximum(updates.reshape(len(addresses), model.banks).max(axis=1), fewest), fewest


def interleaved(addresses: Int64s, lanes: int) -> Int64s:
    """Where the bytes of private arrays lie off-chip: word w of all lanes of a sub-group stands together, lane after lane
    (CUDA C++ Programming Guide, "Device Memory Accesses", local memory; AMD swizzles scratch memory in the same way)."""
    lane = np.arange(addresses.shape[1])
    moved: Int64s = addresses // WORD * (WORD * lanes) + lane * WORD + addresses % WORD
    return moved


def private_pieces(model: Model, addresses: Int64s, active: Bools, size: int) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """Sectors, fewest sectors, lines and different bytes of requests to private arrays that lie off-chip."""
    words = max(1, size // WORD)
    piece = min(size, WORD)
    places = np.concatenate([interleaved(addresses + WORD * word, model.lanes) for word in range(words)], axis=1)
    valid = np.tile(active, (1, words))
    useful = unique_bytes(places, valid, piece)
    return (
        blocks_touched(places, valid, piece, model.sector),
        -(-useful // model.sector),
        blocks_touched(places, valid, piece, model.line),
        useful,
    )
