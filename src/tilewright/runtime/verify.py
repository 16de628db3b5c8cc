"""Compares results with a float64 reference, element by element, within the bound of rounding errors."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..core.checked import check_object, checked_count
from ..core.language import Sentence, shown, translated
from ..core.plan import Plan
from ..core.problem import Gemm, Problem, output_of, random_arrays
from ..core.types import element_type, numpy_dtype
from ..errors import WrongResult
from .device import Device, check_opened
from .fences import INTEGER_POISON, POISON
from .run import Execution

SECOND_POISON = 0x3F  # floats of such bytes are near 1, in every format: sums with them keep the other term


@dataclass(frozen=True)
class Element:
    """One element of a result, and its expected value."""

    index: tuple[int, ...]
    value: float
    expected: float

    @property
    def sentence(self) -> Sentence:
        """The index, the value and the expected one."""
        index = ", ".join(map(str, self.index))
        return Sentence(
            "[{index}] = {value!r}, host {expected!r}", index=index, value=self.value, expected=self.expected
        )

    def __str__(self) -> str:
        return str(self.sentence)


@dataclass(frozen=True)
class Verdict:
    """Whether a result is right. `worst_ratio` is the largest ratio of an error to its bound; at most 1 passes."""

    passed: bool
    elements: int
    worst_ratio: float
    worst: Element | None
    bound: float
    reason: str = ""
    sample: tuple[Element, ...] = ()
    words: str = ""  # what was compared with what, where it is no float64 reference
    norm: float | None = None  # of the error, over the norm of the reference (L2); None where results must be equal

    def __str__(self) -> str:
        if not self.passed:
            return f"wrong: {self.reason}"
        if self.words:
            return shown(self.words)
        if self.norm is None:
            return translated(
                "right: {elements:,} elements, worst error {ratio:.2g} of its bound",
                elements=self.elements, ratio=self.worst_ratio,
            )  # fmt: skip
        return translated(
            "right: {elements:,} elements, worst error {ratio:.2g} of its bound, norm of the error {norm:.2g} of the "
            "result's (L2)",
            elements=self.elements, ratio=self.worst_ratio, norm=self.norm,
        )  # fmt: skip


class Reference:
    """The expected result of a problem for given operands, and the bound of each element's error.

    It is computed once for all kernels that solve the same problem, whatever the memory order of their operands.
    """

    def __init__(self, problem: Problem, arrays: Mapping[str, np.ndarray]) -> None:
        self.problem = problem
        self.arrays = arrays
        self.expected = problem.reference(arrays)
        self.bound = problem.error_bound(arrays, self.expected)

    def judge(self, output: np.ndarray) -> Verdict:
        """Compare every element of `output` with the reference.

        Integers and copies must be equal bit by bit. Other elements pass if the error is within the bound. An infinity
        must equal the reference, and a NaN passes only if the reference is NaN.
        """
        wanted = output_of(self.problem)
        if output.shape != wanted.shape or output.dtype != numpy_dtype(wanted.dtype):
            reason = f"the result is {output.shape} {output.dtype} instead of {wanted.shape} {wanted.dtype}"
            return Verdict(False, output.size, np.inf, None, 0.0, reason)
        if output.size == 0:
            return Verdict(True, 0, 0.0, None, 0.0)
        ratios = self._ratios(output)
        index = np.unravel_index(int(np.argmax(ratios)), output.shape)
        worst, ratio = self._element(output, index), float(ratios[index])
        limit = float(np.broadcast_to(self.bound, output.shape)[index])
        sample = self._sample(output)
        if ratio <= 1.0:
            return Verdict(True, output.size, ratio, worst, limit, sample=sample, norm=self._norm(output))
        wrong = int(np.count_nonzero(ratios > 1.0))
        reason = f"{wrong:,} of {output.size:,} elements; the worst is {worst}; the bound is {limit:.3g}"
        return Verdict(False, output.size, ratio, worst, limit, reason, sample)

    def _ratios(self, output: np.ndarray) -> np.ndarray:
        """Error / bound of each element: 0 if equal, infinite for a wrong infinity or NaN."""
        if isinstance(self.bound, float) and self.bound == 0.0:
            same = _bits(output) == _bits(self.expected.astype(output.dtype, copy=False))
            return np.where(same, 0.0, np.inf)
        with np.errstate(all="ignore"):
            wide = np.complex128 if np.iscomplexobj(output) else np.float64
            error = np.abs(output.astype(wide) - self.expected)
            ratios: np.ndarray = error / self.bound
            ratios[error == 0] = 0.0
            # A float64 reference beyond the range of the element type rounds to an infinity. The kernel's sum may, too.
            expected = self.expected.astype(output.dtype)
            settled = ~np.isfinite(expected)
            if settled.any():
                same = (output == expected) | (np.isnan(output) & np.isnan(expected))
                ratios[settled] = np.where(same[settled], 0.0, np.inf)
        ratios[np.isnan(ratios)] = np.inf
        return ratios

    def _norm(self, output: np.ndarray) -> float | None:
        """The L2 norm of the error over that of the reference, which BLAS tutorials print; None for exact results."""
        if isinstance(self.bound, float) and self.bound == 0.0:
            return None
        whole = float(np.linalg.norm(self.expected))
        if not np.isfinite(whole) or whole == 0.0:
            return None
        wide = np.complex128 if np.iscomplexobj(output) else np.float64
        return float(np.linalg.norm(output.astype(wide) - self.expected)) / whole

    def _element(self, output: np.ndarray, index: tuple[np.intp, ...]) -> Element:
        return Element(tuple(map(int, index)), output[index].item(), self.expected[index].item())

    def _sample(self, output: np.ndarray, count: int = 10) -> tuple[Element, ...]:
        """Ten random elements with the values of the host: the check that the tutorials print."""
        flat = np.random.default_rng().integers(0, output.size, min(count, output.size))
        return tuple(self._element(output, np.unravel_index(each, output.shape)) for each in flat)


WHOLE_FLOPS = (
    2**35
)  # twice the flops of a product of 2048 x 2048 matrices; larger references take minutes on some hosts
BAND = 32  # tiles are at least as large: a sampled row and a sampled column cross each tile


class SampledReference:
    """The expected values of whole rows and columns of a very large product: a random one of every 32.

    All other elements must be finite, because elements that were not written are NaN.
    """

    def __init__(self, problem: Gemm, arrays: Mapping[str, np.ndarray]) -> None:
        self.problem = problem
        self.arrays = arrays
        generator = np.random.default_rng(BAND)
        self._rows, self._columns = (_one_of_each_band(generator, side) for side in (problem.m, problem.n))
        some_rows = {**arrays, "A": arrays["A"][..., self._rows, :]}
        some_columns = {**arrays, "B": arrays["B"][..., self._columns]}
        self._across = Reference(replace(problem, m=len(self._rows)), some_rows)
        self._down = Reference(replace(problem, n=len(self._columns)), some_columns)

    def judge(self, output: np.ndarray) -> Verdict:
        """The verdict on the rows or on the columns: a bad one if there is one, otherwise the one with the larger error."""
        wanted = output_of(self.problem)
        if output.shape != wanted.shape:
            reason = f"the result is {output.shape} instead of {wanted.shape}"
            return Verdict(False, output.size, np.inf, None, 0.0, reason)
        if output.dtype.kind in "fc" and not np.isfinite(output).all():
            return Verdict(False, output.size, np.inf, None, 0.0, "elements are infinite or NaN, or were not written")
        verdicts = (self._across.judge(output[..., self._rows, :]), self._down.judge(output[..., self._columns]))
        return max(verdicts, key=lambda each: (not each.passed, each.worst_ratio))


def _one_of_each_band(generator: np.random.Generator, side: int) -> np.ndarray:
    firsts = np.arange(0, side, BAND)
    chosen: np.ndarray = np.minimum(firsts + generator.integers(0, BAND, len(firsts)), side - 1)
    return chosen


def reference_for(
    problem: Problem, arrays: Mapping[str, np.ndarray], whole_flops: int = WHOLE_FLOPS
) -> Reference | SampledReference:
    """The reference for a problem: all elements, or sampled rows and columns for products of more than `whole_flops`."""
    sampled = isinstance(problem, Gemm) and problem.flops > whole_flops and problem.beta == 0
    return SampledReference(problem, arrays) if sampled and isinstance(problem, Gemm) else Reference(problem, arrays)


def _bits(array: np.ndarray) -> np.ndarray:
    contiguous = np.ascontiguousarray(array)
    if contiguous.dtype.itemsize > 8:
        return contiguous
    return contiguous.view(f"u{contiguous.dtype.itemsize}")


def verify(plan: Plan, device: Device, seed: int = 0) -> Verdict:
    """Run a plan on random operands, the same for each `seed`, and judge every element of the result against float64.

    The output is poisoned before, so that elements which are never written are found. InvalidInput for a plan that calls the
    host and has no launches.
    """
    check_object("plan", plan, Plan, "a Plan, as plan_kernel gives")
    check_opened(device)
    reference = Reference(plan.problem, random_arrays(plan.problem, checked_count("seed", seed, 0)))
    return verify_execution(Execution(plan, device), reference)


def verify_execution(execution: Execution, reference: Reference | SampledReference, uploaded: bool = False) -> Verdict:
    """Upload the operands, poison the output, run once and judge. A write outside a buffer is a wrong result, too.

    With `uploaded` the operands are on the device already, and the caller checks whether a kernel has changed them.
    """
    if not uploaded:
        execution.write(reference.arrays)
    execution.poison()
    execution.launch()
    try:
        output = execution.read()
    except WrongResult as outside:
        return Verdict(False, 0, np.inf, None, 0.0, str(outside))
    spoiled = [] if uploaded else execution.spoiled_inputs(reference.arrays)
    if spoiled:
        return Verdict(False, 0, np.inf, None, 0.0, f"it wrote into its input {' and '.join(spoiled)}")
    verdict = reference.judge(output)
    return verdict if verdict.passed else named_kinds(verdict, execution, reference, output)


def named_kinds(
    verdict: Verdict, execution: Execution, reference: Reference | SampledReference, output: np.ndarray
) -> Verdict:
    """A bad verdict with separate counts of elements never written, elements computed from poison, and wrong ones.

    An element that holds the poison may have been computed from poison. So the kernel runs again over another pattern: an
    element that then holds the second pattern was never written.
    """
    wanted = output_of(execution.plan.problem)
    poison = INTEGER_POISON if element_type(wanted.dtype).exact else POISON
    suspects = _consists_of(output, poison)
    if wanted.updated or not suspects.any():
        return verdict
    execution.poison(SECOND_POISON)
    execution.launch()
    try:
        unwritten = suspects & _consists_of(execution.read(), SECOND_POISON)
    except WrongResult:
        return verdict
    reasons = [f"{_counted(unwritten)} never written"] if unwritten.any() else []
    if not element_type(wanted.dtype).exact and (suspects & ~unwritten).any():
        reasons.append(
            f"{_counted(suspects & ~unwritten)} computed from memory not written before, or beyond an operand"
        )
    if isinstance(reference, Reference):
        others = reference.judge(np.where(suspects, reference.expected.astype(output.dtype), output))
        reasons += [others.reason] if not others.passed else []
    return replace(verdict, reason="; ".join(reasons)) if reasons else verdict


def _consists_of(array: np.ndarray, pattern: int) -> np.ndarray:
    """Which elements consist of this byte only."""
    whole = np.ascontiguousarray(array)
    same: np.ndarray = (whole.view(np.uint8).reshape(*array.shape, whole.itemsize) == pattern).all(axis=-1)
    return same


def _counted(chosen: np.ndarray) -> str:
    """The number of chosen elements, the number of all, and the index of the first, as words."""
    count = int(np.count_nonzero(chosen))
    first = ", ".join(map(str, np.unravel_index(int(np.argmax(chosen)), chosen.shape)))
    where = f"that at [{first}] was" if count == 1 else f"the first at [{first}], were"
    return f"{count:,} of {chosen.size:,} elements, {where}"
