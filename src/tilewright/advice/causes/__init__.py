"""The causes that an answer knows. A file holds a family; each cause is one function of the evidence."""

from collections.abc import Callable, Iterable

from ..cause import Cause
from ..evidence import Evidence
from . import instructions, local_memory, memory, parallelism, vectors

Finder = Callable[[Evidence], Iterable[Cause]]
FINDERS: tuple[Finder, ...] = (
    *memory.CAUSES, *local_memory.CAUSES, *parallelism.CAUSES, *instructions.CAUSES, *vectors.CAUSES,
)  # fmt: skip
