"""The problem of a kernel that is no gemm, transpose or copy: named buffers with their contents, and numbers.

It fits wherever a Problem does, so that one path runs, explains and measures all kernels. It has no reference: what a run of
it is compared with is the caller's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import InvalidInput, Unsupported
from .images import ImageValue, SamplerValue
from .operands import Operand, Scalars
from .sizes import FilePath

if TYPE_CHECKING:
    import numpy as np  # imported where it is called: ladders are listed without it

OWN = "own"
SEED = 1
MOST_RANDOM = 100  # random integers are below it, and below the elements of the smallest buffer: they may be indices
RANDOM, UNSET, COUNTING = "random", "unset", "index"
SIZE_NAMES = (("M", "N", "K"), ("ROWS", "COLUMNS"))


@dataclass(frozen=True)
class Contents:
    """What a buffer holds before the launch: `kind` is random, unset, index (0, 1, 2 ...), number, array, file or repeat."""

    kind: str = RANDOM
    value: Any = None


@dataclass(frozen=True, eq=False)
class OwnBuffer:
    """A buffer: `dtype` is NumPy's of one element, or of one component of a vector; then `shape` ends with the width."""

    name: str
    dtype: Any
    shape: tuple[int, ...]
    contents: Contents = Contents()
    readonly: bool = False

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.elements * int(self.dtype.itemsize)

    def array(self, limit: int, seed: int) -> np.ndarray:
        """The contents; random integers are below `limit`."""
        import numpy as np

        kind, value = self.contents.kind, self.contents.value
        if kind in ("array", "file"):
            found = value if kind == "array" else read_array(value, self.dtype)
            whole: np.ndarray = np.array(found, order="C").reshape(self.shape)
            return whole
        if kind == "repeat":
            return np.frombuffer(value * self.elements, self.dtype).reshape(self.shape).copy()
        if kind == UNSET:
            poison = 0xFF if self.dtype.kind == "f" else 0xA5
            poisoned: np.ndarray = np.full(self.nbytes, poison, np.uint8).view(self.dtype)
            return poisoned.reshape(self.shape)
        if kind == "number":
            return np.full(self.shape, value, self.dtype)
        if kind == COUNTING:
            return np.arange(self.elements).astype(self.dtype).reshape(self.shape)
        return _random(np.random.default_rng((SEED, seed)), self.shape, self.dtype, limit)


def _random(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype, limit: int) -> np.ndarray:
    """Floats uniform in [-0.5, 0.5), integers from 0 up; records field by field."""
    import numpy as np

    if dtype.names:
        made = np.zeros(shape, dtype)
        for name in dtype.names:
            own, inner = dtype[name].base, dtype[name].shape
            made[name] = _random(generator, (*shape, *inner), own, limit)
        return made
    if dtype.kind == "V":
        return np.zeros(shape, dtype)
    if dtype.kind == "f":
        return (generator.random(shape) - 0.5).astype(dtype)
    most = min(limit, 2) if dtype == np.bool_ else limit
    return generator.integers(0, max(1, most), shape).astype(dtype)


def read_array(path: FilePath, dtype: Any = None) -> np.ndarray:
    """The array in a .npy file, or the elements of `dtype` in a file without a header. InvalidInput if it cannot be read."""
    import numpy as np

    name = str(path)
    try:
        if name.lower().endswith(".npy"):
            loaded: np.ndarray = np.load(name, allow_pickle=False)
            return loaded
        return np.fromfile(name, dtype)
    except FileNotFoundError as error:
        raise InvalidInput(f"there is no file {name}") from error
    except (OSError, ValueError, EOFError, MemoryError) as error:
        raise InvalidInput(f"{name} cannot be read as an array: {error}") from error


@dataclass(frozen=True, eq=False)
class OwnProblem:
    """Buffers and numbers of one launch. `values` by parameter are numbers, bytes for vectors and structs, and plain data for
    images and samplers. `sizes` are further names for expressions. `expected` are arrays that buffers must hold afterwards, by
    name."""

    operation: ClassVar[str] = OWN
    entry: str
    buffers: tuple[OwnBuffer, ...]
    values: Mapping[str, Any]
    sizes: Mapping[str, int]
    dtype: str = "float32"
    expected: Mapping[str, Any] | None = None

    @property
    def title(self) -> str:
        """The entry, and the sizes of its buffers."""
        sizes = (f"{each.name}[{'x'.join(map(str, each.shape))}]" for each in self.buffers[:6])
        more = " ..." if len(self.buffers) > 6 else ""
        return f"{self.entry} {' '.join(sizes)}{more}".rstrip()

    @property
    def flops(self) -> int:
        return 0

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The buffers as bytes: element types of other problems are few."""
        return tuple(
            Operand(each.name, (each.nbytes,), "int8", written=not each.readonly, updated=not each.readonly)
            for each in self.buffers
        )

    @property
    def scalars(self) -> Scalars:
        return {**self.sizes, **self.values}

    @property
    def images(self) -> dict[str, ImageValue]:
        """The images among the values, by parameter."""
        return {name: each for name, each in self.values.items() if isinstance(each, ImageValue)}

    @property
    def filters(self) -> bool:
        """Whether a sampler among the values is linear."""
        return any(isinstance(each, SamplerValue) and each.linear for each in self.values.values())

    @property
    def unset(self) -> tuple[str, ...]:
        """The buffers without contents: reading an element that was not written is a fault."""
        return tuple(each.name for each in self.buffers if each.contents.kind == UNSET)

    def typed_arrays(self) -> dict[str, np.ndarray]:
        """The contents of all buffers before the launch, in their own types and shapes."""
        limit = min([MOST_RANDOM, *(each.elements for each in self.buffers if each.elements)])
        made = {each.name: each.array(limit, place) for place, each in enumerate(self.buffers)}
        for each in self.buffers:
            made[each.name].flags.writeable = not each.readonly
        return made

    def reference(self, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        """Unsupported: nobody said what the kernel computes."""
        raise Unsupported(f"{self.entry} has no reference: nothing says what it computes")

    def error_bound(self, arrays: Mapping[str, np.ndarray], reference: np.ndarray) -> np.ndarray | float:
        """Unsupported, as `reference`."""
        raise Unsupported(f"{self.entry} has no reference: nothing says what it computes")


def as_bytes(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays as they lie in memory: what `operands` of an OwnProblem hold."""
    import numpy as np

    return {name: np.ascontiguousarray(each).reshape(-1).view(np.int8) for name, each in arrays.items()}


def size_names(size: tuple[int, ...]) -> dict[str, int]:
    """The names that `--size` gives to expressions: M N K, and ROWS COLUMNS. One number is all of them."""
    if not size:
        return {}
    whole = size * 3 if len(size) == 1 else size
    return {name: value for names in SIZE_NAMES for name, value in zip(names, whole, strict=False)}


def own_problem_of(problem: object) -> OwnProblem | None:
    """The problem if it is one of a kernel's own."""
    return problem if isinstance(problem, OwnProblem) else None
