"""The rooflines of a ladder, from a record: no device is needed."""

from dataclasses import replace
from pathlib import Path

import pytest
from example_records import PEAKS, RECORD, row
from paths import BENCHMARKS
from says import says
from svg_layout import layout_of

from tilewright.core.problems import make_problem
from tilewright.core.records import Record, Row, RowStatus, Samples, load, load_record, save_record
from tilewright.errors import InvalidInput, Unsupported
from tilewright.kernels import find_kernel
from tilewright.measurement.ladder_roofline import LadderRoofline, rooflines_of_record
from tilewright.measurement.progress import Phase
from tilewright.measurement.roofline import count_traffic
from tilewright.reports.plot import draw, load_drawable
from tilewright.reports.roofline import draw_ladder_roofline

SAVED = BENCHMARKS / "h200-roofline-tiles.json"
GPU = load_record(BENCHMARKS / "h200-tiles.json").environment.device
REFUSED = row("tiles/08_shuffles", 1.0, 64, status=RowStatus.REFUSED, reason="needs 'nvidia'", samples=Samples())


def record(*rows: Row, **changes: object) -> Record:
    environment = replace(RECORD.environment, device=GPU)
    made = replace(
        RECORD, title="ladder tiles", environment=environment, rows=rows or (row("tiles/01", 0.001, 64), REFUSED)
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def test_the_text_has_a_line_for_each_rung_with_its_limit() -> None:
    found = load(SAVED, LadderRoofline, "a ladder's roofline")
    text = str(found).splitlines()
    for each in found.rungs:
        (line,) = [line for line in text if line.startswith(f"{each.kernel} ")]
        assert line.endswith(each.binding.name)
        assert f"{each.fraction:.0%}" in line


def test_traffic_is_that_of_explain_and_refused_rungs_say_why() -> None:
    found = rooflines_of_record(record())
    (first, refused), naive = found.rungs, find_kernel("tiles/01")
    assert first.traffic == count_traffic(naive, make_problem(naive, 64), GPU)
    assert refused.traffic is None
    assert says(str(found), "refused", "'nvidia'")
    words = layout_of(draw_ladder_roofline(found)).words
    assert "01" in words or "01_naive" in words
    assert any(REFUSED.name in each for each in words)


def test_what_is_counted_is_announced() -> None:
    phases: list[Phase] = []
    rooflines_of_record(record(), phases.append)
    assert len(phases) == 1
    assert "tiles/01" in str(phases[0])


def test_a_rung_of_one_work_item_is_not_followed_for_minutes() -> None:
    cpu = load_record(BENCHMARKS / "cpu-intel-rows.json").environment.device
    made = record(row("rows/00_sequential[r-k-c]", 1.0, 512))
    made = replace(made, environment=replace(made.environment, device=cpu))
    (found,) = rooflines_of_record(made).rungs
    assert found.traffic is None
    assert says(found.note, "134,217,728")
    with pytest.raises(Unsupported, match="ladder tiles"):
        draw_ladder_roofline(rooflines_of_record(made))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (record(peaks=None), "peaks"),
        (record(row("tiles/01", 0.001, 64), row("tiles/01", 0.001, 128)), "several sizes"),
        (record(row("a kernel", 0.001, 64)), "a kernel"),
        (record(rows=()), "no rung"),
    ],
)
def test_records_without_a_ladder_at_one_size_are_refused(made: Record, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        rooflines_of_record(made)


def test_the_path_of_a_ladder_is_drawn_whole(tmp_path: Path) -> None:
    found = load_drawable(SAVED)
    assert isinstance(found, LadderRoofline)
    layout = layout_of(draw(found))
    assert layout.complaints() == []
    for each in found.rungs:
        assert sum(words.split(" ")[0] == each.kernel.rsplit("/", 1)[1] for words in layout.words) == 1
    assert sum("(best)" in words for words in layout.words) == 1
    assert any(words.startswith("memory ") and words.endswith("GB/s") for words in layout.words)
    save_record(found, tmp_path / "again.json")
    assert load_drawable(tmp_path / "again.json") == found


def test_a_rung_that_is_not_drawn_keeps_the_others_from_being_called_best() -> None:
    found = load(SAVED, LadderRoofline, "a ladder's roofline")
    fastest = max(found.rungs, key=lambda each: each.row.rate)
    rungs = tuple(replace(each, traffic=None, note="unknown") if each == fastest else each for each in found.rungs)
    words = layout_of(draw(replace(found, rungs=rungs))).words
    assert not any("(best)" in each for each in words)
    assert any(fastest.kernel in each for each in words)


def test_the_saved_roofline_has_the_rates_of_the_saved_ladder() -> None:
    found = load(SAVED, LadderRoofline, "a ladder's roofline")
    ladder = {each.name: each.rate for each in load_record(BENCHMARKS / "h200-tiles.json").rows}
    assert {each.kernel: each.row.rate for each in found.rungs} == {
        name: ladder[name] for name in ladder if "/" in name
    }


def test_a_device_without_a_peak_for_the_type_has_no_picture() -> None:
    found = rooflines_of_record(record(peaks=replace(PEAKS, gflops={})))
    with pytest.raises(Unsupported, match="float32"):
        draw_ladder_roofline(found)


def test_a_chosen_rung_gets_a_ring_and_its_step_a_line() -> None:
    found = load(SAVED, LadderRoofline, "a ladder's roofline")
    plain, chosen = draw_ladder_roofline(found), draw_ladder_roofline(found, found.rungs[2].kernel)
    first = draw_ladder_roofline(found, found.rungs[0].kernel)
    assert [text.count('r="10"') for text in (plain, first, chosen)] == [0, 1, 1]
    assert [text.count("curve tone1") for text in (first, chosen)] == [
        plain.count("curve tone1"),
        plain.count("curve tone1") + 1,
    ]
    assert draw_ladder_roofline(found, "none") == plain
