"""One product: check types and shapes, convert operands, prepare the launches and run them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..core.precision import PRECISIONS, REPRODUCIBLE
from ..core.problem import StridedGemm
from ..core.types import FLOAT8, element_type, numpy_dtype
from ..dispatch.choice import plan_product
from ..dispatch.numpys_own import numpys_own
from ..dispatch.table_files import load_tables
from ..errors import InvalidInput
from ..runtime.opencl.vpdpbusd import equipped
from .axes import matrices_last, matrix_axes, order_at
from .copy_calls import MOST_LAUNCHES
from .engine import KEPT_CALLS, Call, call_for
from .lookup import Slot
from .memory.choice import Memory
from .memory.host import HostMemory
from .memory.ready import Given, Ready, Recipe
from .numpy_call import asked_of, fits, host_call, keeps_symmetry, plan_of
from .numpy_limits import measured_for
from .result_types import check_activation, check_numbers
from .rules import Casting, Target, check_cast, check_out, target_of
from .shapes import Batch, ProductShape, View, as_matrices, batches, folded, product_launches, product_shape
from .symmetric import is_symmetric, swapped

# A stack that needs more than MOST_LAUNCHES is copied and multiplied by one launch: preparing a launch takes some
# milliseconds. DENSE_BYTES limits the copies, at 16 bytes an element; above it the launches are long anyway.
DENSE_BYTES = 256 * 2**20


# Compared by identity: hashing seven fields took 0.7 us of every call. `epilogue_of` keeps one of each.
@dataclass(frozen=True, eq=False)
class Epilogue:
    """What happens to the product before it is stored: activation(alpha S + beta C + bias).

    S is A B, or A B with scaled rows and columns. `scale_a` and `scale_b` are "each", "one" or "" for no scale.
    """

    alpha: complex = 1.0
    beta: complex = 0.0
    bias: str = ""  # "row": one element per column of C; "column": one per row; "": none
    activation: str = ""
    precision: str = ""
    scale_a: str = ""
    scale_b: str = ""

    @property
    def is_uniform(self) -> bool:
        """Whether it makes the same of equal sums, wherever they are. Without a product there is none to halve, and a
        reproducible one takes the kernels of every other."""
        return self.alpha != 0 and self.beta == 0 and not (self.bias or self.scale_a) and self.precision != REPRODUCIBLE


HOLD_FLOAT8 = ("float16", "bfloat16")  # both types hold every value of both 8-bit floats
SCALED = element_type(FLOAT8[0]).results  # result types of scaled products, which are computed in float32
# `typed`, because kernels distinguish 2 from 2+0j, which are equal. One is kept for each kept call.
epilogue_of = lru_cache(maxsize=KEPT_CALLS, typed=True)(Epilogue)
PLAIN = Epilogue()
NO_VECTORS: Mapping[str, Any] = MappingProxyType({})


# A named tuple, since each call makes one: a frozen dataclass takes a microsecond more.
class Product(NamedTuple):
    """The request: operands, the types to read and to store, the casting rule, and the epilogue with its arrays."""

    a: Any
    b: Any
    types: tuple[str, str]
    casting: Casting = "same_kind"
    epilogue: Epilogue = PLAIN
    c: Any = None
    vectors: Mapping[str, Any] = NO_VECTORS
    conjugate: tuple[bool, bool] = (False, False)
    transposed: tuple[bool, bool] = (False, False)  # which of a and b are transposed views of the caller's


class Settled(NamedTuple):
    """A product whose operands are converted, whose target is chosen and whose launches are prepared. Nothing is written yet."""

    call: Call
    arrays: dict[str, Any]  # by the names of kernel arguments
    target: Target
    added: Any  # what is copied to the target before the call; None if nothing is
    recipe: Recipe | None = None  # the same for other arrays; None if kernels do not use the caller's own


def multiply(memory: Memory, product: Product, out: Any, slot: Slot | None = None) -> Any:
    """Check everything, multiply, and return the result: `out`, if it is given. `slot` gets a ready call for the next time."""
    settled = settle(memory, product, out, slot.given if slot else None)
    target, ready = settled.target, ready_call(memory, settled)
    if settled.added is not None:  # after planning, because a refused call writes nothing
        memory.assign(target.array, settled.added)
    memory.run(settled.call, settled.arrays, "C", product.epilogue.beta != 0)
    if ready is not None and slot is not None:
        slot.keep(ready)
    if target.copied_to is not None:
        memory.assign(target.copied_to, target.array)
    if out is not None:
        return out
    result = memory.result(target.array)
    return result[()] if isinstance(result, np.ndarray) and not result.ndim else result  # a number, as NumPy's


def multiply_along(axes: Any, memory: Memory, product: Product, out: Any) -> Any:
    """The product of operands whose matrices lie in any dimensions. InvalidInput if `axes` does not fit them or `out`."""
    core = matrix_axes(axes, product.a.ndim, product.b.ndim)
    product = product._replace(a=matrices_last(product.a, core[0]), b=matrices_last(product.b, core[1]))
    if out is None:
        result = multiply(memory, product, None)
        return memory.permuted(result, order_at(result.ndim, core[2])) if core[2] else result
    seen = memory.as_out(out)
    if seen.ndim <= max(core[2], default=-1):
        raise InvalidInput(f"out has the shape {seen.shape}; axes ask for its matrices in dimensions {core[2]}")
    multiply(memory, product, matrices_last(seen, core[2]))
    return out


def settle(memory: Memory, product: Product, out: Any, given: Given | None) -> Settled:
    """Check everything, convert operands and prepare the launches; also a recipe for arrays like those `given`, if any."""
    types, epilogue = product.types, product.epilogue
    read, kind = numpy_dtype(types[0]), numpy_dtype(types[1])
    sizes = product_shape(product.a.shape, product.b.shape)
    seen = check_request(memory, product, sizes, read, kind, out)
    target, filled = _target(memory, product, sizes, kind, seen)
    a, b = _operands(memory, product, read)
    if sizes.launches > MOST_LAUNCHES:
        a, b, target = _few_launches(memory, product, sizes, (a, b), target)
    arrays = {"A": a, "B": b, "C": target.array}
    c = product.c
    if filled and c is not None and not _one_object(c, target.array):
        arrays["c"] = c  # another array object over `out`: it needs the event, too
    for name, vector in product.vectors.items():
        arrays[name] = memory.as_vector(memory.as_operand(vector, _vector_type(name, kind)))
    halved = epilogue.is_uniform and is_symmetric(memory, a, b, types[0], product.conjugate)
    key = (memory.key, types, epilogue, product.conjugate, halved, *map(memory.signature, arrays.values()))
    call = call_for(
        memory.device,
        key,
        lambda: _prepare(memory, (a, b, target.array), sizes, types, epilogue, product.conjugate, halved),
    )
    added = None if filled else c
    settled = Settled(call, arrays, target, added)
    return settled._replace(recipe=_recipe(product, given, settled, halved)) if given else settled


def ready_call(memory: Memory, settled: Settled) -> Ready | None:
    """The product for other arrays. None without a recipe, or if it would keep more scratch memory than is allowed."""
    if settled.recipe is None or (memory.binds_scratch and not settled.call.keeps_scratch):
        return None
    return memory.ready(settled.recipe)


def _operands(memory: Memory, product: Product, read: np.dtype) -> tuple[Any, Any]:
    """Both operands in the type that is read. Where B is A transposed and A is copied, B becomes the copy transposed."""
    a = memory.as_operand(product.a, read)
    if a is product.a or not isinstance(memory, HostMemory) or product.a.dtype != product.b.dtype:
        return a, memory.as_operand(product.b, read)
    one = is_symmetric(memory, product.a, product.b, product.types[0], product.conjugate)
    return a, swapped(a) if one else memory.as_operand(product.b, read)


def _recipe(product: Product, given: Given, settled: Settled, halved: bool) -> Recipe | None:
    """What makes a call ready for other arrays like the caller's. None if anything was converted or copied, or may have to be."""
    arrays, target, added = settled.arrays, settled.target, settled.added
    own = {"A": product.a, "B": product.b, **product.vectors}
    # NumPy itself converts operands, but each by itself: of A and its own transpose that makes two matrices.
    as_they_are = dict(product.vectors) if settled.call.host and not halved else own
    if target.copied_to is not None or any(arrays[name] is not array for name, array in as_they_are.items()):
        return None
    operands = tuple((place, name) for place, name in enumerate(given.names) if name in own)
    if len(operands) < len(own) or "c" in arrays:
        return None
    place = None if added is None else given.names.index("c")
    transposed = tuple(name for name, swapped in zip("AB", product.transposed, strict=True) if swapped)
    return Recipe(settled.call, operands, "C", target.array, given, product.epilogue.beta != 0, place, transposed)


def check_request(
    memory: Memory, product: Product, sizes: ProductShape, read: np.dtype, kind: np.dtype, out: Any
) -> Any:
    """Refuse a product before anything is enqueued or written. The result is `out` as a writable array, or None."""
    if product.a.dtype != read or product.b.dtype != read:
        _check_operands(memory, product, read)
    if product.epilogue is not PLAIN:
        _check_epilogue(memory, product, sizes, kind)
    if out is None:
        return None
    seen = check_out(memory, out, sizes.result, kind, product.casting)
    memory.check_conversion(kind, seen.dtype)
    return seen


def _check_operands(memory: Memory, product: Product, read: np.dtype) -> None:
    """Check that both operands may be converted to the type in which they are read."""
    exact = product.types[0] in HOLD_FLOAT8 and {product.a.dtype.name, product.b.dtype.name} == set(FLOAT8)
    for name, array in (("a", product.a), ("b", product.b)):
        if not exact:
            check_cast(name, array.dtype, read, product.casting)
        _check_conversion(memory, array, read)


def _check_epilogue(memory: Memory, product: Product, sizes: ProductShape, kind: np.dtype) -> None:
    """Check that kernels have the epilogue, and that its arrays fit and may be converted."""
    precision, read = product.epilogue.precision, product.types[0]
    if precision and read not in PRECISIONS[precision]:
        raise InvalidInput(
            f"precision={precision!r} is for {' and '.join(PRECISIONS[precision])}; operands are read as {read}"
        )
    if product.epilogue.scale_a and product.types[1] not in SCALED:
        raise InvalidInput(f"scaled products can be stored as {', '.join(SCALED)}, not as {product.types[1]}")
    if product.epilogue.activation:
        check_activation(product.epilogue.activation, product.types[1])
    if product.c is not None:
        if product.c.shape != sizes.result:
            raise InvalidInput(f"c has the shape {product.c.shape}, the product {sizes.result}")
        check_numbers("c", product.c.dtype)
        check_cast("c", product.c.dtype, kind, product.casting)
        _check_conversion(memory, product.c, kind)
    for name, vector in product.vectors.items():
        check_numbers(name, vector.dtype)
        check_cast(name, vector.dtype, _vector_type(name, kind), product.casting)
        _check_conversion(memory, vector, _vector_type(name, kind))


def _vector_type(name: str, result: np.dtype) -> np.dtype:
    """The type of an epilogue's vector: a bias has the result's, a scale float32."""
    return result if name == "bias" else np.dtype(np.float32)


def _check_conversion(memory: Memory, array: Any, dtype: np.dtype) -> None:
    """Unsupported if a device array cannot be converted on its device."""
    if not isinstance(array, np.ndarray):
        memory.check_conversion(array.dtype, dtype)


def _target(memory: Memory, product: Product, sizes: ProductShape, kind: np.dtype, out: Any) -> tuple[Target, bool]:
    """The array that kernels write to, and whether it already holds `c` because `c` is `out`."""
    c = product.c
    is_out = c is not None and out is not None and memory.same_elements(c, out)
    read = (product.a, product.b, *product.vectors.values(), *(() if c is None or is_out else (c,)))
    target = target_of(memory, out, sizes.result, kind, read)
    return target, is_out and target.array is out


def _few_launches(
    memory: Memory, product: Product, sizes: ProductShape, operands: tuple[Any, Any], target: Target
) -> tuple[Any, Any, Target]:
    """The operands, or dense copies of them if their strides would need too many launches."""
    a, b = operands
    left, right, result = (memory.view(array) for array in (a, b, target.array))
    if not _scattered(left, right, result, sizes):
        return a, b, target
    sides = (sizes.m,) if len(a.shape) > 1 else (), (sizes.n,) if len(b.shape) > 1 else ()
    one = is_symmetric(memory, a, b, product.types[0], product.conjugate)
    a = memory.dense(a, (*sizes.batch, *sides[0], sizes.k))
    b = swapped(a) if one else memory.dense(b, (*sizes.batch, sizes.k, *sides[1]))
    if target.given:
        whole = memory.empty(sizes.result, target.array.dtype)
        memory.assign(whole, target.array)  # beta may read it
        target = Target(whole, target.array)
    return a, b, target


@lru_cache(maxsize=1024)
def _scattered(a: View, b: View, result: View, sizes: ProductShape) -> bool:
    """Whether a stack needs many launches, and dense copies within DENSE_BYTES would need one."""
    if 0 in (*sizes.batch, sizes.m, sizes.n, sizes.k):
        return False
    if product_launches(_stacked(a, b, result, sizes)) <= MOST_LAUNCHES:
        return False
    return 16 * prod(sizes.batch) * sizes.k * (sizes.m + sizes.n) <= DENSE_BYTES


def _stacked(a: View, b: View, result: View, sizes: ProductShape) -> tuple[View, View, View]:
    """The three views as stacks of matrices with equal leading dimensions."""
    if len(a.shape) == 1:
        result = _with_side(result, len(sizes.batch))
    if len(b.shape) == 1:
        result = _with_side(result, len(result.shape))
    return (
        as_matrices(a).broadcast((*sizes.batch, sizes.m, sizes.k)),
        as_matrices(b, column=True).broadcast((*sizes.batch, sizes.k, sizes.n)),
        result,
    )


def _prepare(
    memory: Memory,
    arrays: tuple[Any, Any, Any],
    sizes: ProductShape,
    types: tuple[str, str],
    epilogue: Epilogue,
    conjugate: tuple[bool, bool],
    halved: bool,
) -> Call:
    a, b, result = (memory.view(array) for array in arrays)
    views = _stacked(a, b, result, sizes)
    if sizes.m == 0 or sizes.n == 0:
        return Call((), memory.device)
    problems = [_problem(each, sizes, types, epilogue, conjugate, halved) for each in batches(views)]
    info = equipped(memory.device.info, types[0])
    tables = load_tables()
    plans = [plan_product(problem, info, tables) for problem in problems]
    may_call_numpy = isinstance(memory, HostMemory) and memory.may_call_numpy
    if halved and not keeps_symmetry(views, sizes.k, types):
        may_call_numpy = False
    if may_call_numpy and fits(epilogue, conjugate, sizes, arrays[2]):
        asked = asked_of(views, sizes, types, sum(problem.batch for problem in problems))
        reason = numpys_own(asked, partial(measured_for, memory.device, *types))
        if reason:
            called = [plan_of(plan, reason, asked) for plan in plans]
            return Call(called, memory.device, host_call(epilogue, asked))
    return Call(plans, memory.device)


def _with_side(view: View, axis: int) -> View:
    """The view with a dimension of 1 at `axis`, which the result of a 1-D operand lacks."""
    shape, strides = list(view.shape), list(view.strides)
    shape.insert(axis, 1)
    strides.insert(axis, 0)
    return View(tuple(shape), tuple(strides), view.offset)


def _problem(
    batch: Batch,
    sizes: ProductShape,
    types: tuple[str, str],
    epilogue: Epilogue,
    conjugate: tuple[bool, bool],
    halved: bool,
) -> StridedGemm:
    """The problem of one launch."""
    m = sizes.m
    if epilogue.bias != "column" and epilogue.scale_a != "each":
        batch, m = folded(batch, m)
    a, b, c = batch.layouts
    k = sizes.k if epilogue.alpha != 0 else 0  # as in BLAS: alpha=0 reads neither A nor B, so their NaNs do not leak
    return StridedGemm(
        m, sizes.n, k, types[0], alpha=epilogue.alpha, beta=epilogue.beta, out_dtype=types[1], batch=batch.count,
        views=(a, b, c), bias=epilogue.bias, activation=epilogue.activation,
        conjugate_a=conjugate[0], conjugate_b=conjugate[1], precision=epilogue.precision,
        scale_a=epilogue.scale_a, scale_b=epilogue.scale_b, symmetric=halved and m == sizes.n and b == a.swapped,
    )  # fmt: skip


def _one_object(one: Any, other: Any) -> bool:
    """Whether two arrays are one object of the caller's."""
    return one is other or (hasattr(one, "given") and one.given is getattr(other, "given", None))
