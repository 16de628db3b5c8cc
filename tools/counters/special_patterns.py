"""Kernels of constant memory, atomic functions and off-chip private arrays, in the subset that OpenCL C and CUDA share."""

from dataclasses import dataclass

import numpy as np

from tilewright.core.kernel import PRELUDE, Dialect
from tilewright.core.source import read_source

from .launches import SEED

ITEMS, GROUP = 8192, 256
TABLE = 4096  # elements of the table in constant memory
CONSTANT, ATOMIC, LOCAL_ATOMIC, PRIVATE = "constant", "atomic", "local atomic", "private"
# What CUDA calls otherwise. A table in constant memory is a variable of the program there, and no argument.
CUDA_WORDS = """#define atomic_add(p, v) atomicAdd((int*)(p), v)
#define atomic_max(p, v) atomicMax((int*)(p), v)
#define atomic_cmpxchg(p, old, v) atomicCAS((int*)(p), old, v)
"""

DTYPES = {"int": np.int32, "uchar": np.uint8, "float": np.float32, "double": np.float64}  # of C's types


@dataclass(frozen=True)
class Special:
    """One kernel. The body may use g, l, at (an index of each work-item, from the pattern `indices`), the int array `o` with
    an element for each work-item, and the table `c` of `kind` in constant memory."""

    name: str
    rule: str
    indices: str
    body: str
    kind: str = "int"
    merged: bool = False  # nvcc adds up the updates of lanes first, or makes an instruction of them that does

    @property
    def opencl(self) -> str:
        return self._text(f", __constant {self.kind}* c" if self.rule == CONSTANT else "")

    @property
    def cuda(self) -> str:
        macros = "#define REAL float\n#define REAL_IS_INTEGER 0\n#define REAL_IS_DOUBLE 0\n"
        table = f'extern "C" {{ __constant__ {self.kind} c[{TABLE}]; }}\n' if self.rule == CONSTANT else ""
        return f"{macros}{read_source(PRELUDE / Dialect.CUDA)}\n{CUDA_WORDS}{table}{self._text('')}\n}}\n"

    def _text(self, table: str) -> str:
        return (
            f"__kernel void pattern(__global const int* index, __global int* o{table}, const int n)\n{{\n"
            "    const int g = get_global_id(0), l = get_local_id(0), at = index[g];\n"
            f"{self.body}\n}}\n"
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """The buffers: `index`, `o`, and `c` if there is a table."""
        item = np.arange(ITEMS)
        lane = item % 32
        random = np.random.default_rng(SEED).integers(0, 1024, ITEMS)
        values = {
            "same": item // 32 % 7, "pairs": lane // 2, "fours": lane // 4, "halves": lane // 16, "own": lane,
            "far": 64 * lane, "random 4": random % 4, "random 64": random % 64, "random 1024": random, "item": item,
            "zero": 0 * item, "bank": 32 * (lane % 8), "half a warp": lane % 16,
        }[self.indices]  # fmt: skip
        arrays = {"index": values.astype(np.int32), "o": np.zeros(ITEMS, np.int32)}
        if self.rule == CONSTANT:
            arrays["c"] = (np.arange(TABLE) % 100).astype(DTYPES[self.kind])
        return arrays


def _constants() -> list[Special]:
    """Indices of more and more addresses; 16 requests in a row, so that they outweigh what else the kernel does."""
    body = "    int sum = 0;\n    for (int j = 0; j < 16; j++)\n        sum += c[at + j];\n    o[g] = sum;"
    found = [
        Special(f"constant int, {each}", CONSTANT, each, body)
        for each in ("same", "halves", "fours", "pairs", "half a warp", "own", "far", "random 64")
    ]
    found += [Special(f"constant uchar, {each}", CONSTANT, each, body, "uchar") for each in ("same", "own", "far")]
    found += [Special(f"constant double, {each}", CONSTANT, each, body, "double") for each in ("same", "pairs", "own")]
    divergent = (
        "    int sum = 0;\n    if (l % 3 == 0)\n        for (int j = 0; j < 16; j++)\n"
        "            sum += c[at + j];\n    o[g] = sum;"
    )
    return [*found, Special("constant int, own, every third lane", CONSTANT, "own", divergent)]


def _atomics() -> list[Special]:
    found = [
        Special(f"atomic_add, {each}", ATOMIC, each, "    atomic_add(&o[at], 3);")
        for each in ("zero", "same", "fours", "own", "random 4", "random 64", "random 1024", "item")
    ]
    found += [
        Special(f"atomic_max, {each}", ATOMIC, each, "    atomic_max(&o[at], g);") for each in ("zero", "fours", "item")
    ]
    found += [
        Special(
            f"atomic_add with its result, {each}",
            ATOMIC,
            each,
            "    if (atomic_add(&o[at], g) < 0)\n        o[g ^ 4096] = 1;",
        )
        for each in ("random 64", "item")
    ]
    known = Special("atomic_add to one place that is known", ATOMIC, "zero", "    atomic_add(&o[n], 1);", merged=True)
    return [*found, known]


def _local_atomics() -> list[Special]:
    def histogram(update: str) -> str:
        return (
            "    __local int h[1024];\n    for (int j = l; j < 1024; j += 256)\n        h[j] = 0;\n"
            f"    barrier(CLK_LOCAL_MEM_FENCE);\n    {update};\n    barrier(CLK_LOCAL_MEM_FENCE);\n    o[g] = h[l];"
        )

    places = ("zero", "halves", "fours", "own", "far", "bank", "random 4", "random 64", "random 1024")
    words = {"atomic_add of 1": "atomic_add(&h[at & 1023], 1)", "atomic_add": "atomic_add(&h[at & 1023], l)",
             "atomic_max": "atomic_max(&h[at & 1023], g)"}  # fmt: skip
    return [
        Special(f"local {name}, {each}", LOCAL_ATOMIC, each, histogram(update), merged=name == "atomic_add of 1")
        for name, update in words.items()
        for each in (places if name != "atomic_max" else ("zero", "own", "far"))
    ]


def _private() -> list[Special]:
    def by_data(kind: str, length: int) -> str:
        return (
            f"    {kind} a[{length}];\n    for (int j = 0; j < {length}; j++)\n        a[j] = ({kind})(index[g ^ j]);\n"
            f"    {kind} sum = 0;\n    for (int j = 0; j < n; j++)\n        sum += a[(at + j) & {length - 1}];\n"
            "    o[g] = (int)sum;"
        )

    found = [
        Special(f"private {kind}[{length}], {each}", PRIVATE, each, by_data(kind, length))
        for kind, length in (("int", 16), ("int", 64), ("double", 16))
        for each in ("zero", "halves", "fours", "own", "random 64")
    ]
    walk = (
        "    int a[32];\n    for (int j = 0; j < 4 * n; j++)\n        a[j] = index[g ^ j];\n    int sum = 0;\n"
        "    for (int j = 4 * n - 1; j >= 0; j--)\n        sum += a[j] * sum + j;\n    o[g] = sum;"
    )
    registers = (
        "    int a[16];\n    for (int j = 0; j < 16; j++)\n        a[j] = index[g ^ j];\n    int sum = 0;\n"
        "    for (int j = 0; j < 16; j++)\n        sum += a[j] * a[15 - j];\n    o[g] = sum;"
    )
    return [
        *found,
        Special("private int[32], loops of unknown length", PRIVATE, "zero", walk),
        Special("private int[16], constant subscripts", PRIVATE, "zero", registers),
    ]


SPECIALS = tuple(_constants() + _atomics() + _local_atomics() + _private())
