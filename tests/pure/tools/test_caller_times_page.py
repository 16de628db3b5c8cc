"""docs/howto/cuda-arrays.md shows what the records of `tools.caller_times` hold."""

import json
from typing import Any

import pytest
from paths import BENCHMARKS, DOCS

from tools.caller_times import geometric_mean

PAGE = (DOCS / "howto" / "cuda-arrays.md").read_text(encoding="utf-8")
BELOW = 0.85


def line(dtype: str, rows: list[dict[str, Any]]) -> str:
    """A type's line of the table: means, how many products are slow, and the slowest."""
    parts = ("calls", "graph")
    means = [f"{geometric_mean([row[part]['ratio'] for row in rows]):.2f}" for part in parts]
    below = ", ".join(str(sum(row[part]["ratio"] < BELOW for row in rows)) for part in parts)
    slowest = [min(rows, key=lambda row, part=part: row[part]["ratio"]) for part in parts]  # type: ignore[misc]
    named = [f"{row['product']}: {row[part]['ratio']:.2f}" for row, part in zip(slowest, parts, strict=True)]
    return f"| {' | '.join((dtype, *means, below, *named))} |"


@pytest.mark.parametrize("name", ["h100-calls", "h200-calls"])
def test_the_page_has_the_records_figures(name: str) -> None:
    record = json.loads((BENCHMARKS / f"{name}.json").read_text())
    table = PAGE.split(f"benchmarks/{name}.json")[1].split("On an H200")[0]
    dtypes = {row["dtype"] for row in record["rows"]}
    assert {line(each, [row for row in record["rows"] if row["dtype"] == each]) for each in dtypes} <= {
        *table.splitlines()
    }
    assert record["machine"]["date"] in table
