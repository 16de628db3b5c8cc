"""The buffers of a case, each exactly as long as its kernels may touch, with poison in all gaps. They check the result."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tilewright.analysis.explain.kernels import first_buffers
from tilewright.core.operands import Layout, Operand
from tilewright.core.plan import Plan
from tilewright.core.problem import Gemm, Problem, StridedGemm, inputs_of, output_of, random_array, random_arrays
from tilewright.core.types import element_type, numpy_dtype
from tilewright.kernels.copy import Move
from tilewright.kernels.copy.swaps import Swap

SEED = 0


@dataclass(frozen=True)
class Memory:
    """Flat buffers by name. Elements of the output lie at `places`; they should be `expected`, within `bound`."""

    buffers: dict[str, np.ndarray]
    output: str
    places: np.ndarray
    expected: np.ndarray | None
    bound: np.ndarray | float

    def verdict(self, result: np.ndarray) -> str:
        """What is wrong with the output's buffer after the launches, or ""."""
        gaps = np.ones(result.size, bool)
        gaps[self.places.ravel()] = False
        before = self.buffers[self.output]
        if result[gaps].tobytes() != before[gaps].tobytes():
            return "elements between the rows of the output were written"
        if self.expected is None or not self.places.size:
            return ""
        found = result[self.places]
        if isinstance(self.bound, float) and self.bound == 0.0:
            wrong = found.view(np.uint8) != self.expected.astype(found.dtype, copy=False).view(np.uint8)
        else:
            kind = np.complex128 if np.iscomplexobj(found) else np.float64
            wrong = ~(np.abs(found.astype(kind) - self.expected) <= self.bound)
        return f"{np.count_nonzero(wrong)} of {wrong.size} elements are wrong" if wrong.any() else ""


def poisoned(count: int, dtype: str) -> np.ndarray:
    """Elements whose bytes are all 0xFF, so that every float is NaN."""
    return np.full(count * numpy_dtype(dtype).itemsize, 0xFF, np.uint8).view(numpy_dtype(dtype))


def places_of(layout: Layout, shape: tuple[int, ...]) -> np.ndarray:
    """Where in its buffer each element of a matrix, or of a batch of them, lies."""
    strides = (layout.batch, layout.row, layout.column)[-len(shape) :]
    axes = np.meshgrid(*(np.arange(size) for size in shape), indexing="ij", sparse=True)
    return np.asarray(layout.offset + sum(axis * stride for axis, stride in zip(axes, strides, strict=True)))


def filled(operand: Operand, places: np.ndarray, values: np.ndarray | None) -> np.ndarray:
    """The operand's buffer, with `values` in their places and poison between them."""
    flat = poisoned(int(places.max()) + 1 if places.size else 0, operand.dtype)
    if values is not None:
        flat[places] = values
    return flat


def memory_of(problem: Problem) -> Memory:
    """Random operands of any problem that the library plans."""
    if isinstance(problem, Gemm):
        return _product_memory(problem)
    if isinstance(problem, (Move, Swap)):
        return _moved_memory(problem)
    arrays, output = random_arrays(problem, SEED), output_of(problem)
    flat = output.flatten(problem.reference(arrays)) if output.elements else np.empty(0, numpy_dtype(output.dtype))
    return Memory(dict(first_buffers(problem, arrays)), output.name, np.arange(output.elements), flat, 0.0)


def _product_memory(problem: Gemm) -> Memory:
    generator = np.random.default_rng(SEED)
    arrays = {each.name: random_array(generator, each.shape, each.dtype) for each in problem.operands}
    places = {
        each.name: places_of(layout, each.shape) for each, layout in zip(problem.operands, problem.layouts, strict=True)
    }
    buffers = {
        each.name: filled(each, places[each.name], None if each.written and problem.beta == 0 else arrays[each.name])
        for each in problem.operands
    }
    expected: np.ndarray | None = problem.reference(arrays)
    bound = problem.error_bound(arrays, problem.reference(arrays))
    bias, activation = (problem.bias, problem.activation) if isinstance(problem, StridedGemm) else ("", "")
    if bias:
        added = random_array(generator, (problem.n if bias == "row" else problem.m,), output_of(problem).dtype)
        buffers["bias"], expected = added, None
    if activation:
        expected = None  # what a bend makes of an error has no simple bound; the library's tests check these
    return Memory(buffers, "C", places["C"], expected, bound)


def _moved_memory(problem: Move | Swap) -> Memory:
    arrays = random_arrays(problem, SEED)
    layouts = (problem.source, problem.target) if isinstance(problem, Move) else (problem.layout,)
    places = {
        each.name: places_of(layout, (problem.batch, *_sides(problem)))
        for each, layout in zip(problem.operands, layouts, strict=True)
    }
    buffers = {each.name: filled(each, places[each.name], arrays.get(each.name)) for each in problem.operands}
    output = output_of(problem).name
    return Memory(buffers, output, places[output], problem.reference(arrays), 0.0)


def _sides(problem: Move | Swap) -> tuple[int, int]:
    return (problem.rows, problem.columns) if isinstance(problem, Move) else (problem.rows, problem.rows)


def scratch_of(plan: Plan) -> Mapping[str, np.ndarray]:
    """Scratch buffers: zeros where the plan says so, else poison."""
    dtype = plan.problem.dtype
    made = {}
    for name, nbytes in plan.scratch.items():
        made[name] = poisoned(-(-nbytes // element_type(dtype).itemsize), dtype)
        if name in plan.zeroed:
            made[name][...] = 0
    return made


def inputs(problem: Problem) -> tuple[str, ...]:
    """The names of what kernels must not change."""
    return tuple(each.name for each in inputs_of(problem) if not each.written)
