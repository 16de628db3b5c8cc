"""Published figures beside ours: their source, size and settings, and the ratios."""

from dataclasses import replace

import pytest
from example_records import ROWS, row
from says import says

from tilewright.core.records import Row, RowStatus, Samples
from tilewright.kernels import LADDERS, find_kernel
from tilewright.kernels.settings import with_settings
from tilewright.reports.published import COLUMNS, nearest, published

TILES = LADDERS["tiles"]


NAMES = {number: next(each.name for each in TILES.kernels if f"/{number:02}_" in each.name) for number in range(1, 12)}


def rung(number: int, seconds: float, size: int = 64, variant: str = "") -> Row:
    return row(NAMES[number] + variant, seconds, size)


def facts(name: str) -> str:
    return "\n".join(f"{fact}: {value}" for found in published(LADDERS[name], []) for fact, value in found.facts)


def test_whose_figures_they_are_and_how_they_were_measured_is_said() -> None:
    tiles = facts("tiles")
    assert says(tiles, "Nugteren", "SURFsara", 2014, "https://cnugteren.github.io/tutorial/pages/page1.html", "MIT")
    assert says(tiles, "4096x4096x4096", "without transfers", "4,291")
    assert says(tiles, "CSDN", "512x512x512", "int", "enqueues")
    assert says(
        facts("rows"), "https://www.mql5.com/en/articles/407", 2012, "2000x2000x2000", "host memory", "MetaQuotes Ltd"
    )
    assert says(facts("transpose"), "NVIDIA", "End User License Agreement", "2048x2048", "100 runs")


def test_each_figure_has_its_ratio_to_the_rung_before_there_and_here() -> None:
    rows = [*ROWS[:2], rung(1, 0.1), rung(2, 0.025), rung(5, 0.05), rung(5, 0.05, variant="[64x64x32]")]
    tutorial, csdn = published(TILES, rows)
    lines = {line[0]: dict(zip(COLUMNS, line, strict=True)) for line in tutorial.lines}
    assert lines["tiles/01_naive"]["GFLOP/s"] == "139"
    there = {line[0]: line[3:8] for line in tutorial.lines}
    assert there["tiles/01_naive"][1] == ""
    assert there["tiles/02_tiled"] == ("373", "2.68", "0.021", "64x64x64", "4")
    assert there["tiles/05_transposed[64x64x32]"][1] == "1.98", "over the rung before that has a row here"
    assert "tiles/05_transposed" not in there, "the figure is of other settings"
    assert lines["cuBLAS"]["GFLOP/s"] == "3,056"
    assert any(says(remark, "64x64x64", "4096x4096x4096") for remark in tutorial.remarks)
    assert {line[0] for line in csdn.lines} == {"a loop on the host"}


def test_a_sweep_is_shown_once_at_the_nearest_size() -> None:
    rows = [rung(1, 0.1, size) for size in (64, 256, 512)]
    assert [each.size[0] for each in nearest(rows, (4096, 4096, 4096))] == [512]
    names = [line[0] for line in published(TILES, rows)[0].lines]
    assert names.count("tiles/01_naive") == 1


def test_the_same_size_needs_no_remark() -> None:
    at_the_size = published(TILES, [rung(1, 0.1, 4096)])[0]
    assert at_the_size.remarks == TILES.publications[0].claims


def test_a_rung_that_was_not_measured_has_its_status() -> None:
    wrong = replace(rung(2, 1.0), status=RowStatus.WRONG, samples=Samples())
    lines = {line[0]: line for line in published(TILES, [rung(1, 0.1), wrong])[0].lines}
    assert lines["tiles/02_tiled"][5] == "wrong"
    assert lines["tiles/02_tiled"][7] == ""


def test_claims_of_a_source_without_figures_are_said() -> None:
    (found,) = published(LADDERS["transpose"], [row("transpose/04_naive", 0.1)])
    assert not found.lines
    assert any(says(remark, 11) for remark in found.remarks)


def test_a_claimed_ratio_stands_beside_the_measured_one() -> None:
    (found,) = published(LADDERS["transpose"], [row("transpose/04_naive", 0.1), row("transpose/05_tiled", 0.04)])
    lines = [dict(zip(COLUMNS, line, strict=True)) for line in found.lines]
    assert [line["published on"] for line in lines] == ["GPUs of the time", "a G80"]
    assert [(line[4], line[7]) for line in found.lines] == [("11", "2.5"), ("10", "2.5")]
    assert "transpose/04_naive" in lines[0]["the published kernel"]


@pytest.mark.parametrize("name", ["cpu", "tensor"])
def test_a_ladder_without_a_publication_says_so(name: str) -> None:
    (found,) = published(LADDERS[name], ROWS)
    assert (found.lines, found.remarks) == ((), ())
    assert says(found.facts[0][1], name)


def test_figures_are_not_of_other_settings() -> None:
    assert find_kernel("tiles/06[published]").published
    assert with_settings(find_kernel("tiles/06[published]"), {"BK": 8}).published == ()
    for name in ("tiles/04", "tiles/05", "tiles/07", "tiles/10", "rows/06", "rows/07"):
        assert find_kernel(name).published == (), "its source measured another kernel"


def test_the_host_figure_stands_on_the_loop_order_of_the_source() -> None:
    kernels = {kernel.name: kernel for kernel in LADDERS["rows"].kernels}
    (found,) = published(LADDERS["rows"], [row(name, 0.1) for name in kernels])
    assert [line[0] for line in found.lines if line[3] == "0.191"] == ["rows/00_sequential[r-k-c]"]
    assert [line[0] for line in found.lines if line[3] == "0.138"] == ["rows/00_sequential[c-r-k]"]
