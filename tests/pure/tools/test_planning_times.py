"""The tool that measures plans of shapes never seen: what it plans, what its record and its table hold."""

import json
import random
from pathlib import Path

import devices
import pytest
from paths import BENCHMARKS
from says import says

from tilewright.core.types import ELEMENT_TYPES
from tilewright.dispatch.tuned import NO_TABLES
from tools.planning_times import lines, main, planning_times, random_product


@pytest.mark.parametrize("dtype", list(ELEMENT_TYPES))
def test_random_products_of_every_type_have_a_plan(dtype: str) -> None:
    found = planning_times(dtype, 3, 1, devices.HOPPER, NO_TABLES)
    assert max(found.median_ms, found.p90_ms) <= found.worst_ms
    assert dtype in found.worst


def test_a_seed_gives_the_same_products() -> None:
    one, same, other = ([random_product(random.Random(seed), "float32") for _ in "ab"] for seed in (1, 1, 2))
    assert one == same != other


def test_the_record_has_every_type_and_its_table_names_slow_ones() -> None:
    record = json.loads((BENCHMARKS / "cpu-intel-planning.json").read_text())
    assert set(record["types"]) == set(ELEMENT_TYPES)
    assert all(row["median_ms"] <= row["worst_ms"] for row in record["types"].values())
    record["types"]["int8"]["median_ms"] = 7.25
    *rows, verdict = lines(record)
    assert len(rows) == 1 + len(ELEMENT_TYPES)
    assert says(verdict, 5, "int8")


def test_wrong_options_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, named in ((["--count", "0"], "0 products"), (["--json", str(tmp_path / "none" / "x.json")], "none")):
        with pytest.raises(SystemExit):
            main(words)
        assert named in capsys.readouterr().err
