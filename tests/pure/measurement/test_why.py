"""Why a rung is fast or slow: its comment, the counts, the bound, and whether the device does the opposite."""

from dataclasses import replace

import pytest
from example_records import DEVICE, PEAKS, RECORD, row
from says import says

from tilewright.core.records import RowStatus, Samples
from tilewright.kernels import LADDERS
from tilewright.measurement.why import Counts, Why, contrary, header_comment, why

TILES = LADDERS["tiles"].kernels
STEADY = Samples((), (0.01,) * 5)


def answer(name: str, instructions: float, seconds: float) -> Why:
    counted = Counts(instructions, 100.0, 0.0)
    return Why(row(name, seconds, samples=Samples((), (seconds,) * 5)), "", "128", counted, None)


def test_a_rung_that_is_slower_although_its_counts_fell_is_named() -> None:
    before, now = answer("tiles/03", 600.0, 0.010), answer("tiles/04", 150.0, 0.040)
    assert says(contrary(before, now, DEVICE), "tiles/03", 4, "load and store instructions")
    assert contrary(now, before, DEVICE) == "", "faster"
    assert contrary(before, answer("tiles/04", 700.0, 0.040), DEVICE) == "", "its counts rose"
    assert contrary(before, answer("tiles/04", 150.0, 0.0104), DEVICE) == "", "hardly slower"


def test_within_the_spread_nothing_is_said() -> None:
    before, now = answer("tiles/03", 600.0, 0.010), answer("tiles/04", 150.0, 0.013)
    wild = replace(now.row, samples=Samples((), (0.003, 0.003, 0.013, 0.03, 0.03)))
    assert contrary(before, now, DEVICE)
    assert contrary(before, replace(now, row=wild), DEVICE) == ""


def test_the_header_is_the_first_comment_without_marks() -> None:
    assert header_comment("// One.\n//\n//   Two.\n\n// Not this.\nint x;") == "One.\n\n  Two."
    assert header_comment("int x;") == ""
    assert header_comment(TILES[1].text).startswith(TILES[1].lesson)


def test_a_ladder_is_answered_with_counts_bound_and_measurement() -> None:
    rows = (
        row("NumPy", 0.1), row(TILES[1].name, 0.01), row(TILES[2].name, 0.02),
        row(TILES[5].name, 1.0, status=RowStatus.WRONG, reason="far off", samples=Samples()),
        row(TILES[1].name, 0.01, 200),
    )  # fmt: skip
    record = replace(RECORD, rows=rows)
    answers = why(record, TILES)
    assert [each.row.name for each in answers] == [TILES[1].name, TILES[2].name, TILES[5].name], "of the first size"
    first, second, failed = answers
    assert first.counts is not None
    assert second.counts is not None
    assert first.counts.local_bytes > 1.5 * second.counts.local_bytes, "9/8 reads of local memory instead of 2"
    assert first.bound is not None
    assert first.bound.flops == rows[1].flops
    assert says(str(first), TILES[1].lesson, "counted", "predicted", "measured", "0.2 GFLOP/s")
    assert second.contrary
    assert says(str(failed), "wrong", "far off")


def test_what_explain_cannot_run_has_a_note() -> None:
    tensor = LADDERS["tensor"].kernels[1]
    record = replace(RECORD, dtype="float16", rows=(row(tensor.name, 0.01, samples=STEADY),), peaks=PEAKS)
    (found,) = why(record, [tensor])
    assert found.counts is None
    assert found.note


@pytest.mark.parametrize("ladder", ["transpose", "cpu", "rows"])
def test_every_ladder_is_answered(ladder: str) -> None:
    kernels = [kernel for kernel in LADDERS[ladder].kernels if "sequential" not in kernel.name][:2]
    rows = tuple(row(kernel.name, 0.01, samples=STEADY) for kernel in kernels)
    assert [each.row.name for each in why(replace(RECORD, rows=rows), kernels)] == [kernel.name for kernel in kernels]


def test_counting_ends_when_the_time_is_over_and_quick_rungs_come_first() -> None:
    kernels = [LADDERS["rows"].kernels[0], TILES[0]]
    info = replace(DEVICE, features=frozenset({"cpu"}), max_work_group_size=1024, max_work_item_sizes=(1024,) * 3)
    environment = replace(RECORD.environment, device=info)
    rows = tuple(row(kernel.name, 0.01, samples=STEADY) for kernel in kernels)
    sequential, parallel = why(replace(RECORD, rows=rows, environment=environment), kernels, patience_s=1.5)
    assert parallel.counts is not None
    assert sequential.counts is None
    assert says(sequential.note, "nothing is counted", "time for counting was over", "128x128x64")
