"""Micro-benchmarks of a device's peaks: arithmetic, memory and local memory. Each is a problem to be solved.

Their results are checked like any other's, so what was left out by a compiler cannot be taken for speed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from ...core.device import DeviceInfo
from ...core.kernel import Config, Kernel, NDRange, round_up
from ...core.operands import Operand, Scalars
from ...core.problem import Problem
from ...core.types import element_type, numpy_dtype
from ..sizes import size

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Chains:
    """`count` chains of `rounds` multiply-adds each: x = x * FACTOR + ADDEND, from x = its vector's number % 1024.

    `vector` is the number of neighbouring chains that start alike: the kernel's vector width. Both FACTOR and ADDEND
    are 1, which the compiler cannot know, so that the result counts the rounds: exactly, below 2**24 of them.
    """

    operation: ClassVar[str] = "chains"
    count: int
    rounds: int
    vector: int = 1
    dtype: str = "float32"

    @property
    def title(self) -> str:
        return f"{self.count:,} chains of {self.rounds:,} multiply-adds in {self.dtype}"

    @property
    def flops(self) -> int:
        return 2 * self.count * self.rounds

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (Operand("output", (self.count,), self.dtype, written=True),)

    @property
    def scalars(self) -> Scalars:
        return {"ROUNDS": self.rounds, "FACTOR": 1, "ADDEND": 1}

    def reference(self, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        starts = np.arange(self.count) // self.vector % 1024
        return (starts + self.rounds).astype(numpy_dtype(self.dtype))

    def error_bound(self, arrays: Mapping[str, np.ndarray], reference: np.ndarray) -> np.ndarray | float:
        return 0.0


@dataclass(frozen=True)
class LocalReads:
    """Each of `items` work-items sums `reads` elements of local memory, all 1: exact below 2**24 reads."""

    operation: ClassVar[str] = "local_reads"
    items: int
    reads: int
    dtype: str = "float32"

    @property
    def title(self) -> str:
        return f"{self.items:,} work-items reading {self.reads:,} elements of local memory in {self.dtype}"

    @property
    def flops(self) -> int:
        return 0

    @property
    def bytes_read(self) -> int:
        """From local memory."""
        return self.items * self.reads * element_type(self.dtype).itemsize

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (Operand("output", (self.items,), self.dtype, written=True),)

    @property
    def scalars(self) -> Scalars:
        return {"READS": self.reads, "VALUE": 1}

    def reference(self, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        return np.full(self.items, self.reads, numpy_dtype(self.dtype))

    def error_bound(self, arrays: Mapping[str, np.ndarray], reference: np.ndarray) -> np.ndarray | float:
        return 0.0


@dataclass(frozen=True)
class ChainConfig(Config):
    """Each work-item holds ACCUMULATORS vectors of VW chains."""

    VW: int  # elements of a vector
    ACCUMULATORS: int  # vectors in a work-item
    GROUP: int  # work-items of a work-group

    def ndrange(self, problem: Problem) -> NDRange:
        return NDRange((_chains(problem) // (self.VW * self.ACCUMULATORS),), (self.GROUP,))

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        whole = self.VW * self.ACCUMULATORS * self.GROUP
        if _chains(problem) % whole:
            yield f"{_chains(problem)} chains are not a multiple of {whole} = VW x ACCUMULATORS x GROUP"


def _chains(problem: Problem) -> int:
    return problem.operands[0].elements


@dataclass(frozen=True)
class CopyConfig(Config):
    """Each work-item copies PER_ITEM vectors of VW elements."""

    VW: int  # elements of a vector
    PER_ITEM: int  # vectors that a work-item copies
    GROUP: int  # work-items of a work-group

    def ndrange(self, problem: Problem) -> NDRange:
        items = -(-problem.operands[0].elements // (self.VW * self.PER_ITEM))
        return NDRange((round_up(items, self.GROUP),), (self.GROUP,))

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        if problem.scalars["OFFSET"]:
            yield f"OFFSET={problem.scalars['OFFSET']}: only whole matrices are copied"
        if problem.operands[0].elements % self.VW:
            yield f"{problem.operands[0].elements} elements are not a multiple of VW={self.VW}"


@dataclass(frozen=True)
class LocalConfig(Config):
    """Each work-item sums into ACCUMULATORS vectors of VW elements."""

    VW: int  # elements of a vector
    ACCUMULATORS: int  # sums in a work-item
    GROUP: int  # work-items of a work-group
    PLACES: int  # vectors among which the reads move, a power of two

    def ndrange(self, problem: Problem) -> NDRange:
        return NDRange((problem.operands[0].elements,), (self.GROUP,))

    def local_bytes(self, problem: Problem) -> int:
        return (self.PLACES + self.ACCUMULATORS) * self.VW * element_type(problem.dtype).itemsize

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        items, reads = problem.operands[0].elements, size(problem, "READS")
        if self.PLACES & (self.PLACES - 1) or self.PLACES < self.GROUP or self.PLACES < 2:
            yield f"PLACES={self.PLACES} is not a power of two above 1 and no less than GROUP={self.GROUP}"
        if items % self.GROUP:
            yield f"{items} work-items are not a multiple of GROUP={self.GROUP}"
        if reads % (self.VW * self.ACCUMULATORS):
            yield f"{reads} reads are not a multiple of {self.VW * self.ACCUMULATORS} = VW x ACCUMULATORS"


# Two sets of configurations, for devices with scalar lanes and for those with vector registers (as wide as AVX-512,
# by dtype: 16 fp32 or 8 fp64).
GPU_CHAINS = ChainConfig(VW=1, ACCUMULATORS=16, GROUP=256)
GPU_COPY = CopyConfig(VW=4, PER_ITEM=1, GROUP=256)
GPU_LOCAL = LocalConfig(VW=1, ACCUMULATORS=16, GROUP=256, PLACES=256)
CPU_CHAINS = ChainConfig(VW=16, ACCUMULATORS=16, GROUP=1)
CPU_COPY = CopyConfig(VW=16, PER_ITEM=64, GROUP=1)
CPU_LOCAL = LocalConfig(VW=16, ACCUMULATORS=8, GROUP=1, PLACES=64)

CHAINS = Kernel(HERE / "fma.cl", GPU_CHAINS, "chains", smaller=(CPU_CHAINS,))
COPY = Kernel(HERE / "copy.cl", GPU_COPY, "copy", smaller=(CPU_COPY,))
LOCAL = Kernel(HERE / "local.cl", GPU_LOCAL, "local_reads", smaller=(CPU_LOCAL,))
