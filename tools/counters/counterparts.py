"""CUDA counterparts: compiled by nvcc with line information, and read back instruction by instruction with nvdisasm."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from tilewright.errors import BuildFailed, InvalidInput

from .launches import Case, Launch

ARCHITECTURE = "sm_90"
_PLACE = re.compile(r'//## File "(?P<file>[^"]*)", line (?P<line>\d+)')
_INSTRUCTION = re.compile(r"/\*(?P<offset>[0-9a-f]{4,})\*/\s+(?P<text>[^;]*);")
_PREDICATE = re.compile(r"^@!?U?P\w+\s+")
_BITS = {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "64": 64, "128": 128}


@dataclass(frozen=True)
class Instruction:
    """One access of global or local memory in the machine code; `places` are its source lines, innermost first."""

    offset: int
    text: str
    operation: str
    space: str
    size: int
    places: tuple[tuple[str, int], ...]

    @property
    def opcode(self) -> str:
        return _PREDICATE.sub("", self.text).split()[0]


@dataclass(frozen=True)
class Counterpart:
    """A launch compiled in one way; its files are `stem` with the suffixes .cu, .cubin and .sass."""

    launch: Launch
    variant: str
    stem: Path

    @property
    def cubin(self) -> Path:
        return self.stem.with_suffix(".cubin")

    @property
    def instructions(self) -> list[Instruction]:
        return read_listing(self.stem.with_suffix(".sass").read_text(), f"{self.stem.name}.cu")


# How a counterpart is compiled: "plain", as the library's users would, and with volatile accesses, which a compiler may neither
# merge nor drop nor move: of everything where vectors allow it, else of local memory.
PLAIN, VOLATILE = "plain", "volatile"
_ALL = (("#define __global\n", "#define __global volatile\n"),)
_LOCAL = (
    ("#define __local __shared__\n", "#define __local volatile __shared__\n"),
    ("#define local\n", "#define local volatile\n"),
)
_TEXTS = {PLAIN: ((),), VOLATILE: ((*_ALL, *_LOCAL), _LOCAL)}


def counterparts_of(folder: Path, cases: Sequence[Case], variant: str) -> list[list[Counterpart]]:
    """For each case the counterparts of its launches, in order."""
    numbers = count()
    return [
        [Counterpart(launch, variant, folder / f"{variant}{next(numbers):03}") for launch in case.launches]
        for case in cases
    ]


def build(folder: Path, cases: Sequence[Case], nvdisasm: str) -> None:
    """Writes, compiles and disassembles every counterpart; one that is there already with the same text is kept.

    Of the volatile counterparts those are left out that do not compile: C++ copies no volatile vector. BuildFailed for others.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for variant, texts in _TEXTS.items():
        for counterpart in chain.from_iterable(counterparts_of(folder, cases, variant)):
            errors = [compile_counterpart(counterpart, changes, nvdisasm) for changes in texts]
            if variant == PLAIN and errors[0]:
                raise BuildFailed(counterpart.launch.title, ARCHITECTURE, errors[0])


def compile_counterpart(counterpart: Counterpart, changes: Sequence[tuple[str, str]], nvdisasm: str) -> str:
    """What nvcc had to say against the counterpart with these changes of its text; "" if it or an earlier one is there."""
    source, listing, mark = (counterpart.stem.with_suffix(suffix) for suffix in (".cu", ".sass", ".key"))
    if mark.exists() and mark.read_text() == counterpart.launch.cuda:
        return ""
    text = counterpart.launch.cuda
    for old, new in changes:
        if old not in text:
            raise InvalidInput(f"the prelude for CUDA has changed: it lacks {old!r}")
        text = text.replace(old, new)
    for each in (listing, mark, counterpart.cubin):
        each.unlink(missing_ok=True)
    source.write_text(text)
    command = ["nvcc", "-cubin", "-lineinfo", f"-arch={ARCHITECTURE}", "-o", counterpart.cubin.name, source.name]
    done = subprocess.run(command, cwd=source.parent, capture_output=True, text=True)
    if done.returncode:
        return done.stderr[-2000:]
    disassemble = [nvdisasm, "-gi", "-c", counterpart.cubin.name]
    listing.write_text(
        subprocess.run(disassemble, cwd=source.parent, capture_output=True, text=True, check=True).stdout
    )
    mark.write_text(counterpart.launch.cuda)
    return ""


def read_listing(text: str, source_name: str) -> list[Instruction]:
    """The memory instructions of a listing. Places in `source_name` itself, which are the prelude's, and in CUDA's headers
    are left out."""
    found: list[Instruction] = []
    places: list[tuple[str, int]] = []
    fresh = True
    for line in text.splitlines():
        place = _PLACE.search(line)
        if place is not None:
            places = [] if fresh else places
            fresh = False
            places.append(("/".join(place["file"].split("/")[-2:]), int(place["line"])))
            continue
        instruction = _INSTRUCTION.search(line)
        if instruction is None:
            continue
        fresh = True
        own = tuple(each for each in places if not each[0].endswith(source_name) and not each[0].startswith("include/"))
        memory = memory_instruction(int(instruction["offset"], 16), " ".join(instruction["text"].split()), own)
        if memory is not None:
            found.append(memory)
    return found


def memory_instruction(offset: int, text: str, places: tuple[tuple[str, int], ...]) -> Instruction | None:
    """The instruction as a memory access, or None if it is none of global or local memory."""
    name, *suffixes = _PREDICATE.sub("", text).split()[0].split(".")
    operations = {
        "LDG": ("load", "global"),
        "STG": ("store", "global"),
        "LDS": ("load", "local"),
        "STS": ("store", "local"),
    }
    if name not in operations:
        return None
    operation, space = operations[name]
    bits = next((_BITS[suffix] for suffix in suffixes if suffix in _BITS), 32)
    return Instruction(offset, text, operation, space, bits // 8, places)
