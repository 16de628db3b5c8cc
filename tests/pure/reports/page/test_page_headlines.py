"""The first sentence of a page: computed from the record."""

from dataclasses import replace

from example_records import PEAKS, RECORD, REFUSED, ROWS, row
from paths import BENCHMARKS
from says import says

from tilewright.core.records import Record, Role, Samples, Turn
from tilewright.measurement.accuracy import load_accuracy
from tilewright.measurement.why import Why
from tilewright.reports.page.evidence import Evidence
from tilewright.reports.page.headlines import (
    accuracy_headline,
    benchmark_headline,
    ladder_headline,
    stop_sentences,
)
from tilewright.reports.page.subjects import at_one_size

NOTHING = Evidence()


def vendor(seconds: float, samples: Samples | None = None) -> Record:
    """The example's rungs beside a vendor's library of that time."""
    library = row("cuBLAS", seconds, role=Role.BASELINE, backend="cuda")
    library = library if samples is None else replace(library, samples=samples)
    return replace(RECORD, rows=(library, *ROWS[2:]))


def test_a_slower_ladder_is_a_part_of_the_vendors_library() -> None:
    found = ladder_headline(vendor(0.001), NOTHING)
    assert (found.number, found.of) == ("50%", "of cuBLAS")
    assert says(found.sentence, "l/04_d reaches 50% of cuBLAS", "1 GFLOP/s", "2 GFLOP/s")
    assert says(found.more[0], "5.00 times as fast as l/01_a")


def test_a_faster_ladder_is_a_multiple_of_it() -> None:
    found = ladder_headline(vendor(0.003), NOTHING)
    assert found.number == "1.50\u00d7"
    assert says(found.sentence, "l/04_d is 1.50 times as fast as cuBLAS")


def test_a_baseline_that_cannot_be_trusted_is_not_divided_by() -> None:
    found = ladder_headline(vendor(0.001, samples=Samples((), (0.0002, 0.001, 0.005))), NOTHING)
    assert (found.number, found.of) == ("50%", "of the measured peak")
    assert ladder_headline(replace(vendor(0.001, samples=Samples()), peaks=None), NOTHING).of == "GFLOP/s"


def test_a_ladder_without_times_says_so() -> None:
    found = ladder_headline(replace(RECORD, rows=(REFUSED,)), NOTHING)
    assert says(found.sentence, "Nothing was measured of ladder l")
    assert says(found.more[0], "K=5 is not a multiple of 4")


def test_the_largest_size_speaks() -> None:
    rows = (row("l/01_a", 0.01, 200), row("l/02_b", 0.01, 100), row("cuBLAS", 0.005, 200, role=Role.BASELINE))
    shown = at_one_size(replace(RECORD, rows=rows))
    assert [each.name for each in shown.rows] == ["l/01_a", "cuBLAS"]


def test_what_stops_a_rung_is_not_known_without_counts() -> None:
    answer = Why(ROWS[5], "", "128", None, None, note="inline assembly cannot be interpreted")
    assert says(stop_sentences(answer)[0], "not known", "inline assembly")
    assert stop_sentences(replace(answer, row=REFUSED)) == []


def pair(size: int, baseline: float, ours: float, turns: tuple[tuple[Turn, ...], ...] = ((), ())) -> tuple:
    both = (row("cuBLAS", baseline, size, role=Role.BASELINE, backend="cuda"), row("tilewright", ours, size))
    return tuple(replace(each, turns=of) for each, of in zip(both, turns, strict=True))


def test_a_benchmark_gives_its_mean_and_its_losses() -> None:
    rows = (*pair(100, 0.004, 0.001), *pair(200, 0.001, 0.004))
    found = benchmark_headline(Record("benchmark squares", "float32", RECORD.environment, PEAKS, rows))
    assert found.number == "1.00\u00d7"
    assert says(found.sentence, "tilewright", "cuBLAS", "2 problems")
    assert says(found.more[0], "slower in 1 of 2", "gemm 200x200x200 float32", "0.25 times")


def test_a_benchmark_with_power_gives_energy() -> None:
    turns = ((Turn(2.0, 100, 1500.0, 700.0),), (Turn(2.0, 200, 1500.0, 700.0),))
    rows = pair(100, 0.02, 0.01, turns)
    found = benchmark_headline(Record("benchmark large sustained", "float32", RECORD.environment, PEAKS, rows))
    assert says(found.sentence, "2.00 times as fast as cuBLAS at gemm 100x100x100 float32")
    assert says(found.more[0], "50% of the energy", "7 J against 14 J")


def test_a_record_of_errors_names_the_worst_data() -> None:
    record = load_accuracy(BENCHMARKS / "h200-accuracy.json")
    own = [each for each in record.rows if each.by == "tilewright" and each.mode == "ieee"]
    worst = max(own, key=lambda each: each.largest)
    found = accuracy_headline(record)
    assert says(found.sentence, "ieee", f"{worst.largest:.3g}", worst.data)
    assert any(says(each, "cuBLAS errs") for each in found.more)
