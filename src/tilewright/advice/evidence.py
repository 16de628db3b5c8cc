"""What is known about a kernel: its time, its counted accesses, its machine code, the device's peaks, and bounds from them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..analysis.explain.clc.lexer import Position
from ..analysis.explain.explanation import Explanation
from ..analysis.explain.models import Model
from ..analysis.explain.private_arrays import PrivateArray
from ..analysis.explain.profile import SECTORS, LineAccess
from ..analysis.inspect import instruction_kinds as kinds
from ..analysis.inspect.record import Inspection
from ..core.device import DeviceInfo, Peaks
from ..core.kernel import Kernel
from ..core.problem import Gemm, Problem, compulsory_bytes, output_of
from ..core.types import element_type
from ..measurement.roofline import Limit
from .cause import Cause, QuotedLine

ARITHMETIC, MEMORY, ACCESSES, CODE = "multiply-adds", "memory, each byte once", "loads and stores", "instructions"
SMALLEST_GAIN = 1.05  # a cause that promises less is not said
NEARLY = 0.5  # of the longest other bound: what takes less than this is hidden behind the other work
CPU_ISSUE = 2.0  # instructions for each vector multiply-add that an x86 core issues in the same time: 4 and 2 a clock


@dataclass(frozen=True)
class Evidence:
    """What the causes are computed from. `seconds` is the measured time of `problem`, or what the bounds predict if nothing
    was `measured`; `wall_seconds` includes the launch. `launches` were counted on the smaller problem `counted` by the rules
    of `model`. `resident` is the number of work-groups that a compute unit holds at once; 0 if that is not known."""

    kernel: Kernel
    problem: Problem
    counted: Problem
    info: DeviceInfo
    model: Model
    peaks: Peaks
    launches: tuple[Explanation, ...]
    inspection: Inspection | None = None
    measured_seconds: float = 0.0
    wall_seconds: float = 0.0
    group_count: int = 0  # work-groups of the measured launch; 0 if the number of compute units is unknown
    group_items: int = 1
    private_arrays: tuple[PrivateArray, ...] = ()  # of the measured launch

    @property
    def last(self) -> Explanation | None:
        """The kernel's own launch; None if it could not be counted."""
        return self.launches[-1] if self.launches else None

    @property
    def accesses(self) -> tuple[LineAccess, ...]:
        return self.last.accesses if self.last is not None else ()

    @property
    def is_cpu(self) -> bool:
        return self.model.is_cpu

    @property
    def measured(self) -> bool:
        return self.measured_seconds > 0

    @cached_property
    def seconds(self) -> float:
        """The measured time; without one the longest bound, where that of memory is without caches: what they serve is not
        known."""
        bounds = [each.seconds for each in self.limits]
        return self.measured_seconds or max([*bounds, self.memory_seconds(self.uncached_bytes)], default=0.0)

    @cached_property
    def uncached_bytes(self) -> float:
        """Bytes that all global accesses move, if no cache serves any."""
        return sum(
            self.scale(launch, each) * (self.needed_bytes(each) + self.wasted_bytes(each))
            for launch in self.launches
            for each in launch.accesses
            if each.unit == SECTORS
        )

    def needed_bytes(self, access: LineAccess) -> float:
        """Bytes that a global access moves at least: whole sectors on GPUs; on CPUs the rest of a line serves the next."""
        return access.useful_bytes if self.is_cpu else access.ideal * access.sector

    def wasted_bytes(self, access: LineAccess) -> float:
        """Bytes of the sectors beyond the fewest."""
        return (access.cost - access.ideal) * access.sector

    @property
    def resident(self) -> int:
        if self.is_cpu:
            return 1
        found = self.inspection.occupancy if self.inspection is not None else None
        return found.groups if found is not None else 0

    @property
    def multiply_adds(self) -> float:
        return self.problem.flops / 2

    @property
    def itemsize(self) -> int:
        return element_type(self.problem.dtype).itemsize

    @property
    def pass_bytes(self) -> int:
        """Bytes that the caches or local memory deliver in one pass: all banks of a GPU, or one vector of a CPU."""
        return self.model.lanes * self.itemsize if self.is_cpu else self.model.banks * self.model.bank_bytes

    def scale(self, launch: Explanation, access: LineAccess) -> float:
        """How often the counted access happens in the measured problem, for each time that it was counted.

        Accesses of a product grow with M N K, those of its output and of helper launches with the bytes of the matrices.
        """
        groups = launch.group_count / max(1, len(launch.groups))
        by_bytes = compulsory_bytes(self.problem) / max(1, compulsory_bytes(self.counted))
        if not isinstance(self.problem, Gemm) or not isinstance(self.counted, Gemm) or launch is not self.last:
            return groups * by_bytes
        output = output_of(self.problem).name
        if self.buffer_of(access) == output and not self.in_loop(access):
            return groups * (self.problem.m * self.problem.n) / (self.counted.m * self.counted.n)
        return groups * self.problem.flops / max(1, self.counted.flops)

    def in_loop(self, access: LineAccess) -> bool:
        """Whether an access of the output is made for more than every fourth product: then it stands in the loop over K."""
        launch = self.last
        assert launch is not None
        elements = output_of(self.counted).elements
        groups = launch.group_count / max(1, len(launch.groups))
        return access.lane_bytes / self.itemsize * groups > 4 * elements

    def buffer_of(self, access: LineAccess) -> str:
        """The problem's name of the buffer."""
        names = self.last.buffers if self.last is not None else {}
        return names.get(access.buffer, access.buffer)

    def passes(self, access: LineAccess) -> int:
        """Passes through a cache or local memory: the lines of a global access, the wavefronts of a local one."""
        if access.is_local:
            return access.requests if self.is_cpu else access.cost
        return max(access.requests, access.lines if access.unit == SECTORS else access.cost)

    def fewest_passes(self, access: LineAccess) -> int:
        """The passes that an access would need without conflicts, strides and scattered addresses."""
        if access.is_local:
            return access.requests if self.is_cpu else access.ideal
        return max(access.requests, -(-access.ideal * access.sector // self.model.line))

    def path_seconds(self, passes: float) -> float:
        """The time of passes at the measured rate of local memory, which on NVIDIA is that of the first cache, too."""
        return passes * self.pass_bytes / (self.peaks.local_gbs * 1e9) if self.peaks.local_gbs else 0.0

    def memory_seconds(self, nbytes: float) -> float:
        """The time of bytes that no cache serves."""
        return nbytes / (self.peaks.copy_gbs * 1e9) if self.peaks.copy_gbs else 0.0

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """Bounds of the time at the device's peaks: of the arithmetic, of the compulsory bytes, of the accesses in the
        source on GPUs (a CPU's compiler keeps more in registers than the source says), and of the instructions in the
        main loop."""
        found = []
        gflops = self.peaks.gflops.get(self.problem.dtype, 0.0)
        if self.problem.flops and gflops:
            found.append(Limit(ARITHMETIC, self.problem.flops, gflops * 1e9, "GFLOP/s"))
        if self.peaks.copy_gbs:
            found.append(Limit(MEMORY, compulsory_bytes(self.problem), self.peaks.copy_gbs * 1e9, "GB/s"))
        if self.launches and self.peaks.local_gbs and not (self.is_cpu and self.issued is not None):
            passes = sum(self.scale(each, one) * self.passes(one) for each in self.launches for one in each.accesses)
            found.append(Limit(ACCESSES, passes * self.pass_bytes, self.peaks.local_gbs * 1e9, "GB/s"))
        if self.issued is not None and gflops:
            found.append(Limit(CODE, self.problem.flops * self.issued, gflops * 1e9, "GFLOP/s"))
        return tuple(found)

    @cached_property
    def issued(self) -> float | None:
        """Slots for instructions that the main loop takes for each full-width multiply-add, at least 1; None if unknown.

        A GPU issues one instruction in the time of a multiply-add. A CPU issues two loads beside its two multiply-adds, and
        four instructions in all. A multiply-add that fills only a part of a vector takes as long as one that fills it.
        """
        loop = self.inspection.loop if self.inspection is not None else None
        if loop is None or not loop.mix.multiply_adds or not self.problem.flops:
            return None
        mix = loop.mix
        if not self.is_cpu:
            return max(1.0, mix.instructions / mix.multiply_adds)
        loads = mix.count(kinds.LOAD) + mix.count(kinds.GATHERED) * self.model.lanes
        slots = max(mix.count(kinds.FMA), loads, mix.instructions / CPU_ISSUE)
        return max(1.0, slots * self.model.lanes / mix.multiply_adds)

    def floor(self, resource: str, spared: float = 0.0) -> float:
        """The longest bound of the other resources: whatever is fixed, the kernel takes as long. `spared` are seconds of
        loads and stores that the remedy saves, too."""
        others = [
            each.seconds - (spared if each.name == ACCESSES else 0.0)
            for each in self.limits
            if each.name not in (resource, CODE)
        ]
        return min(max(others, default=0.0), self.seconds)

    def cause(
        self,
        kind: str,
        counted: str,
        positions: Iterable[Position],
        now: float,
        least: float,
        resource: str,
        remedy: str,
        rung: str = "",
        spared: float = 0.0,
    ) -> Cause | None:
        """A cause from the time that a resource takes `now` and the time that it takes at `least` once this is fixed.

        gain = time / max(time - (now - least), the bound of the other resources, least). `spared` is that of `floor`.
        Nothing takes longer than the kernel. None if the gain is too small to be said, or if the other work hides it.
        """
        if not self.seconds:
            return None
        floor = self.floor(resource, spared)
        taken = min(now, self.seconds)
        least = min(least, taken)
        after = max(self.seconds - (taken - least), floor, least)
        gain = self.seconds / after
        if gain < SMALLEST_GAIN or taken < NEARLY * floor:
            return None
        return Cause(
            kind, counted, self.quoted(positions), taken, taken / self.seconds, gain, remedy, rung, weight=now - least
        )

    @property
    def is_near(self) -> bool:
        """Whether the kernel was measured and reaches half of its longest bound: then it hides latency well enough."""
        return self.measured and 2 * max((each.seconds for each in self.limits), default=0.0) > self.seconds

    def quoted(self, positions: Iterable[Position]) -> tuple[QuotedLine, ...]:
        """The lines at these places, each once, in the source's order."""
        if self.last is None:
            return ()
        own = self.last.entry_position.file
        found = {}
        for each in sorted(positions):
            name = "" if each.file == own else each.file
            found[name, each.line] = QuotedLine(each.line, self.last.source.line(each).strip(), name)
        return tuple(found.values())

    def loop_positions(self) -> list[Position]:
        """The places of the accesses that happen most often: the inner loop's."""
        most = max((each.requests for each in self.accesses), default=0)
        return [each.position for each in self.accesses if each.requests >= most / 2]


def present(causes: Sequence[Cause | None]) -> list[Cause]:
    """The causes without those that are not worth saying."""
    return [each for each in causes if each is not None]
