"""The kernels that tell the rules of constant memory, atomics and private arrays apart: what is predicted, what is compared."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tools.counters.compare import EQUAL, MERGED
from tools.counters.special import DIFFERS, compare, counted_cost, explained, judged, predicted
from tools.counters.special_patterns import ATOMIC, CONSTANT, PRIVATE, SPECIALS, Special

RECORD = Path(__file__).parents[3] / "benchmarks" / "h200-special-counters.json"
NAMES = {each.name: each for each in SPECIALS}


def warps(special: Special) -> np.ndarray:
    return special.arrays()["index"].reshape(-1, 32)


@pytest.mark.parametrize("name", ["constant int, pairs", "constant uchar, far", "constant double, own"])
def test_constant_patterns_are_predicted_by_their_different_addresses(name: str) -> None:
    special = NAMES[name]
    words = sum(len({int(at + j) for at in warp}) for warp in warps(special) for j in range(16))
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
        cost = 0
        for row in rows.tolist():
            updates = Counter(row)
            cost += sum(max(updates[at] for at in updates if at // 8 == sector) for sector in {at // 8 for at in row})
    else:
        cost = sum(max(Counter(at % 1024 % 32 for at in row.tolist()).values()) for row in rows)
    found = predicted(explained(special), special.rule)
    assert (found["requests"], found["cost"], found["updates"]) == (len(rows), cost, rows.size)


def test_constant_subscripts_are_predicted_to_move_nothing() -> None:
    special = NAMES["private int[16], constant subscripts"]
    assert predicted(explained(special), PRIVATE) == {"requests": 0, "loaded": 0, "stored": 0}


def test_counters_that_differ_are_not_called_equal() -> None:
    def verdict(name: str, counted: dict[str, float], expected: dict[str, int]) -> str:
        return judged(NAMES[name], counted, expected)

    sectors = "l1tex__t_sectors_pipe_lsu_mem_local_op"
    private, own = "private int[16], own", {"loaded": 4, "stored": 8}
    assert verdict(private, {f"{sectors}_ld": 4, f"{sectors}_st": 8}, own) == EQUAL
    assert verdict(private, {f"{sectors}_ld": 4, f"{sectors}_st": 9}, own) == DIFFERS
    assert verdict(private, {}, {"loaded": 0, "stored": 0}) == DIFFERS, "a counter that is missing proves nothing"
    assert verdict("constant int, own", {"idc__requests": 1000 + 3 * 256}, {"cost": 1000}) == EQUAL
    assert verdict("constant int, own", {"idc__requests": 1001}, {"cost": 1000}) == DIFFERS
    shared = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom"
    assert verdict("local atomic_add, own", {shared: 4}, {"cost": 4}) == EQUAL
    assert verdict("local atomic_add, own", {shared: 3}, {"cost": 4}) == DIFFERS
    assert verdict("local atomic_add of 1, own", {shared: 3}, {"cost": 4}) == MERGED
    assert verdict("local atomic_add of 1, own", {shared: 5}, {"cost": 4}) == DIFFERS
    assert verdict("local atomic_add of 1, own", {}, {"cost": 4}) == DIFFERS


def test_every_kernel_has_a_row(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps(["right"] * len(SPECIALS)))
    nothing = {"requests": 0, "cost": 0, "turns": 0, "updates": 0, "hottest": 0, "loaded": 0, "stored": 0}
    rows = compare(tmp_path, [{"idc__requests": 7.0}] * len(SPECIALS), [nothing] * len(SPECIALS))
    assert [row["name"] for row in rows] == [each.name for each in SPECIALS]
    assert {row["verdict"] for row in rows} == {DIFFERS}


def test_predictions_are_still_those_that_a_gpu_confirmed() -> None:
    record = {row["name"]: row for row in json.loads(RECORD.read_text())}
    assert set(record) == set(NAMES)
    for name, row in record.items():
        special = NAMES[name]
        expected = predicted(explained(special), special.rule)
        assert expected == row["predicted"], name
        assert judged(special, row["counted"], expected) == row["verdict"], name
        assert row["result"] == "right"
    assert [name for name, row in record.items() if row["verdict"] == DIFFERS] == ["atomic_add, random 1024"]
    (cost,) = counted_cost(ATOMIC, record["atomic_add, random 1024"]["counted"], {})
    assert cost == pytest.approx(record["atomic_add, random 1024"]["predicted"]["cost"], rel=0.006)
