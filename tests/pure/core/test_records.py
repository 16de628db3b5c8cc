"""Records: to JSON and back without loss, and files that are none."""

import dataclasses
import json
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from devices import GPU
from hypothesis import given
from hypothesis import strategies as st
from paths import BENCHMARKS

from tilewright.core.device import DeviceInfo, Peaks
from tilewright.core.records import (
    FORMAT,
    Environment,
    Record,
    Role,
    Row,
    RowStatus,
    Samples,
    load_record,
    save_record,
    to_json,
)
from tilewright.errors import RecordError
from tilewright.reports.benchmark_table import by_problem

TEXT = st.text(max_size=20)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
SECONDS = st.floats(1e-9, 1e4)
TIMES = st.lists(SECONDS, max_size=6).map(tuple)

DEVICES = st.builds(
    DeviceInfo,
    name=TEXT,
    platform=TEXT,
    max_work_item_sizes=st.lists(st.integers(1, 2**40), max_size=3).map(tuple),
    preferred_widths=st.dictionaries(TEXT, st.integers(0, 64), max_size=3),
    compute_capability=st.none() | st.tuples(st.integers(1, 20), st.integers(0, 9)),
    global_bytes=st.integers(0, 2**50),
    features=st.frozensets(TEXT, max_size=3),
)
ENVIRONMENTS = st.builds(
    Environment,
    device=DEVICES,
    date=TEXT,
    python=TEXT,
    system=TEXT,
    processor=TEXT,
    cores=st.integers(1, 1024),
    load=FINITE,
    versions=st.dictionaries(TEXT, TEXT, max_size=3),
    clock_mhz=st.none() | FINITE,
    power_w=st.none() | FINITE,
)
ROWS = st.builds(
    Row,
    name=TEXT,
    lesson=TEXT,
    problem=TEXT,
    size=st.lists(st.integers(0, 10**6), max_size=3).map(tuple),
    flops=st.integers(0, 2**60),
    nbytes=st.integers(0, 2**60),
    status=st.sampled_from(RowStatus),
    role=st.sampled_from(Role),
    backend=st.sampled_from(["opencl", "cuda", "host"]),
    reason=TEXT,
    notes=st.lists(TEXT, max_size=2).map(tuple),
    worst_ratio=st.floats(0, 1),
    samples=st.builds(Samples, wall=TIMES, device=TIMES),
    published=st.lists(st.tuples(TEXT, FINITE), max_size=2).map(tuple),
)
RATES = st.floats(0, 1e9)
PEAKS = st.builds(Peaks, gflops=st.dictionaries(TEXT, RATES, max_size=3), copy_gbs=RATES, local_gbs=RATES)
RECORDS = st.builds(
    Record,
    title=TEXT,
    dtype=TEXT,
    environment=ENVIRONMENTS,
    peaks=st.none() | PEAKS,
    rows=st.lists(ROWS, max_size=3).map(tuple),
    format=st.just(FORMAT),
)


@given(record=RECORDS)
def test_a_record_comes_back_as_it_was(record: Record, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("records") / "record.json"
    save_record(record, path)
    assert load_record(path) == record
    assert to_json(load_record(path)) == path.read_text(encoding="utf-8")


RECORD = Record("ladder rows", "float32", Environment(GPU, "", "", "", "", 1, 0.0, {}), None, ())


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe\x00", b'{"title": "x"}', b'{"title": "\xff"}'])
def test_a_broken_file_says_what_is_wrong(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(RecordError) as caught:
        load_record(path)
    assert str(path) in str(caught.value)


@given(st.binary(max_size=60))
def test_no_bytes_break_the_reader(content: bytes) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "noise.json"
        path.write_bytes(content)
        with pytest.raises(RecordError, match=r"noise\.json"):
            load_record(path)


def test_a_field_of_a_wrong_type_is_named(tmp_path: Path) -> None:
    content = json.loads(to_json(RECORD))
    content["environment"]["cores"] = "two"
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(content))
    with pytest.raises(RecordError, match=r"environment\.cores"):
        load_record(path)


def test_a_missing_file_and_another_format_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"absent\.json"):
        load_record(tmp_path / "absent.json")
    path = tmp_path / "later.json"
    save_record(dataclasses.replace(RECORD, format=FORMAT + 1), path)
    with pytest.raises(RecordError, match=rf"later\.json.*\b{FORMAT + 1}\b.*\b{FORMAT}\b"):
        load_record(path)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("rows", 0, "flops"), -1, r"rows\[0\]\.flops"),
        (("rows", 0, "nbytes"), -1, r"rows\[0\]\.nbytes"),
        (("rows", 2, "samples", "wall"), [-1.0], r"rows\[2\]\.samples\.wall"),
        (("peaks", "gflops", "float32"), -1, "a peak below 0"),
    ],
)
def test_a_number_below_0_is_told(place: tuple[Any, ...], value: Any, words: str, tmp_path: Path) -> None:
    content = json.loads((BENCHMARKS / "cpu-intel-cpu.json").read_text(encoding="utf-8"))
    *outer, last = place
    reduce(lambda found, key: found[key], outer, content)[last] = value
    (tmp_path / "odd.json").write_text(json.dumps(content))
    with pytest.raises(RecordError, match=rf"odd\.json.*{words}"):
        load_record(tmp_path / "odd.json")


def test_a_compressed_record_is_the_same_record(tmp_path: Path) -> None:
    path = tmp_path / "one.json.gz"
    save_record(RECORD, path)
    written = path.read_bytes()
    assert load_record(path) == RECORD
    save_record(RECORD, path)
    assert path.read_bytes() == written
    assert len(written) < len(to_json(RECORD))
    for damaged in (b"{}", written[:-20], written[:40] + b"\xff\xff" + written[42:]):
        path.write_bytes(damaged)
        with pytest.raises(RecordError, match="not a compressed file"):
            load_record(path)


def test_samples_prefer_the_devices_own_clock() -> None:
    samples = Samples(wall=(5.0, 6.0, 7.0), device=(1.0, 2.0, 9.0))
    assert samples.median == 2.0
    assert Samples(wall=(5.0, 6.0, 7.0)).median == 6.0


def test_spread_is_half_the_distance_of_the_quantiles() -> None:
    samples = Samples(wall=tuple(float(each) for each in range(1, 11)))
    assert samples.quantile(0.2) == 3.0
    assert samples.quantile(0.8) == 9.0
    assert samples.spread == pytest.approx(3.0 / 5.5)
    assert Samples(wall=(2.0,)).spread == 0.0


def test_rates_count_flops_where_there_are_some_and_bytes_otherwise() -> None:
    row = Row("r", "", "gemm 1x1x1 float32", (), flops=3 * 10**9, nbytes=10**9, samples=Samples((0.5,)))
    assert (row.rate, row.unit) == (6.0, "GFLOP/s")
    copy = dataclasses.replace(row, flops=0)
    assert (copy.rate, copy.unit) == (2.0, "GB/s")


def test_what_was_not_measured_has_no_rate() -> None:
    row = Row("r", "", "p", (), 1, 1)
    assert not row.measured
    assert row.rate == 0.0
    assert dataclasses.replace(row, samples=Samples((1.0,)), status=RowStatus.WRONG).rate == 0.0


def test_committed_benchmarks_say_who_is_the_baseline() -> None:
    records = [load_record(path) for path in sorted(BENCHMARKS.glob("*-gemm-*.json"))]
    assert records
    for record in records:
        for baseline, ours, *_ in by_problem(record):
            assert baseline.role is Role.BASELINE
            assert ours.role is Role.KERNEL
            assert baseline.backend == ("cuda" if record.environment.device.kind == "gpu" else "host")


def test_committed_ladders_keep_rungs_and_baselines_apart() -> None:
    for name in ("h200-tiles.json", "cpu-intel-tiles.json", "h200-transpose-peers.json"):
        for row in load_record(BENCHMARKS / name).rows:
            assert row.is_baseline == ("/" not in row.name), row.name


def test_a_record_of_the_format_before_is_refused(tmp_path: Path) -> None:
    save_record(dataclasses.replace(RECORD, format=FORMAT - 1), tmp_path / "old.json")
    with pytest.raises(RecordError, match=f"has format {FORMAT - 1}; this version reads {FORMAT}"):
        load_record(tmp_path / "old.json")


def test_a_status_that_is_none_is_refused(tmp_path: Path) -> None:
    row = Row("a", "", "", (), 0, 0)
    text = to_json(dataclasses.replace(RECORD, rows=(row,)))
    (tmp_path / "bad.json").write_text(text.replace('"ok"', '"splendid"'), encoding="utf-8")
    with pytest.raises(RecordError, match="splendid"):
        load_record(tmp_path / "bad.json")
