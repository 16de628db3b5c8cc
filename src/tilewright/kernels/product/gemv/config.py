"""The configurations of the kernels for a C of few columns or rows: matrix times vector, and a little more."""

from collections.abc import Iterator
from dataclasses import dataclass

from ....core.device import DeviceInfo
from ....core.kernel import NDRange, round_up
from ....core.problem import Problem
from ....core.types import element_type
from ..call import GemmCall, call_of
from ..config import SplitKConfig
from ..macros import element_macros, elements, reading

IN_FLIGHT, MOST_RUNS = 128, 4  # bytes of A that a work-item of columns.cl asks for at a time, and in how many runs


@dataclass(frozen=True)
class Step:
    """The loads and the multiply-adds of a work-item in one step along k."""

    loads: int
    products: int


@dataclass(frozen=True)
class GemvConfig(SplitKConfig):
    """Base of the kernels for a C of few columns: N is a macro of theirs."""

    split_k: int = 1

    def orientation(self, problem: Problem) -> GemmCall:
        return call_of(problem).tall

    def group_rows(self, call: GemmCall) -> int:
        """Rows of C that a work-group computes."""
        raise NotImplementedError

    def chunk(self, call: GemmCall) -> int:
        return round_up(-(-call.k // self.split_k), 16) if self.split_k > 1 else 0

    def has_empty_split(self, call: GemmCall) -> bool:
        """Whether nothing of K is left for the last split."""
        return self.split_k > 1 and self.chunk(call) * (self.split_k - 1) >= call.k

    def ndrange(self, problem: Problem) -> NDRange:
        call = self.oriented(problem)
        groups = -(-call.m // self.group_rows(call)) if call.n else 0
        # Early work-groups made float16 1x4096x4096 slower on an H200, 8.41 to 8.75 us; float32 and float64 of that size gained.
        early = element_type(call.dtype).itemsize != 2
        return NDRange((groups * self.items, call.splits, call.batch), (self.items, 1, 1), early=early)

    @property
    def items(self) -> int:
        raise NotImplementedError

    @property
    def sharing(self) -> int:
        """Work-items among which the k of one sum is divided."""
        raise NotImplementedError

    def partials(self, call: GemmCall) -> int:
        """Components of the sums that one work-item holds."""
        raise NotImplementedError

    def step(self, call: GemmCall) -> Step:
        """What a work-item does in one step along k."""
        raise NotImplementedError

    def steps(self, call: GemmCall, depth: int) -> tuple[int, int]:
        """Of a work-item with its share of `depth` elements of k, and how often it waits for the loads of one or several."""
        raise NotImplementedError

    def local_bytes(self, problem: Problem) -> int:
        call = self.oriented(problem)
        return self.items * self.partials(call) * elements(call.dtype).component_bytes

    def registers(self, call: GemmCall) -> int:
        kind = elements(call.dtype)
        return kind.component_bytes // 4 * self.partials(call) + 48

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = self.oriented(problem)
        if call.n > 8:
            yield f"C has {call.n} columns (or rows), and one work-item can hold sums for at most 8"
        elif self.has_empty_split(call):
            yield f"K={call.k} has not {self.split_k} splits"
        yield from super().violations(problem, device)


@dataclass(frozen=True)
class RowsConfig(GemvConfig):
    """rows.cl: A lies along k."""

    TEAM: int = 32
    TEAMS: int = 4
    ROWS: int = 2

    @property
    def items(self) -> int:
        return self.TEAM * self.TEAMS

    @property
    def sharing(self) -> int:
        return self.TEAM

    def group_rows(self, call: GemmCall) -> int:
        return self.TEAMS * self.ROWS

    def partials(self, call: GemmCall) -> int:
        return self.ROWS * call.n * elements(call.dtype).parts

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call = self.oriented(problem)
        width, b_width = self._widths(call)
        return {
            **super().macros(problem), **element_macros(call),
            "COLUMNS": max(call.n, 1), "A_VEC": width, "B_VEC": b_width,
        }  # fmt: skip

    @staticmethod
    def _widths(call: GemmCall) -> tuple[int, int]:
        """Elements along k of one load of A, and of B."""
        a, b = reading(call, "A"), reading(call, "B")
        width = a.width if a.order == "PANEL_ALONG_K" else 1
        return width, width if b.order == "PANEL_ALONG_K" and b.width >= width else 1

    def step(self, call: GemmCall) -> Step:
        width, b_width = self._widths(call)
        return Step(self.ROWS + call.n * width // b_width, self.ROWS * call.n * width)

    def steps(self, call: GemmCall, depth: int) -> tuple[int, int]:
        steps = -(-depth // (self.TEAM * self._widths(call)[0]))
        return steps, steps


@dataclass(frozen=True)
class ColumnsConfig(GemvConfig):
    """columns.cl: A lies down its columns."""

    LANES: int = 32
    SLICED_K: int = 8

    @property
    def items(self) -> int:
        return self.LANES * self.SLICED_K

    @property
    def sharing(self) -> int:
        return self.SLICED_K

    @staticmethod
    def width(call: GemmCall) -> int:
        a = reading(call, "A")
        return min(a.width, elements(call.dtype).fragment) if a.order == "PANEL_ACROSS" else 1

    def group_rows(self, call: GemmCall) -> int:
        return self.LANES * self.width(call)

    def partials(self, call: GemmCall) -> int:
        return self.width(call) * call.n * elements(call.dtype).parts

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call = self.oriented(problem)
        steps, runs = self._run(call)
        vectors: dict[str, str | int] = {
            "COLUMNS": max(call.n, 1), "A_VEC": self.width(call), "B_VEC": steps, "RUNS": runs,
        }  # fmt: skip
        return {**super().macros(problem), **element_macros(call), **vectors}

    def _run(self, call: GemmCall) -> tuple[int, int]:
        """Steps of k of one load of a work-item, and how many loads it has in flight before it multiplies."""
        b = reading(call, "B")
        steps = min(b.width, 4) if b.order == "PANEL_ALONG_K" else 1
        once = self.width(call) * steps * element_type(call.dtype).itemsize
        return steps, max(1, min(MOST_RUNS, IN_FLIGHT // once))

    def step(self, call: GemmCall) -> Step:
        steps, _ = self._run(call)
        return Step(steps + call.n, steps * call.n * self.width(call))

    def steps(self, call: GemmCall, depth: int) -> tuple[int, int]:
        steps, runs = self._run(call)
        whole, rest = divmod(depth, runs * steps * self.SLICED_K)
        single = -(-rest // (steps * self.SLICED_K))
        return whole * runs + single, whole + single
