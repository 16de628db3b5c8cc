"""The kernels that tell the rules of constant memory, atomics and private arrays apart: what is predicted, what is compared."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tools.counters.special import compare, explained, judged, predicted
from tools.counters.special_patterns import ATOMIC, CONSTANT, LOCAL_ATOMIC, PRIVATE, SPECIALS, Special

NAMES = {each.name: each for each in SPECIALS}


def warps(special: Special) -> np.ndarray:
    return special.arrays()["index"].reshape(-1, 32)


@pytest.mark.parametrize("name", ["constant int, pairs", "constant uchar, far", "constant double, own"])
def test_constant_patterns_are_predicted_by_their_different_words(name: str) -> None:
    special = NAMES[name]
    size = special.arrays()["c"].itemsize
    words = sum(len({int(at + j) * size // 4 for at in warp}) for warp in warps(special) for j in range(16))
    found = explained(special)
    assert found.faults == ()
    assert predicted(found, CONSTANT) == {"requests": 16 * len(warps(special)), "cost": words}


@pytest.mark.parametrize(
    "name", ["atomic_add, random 64", "atomic_max, fours", "local atomic_add, bank", "local atomic_max, far"]
)
def test_atomic_patterns_are_predicted_by_counting(name: str) -> None:
    special = NAMES[name]
    rows = warps(special)
    if special.rule == ATOMIC:
        cost = sum(len({at * 4 // 32 for at in row.tolist()}) for row in rows)
    else:
        cost = sum(max(Counter(at % 1024 % 32 for at in row.tolist()).values()) for row in rows)
    found = predicted(explained(special), special.rule)
    assert (found["requests"], found["cost"], found["updates"]) == (len(rows), cost, rows.size)


def test_constant_subscripts_are_predicted_to_move_nothing() -> None:
    special = NAMES["private int[16], constant subscripts"]
    assert predicted(explained(special), PRIVATE) == {"requests": 0, "loaded": 0, "stored": 0}


def test_counters_that_differ_are_not_called_equal(tmp_path: Path) -> None:
    sectors = "l1tex__t_sectors_pipe_lsu_mem_local_op"
    assert judged(PRIVATE, {f"{sectors}_ld": 4, f"{sectors}_st": 8}, {"loaded": 4, "stored": 8})
    assert not judged(PRIVATE, {f"{sectors}_ld": 4, f"{sectors}_st": 9}, {"loaded": 4, "stored": 8})
    assert not judged(PRIVATE, {}, {"loaded": 0, "stored": 0}), "a counter that is missing proves nothing"
    assert judged(CONSTANT, {"idc__requests": 1000 + 3 * 256}, {"cost": 1000})
    assert not judged(CONSTANT, {"idc__requests": 1001}, {"cost": 1000})
    shared = "l1tex__data_pipe_lsu_wavefronts_mem_shared"
    counted = {shared: 9, f"{shared}_op_ld": 2, f"{shared}_op_st": 3}
    assert judged(LOCAL_ATOMIC, counted, {"cost": 4})
    assert not judged(LOCAL_ATOMIC, counted, {"cost": 5})


def test_every_kernel_has_a_row(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps(["right"] * len(SPECIALS)))
    nothing = {"requests": 0, "cost": 0, "turns": 0, "updates": 0, "hottest": 0, "loaded": 0, "stored": 0}
    rows = compare(tmp_path, [{"idc__requests": 7.0}] * len(SPECIALS), [nothing] * len(SPECIALS))
    assert [row["name"] for row in rows] == [each.name for each in SPECIALS]
    assert not any(row["equal"] for row in rows)
