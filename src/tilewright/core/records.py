"""Records: what was measured, where and how. Plain data that goes to JSON and back."""

import gzip
import statistics
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from ..errors import InvalidInput, RecordError, quoted
from .checked import checked_path
from .device import DeviceInfo, Peaks
from .files import write_atomically
from .language import Sentence
from .sizes import FilePath

Kind = TypeVar("Kind")

FORMAT = 2
# What msgspec raises for a file that is no JSON, or has other fields; that is no UTF-8; that is nested too deeply. Its
# DecodeError is a ValueError in later versions alone.
DAMAGED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
# A file with a number below 0 is no record.
Count = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]


class RowStatus(StrEnum):
    """How a row ended. All but OK say why in the row's `reason`."""

    OK = "ok"
    REFUSED = "refused"
    NOT_HERE = "not here"  # the device or the machine lacks what it needs
    BUILD_FAILED = "build failed"
    LAUNCH_FAILED = "launch failed"
    WRONG = "wrong"


class Role(StrEnum):
    """What a row stands for. Tables and plots look at it, not at names.

    KERNEL is a rung, a kernel of the user's own, or the library. BASELINE is another library. SEQUENTIAL is the kernel of
    one work-item on a CPU.
    """

    KERNEL = "kernel"
    BASELINE = "baseline"
    SEQUENTIAL = "sequential"


@dataclass(frozen=True)
class Samples:
    """All times of one case, in seconds. `device` is empty if it did not run on a device."""

    wall: tuple[Seconds, ...] = ()  # by this machine's clock
    device: tuple[Seconds, ...] = ()  # by the device's clock

    def __repr__(self) -> str:
        return (
            f"<Samples: {len(self.times)} runs, median {self.median * 1e3:.3g} ms>" if self.times else "<Samples: none>"
        )

    @property
    def times(self) -> tuple[float, ...]:
        """The times that rates are computed from: by the device's clock if there are any, otherwise wall times."""
        return self.device or self.wall

    @property
    def median(self) -> float:
        """The median time in s. There must be a time."""
        return statistics.median(self.times)

    def quantile(self, part: float) -> float:
        """The time in s that `part` of the samples (0 to 1) do not exceed."""
        ordered = sorted(self.times)
        return ordered[min(int(part * len(ordered)), len(ordered) - 1)]

    @property
    def has_spread(self) -> bool:
        """Whether the spread is known: a single time says nothing about it."""
        return len(self.times) > 1

    @property
    def spread(self) -> float:
        """Half of the distance between the 20th and 80th percentile, as a part of the median: 0.1 is 10%. 0 if it is unknown."""
        return (self.quantile(0.8) - self.quantile(0.2)) / 2 / self.median if self.median else 0.0


@dataclass(frozen=True)
class Turn:
    """One case's turn in a sustained benchmark: its time in s, clock in MHz and mean power in W. Both are None if not read."""

    seconds: float
    calls: int
    clock_mhz: float | None = None
    power_w: float | None = None

    @property
    def joules(self) -> float | None:
        """Energy of one call in J, the power of the idle board included."""
        return None if self.power_w is None else self.power_w * self.seconds / self.calls


@dataclass(frozen=True)
class Fault:
    """What `explain` found at one place of a kernel that failed: a race, an access out of bounds, an uninitialised read ..."""

    kind: str
    text: str
    file: str
    line: int
    column: int
    example: str = ""
    count: int = 1

    def __str__(self) -> str:
        times = f" ({self.count} times)" if self.count > 1 else ""
        example = f"; {self.example}" if self.example else ""
        return f"{self.file}:{self.line}: {self.kind}: {self.text}{example}{times}"


@dataclass(frozen=True)
class Row:
    """One case's result, good or bad.

    `size` is (m, n, k) or (rows, columns), `flops` and `nbytes` are those of the problem (bytes that must move), `samples` are
    times in s. `rate` and `unit` give the speed: GFLOP/s, or GB/s for copies and transposes. `status` is "ok", or `reason`
    says what went wrong. `worst_ratio` is the largest error as a part of what rounding allows: up to 1 is right.
    `published` are figures of the rung's source, by device.

    `backend` is the runtime: "opencl", "cuda", or "host" for a library on the host. `faults` are what `explain` found in a
    kernel that was wrong or failed. `explained` says in one sentence what `explain` looked at, or why it could not.
    """

    name: str
    lesson: str
    problem: str
    size: tuple[int, ...]
    flops: Count
    nbytes: Count
    status: RowStatus = RowStatus.OK
    reason: str = ""
    notes: tuple[str, ...] = ()
    worst_ratio: float = 0.0
    samples: Samples = field(default_factory=Samples)
    published: tuple[tuple[str, float], ...] = ()
    backend: str = "opencl"
    role: Role = Role.KERNEL
    turns: tuple[Turn, ...] = ()  # of a sustained benchmark: `samples` then holds the mean time of a call in each turn
    faults: tuple[Fault, ...] = ()
    explained: str = ""

    def __repr__(self) -> str:
        rate = f"{self.rate:,.4g} {self.unit}" if self.measured else "not measured"
        return f"<Row: {self.label}, {self.problem}, {self.status}, {rate}>"

    @property
    def label(self) -> str:
        """The name as tables print it: one kernel may have a row for each backend."""
        return f"{self.name} (CUDA)" if self.backend == "cuda" and not self.is_baseline else self.name

    @property
    def library(self) -> str:
        """A baseline's name without the operation at its end."""
        return self.name.removesuffix(f" {self.problem.split(' ')[0]}")

    @property
    def is_baseline(self) -> bool:
        """Whether it is something that kernels are compared with."""
        return self.role is not Role.KERNEL

    @property
    def passed(self) -> bool:
        """Whether nothing went wrong so far."""
        return self.status is RowStatus.OK

    @property
    def failed(self) -> bool:
        """Whether it went wrong: it was neither right nor refused."""
        return self.status not in (RowStatus.OK, RowStatus.REFUSED, RowStatus.NOT_HERE)

    @property
    def measured(self) -> bool:
        """Whether it passed and has times."""
        return self.passed and bool(self.samples.times)

    @property
    def comparable(self) -> bool:
        """Whether the row's times can be divided: it was measured, and no time is 0. Coarse clocks give zeros."""
        return self.measured and min(self.samples.times) > 0

    @property
    def rate(self) -> float:
        """GFLOP/s where the problem has flops, otherwise effective GB/s (compulsory bytes); 0 if not measured."""
        if not self.measured or not self.samples.median:
            return 0.0
        return (self.flops or self.nbytes) / self.samples.median * 1e-9

    @property
    def clock_mhz(self) -> float | None:
        """The clock in MHz, the median over the turns of a sustained benchmark; None if it was not read."""
        return _median([each.clock_mhz for each in self.turns])

    @property
    def power_w(self) -> float | None:
        """The mean power in W, the median over the turns; None if it was not read."""
        return _median([each.power_w for each in self.turns])

    @property
    def joules(self) -> float | None:
        """Energy of one call in J, the median over the turns; None if power was not read."""
        return _median([each.joules for each in self.turns])

    @property
    def unit(self) -> str:
        """The unit of `rate`."""
        return "GFLOP/s" if self.flops else "GB/s"


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


@dataclass(frozen=True)
class Environment:
    """Where a record was made. `cores` are those that the process might use; the clock is in MHz, the power in W."""

    device: DeviceInfo
    date: str
    python: str
    system: str
    processor: str
    cores: int
    load: float  # one-minute load average
    versions: dict[str, str]
    clock_mhz: float | None = None  # read during the run, if the system tells it
    power_w: float | None = None
    others: float | None = None  # mean number of cores that other programs kept busy, if the system tells it
    # Variables that configure a BLAS, which NumPy obeys where the library calls it; None in records of older versions.
    blas_settings: dict[str, str] | None = None


@dataclass(frozen=True)
class Record:
    """A run of a ladder or of single kernels: `rows` in the order in which they ran, with baselines. Plain data.

    `tilewright.Record` is the same and shows itself.
    """

    title: str
    dtype: str
    environment: Environment
    peaks: Peaks | None
    rows: tuple[Row, ...]
    format: int = FORMAT
    absent: tuple[str, ...] = ()  # baselines that were not available, each a sentence
    telemetry: str = ""  # of a sustained benchmark: what read clock and power, or why nothing did


def to_json(record: object) -> str:
    """Indented JSON of any record. Bytes of a file's name that are no text become question marks, as in `shown_path`."""
    try:
        content = msgspec.json.encode(record, enc_hook=_in_english, order="sorted")
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(record, enc_hook=_in_english, order="sorted")
        content = msgspec.json.encode(_with_question_marks(plain))
    return msgspec.json.format(content, indent=1).decode() + "\n"


def _with_question_marks(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {_with_question_marks(key): _with_question_marks(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_with_question_marks(each) for each in value]
    return value


def _in_english(value: object) -> str:
    """A Sentence as plain text. InvalidInput for what is no plain data."""
    if isinstance(value, Sentence):
        return str(value)
    raise InvalidInput(
        f"this is no record, because it holds an object of type {type(value).__name__}; "
        "its command's --json FILE writes what can be kept of it"
    )


def save_record(record: object, path: FilePath) -> None:
    """Write a record as JSON, compressed if the name ends in .gz; equal records give equal bytes.

    InvalidInput for what is no record, such as an explanation, or the pair that `run` returns.
    """
    if hasattr(record, "record"):
        raise InvalidInput(f"a {type(record).__name__} is no record{_hint(record)}")
    if record is None or isinstance(record, str | bytes | complex | float | int):
        raise InvalidInput(f"record={quoted(record)}: pass a record, such as ladder gives")
    content, target = to_json(record).encode(), checked_path("path", path)
    write_atomically(target, gzip.compress(content, mtime=0) if target.suffix == ".gz" else content)


# What is not read as a record of a ladder or benchmark: the command that wrote it, by fields that only its records have.
WRITTEN_BY = {
    "tilewright accuracy": {"environment", "rows", "size"},
    "tilewright roofline": {"compulsory_bytes", "kernel", "peaks"},
    "tilewright inspect": {"arch", "kernel", "mix"},
    "tilewright explain": {"accesses", "coverage", "group_count"},
    "tilewright devices": {"global_bytes", "platform", "trial"},
    "tilewright doctor": {"findings", "healthy"},
    "tilewright compare": {"ratio", "low", "high"},
    "tilewright why": {"causes", "limits", "counted_at"},
    "tilewright tune": {"entries", "device", "settled"},
}


def _format_of(text: bytes, kind: type, path: Path, what: str) -> int:
    """The field `format` of a JSON text. RecordError for what is no `kind`: it names the command that wrote the text."""
    own = {each.name for each in fields(kind)}
    content = msgspec.json.decode(text)
    first = content[0] if isinstance(content, list) and content else content
    if isinstance(first, dict):
        for command, telling in WRITTEN_BY.items():
            if telling <= first.keys() and not telling <= own:
                raise RecordError(f"{path} is not {what}: `{command}` wrote it")
    if not isinstance(content, dict):
        raise RecordError(f"{path} is not {what}: it is a list, not one record")
    found = content.get("format")
    if found is None:
        raise RecordError(f"{path} is not {what}: it has no field `format`")
    return found if isinstance(found, int) else 0


def path_of(source: object, what: str) -> Path:
    """The name of a file that holds `what`. InvalidInput for any other object."""
    if isinstance(source, str | PathLike):
        return checked_path("path", source)
    raise InvalidInput(f"a {type(source).__name__} is neither {what} nor the name of its file{_hint(source)}")


def _hint(source: object) -> str:
    return "; pass its `record`" if hasattr(source, "record") else ""


def load(path: FilePath, kind: type[Kind], what: str, form: int | None = None) -> Kind:
    """Read a file of `kind`; RecordError says what is wrong with the file and where, and calls the kind `what`.

    A file whose name ends in .gz is decompressed. With `form`, the file's field `format` must have that number.
    """
    path = path_of(path, what)
    if path.exists() and not path.is_file():
        raise RecordError(f"{path} cannot be read: it is not a file")
    try:
        content = path.read_bytes()
        text = gzip.decompress(content) if path.suffix == ".gz" else content
        written = _format_of(text, kind, path, what) if form is not None else None
        if written != form:
            raise RecordError(f"{path} has format {written}; this version reads {form}")
        return msgspec.json.decode(text, type=kind)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise RecordError(f"{path} is not a compressed file: {error}") from error
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from error
    except DAMAGED as error:
        raise RecordError(f"{path} is not {what}: {error}") from error


def load_record(path: FilePath) -> Record:
    """Read a record; RecordError says what is wrong with the file and where."""
    record = load(path, Record, "a record", FORMAT)
    peaks = record.peaks
    if peaks is not None and min((peaks.copy_gbs, peaks.local_gbs, *peaks.gflops.values())) < 0:
        raise RecordError(f"{path} is not a record: its device has a peak below 0")
    return record
