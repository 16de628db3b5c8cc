"""Pictures of records: nothing is cut off, no label covers another, and the axes say what they must."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from example_records import RECORD, REFUSED, row
from paths import BENCHMARKS
from svg_layout import Layout, layout_of

from tilewright.core.records import Record, Role, Row, Samples, load_record
from tilewright.errors import InvalidInput, RecordError, TilewrightError, Unsupported
from tilewright.reports.benchmark_table import by_problem
from tilewright.reports.charts.axes import figure, linear_ticks, spread
from tilewright.reports.charts.rates import fastest
from tilewright.reports.charts.ratios import ratio_of
from tilewright.reports.plot import draw, load_drawable, plot

FILES = sorted(BENCHMARKS.glob("*.json")) + sorted(BENCHMARKS.glob("*.json.gz"))
UNDRAWN = (
    "accuracy",
    "counters",
    "fuzz",
    "inspect",
    "sanitize",
    "warm-calls",
    "roofline-transpose",
    "planning",
    "predictions",
    "playground",
    "transformer-block",
    "calls",
    "host-copies",
    "symmetric",
    "outofcore",
    "-blocks",
    "-host-float",
    "regret",
)


def drawn(name: str) -> Layout:
    return layout_of(draw(load_drawable(BENCHMARKS / name)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_record_is_drawn_whole_or_refused_by_name(path: Path) -> None:
    if any(word in path.name for word in UNDRAWN):
        with pytest.raises((RecordError, Unsupported)) as caught:
            draw(load_drawable(path))
        assert path.name in str(caught.value) or "transpose/07" in str(caught.value)
        return
    svg = draw(load_drawable(path))
    layout = layout_of(svg)
    assert layout.complaints() == []
    assert layout.shapes > 8
    assert layout.width < 1100
    assert len(svg) < 100_000


@pytest.mark.parametrize(
    "name", ["h200-accuracy.json", "h200-counters.json", "h200-inspect-tiles-02.json", "sanitize.json"]
)
def test_another_kind_of_record_is_named(name: str) -> None:
    with pytest.raises(RecordError) as caught:
        load_drawable(BENCHMARKS / name)
    kind = {
        "h200-accuracy": "tilewright accuracy",
        "h200-counters": "counters",
        "h200-inspect-tiles-02": "tilewright inspect",
    }
    assert kind.get(name.split(".")[0], "sanitizers") in str(caught.value)


def test_a_host_program_at_another_size_makes_no_sweep() -> None:
    words = drawn("h200-tiles.json").words
    assert {"0", "tiles/01_naive"} <= set(words)
    assert any("64x4096x4096" in each for each in words)
    assert "64x4096x4096" not in words[0]


def test_a_ladder_has_lines_for_its_peak_and_the_vendor_and_marks_the_best() -> None:
    record = load_record(BENCHMARKS / "h200-tiles.json")
    words = drawn("h200-tiles.json").words
    assert "peak 65.1" in words
    assert "cuBLAS 50.7" in words
    best = fastest(record.rows)
    assert best is not None
    assert best.rate == max(each.rate for each in record.rows if each.role is Role.KERNEL)
    assert [each for each in words if each.endswith(" best")] == ["31.7 best"]
    assert "TFLOP/s" in words


def test_a_peak_far_away_is_named_and_not_drawn() -> None:
    words = " ".join(drawn("cpu-intel-rows.json").words)
    assert "peak 543." in words


def test_refused_rungs_are_named_with_their_reason() -> None:
    words = layout_of(draw(RECORD)).words
    assert REFUSED.name in words
    assert any("K=5" in each for each in words)


def test_a_sweep_has_its_sizes_on_the_axis_and_a_label_at_each_line() -> None:
    words = drawn("h200-tiles-peers.json").words
    assert {"1024", "2048", "4096", "8192"} <= set(words)
    assert sum("tiles/01_naive" in each for each in words) == 2
    assert any(each.startswith("cuBLAS ") for each in words)


def test_ratios_are_those_of_paired_samples() -> None:
    record = load_record(BENCHMARKS / "h200-gemm-float16.json")
    first = ratio_of(by_problem(record)[0])
    assert first.low <= first.median <= first.high
    words = drawn("h200-gemm-float16.json").words
    assert {"1", figure(first.median), first.problem} <= set(words)


def test_a_benchmark_with_a_hundred_problems_has_them_all() -> None:
    def pair(size: int) -> tuple[Row, ...]:
        return row("NumPy", 0.001, size, role=Role.BASELINE, backend="host"), row("tilewright", 0.0009, size)

    record = replace(
        RECORD, title="benchmark many", rows=tuple(each for size in range(100, 200) for each in pair(size))
    )
    layout = layout_of(draw(record))
    assert layout.complaints() == []
    assert sum("x" in each and each.split("x")[0].isdigit() for each in layout.words) == 100


def test_titles_are_broken_and_never_cut() -> None:
    device = replace(RECORD.environment.device, name="A device with a very long name " * 6)
    record = replace(RECORD, environment=replace(RECORD.environment, device=device))
    assert layout_of(draw(record)).complaints() == []


def test_a_title_of_one_long_word_is_broken_too() -> None:
    assert layout_of(draw(replace(RECORD, title="x" * 400))).complaints() == []


def test_colours_follow_the_preference_for_dark() -> None:
    assert "prefers-color-scheme:dark" in draw(RECORD)


def test_the_same_record_gives_the_same_picture() -> None:
    assert draw(RECORD) == draw(RECORD)


def test_a_spread_of_labels_keeps_order_and_distance() -> None:
    places = spread([10, 11, 12, 50], 15, 0, 100)
    assert all(after - before >= 15 - 1e-9 for before, after in pairwise(places))
    assert places[3] == 50
    assert min(spread([0, 0, 0], 10, 0, 100)) >= 0
    assert max(spread([100, 100, 100], 10, 0, 100)) <= 100


def test_ticks_are_round_and_begin_at_zero() -> None:
    assert linear_ticks(65.1) == [0, 20, 40, 60]
    assert linear_ticks(0) == [0]


def test_figures_are_never_powers_of_ten() -> None:
    assert [figure(each) for each in (21770.4, 31.72, 0.00768, 0, 1e-9)] == [
        "21,770",
        "31.7",
        "0.00768",
        "0",
        "0.00000000100",
    ]


@pytest.mark.parametrize("suffix", ["png", "pdf"])
def test_other_formats_are_made_of_the_drawing(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("typst")
    plot(RECORD, tmp_path / f"a.{suffix}")
    assert (tmp_path / f"a.{suffix}").read_bytes().startswith({"png": b"\x89PNG", "pdf": b"%PDF"}[suffix])


def test_a_missing_converter_is_said_with_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.reports.picture_files.find_spec", lambda name: None)
    with pytest.raises(Unsupported, match=r"\[plot\]"):
        plot(RECORD, tmp_path / "a.png")
    plot(RECORD, tmp_path / "a.svg")
    with pytest.raises(InvalidInput, match=r"a\.xyz"):
        plot(RECORD, tmp_path / "a.xyz")


@pytest.mark.parametrize("title", ["ladder l", "benchmark b", "cold start"])
def test_records_in_which_nothing_was_measured_are_refused(title: str) -> None:
    unmeasured: Record = replace(RECORD, title=title, rows=(replace(RECORD.rows[0], samples=Samples()), REFUSED))
    with pytest.raises(TilewrightError, match=title):
        draw(unmeasured)


def test_a_rung_that_is_missing_at_every_size_is_named_once() -> None:
    sizes = (32, 64, 128, 256)
    refused = [replace(REFUSED, size=(size,) * 3) for size in sizes]
    others = [replace(REFUSED, name=f"l/{place}", size=(32,) * 3) for place in range(12)]
    measured = [row("l/01_a", 0.01, size) for size in sizes]
    words = layout_of(draw(replace(RECORD, rows=(*measured, *refused, *others)))).words
    notes = [each for each in words if each.startswith("Not drawn")]
    assert sum("l/03_c" in each for each in notes) == 1
    assert any("32" in each and "256" in each for each in notes if "l/03_c" in each)
    assert len(notes) == 9
    assert "5 others" in notes[-1]
    assert not any("CUDA" in each for each in words)
