"""A case: one library call as plain data, from which its arrays are made."""

from dataclasses import dataclass, field, fields, replace
from typing import Any

import msgspec

PRODUCTS = ("matmul", "gemm")
MOVES = ("transpose", "matrix_transpose", "copy")
CALLS = (*PRODUCTS, *MOVES)
ORDERS = ("rows", "columns", "swapped", "first")
PLACES = ("host", "device", "cuda")

# Numbers that scale a product, by the text that stands for them in a case: JSON has no complex and no nan.
NUMBERS: dict[str, Any] = {
    "1": 1, "0": 0, "-1": -1, "2": 2, "-3": -3, "0.5": 0.5, "-1.75": -1.75, "1e-3": 1e-3, "1.0": 1.0, "2.0": 2.0,
    "0.5+2j": 0.5 + 2j, "-1j": -1j, "nan": float("nan"), "inf": float("inf"), "2**40": 2**40, "10**400": 10**400,
    "None": None, "text": "x", "list": [1.0],
}  # fmt: skip


@dataclass(frozen=True)
class Lie:
    """How an array lies in its block of memory.

    `order` names the axis that is nearest in memory: "rows" and "columns" are C's and Fortran's, "swapped" has the last
    two axes changed, "first" the first axis nearest. `steps` belong to the last axes, the last one first: 2 leaves every
    second element out, negative ones run backwards, 0 repeats one element. `pad` are bytes added to the second axis in
    memory, `shift` bytes by which the first element is misaligned, `offset` elements before the array's span.
    """

    order: str = "rows"
    steps: tuple[int, ...] = ()
    pad: int = 0
    shift: int = 0
    offset: int = 0
    at_end: bool = True  # of the memory that may be touched: a byte behind it ends the process


@dataclass(frozen=True)
class Given:
    """One operand: its element type, how it lies, what it holds, and as what kind of object it is passed."""

    dtype: str = "float32"
    lie: Lie = field(default_factory=Lie)
    values: str = "ordinary"
    form: str = "plain"
    queue: int = 0  # of a device array: which of the device's queues it belongs to
    sub: bool = False  # of a device array: it lies in a sub-buffer


@dataclass(frozen=True)
class Out:
    """Where the result goes. `where` is "" for a new array, "own" for memory of its own, "a", "b", "c", "bias" for the memory of
    that operand from `distance` elements behind its beginning on, or "is a" ... for the very same object."""

    where: str = ""
    given: Given = field(default_factory=Given)
    distance: int = 0


@dataclass(frozen=True)
class Case:
    """One call. `fault` names what is deliberately wrong with it; everything else is meant as the calls document it."""

    seed: int = 0
    call: str = "matmul"
    place: str = "host"
    m: int = 1
    n: int = 1
    k: int = 1
    lead_a: tuple[int, ...] = ()
    lead_b: tuple[int, ...] = ()
    vector_a: bool = False
    vector_b: bool = False
    shape: tuple[int, ...] = ()  # of what is moved
    a: Given = field(default_factory=Given)
    b: Given = field(default_factory=Given)
    c: Given | None = None
    bias: Given | None = None
    bias_side: str = "row"
    scale_a: Given | None = None
    scale_b: Given | None = None
    scales: tuple[str, str] = ("one", "one")
    alpha: str = "1"
    beta: str = "0"
    trans_a: str = "N"
    trans_b: str = "N"
    activation: str = ""
    precision: str = ""
    dtype: str = ""
    out: Out = field(default_factory=Out)
    queue: int = 0  # of the call: 0 lets the arrays decide; of CUDA arrays: see `cuda_arrays`
    fault: str = ""
    pair: str = ""  # how b lies in the memory of a: one of `pairs.PAIRS`
    device: str = ""  # of host arrays: what `device=` gets, one of `limits.DEVICES`; "" is a queue instead
    device_bytes: int = 0  # limits, which ask for tiles; 0 is none
    host_bytes: int = 0
    warm: int = 0  # times that the same call is made before the one that is judged

    def __repr__(self) -> str:
        """What made it, without what is as usual: `eval` of it is the case."""
        return _brief(self)

    def but(self, **changes: Any) -> "Case":
        """The case with some fields changed."""
        return replace(self, **changes)

    @property
    def is_product(self) -> bool:
        return self.call in PRODUCTS

    @property
    def operands(self) -> dict[str, Given]:
        """What is passed, by the names of the call's parameters, `out` left out."""
        if not self.is_product:
            return {"a": self.a}
        named = {"a": self.a, "b": self.b, "c": self.c, "bias": self.bias}
        named |= {"scale_a": self.scale_a, "scale_b": self.scale_b}
        return {name: given for name, given in named.items() if given is not None}

    @property
    def lead(self) -> tuple[int, ...]:
        """The leading dimensions of the result, where those of the operands broadcast."""
        longest = max(len(self.lead_a), len(self.lead_b))
        a, b = ((1,) * (longest - len(each)) + each for each in (self.lead_a, self.lead_b))
        return tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))

    def shape_of(self, name: str) -> tuple[int, ...]:
        """The shape in which an operand is passed, before any fault."""
        if not self.is_product:
            return self.shape
        m, n, k = self.m, self.n, self.k
        if name == "a":
            return (k,) if self.vector_a else (*self.lead_a, *((m, k) if self.trans_a == "N" else (k, m)))
        if name == "b":
            return (k,) if self.vector_b else (*self.lead_b, *((k, n) if self.trans_b == "N" else (n, k)))
        if name == "bias":
            return (n,) if self.bias_side == "row" else (m, 1)
        if name in ("scale_a", "scale_b"):
            side, each = (self.scales[0], m) if name == "scale_a" else (self.scales[1], n)
            return {"none": (), "one": (1,)}.get(side, (each,))
        return self.result_shape

    @property
    def result_shape(self) -> tuple[int, ...]:
        """The shape of what comes back."""
        if self.call == "transpose":
            return self.shape[::-1]
        if self.call == "matrix_transpose" and len(self.shape) > 1:
            return (*self.shape[:-2], self.shape[-1], self.shape[-2])
        if not self.is_product:
            return self.shape
        return self.lead + (() if self.vector_a else (self.m,)) + (() if self.vector_b else (self.n,))

    @property
    def in_tiles(self) -> bool:
        """Whether the call asks for tiles."""
        return bool(self.device_bytes or self.host_bytes) or self.device in ("all", "list")

    @property
    def work(self) -> int:
        """Multiply-adds of a product, elements of a move: what a case costs."""
        if not self.is_product:
            return count(self.shape)
        return count(self.lead) * self.m * self.n * max(self.k, 1)


def count(shape: tuple[int, ...]) -> int:
    """Elements of an array of that shape."""
    total = 1
    for side in shape:
        total *= side
    return total


def _brief(value: Any) -> str:
    """A dataclass as a call that makes it again, defaults left out."""
    if not isinstance(value, (Case, Given, Lie, Out)):
        return repr(value)
    plain = type(value)()
    own = [(each.name, getattr(value, each.name)) for each in fields(value)]
    changed = [f"{name}={_brief(now)}" for name, now in own if now != getattr(plain, name)]
    return f"{type(value).__name__}({', '.join(changed)})"


def encode(case: Case) -> str:
    """A case as one line of JSON."""
    return msgspec.json.encode(case).decode()


def decode(text: str) -> Case:
    """A case from `encode`'s line. msgspec.ValidationError if it is none."""
    return msgspec.json.decode(text, type=Case)
