"""What the arguments of a user's kernel get: found once from the user's words, and taken by every launch."""

from __future__ import annotations

from dataclasses import dataclass

from .problem import Problem
from .source import Signature


@dataclass(frozen=True)
class Part:
    """The buffer of that name from a byte on."""

    buffer: str
    offset: int

    @property
    def name(self) -> str:
        """A name for the part among the buffers of a plan."""
        return f"{self.buffer}+{self.offset}"


@dataclass(frozen=True)
class Local:
    """Local memory: bytes for each work-group."""

    nbytes: int


@dataclass(frozen=True)
class Null:
    """A null pointer."""


Pointer = Part | Local | Null


@dataclass(frozen=True)
class Binding:
    """The signature of the chosen entry, and what its arguments get.

    `problem` is the only one that the kernel solves, if its arguments are its own; None for a gemm, transpose or copy.
    `buffers` are pairs of an argument and the buffer that it gets, where their names differ. `pointers` are the arguments
    that get something else. `initial` are numbers that fill outputs before the launch. `options` are the command-line
    options that say what was assumed, and `notes` further sentences.
    """

    signature: Signature
    problem: Problem | None = None
    buffers: tuple[tuple[str, str], ...] = ()
    pointers: tuple[tuple[str, Pointer], ...] = ()
    options: str = ""
    notes: tuple[str, ...] = ()
    initial: tuple[tuple[str, float], ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was assumed, and the notes."""
        assumed = (f"assumed, because it was not given: {self.options}",) if self.options else ()
        return (*assumed, *self.notes)
