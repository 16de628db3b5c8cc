"""Two records side by side: which is faster, what fell, and rates where sizes differ."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from example_records import RECORD, row
from says import says

from tilewright.cli.main import main
from tilewright.core.records import Record, Role, RowStatus, Samples, load_record, save_record
from tilewright.errors import RecordError
from tilewright.reports.compare import broken, compare, headings, summary, table
from tilewright.runtime.environment import read_environment

Captured = pytest.CaptureFixture[str]
BEFORE = replace(RECORD, rows=(row("l/01_a", 0.01), row("l/02_b", 0.01), row("NumPy", 0.01, role=Role.BASELINE)))
AFTER = replace(RECORD, rows=(row("l/01_a", 0.005), row("l/02_b", 0.02), row("NumPy", 0.04, role=Role.BASELINE)))
BAD = replace(AFTER, rows=(row("l/01_a", 0.005), row("l/02_b", 1.0, status=RowStatus.WRONG, samples=Samples())))


def test_every_line_says_which_side_is_faster() -> None:
    first, second, _ = compare(BEFORE, AFTER)
    assert [first.ratio, second.ratio] == pytest.approx([2.0, 0.5])
    assert says(first.verdict, "second")
    assert says(second.verdict, "first")
    lines = table([first, second])
    assert len({line.index("x  [") for line in lines}) == 1, "the columns are aligned"


def test_the_headings_name_both_files_with_device_and_size() -> None:
    lines = headings(BEFORE, AFTER, ("a.json", "b.json"))
    for line, name in zip(lines, ("a.json", "b.json"), strict=False):
        assert says(line, name, "Device", "100x100x100", "float32")


def test_the_headings_say_which_side_was_measured_on_a_busy_machine() -> None:
    found = RECORD.environment
    busy = replace(found, cores=2, others=1.5, device=replace(found.device, kind="cpu"))
    lines = headings(BEFORE, replace(AFTER, environment=busy), ("", ""))
    assert says(lines[2], "the second", "1.5 of 2 cores")
    assert len(lines) == len(headings(BEFORE, AFTER, ("", ""))) + 1


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ({"OMP_NUM_THREADS": "1"}, {}, "the first had OMP_NUM_THREADS=1, the second had none;"),
        (None, {"A": "1", "B": "2"}, "the first does not say whether any was set, the second had A=1, B=2;"),
        ({"A": "1"}, {"A": "1"}, ""),
        (None, {}, ""),
        (None, None, ""),
    ],
)
def test_the_headings_say_which_variables_of_a_blas_differ(
    first: dict[str, str] | None, second: dict[str, str] | None, words: str
) -> None:
    found = RECORD.environment
    for kind in ("cpu", "gpu"):
        device = replace(found.device, kind=kind)
        environments = [replace(found, device=device, blas_settings=each) for each in (first, second)]
        one, other = (replace(BEFORE, environment=each) for each in environments)
        text = "\n".join(headings(one, other, ("", "")))
        assert ("variables of a BLAS differ" in text) is (bool(words) and kind == "cpu")
        assert words in text or kind == "gpu"


def test_records_have_the_variables_of_a_blas_and_old_ones_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    environment = read_environment(RECORD.environment.device)
    assert environment.blas_settings == {"OPENBLAS_CORETYPE": "Haswell"}
    file = tmp_path / "new.json"
    save_record(replace(RECORD, environment=environment), file)
    assert load_record(file).environment == environment
    content = json.loads(file.read_text())
    del content["environment"]["blas_settings"]
    file.write_text(json.dumps(content))
    assert load_record(file).environment.blas_settings is None


def test_the_summary_counts_kernels_alone() -> None:
    assert says(summary(compare(BEFORE, AFTER)), "1 of 2", "1.00x")


def test_the_summary_names_no_side_if_all_rows_are_within_the_spread() -> None:
    slower = Samples(wall=(0.0095, 0.0101, 0.0111))
    faster = Samples(wall=(0.0090, 0.0100, 0.0110))
    first, second = (replace(RECORD, rows=(row("l/01_a", 0.01, samples=each),)) for each in (slower, faster))
    (found,) = compare(first, second)
    assert found.ratio > 1
    assert not says(summary([found]), "second is faster")
    assert says(summary(compare(BEFORE, replace(AFTER, rows=AFTER.rows[:1]))), "second is faster")


ONCE, OFTEN = Samples(wall=(0.01,)), Samples(wall=(0.002, 0.002, 0.002))


@pytest.mark.parametrize("pair", [(ONCE, OFTEN), (OFTEN, ONCE), (ONCE, ONCE)], ids=["first", "second", "both"])
def test_a_single_run_has_no_known_spread_and_names_no_side(pair: tuple[Samples, Samples]) -> None:
    first, second = (replace(RECORD, rows=(row("l/01_a", 0.01, samples=each),)) for each in pair)
    (found,) = compare(first, second)
    assert found.ratio == pytest.approx(pair[0].median / pair[1].median)
    assert (found.low, found.high, found.distinct) == (None, None, False)
    assert says(str(found), "unknown", "once")
    assert "faster" not in found.verdict
    words = summary([found])
    assert says(words, "not judged in 1", "a single run has no known spread")
    assert "the second is faster" not in words
    assert "the first is faster" not in words


def test_the_summary_judges_by_the_rows_whose_spread_is_known() -> None:
    first = replace(RECORD, rows=(row("l/01_a", 0.01), row("l/02_b", 0.01, samples=ONCE)))
    second = replace(RECORD, rows=(row("l/01_a", 0.005), row("l/02_b", 0.1)))
    words = summary(compare(first, second))
    assert says(words, "second faster in 1 of 2", "not judged in 1", "of the judged 2.00x", "the second is faster")


def test_fail_below_says_where_a_single_run_decided(tmp_path: Path, capsys: Captured) -> None:
    once = replace(AFTER, rows=(row("l/01_a", 0.1, samples=Samples(wall=(0.1,))), row("l/02_b", 0.1)))
    assert (
        main(["compare", *saved(tmp_path, a=BEFORE, b=once), "--fail-below", "0.5", "--json", str(tmp_path / "j.json")])
        == 1
    )
    one, other = (line for line in capsys.readouterr().out.splitlines() if line.startswith("below"))
    assert says(one, "l/01_a", "single run")
    assert not says(other, "single run")
    assert [each["low"] is None for each in json.loads((tmp_path / "j.json").read_text())] == [True, False]


def test_a_page_draws_a_single_run_without_a_verdict(tmp_path: Path) -> None:
    first, second = (replace(RECORD, rows=(row("l/01_a", 0.01, samples=each),)) for each in (ONCE, OFTEN))
    page = tmp_path / "both.html"
    assert main(["report", *saved(tmp_path, a=first, b=second), "-o", str(page)]) == 0
    assert says(page.read_text(encoding="utf-8"), "cannot tell", "[unknown]")


def test_rates_are_compared_where_sizes_differ() -> None:
    larger = replace(RECORD, rows=(row("l/01_a", 0.01, 50), row("l/01_a", 0.04, 200)))
    with pytest.raises(RecordError, match=r"--any-size"):
        compare(BEFORE, larger)
    (found,) = compare(BEFORE, larger, any_size=True)
    assert found.ratio == pytest.approx(8 * 0.01 / 0.04), "8 times the work in 4 times the time"
    assert found.problem == "gemm 100x100x100 -> 200x200x200 float32"
    transposes = replace(RECORD, rows=(row("l/01_a", 0.01, flops=0),))
    with pytest.raises(RecordError, match="in common"):
        compare(BEFORE, transposes, any_size=True)


def test_a_kernel_that_went_wrong_is_broken() -> None:
    assert [each.name for each in broken(BEFORE, BAD)] == ["l/02_b"]
    assert broken(BAD, BAD) == []


def saved(folder: Path, **records: Record) -> list[str]:
    for name, record in records.items():
        save_record(record, folder / f"{name}.json")
    return [str(folder / f"{name}.json") for name in records]


@pytest.mark.parametrize(
    ("least", "status", "fallen"), [("0.4", 0, []), ("0.95", 1, ["l/02_b"]), ("3", 1, ["l/01_a", "l/02_b"])]
)
def test_fail_below_ends_with_1_and_names_the_kernels(
    least: str, status: int, fallen: list[str], tmp_path: Path, capsys: Captured
) -> None:
    assert main(["compare", *saved(tmp_path, a=BEFORE, b=AFTER), "--fail-below", least]) == status
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("below")]
    assert [name for name in ("l/01_a", "l/02_b", "NumPy") if any(says(line, name) for line in lines)] == fallen


def test_fail_below_counts_what_went_wrong(tmp_path: Path, capsys: Captured) -> None:
    assert main(["compare", *saved(tmp_path, a=BEFORE, b=BAD), "--fail-below", "0.1"]) == 1
    assert says(capsys.readouterr().out, "went wrong", "l/02_b")


@pytest.mark.parametrize("name", ["a.json", "b.json", "link.json"])
def test_the_json_overwrites_no_record(name: str, tmp_path: Path, capsys: Captured) -> None:
    first, second = saved(tmp_path, a=BEFORE, b=AFTER)
    (tmp_path / "link.json").symlink_to(first)
    assert main(["compare", first, second, "--json", str(tmp_path / name)]) == 2
    assert says(capsys.readouterr().err, f"{name} would overwrite a file that is named in this command")
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
    assert main(["compare", str(tmp_path / "loop.json"), second, "--json", str(tmp_path / "c.json")]) == 1
    assert main(["compare", first, second, "--json", str(tmp_path / "c.json")]) == 0


def test_ratios_go_to_json(tmp_path: Path, capsys: Captured) -> None:
    assert main(["compare", *saved(tmp_path, a=BEFORE, b=AFTER), "--json"]) == 0
    assert [each["ratio"] for each in json.loads(capsys.readouterr().out)] == pytest.approx([2.0, 0.5, 0.25])
