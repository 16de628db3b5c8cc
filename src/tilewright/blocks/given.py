"""The caller's blocks, checked: what lies where, and whether it fits, before anything is enqueued or written."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..core.types import numpy_dtype
from ..errors import InvalidInput, Unsupported
from ..library.memory.choice import memory_for
from ..library.multiply import check_request
from ..library.requests import Options, gemm_product
from ..library.shapes import product_shape
from .kinds import Kind, kind_of

ONE_FOR_ALL = ("b", "bias")  # arguments that may be one array


@dataclass(eq=False)
class Block:
    """A block of rows: the memory of its call, and its arrays as the memory sees them. None is what is not there, or not yet."""

    number: int
    memory: Any
    a: Any
    b: Any = None
    c: Any = None
    bias: Any = None
    out: Any = None


@dataclass(frozen=True)
class Given:
    """The caller's arrays: a list with one for each block, or one array for all, or None."""

    a: list[Any]
    b: Any
    c: list[Any] | None
    bias: Any
    out: list[Any] | None
    kind: Kind

    @property
    def lists(self) -> dict[str, list[Any]]:
        """What each block has its own of."""
        every = {"a": self.a, "b": self.b, "c": self.c, "bias": self.bias, "out": self.out}
        return {name: value for name, value in every.items() if isinstance(value, list)}

    @property
    def shared(self) -> dict[str, Any]:
        """The arrays that all blocks need."""
        return {name: getattr(self, name) for name in ONE_FOR_ALL if not isinstance(getattr(self, name), list | None)}


def given_arrays(a: Any, b: Any, c: Any, bias: Any, out: Any) -> Given:
    """The arguments as lists. InvalidInput for lists of unlike lengths, and for arrays of two kinds or of the host."""
    lists = {name: _listed(name, value) for name, value in {"a": a, "b": b, "c": c, "bias": bias, "out": out}.items()}
    if not lists["a"]:
        raise InvalidInput("a is an empty list: pass at least one block of rows")
    for name, value in lists.items():
        if isinstance(value, list) and len(value) != len(lists["a"]):
            raise InvalidInput(
                f"{name} has {len(value)} arrays, a has {len(lists['a'])} blocks: pass one for each block"
            )
    named = {
        f"{name}[{number}]": each
        for name, value in lists.items()
        if isinstance(value, list)
        for number, each in enumerate(value)
    }
    named |= {name: lists[name] for name in ONE_FOR_ALL if not isinstance(lists[name], list | None)}
    return Given(**lists, kind=kind_of(named))


def _listed(name: str, value: Any) -> Any:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return list(value)
    if name in ONE_FOR_ALL or (value is None and name != "a"):
        return value
    raise InvalidInput(f"{name} is a {type(value).__name__}: pass a list with one array for each block of rows")


def read_blocks(given: Given) -> list[Block]:
    """A Block for each block of `a`, with what lies beside it. InvalidInput if blocks do not fit each other."""
    blocks = []
    for number, a in enumerate(given.a):
        with _said_of(number):
            given.kind.place_of_value(a)
            memory = memory_for((a,), None, None, None)
            block = Block(number, memory, memory.as_array(a, f"a[{number}]"))
            for name, values in given.lists.items():
                value = values[number]
                _check_beside(given.kind, memory, f"{name}[{number}]", value)
                if name == "out":
                    block.out = memory.as_out(value)
                elif name != "a":
                    setattr(block, name, memory.as_array(value, f"{name}[{number}]"))
        blocks.append(block)
    _check_alike("a", [block.a for block in blocks], columns_only=True)
    for name in set(given.lists) & set(ONE_FOR_ALL):
        _check_alike(name, [getattr(block, name) for block in blocks], columns_only=False)
    return blocks


def _check_beside(kind: Kind, memory: Any, name: str, value: Any) -> None:
    """InvalidInput if an array is not on the device of its block."""
    if kind.place_of_value(value) != kind.place_of(memory):
        other = memory_for((value,), None, None, None)
        raise InvalidInput(
            f"{name} ({tuple(value.shape)}) is on {_where(kind, memory, other)}: copy it to the device of its block"
        )


def _where(kind: Kind, memory: Any, other: Any) -> str:
    one, two = kind.label(other), kind.label(memory)
    return f"{one}, its block of a on {two}" + (" in another OpenCL context" if one == two else "")


def _check_alike(name: str, arrays: list[Any], columns_only: bool) -> None:
    """InvalidInput if blocks have unlike types, or shapes that do not fit."""
    first = arrays[0]
    for number, array in enumerate(arrays):
        wanted = 1 if name == "bias" else 2
        if len(array.shape) != wanted:
            raise InvalidInput(f"{name}[{number}] has the shape {array.shape}; blocks have {wanted} dimensions")
        if array.dtype != first.dtype:
            raise InvalidInput(f"{name}[{number}] is {array.dtype}, {name}[0] is {first.dtype}: convert one of them")
        if columns_only and array.shape[1] != first.shape[1]:
            raise InvalidInput(
                f"a[{number}] has the shape {array.shape}, a[0] {first.shape}: rows of one matrix have equally many columns"
            )
        if not columns_only and array.shape != first.shape:
            raise InvalidInput(
                f"{name}[{number}] has the shape {array.shape}, {name}[0] {first.shape}: pass copies of one"
            )


def check_shared(name: str, array: Any) -> None:
    """InvalidInput if the one `b` is no matrix, or the one bias no vector."""
    if len(array.shape) != (1 if name == "bias" else 2):
        what = "a bias has one element for each column" if name == "bias" else "it is one matrix for all blocks"
        raise InvalidInput(f"{name} has the shape {array.shape}; {what}")


def check_blocks(given: Given, blocks: list[Block], options: Options) -> np.dtype:
    """The type of the result. Every error that a block's product would raise, and one for an `out` that overlaps anything."""
    result: np.dtype = np.dtype(object)
    for block in blocks:
        with _said_of(block.number):
            memory, b = block.memory, block.b
            if block.bias is not None and block.bias.shape != b.shape[1:]:
                raise InvalidInput(
                    f"bias has the shape {block.bias.shape}; ({b.shape[1]},) adds to every row of the result"
                )
            product = gemm_product(memory, (block.a, b, block.c, block.bias, None, None), options)
            read, result = map(numpy_dtype, product.types)
            sizes = product_shape(block.a.shape, b.shape)
            check_request(memory, product, sizes, read, result, block.out)
            for array in (block.a, b, block.c, block.bias, block.out):
                if array is not None:
                    memory.view(array)  # Unsupported if it is not aligned to its elements
    if given.out is not None:
        _check_apart(given.kind, blocks)
    return result


def _check_apart(kind: Kind, blocks: list[Block]) -> None:
    """InvalidInput if a block of `out` shares bytes with another one, or with an operand of any block."""
    read = [
        (f"{name}[{block.number}]", getattr(block, name), block)
        for block in blocks
        for name in ("a", "b", "c", "bias")
        if getattr(block, name) is not None
    ]
    written = [(f"out[{block.number}]", block.out, block) for block in blocks]
    pairs = [(out, other) for out in written for other in read]
    for (name, out, block), (other, array, owner) in (*pairs, *combinations(written, 2)):
        one, two = kind.span(out), kind.span(array)
        if one[0] != two[0] or one[1] >= two[2] or two[1] >= one[2]:
            continue
        if other == f"c[{block.number}]" and block.memory.same_elements(array, out):
            continue  # gemm adds to what is there
        place = "" if owner is block else ", another block's"
        raise InvalidInput(f"{name} shares memory with {other}{place}: pass arrays of memory of their own")


@contextmanager
def _said_of(number: int) -> Iterator[None]:
    """Name the block in every error."""
    try:
        yield
    except (InvalidInput, Unsupported) as error:
        named = any(f"[{number}]" in str(each) for each in error.args)
        if named:
            raise
        raise type(error)(f"block {number}: {error}") from error
