"""Tries the obvious causes of a wrong result: which mistake gives exactly what the kernel computed."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from ..core.problem import Copy, Gemm, Problem, Transpose, output_of
from ..core.types import element_type
from ..runtime.verify import Reference

Arrays = Mapping[str, np.ndarray]
OTHER = {"row": "column", "column": "row"}
SAME_PART = 0.99  # of the elements: a whole number next to a sum of floats may fall to either side


def likely_cause(problem: Problem, arrays: Arrays, output: np.ndarray) -> str:
    """A sentence about the first mistake that explains every element of a wrong `output`; "" if none does.

    `arrays` are the problem's inputs, `output` has the shape of its output.
    """
    if isinstance(problem, Gemm):
        return next(gemm_causes(problem, arrays, output), "")
    assert isinstance(problem, Transpose)
    return next(copy_causes(problem, arrays, output), "")


def gemm_causes(problem: Gemm, arrays: Arrays, output: np.ndarray) -> Iterator[str]:
    """All mistakes that give this output of a product, the most frequent first."""
    if problem.batch != 1:
        return
    yield from memory_orders(problem, arrays, output)
    yield from scalars_ignored(problem, arrays, output)
    yield from parts_of_k(problem, arrays, output)
    yield from whole_numbers(problem, arrays, output)
    yield from multiples(problem, arrays, output)


def is_result(problem: Problem, arrays: Arrays, output: np.ndarray) -> bool:
    """Whether `output` is the right result of this problem."""
    return Reference(problem, arrays).judge(np.ascontiguousarray(output)).passed


def memory_orders(problem: Gemm, arrays: Arrays, output: np.ndarray) -> Iterator[str]:
    """Operands read or written in the other memory order, few of them first."""
    values = {**arrays, "C": output}
    for flips in sorted(product((False, True), repeat=3), key=sum)[1:]:
        seen, orders, words = {}, "", []
        for operand, flip in zip(problem.operands, flips, strict=True):
            order = OTHER[operand.order] if flip else operand.order
            seen[operand.name] = replace(operand, order=order).unflatten(operand.flatten(values[operand.name]))
            orders += order[0]
            if flip:
                verb = "stores" if operand.written else "reads"
                words.append(f"{verb} {operand.name} as {order}-major (as if {operand.name} was transposed)")
        if is_result(problem, {name: seen[name] for name in arrays}, seen["C"]):
            square = problem.m == problem.n == problem.k and all(flips)
            also = ". For square matrices this is also B A instead of A B" if square else ""
            yield (
                f"the kernel {', '.join(words)}. With --order {orders} the result is right; or exchange the two "
                f"coordinates in the index{also}"
            )


def scalars_ignored(problem: Gemm, arrays: Arrays, output: np.ndarray) -> Iterator[str]:
    """alpha or beta left out."""
    for alpha, beta in ((1.0, problem.beta), (problem.alpha, 0.0), (1.0, 0.0)):
        ignored = [f"alpha={problem.alpha:g}"] * (alpha != problem.alpha) + [f"beta={problem.beta:g}"] * (
            beta != problem.beta
        )
        if ignored and is_result(replace(problem, alpha=alpha, beta=beta), arrays, output):
            yield f"the kernel ignores {' and '.join(ignored)}"


def parts_of_k(problem: Gemm, arrays: Arrays, output: np.ndarray) -> Iterator[str]:
    """Sums over the first or the last products only."""
    for count in range(1, problem.k):
        first, last = slice(0, count), slice(problem.k - count, problem.k)
        for part, name in ((first, "first"), (last, "last")):
            own = {**arrays, "A": arrays["A"][:, part], "B": arrays["B"][part]}
            if not _corner_fits(own, output) or not is_result(replace(problem, k=count), own, output):
                continue
            if count == 1 and part is last:
                yield f"only the last of K={problem.k} products is kept: = stands where += belongs"
            else:
                yield f"only the {name} {count} of K={problem.k} products are summed: check the bounds of the loop over K"


def _corner_fits(arrays: Arrays, output: np.ndarray) -> bool:
    """Whether the first element of the output is near that of the product: a quick test before the whole one."""
    if output.dtype.kind not in "fc":
        return True
    exact = arrays["A"][0].astype(complex) @ arrays["B"][:, 0].astype(complex)
    scale = np.abs(arrays["A"][0]).astype(float) @ np.abs(arrays["B"][:, 0]).astype(float)
    return bool(abs(complex(output[0, 0]) - exact) <= 0.01 * scale)


def whole_numbers(problem: Gemm, arrays: Arrays, output: np.ndarray) -> Iterator[str]:
    """An int where a floating-point number belongs: for the sum, each product, the operands, or the result."""
    if element_type(problem.dtype).exact or output.dtype.kind != "f" or problem.beta != 0:
        return
    a, b = (arrays[name].astype(np.float64) for name in "AB")
    kept, added = np.zeros(output.shape), np.zeros(output.shape)
    for k in range(problem.k):
        products = np.outer(a[:, k], b[k])
        kept = np.trunc(kept + products)
        added += np.trunc(products)
    forms = {
        "the sum": kept,
        "each product": added,
        "the elements of A and B": np.trunc(a) @ np.trunc(b),
        "the result": np.trunc(a @ b),
    }
    for what, values in forms.items():
        if np.mean(output == values) >= SAME_PART:
            yield f"the result is that of whole numbers: {what} is kept as an integer; give it the type of the elements"


def multiples(problem: Gemm, arrays: Arrays, output: np.ndarray) -> Iterator[str]:
    """Every element wrong by the same factor, 0 too."""
    if element_type(problem.dtype).exact or output.dtype.kind != "f" or not output.size:
        return
    expected = np.asarray(problem.reference(arrays), np.float64)
    bound = np.asarray(problem.error_bound(arrays, expected), np.float64)
    if not output.any():
        yield "every element is 0: the products are not added to what is stored"
        return
    place = np.unravel_index(int(np.argmax(np.abs(expected))), expected.shape)
    factor = float(f"{float(output[place]) / float(expected[place]):.4g}") if expected[place] else 0.0
    if np.isfinite(factor) and (np.abs(output - factor * expected) <= 4 * max(1.0, abs(factor)) * bound).all():
        yield f"every element is {factor:g} times what it should be"


def copy_causes(problem: Transpose, arrays: Arrays, output: np.ndarray) -> Iterator[str]:
    """Mistakes of transposes and copies."""
    if problem.batch != 1:
        return
    source = arrays["input"]
    asked = output_of(problem).shape
    copies = isinstance(problem, Copy)
    other = source[:, problem.offset :].T if copies else source[:, problem.offset :]
    if np.array_equal(output, np.ascontiguousarray(other).reshape(asked)):
        yield "the kernel transposes what it must copy" if copies else "the kernel copies and does not transpose"
    first = source[:, : problem.kept]
    if problem.offset and np.array_equal(output, first if copies else first.T):
        yield f"the kernel ignores OFFSET={problem.offset}: it takes the first columns"
