"""Where a record was made, how to make it again, and the record itself as a download."""

import base64
import gzip
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from ...analysis.inspect import Inspection
from ...core.device import DeviceInfo, Peaks
from ...core.language import translated_count
from ...core.precision import PRECISIONS
from ...core.records import Environment, Record
from ...kernels import all_kernels
from ...measurement.accuracy import AccuracyRecord
from ...measurement.ladder_roofline import LadderRoofline
from ...measurement.roofline import Roofline
from ..table import by, peaks_line
from .elements import paragraph, table, title
from .subjects import Data, Subject, is_benchmark, is_cold_start
from .words import say

COMPRESSED = 100_000  # bytes from which on a download is compressed
LARGEST = 1_000_000  # bytes of a download
Fact = tuple[str, str]


def device_facts(info: DeviceInfo) -> Iterator[Fact]:
    """What is known about a device."""
    yield say("facts.device"), info.name
    yield say("facts.platform"), f"{info.platform}, {info.version}" if info.version else info.platform
    yield say("facts.driver"), info.driver
    yield say("facts.units"), f"{info.compute_units:,}"
    if info.clock_mhz:
        yield say("facts.clock"), f"{info.clock_mhz:,} MHz"
    if info.global_bytes:
        yield say("facts.memory"), f"{info.global_bytes / 1e9:,.1f} GB"
    yield (
        say("facts.local"),
        translated_count("{count:,} byte", "{count:,} bytes", info.local_bytes, count=info.local_bytes),
    )
    yield say("facts.group"), f"{info.max_work_group_size:,}"
    if info.sub_group_width:
        yield say("facts.sub_group"), str(info.sub_group_width)
    if info.compute_capability is not None:
        yield say("facts.capability"), ".".join(map(str, info.compute_capability))


def environment_facts(found: Environment) -> Iterator[Fact]:
    """The device and the machine around it."""
    yield from device_facts(found.device)
    yield say("facts.processor"), f"{found.processor}, {found.cores}"
    yield say("facts.system"), found.system
    yield say("facts.python"), found.python
    yield from ((name, version) for name, version in found.versions.items())
    if found.clock_mhz is not None:
        yield say("facts.clock_then"), f"{found.clock_mhz:,.0f} MHz"
    if found.power_w is not None:
        yield say("facts.power"), f"{found.power_w:,.0f} W"
    yield say("facts.load"), f"{found.load:.2f}"
    if found.others is not None:
        yield say("facts.others"), f"{found.others:.2f}"
    yield say("facts.date"), found.date


def fact_parts(subject: Subject) -> Iterator[str]:
    """The tables of facts, the peaks, the command, and the download."""
    data = subject.data
    yield title(say("facts.title"))
    facts, peaks = _known(data)
    yield table((), facts, "facts")
    if peaks is not None:
        yield paragraph(peaks_line(peaks) + ".")
    yield title(say("again.title"))
    command = command_of(data)
    if command is None:
        yield paragraph(say("again.none"), "soft")
    else:
        yield f'<pre class="command">{escape(command.text)}</pre>'
        yield "".join(paragraph(note, "soft") for note in command.notes)
    yield title(say("data.title"))
    yield download(subject)


def _known(data: Data) -> tuple[list[Fact], Peaks | None]:
    if isinstance(data, Record):
        return list(environment_facts(data.environment)), data.peaks
    if isinstance(data, AccuracyRecord):
        return list(environment_facts(data.environment)), None
    if isinstance(data, Inspection):
        return [(say("facts.architecture"), f"{data.arch}: {data.title}"), (say("facts.compiler"), data.origin)], None
    found = data.rungs[0] if isinstance(data, LadderRoofline) else data
    return list(device_facts(found.device)), found.peaks


def download(subject: Subject) -> str:
    """A link that holds the whole file; a larger one is compressed, and one that is too large is left out."""
    content, name, kind = subject.raw, subject.name, "application/json"
    if len(content) > COMPRESSED:
        content, name, kind = gzip.compress(content, mtime=0), f"{name}.gz", "application/gzip"
    if len(content) > LARGEST:
        return paragraph(say("data.large", name=subject.name, size=f"{len(content) / 1e6:.1f}"))
    link = f"data:{kind};base64,{base64.b64encode(content).decode()}"
    words = escape(say("data.download", name=name, size=f"{len(content) / 1000:,.0f}"))
    return f'<p><a download="{escape(name, quote=True)}" href="{link}">{words}</a></p>'


@dataclass(frozen=True)
class Command:
    """What makes such a record again, and what it does not say."""

    text: str
    notes: tuple[str, ...] = ()


def command_of(data: Data) -> Command | None:
    """The command that makes a record like this one; None if no single command does."""
    if isinstance(data, AccuracyRecord):
        size = by(data.size)
        return _command("accuracy", "--size", size, "--dtype", data.dtype, *_device(data.environment.device))
    if isinstance(data, Inspection):
        return _command("inspect", _kernel_word(data.kernel), "--arch", data.arch, "--dtype", data.dtype)
    if isinstance(data, Roofline):
        return _command(
            "roofline",
            _kernel_word(data.kernel),
            "--size",
            by(data.row.size),
            "--dtype",
            data.dtype,
            *_device(data.device),
        )
    if isinstance(data, LadderRoofline):
        first = data.rungs[0]
        size, device = by(first.row.size), _device(first.device)
        return _command("roofline", *data.title.split(" ")[1:2], "--size", size, "--dtype", first.dtype, *device)
    if is_cold_start(data):
        return None
    return _benchmark_command(data) if is_benchmark(data) else _ladder_command(data)


def _kernel_word(name: str) -> str:
    """What a command calls the kernel: the rung's name, or the file's if it is no rung."""
    return name if name in all_kernels() else f"{name}.cl"


def _device(info: DeviceInfo) -> tuple[str, str]:
    return "--device", info.name


def _command(*words: str, notes: tuple[str, ...] = ()) -> Command:
    return Command("tilewright " + " ".join(map(shlex.quote, words)), (*notes, say("again.device")))


def _benchmark_command(record: Record) -> Command:
    title_words = record.title.removesuffix(", ended early").split(" ")
    words = ["bench", "--sets", title_words[1].replace("+", ","), "--dtype", record.dtype]
    modes = {word for row in record.rows for word in row.problem.split(" ") if word in PRECISIONS}
    if len(modes) == 1:
        words += ["--precision", modes.pop()]
    if any(row.backend == "cuda" and not row.is_baseline for row in record.rows):
        words += ["--backend", "both"]
    turns = [turn.seconds for row in record.rows for turn in row.turns]
    if turns:
        words += ["--sustained", f"{min(turns):.0f}"]
    return _command(*words, *_device(record.environment.device))


def _ladder_command(record: Record) -> Command | None:
    what, _, name = record.title.removesuffix(", ended early").partition(" ")
    rows = [row for row in record.rows if not row.is_baseline and row.size]
    sizes = list(dict.fromkeys(row.size for row in rows))
    if not rows or what not in ("ladder", "kernel"):
        return None
    backends = {row.backend for row in rows}
    words = ["ladder", name] if what == "ladder" else ["run", _kernel_word(name)]
    words += ["--dtype", record.dtype]
    if len(sizes) == 1:
        words += ["--size", by(sizes[0])]
    elif all(len(set(size)) == 1 for size in sizes):
        words += ["--sizes", f"{sizes[0][0]}:{sizes[-1][0]}"]
    if backends != {"opencl"}:
        words += ["--backend", "both" if "opencl" in backends else "cuda"]
    own = (say("again.own"),) if what == "kernel" else ()
    return _command(*words, *_device(record.environment.device), notes=own)
