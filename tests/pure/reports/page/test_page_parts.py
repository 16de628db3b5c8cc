"""The parts of a page: bars, diffs with costs, facts, commands, downloads, comparisons."""

import base64
import gzip
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from example_records import ENVIRONMENT, PEAKS, RECORD, row
from paths import BENCHMARKS
from says import says

from tilewright.analysis.kernel_page.lines import Cost
from tilewright.cli.main import make_parser, parse
from tilewright.core.records import Role, Samples, load_record, save_record
from tilewright.errors import RecordError
from tilewright.kernels import find_kernel, rung_before
from tilewright.reports.charts.rates import rate_bars
from tilewright.reports.page.bars import Panel, RatioBar, fragment_of, rate_list, ratio_list
from tilewright.reports.page.comparison import compared, comparison_headline, comparison_parts, verdict
from tilewright.reports.page.evidence import architecture_of, evidence_of, for_others, grouped_notes
from tilewright.reports.page.facts import command_of, download
from tilewright.reports.page.ratio_map import draw_map
from tilewright.reports.page.source_diff import diff_lines, heat
from tilewright.reports.page.subjects import Subject, subject_of

WIDTH = re.compile(r'class="bar (\w+)" style="width:([\d.]+)%')


def test_a_rung_has_a_short_name_in_the_address() -> None:
    names = ("tiles/06_register_tile", "transpose/07_rows_per_item[64x65]", "tensor/07a_x", "my kernel.cl")
    assert [fragment_of(name) for name in names] == ["tiles/06", "transpose/07[64x65]", "tensor/07a", "my-kernel.cl"]


def test_bars_are_as_long_as_rates_and_open_where_there_is_a_panel() -> None:
    html = rate_list(rate_bars(RECORD), {"l/02_b": Panel("l/02", "<p>inside</p>")})
    widths = [(kind, float(width)) for kind, width in WIDTH.findall(html)]
    assert max(widths, key=lambda each: each[1])[0] == "baseline"
    assert widths[0][1] == pytest.approx(4 * dict(widths)["best"], rel=0.01), "NumPy has 4 times the best rung's rate"
    assert html.count("<details") == 1
    assert 'id="l/02" data-name="l/02_b"' in html
    assert "refused: K=5 is not a multiple of 4" in html
    assert 'class="key full"' in html
    assert 'class="key dash"' in html


def test_a_line_far_to_the_right_is_named_and_not_drawn() -> None:
    html = rate_list(rate_bars(replace(RECORD, peaks=replace(PEAKS, gflops={"float32": 90.0}))), {})
    assert "beyond the right edge: peak 90" in html
    assert 'class="mark full"' not in html


def test_ratios_go_to_both_sides_of_one() -> None:
    bars = (
        RatioBar("a", 2.0, 1.9, 2.1, "2.00", "win"),
        RatioBar("b", 0.5, 0.4, 0.6, "0.50", "loss"),
        RatioBar("c", 0.0, 0.0, 0.0, "refused", "none", panel="<p>why</p>"),
    )
    html = ratio_list(bars, "problem-")
    (one,) = set(re.findall(r'mark one" style="left:([\d.]+)%', html))
    win = re.search(r'bar win" style="left:([\d.]+)%', html)
    loss = re.search(r'bar loss" style="left:([\d.]+)%;width:([\d.]+)%', html)
    assert win is not None
    assert loss is not None
    assert win[1] == one
    assert float(loss[1]) + float(loss[2]) == pytest.approx(float(one), abs=0.02)
    assert 'id="problem-3"' in html


def test_a_diff_has_new_lines_lines_that_are_gone_and_costs() -> None:
    kernel = find_kernel("transpose/5")
    before = rung_before(kernel)
    number = next(at for at, text in enumerate(kernel.text.splitlines(), 1) if "barrier" in text)
    lines = diff_lines(kernel, before, {number: {"local": Cost(1, 2, 1)}}, {})
    assert {line.kind for line in lines} == {"same", "new", "gone", "cut"}
    assert not any(line.text.startswith("// ") for line in lines), "the comment at the top stands above the diff"
    (costly,) = [line for line in lines if line.costs]
    assert (costly.number, costly.text) == (number, kernel.text.splitlines()[number - 1])
    gone = [line.text for line in lines if line.kind == "gone"]
    assert before is not None
    assert gone
    assert all(text in before.text.splitlines() for text in gone)
    first = diff_lines(before, None, {}, {})
    assert {line.kind for line in first} == {"same"}, "a first rung is shown whole"


def test_heat_has_the_colour_of_the_excess_and_the_strength_of_the_part() -> None:
    assert [heat(Cost(1, cost, 100), 300)[0] for cost in (100, 150, 300)] == ["cool", "warm", "hot"]
    assert heat(Cost(1, 300, 100), 300)[1] > heat(Cost(1, 30, 10), 300)[1]


COMMANDED = [
    path.name
    for path in sorted(BENCHMARKS.glob("*.json"))
    if any(
        word in path.name
        for word in ("tiles", "gemm", "sustained", "accuracy", "transposes", "rows", "inspect", "dtypes")
    )
]


@pytest.mark.parametrize("name", COMMANDED)
def test_a_command_that_makes_the_record_again_can_be_parsed(name: str) -> None:
    command = command_of(subject_of(BENCHMARKS / name).data)
    assert command is not None
    words = shlex.split(command.text)
    assert words[0] == "tilewright"
    parse(make_parser(), words[1:])


def test_a_command_names_what_the_record_has() -> None:
    sweep = command_of(load_record(BENCHMARKS / "h200-tiles-peers.json"))
    split = command_of(load_record(BENCHMARKS / "h200-sustained-fp32_split.json"))
    assert sweep is not None
    assert split is not None
    assert says(sweep.text, "ladder tiles", "--sizes 1024:8192", "--backend both", "'NVIDIA H200'")
    assert says(split.text, "bench --sets large", "--precision fp32_split", "--sustained 2")


def test_a_command_names_the_file_of_a_kernel_that_is_no_rung() -> None:
    mine, rung = (command_of(replace(RECORD, title=f"kernel {name}")) for name in ("folder/mine", "tiles/02_tiled"))
    assert mine is not None
    assert rung is not None
    assert says(mine.text, "run folder/mine.cl")
    assert says(rung.text, "run tiles/02_tiled ")


def test_a_download_is_the_whole_record() -> None:
    for name in ("h200-tiles.json", "h200-tiles-peers.json"):
        subject = subject_of(BENCHMARKS / name)
        link = re.search(r'download="([^"]+)" href="data:application/(\w+);base64,([^"]+)"', download(subject))
        assert link is not None
        content = base64.b64decode(link[3])
        content = gzip.decompress(content) if link[2] == "gzip" else content
        assert json.loads(content) == json.loads((BENCHMARKS / name).read_text())
    assert "too much for this page" in download(
        replace(subject, raw=b"".join(map(str.encode, map(str, range(3_000_000)))))
    )


def two(first: tuple, second: tuple) -> tuple[Subject, Subject]:
    return subject_of(replace(RECORD, rows=first)), subject_of(replace(RECORD, rows=second))


def test_two_records_get_a_verdict_for_each_row() -> None:
    wide = Samples((), (0.001, 0.004, 0.03))
    first = (row("l/01_a", 0.01), row("l/02_b", 0.01), row("l/03_c", 0.01), row("l/04_d", 0.01))
    second = (row("l/01_a", 0.002), row("l/02_b", 0.05), row("l/03_c", 0.0101), row("l/04_d", 0.01, samples=wide))
    found = compared(two(first, second))
    assert found is not None
    assert [verdict(each, found) for each in found.rows] == ["faster", "slower", "unsure", "unsure"]
    headline = comparison_headline(found)
    assert says(headline.more[0], "4 kernels", "1 faster", "1 slower", "2 undecided")
    html = "".join(comparison_parts(found))
    assert html.count("cannot tell") >= 2
    assert "Nothing that the records know of" in html


def test_a_busy_machine_decides_nothing_about_libraries_on_the_host() -> None:
    library = (row("NumPy", 0.01, role=Role.BASELINE, backend="host"), row("l/01_a", 0.01))
    faster = tuple(replace(each, samples=Samples((), (0.001,) * 3)) for each in library)
    busy = replace(RECORD, environment=replace(ENVIRONMENT, others=2.0), rows=faster)
    found = compared((subject_of(replace(RECORD, rows=library)), subject_of(busy)))
    assert found is not None
    assert [verdict(each, found) for each in found.rows] == ["unsure", "faster"]


def test_other_sizes_are_compared_by_rates_and_nothing_in_common_is_none() -> None:
    found = compared(two((row("l/01_a", 0.01, 100),), (row("l/01_a", 0.01, 200),)))
    assert found is not None
    assert found.of_rates
    assert compared(two((row("l/01_a", 0.01),), (row("l/02_b", 0.01),))) is None
    assert compared((subject_of(RECORD),)) is None


def test_a_map_needs_several_depths() -> None:
    def problem(m: int, k: int, ours: float) -> tuple:
        names = (row("cuBLAS", 0.01, role=Role.BASELINE), row("tilewright", ours))
        return tuple(replace(each, size=(m, m, k), problem=f"gemm {m}x{m}x{k} float32") for each in names)

    square = [problem(2**side, 64, 0.005) for side in range(4, 20)]
    assert draw_map(square) is None
    found = draw_map(
        [problem(2**side, 2**depth, 0.005 if depth > 6 else 0.05) for side in range(4, 8) for depth in (5, 6, 7)]
    )
    assert found is not None
    svg = found.svg()
    assert svg.count('class="late"') == 8 + 1, "losses, and the legend's point"


def test_rungs_of_other_versions_have_a_note_and_no_evidence() -> None:
    rows = (row("tiles/99_gone", 0.01), row("tiles/01_naive", 0.01, samples=Samples((), (0.01,) * 3)))
    found = evidence_of(replace(RECORD, rows=rows))
    assert list(found.answers) == ["tiles/01_naive"]
    assert found.answers["tiles/01_naive"].explanations
    notes = grouped_notes(found)
    assert any(says(note, "tiles/99_gone", "not a rung") for note in notes)
    assert any("compilers for CPUs" in note for note in notes)


def test_the_architecture_is_that_of_the_records_gpu() -> None:
    info = ENVIRONMENT.device
    assert architecture_of(info) == ""
    assert architecture_of(replace(info, kind="gpu", compute_capability=(9, 0))) == "sm_90"
    assert architecture_of(replace(info, kind="gpu", name="gfx90a:sramecc+")) == "gfx90a"
    assert architecture_of(replace(info, kind="gpu", name="Some GPU")) == ""


def test_a_page_has_no_command_for_the_machine_that_made_it() -> None:
    told = "nvdisasm would show the code: uv pip install --python '/home/me/x' -e '/home/me/tilewright[inspect-nv]'"
    assert for_others(told) == "nvdisasm would show the code"
    assert for_others("65,536 bytes of local memory exceed: 3") == "65,536 bytes of local memory exceed: 3"


def test_a_file_of_another_kind_is_one_sentence(tmp_path: Path) -> None:
    for name in (
        "fuzz-h200.json",
        "h200-counters.json",
        "h200-special-counters.json",
        "sanitize.json",
        "cpu-intel-planning.json",
    ):
        with pytest.raises(RecordError, match=name) as told:
            subject_of(BENCHMARKS / name)
        assert len(str(told.value).splitlines()) == 1
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(RecordError, match=r"x\.json"):
        subject_of(tmp_path / "x.json")


def test_a_records_name_that_is_no_text_gets_question_marks(tmp_path: Path) -> None:
    path = tmp_path / "r\udce9c.json"
    try:
        save_record(RECORD, path)
    except OSError:
        pytest.skip("the file system takes text alone as names")
    assert subject_of(path).name == "r?c.json"
