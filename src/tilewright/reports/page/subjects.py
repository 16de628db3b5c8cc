"""What a page is made of: records of every kind, read from files or handed in."""

import gzip
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from ...analysis.inspect import Inspection
from ...analysis.inspect.record import load_inspection
from ...core.records import Record, Row, load, path_of, to_json
from ...core.sizes import FilePath
from ...measurement.accuracy import AccuracyRecord, load_accuracy
from ...measurement.ladder_roofline import LadderRoofline
from ...measurement.roofline import Roofline
from ..benchmark_table import by_problem
from ..cold_start import TITLE as COLD_START
from ..plot import load_drawable

Data = Record | AccuracyRecord | Roofline | LadderRoofline | Inspection
SHOWN = (
    "It has no page: report shows ladders, single kernels, benchmarks, accuracy, cold starts, rooflines and inspections"
)


@dataclass(frozen=True)
class Subject:
    """One record of a page. `name` is its file's, or made from its title; `raw` is its JSON, of a file as it was."""

    name: str
    data: Data
    raw: bytes


def subject_of(source: Data | FilePath) -> Subject:
    """A record, or the one in that file. RecordError says what is wrong with the file, or why it has no page; InvalidInput
    what is neither."""
    if not isinstance(source, Data):
        path = path_of(source, "a record")
        data = load_data(path)
        content = path.read_bytes()
        raw = gzip.decompress(content) if path.suffix == ".gz" else content
        name = path.name.encode(errors="replace").decode()  # a page cannot hold bytes that are no text
        return Subject(name.removesuffix(".gz"), data, raw)
    return Subject(f"{title_of(source).replace(' ', '-').replace('/', '-')}.json", source, to_json(source).encode())


def load_data(path: Path) -> Data:
    """The record in a file, whatever its kind."""
    content: Any = load(path, dict | list, "a record")  # type: ignore[arg-type]
    fields = set(content) if isinstance(content, dict) else set()  # `load_drawable` says what a list is
    if {"environment", "rows", "size"} <= fields:
        return load_accuracy(path)
    if {"arch", "kernel", "mix"} <= fields:
        return load_inspection(path)
    return load_drawable(path, SHOWN)


def title_of(data: Data) -> str:
    """A short name of a record: what was measured."""
    if isinstance(data, Record | LadderRoofline):
        return data.title
    if isinstance(data, AccuracyRecord):
        return f"accuracy {data.dtype}"
    return f"{'roofline' if isinstance(data, Roofline) else 'inspect'} {data.kernel}"


def is_cold_start(record: Record) -> bool:
    return record.title == COLD_START


def is_benchmark(record: Record) -> bool:
    return record.title.startswith("benchmark")


def is_paired(record: Record) -> bool:
    """Whether each problem of a benchmark has a baseline beside the library."""
    return is_benchmark(record) and all(len(group) > 1 for group in by_problem(record))


def at_one_size(record: Record) -> Record:
    """The record with the rows of its largest size, and with baselines that were measured at another one alone."""
    sizes = {row.size for row in record.rows if not row.is_baseline and row.size}
    largest = max(sizes, key=lambda size: (prod(size), size), default=())
    rows = [row for row in record.rows if row.size == largest or (row.is_baseline and row.size not in sizes)]
    return replace(record, rows=tuple(rows))


def operation(row: Row) -> str:
    """The first word of the problem: gemm, transpose or copy."""
    return row.problem.split(" ")[0]
