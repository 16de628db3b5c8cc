"""Keeps what compilers make of the rungs in machine_code.json: the course's pages need no compiler then."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from tilewright.analysis.inspect import Inspection, inspect
from tilewright.core.kernel import Kernel
from tilewright.errors import TilewrightError
from tilewright.kernels import LADDERS
from tilewright.learning.lesson import lesson_place
from tilewright.learning.stops import rungs_of

FILE = Path(__file__).with_name("machine_code.json")
ARCH = "sm_90"  # that of the GPU whose records the pages show


@dataclass(frozen=True)
class MachineCode:
    """What a compiler made of a rung: what the kernel occupies, and the instructions of its main loop by what they do."""

    arch: str
    title: str
    by: str
    registers: int
    spills: bool
    local_bytes: int
    occupancy: str
    instructions: int
    loop: dict[str, int]


def machine_code_of(kernel: Kernel) -> MachineCode | None:
    """None if no compiler here takes the rung."""
    try:
        found = inspect(kernel, ARCH)
    except TilewrightError as error:
        print(f"{kernel.name}: {error}")
        return None
    return _kept(found)


def _kept(found: Inspection) -> MachineCode | None:
    if found.resources is None or found.mix is None or found.missing:
        print(f"{found.kernel}: {'; '.join(found.missing) or 'no code was counted'}")
        return None
    loop = found.loop.mix.effects if found.loop is not None else {}
    return MachineCode(
        found.arch, found.title, found.origin, found.resources.registers, found.resources.spills, found.resources.local_bytes,
        str(found.occupancy) if found.occupancy is not None else "", found.mix.instructions, dict(loop),
    )  # fmt: skip


def write_machine_code() -> None:
    """Write the file anew, by the compilers that are here."""
    rungs = [kernel for name, ladder in LADDERS.items() if name != "cpu" for kernel in rungs_of(ladder)]
    found = {lesson_place(kernel): code for kernel in rungs if (code := machine_code_of(kernel)) is not None}
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")


def read_machine_code() -> dict[str, MachineCode]:
    """By rung, "tiles/02"."""
    return msgspec.json.decode(FILE.read_bytes(), type=dict[str, MachineCode]) if FILE.exists() else {}
