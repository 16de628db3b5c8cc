"""`matmul`, `gemm` and `transpose` in tiles: the caller's arguments, checked by the rules of every call."""

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...core.problem import Gemm
from ...core.types import numpy_dtype
from ...errors import InvalidInput, Unsupported
from ..copy_calls import check_elements
from ..memory.host import HostMemory
from ..multiply import Product, check_request, epilogue_of
from ..requests import Options, gemm_product, reads_c
from ..rules import check_out_of_copy
from ..shapes import ProductShape, Shape, product_shape
from .budget import as_bytes
from .device_memory import shares_memory
from .devices import ALL, opened
from .files import OpenFiles
from .limits import FITS_SHARE, Limits
from .matrices import MemoryMatrix
from .operands import Given, given_out, overlap, refuse_on_device, refuse_shared_elements, same_array
from .operations import Stack
from .planning import StreamedPlan, choose
from .product import ProductOperation
from .quickest import quickest
from .running import limited, run_in_tiles
from .transpose import TransposeOperation


class _Request(NamedTuple):
    """A product's arguments, checked by the rules of every call."""

    product: Product
    sizes: ProductShape
    a: Given
    b: Given
    c: Given | None  # None if it is not read
    out: Given | None
    result: Given  # `out`, or a new array


def product_in_tiles(arrays: tuple[Any, ...], out: Any, options: Options, limits: Limits) -> Any:
    """`gemm` in tiles; its arrays are a, b, c, bias and both scales."""
    _check_limits(limits)
    devices = opened(limits.device)
    request = _checked(arrays, out, options, HostMemory(devices[0], None))
    if 0 not in request.sizes.result:
        run_in_tiles(_operation(request, options), devices, limits, request.result, out, "a product")
    if out is not None:
        return out
    made = request.result.array
    assert made is not None
    return made if made.ndim else made[()]


def _checked(arrays: tuple[Any, ...], out: Any, options: Options, memory: HostMemory) -> _Request:
    """The request for these arrays. A `c` that is not read may be anything but an array on a device, as in one piece."""
    a, b = Given(arrays[0], "a"), Given(arrays[1], "b")
    refuse_on_device(arrays[2], "c")
    c = Given(arrays[2], "c") if arrays[2] is not None and reads_c(options.beta) else None
    stand_ins = [None if each is None else each.stand_in for each in (a, b, c)]
    product = gemm_product(memory, (*stand_ins, *arrays[3:]), options)
    sizes, kind = product_shape(product.a.shape, product.b.shape), numpy_dtype(product.types[1])
    target = given_out(out)
    seen = None if target is None else target.stand_in
    check_request(memory, product, sizes, numpy_dtype(product.types[0]), kind, seen)
    result = target or Given(np.empty(sizes.result, kind), "out")
    if c is not None and target is not None and same_array(c, target):
        c = target  # its lock, too
    return _Request(product, sizes, a, b, c, target, result)


def _operation(request: _Request, options: Options) -> ProductOperation:
    """The operation that computes it. InvalidInput if `out` shares memory with what later tiles read, or within itself."""
    product, sizes, a, b, c, _, result = request
    refuse_shared_elements(result)
    files: OpenFiles = {}
    a_side, b_side = ("row" if product.a.ndim == 1 else ""), ("column" if product.b.ndim == 1 else "")
    left = a.stack(sizes.batch, files, a_side, options.trans_a != "N")
    right = b.stack(sizes.batch, files, b_side, options.trans_b != "N")
    written = _result_stack(result, sizes.batch, files, a_side, b_side)
    added = None if c is None else _result_stack(c, sizes.batch, files, a_side, b_side, False)
    for each, stack in ((a, left), (b, right)):
        if overlap(each, stack, result, written) != "none":
            raise InvalidInput(
                f"out shares memory with {each.name}: in tiles it would overwrite what later tiles read; pass another out"
            )
    shared = "none" if c is None or added is None else overlap(c, added, result, written)
    if shared == "part":
        raise InvalidInput("out shares memory with c, but not each element its own: pass c itself, or another out")
    vectors = {
        name: MemoryMatrix(np.array(vector, order="C", copy=True).reshape(1, -1))  # which may lie in the result
        for name, vector in product.vectors.items()
    }
    depth = sizes.k if product.epilogue.alpha != 0 else 0  # as in BLAS: alpha=0 reads neither a nor b
    return ProductOperation(
        sizes.m, sizes.n, depth, prod(sizes.batch), left, right, written, product.types, product.epilogue,
        product.conjugate, added, shared == "same", vectors, overlap(a, left, b, right) != "none",
    )  # fmt: skip


def _result_stack(given: Given, batch: Shape, files: OpenFiles, a_side: str, b_side: str, out: bool = True) -> Stack:
    """The matrices of a result, or of c, which lacks the dimensions that 1-D operands lack."""
    if given.array is None:
        if a_side or b_side:
            raise Unsupported("a result of one dimension must be a NumPy array")
        return given.stack(batch, files, out=out)
    array = given.array
    if b_side:
        array = array[..., None]
    if a_side:
        array = array[..., None, :]
    seen = Given(array, given.name)
    return seen.stack(batch, files, out=out)


def transpose_in_tiles(a: Any, out: Any, name: str, limits: Limits) -> Any:
    """`transpose` of a matrix, or `matrix_transpose` of a stack of them, in tiles."""
    _check_limits(limits)
    devices = opened(limits.device)
    files: OpenFiles = {}
    source = Given(a, "a")
    seen = source.stand_in
    if seen.ndim != 2 and (name != "matrix_transpose" or seen.ndim < 2):
        raise Unsupported(f"{name} in tiles is for matrices; a has the shape {seen.shape}: pass it by matrices")
    check_elements(seen.dtype)
    shape = (*seen.shape[:-2], seen.shape[-1], seen.shape[-2])
    target = given_out(out)
    if target is not None:
        check_out_of_copy(HostMemory(devices[0], None), target.stand_in, shape, seen.dtype)
    result = target or Given(np.empty(shape, seen.dtype), "out")
    if 0 not in shape:
        refuse_shared_elements(result)
        batch = shape[:-2]
        stacks = source.stack(batch, files), result.stack(batch, files, out=True)
        if overlap(source, stacks[0], result, stacks[1]) != "none":
            raise InvalidInput(
                "out shares memory with a: in tiles it would overwrite what later tiles read; pass another out"
            )
        operation = TransposeOperation(shape[-2], shape[-1], prod(batch), *stacks, seen.dtype)
        run_in_tiles(operation, devices, limits, result, out, "a transpose")
    return result.array if out is None else out


def _check_limits(limits: Limits) -> None:
    """Refuse what is no limit, also where there is nothing to compute."""
    as_bytes(limits.max_device_bytes, "max_device_bytes")
    as_bytes(limits.max_host_bytes, "max_host_bytes")


def planned(problem: Gemm, limits: Limits, pinned: bool = False) -> StreamedPlan | None:
    """How a product would be computed in tiles, of arrays that are `pinned` or not; None if it would be computed in one piece.

    Nothing is run or allocated.
    """
    devices = opened(limits.device)
    fits = sum(each.nbytes for each in problem.operands) <= FITS_SHARE * devices[0].info.global_bytes
    if fits and not limits.given:
        return None
    a, b, c = problem.operands
    result = problem.out_dtype or problem.dtype
    batch = (problem.batch,) if problem.batch != 1 else ()
    left, right, out = (
        Stack(batch, batch, _imagined(each.shape[-2:], each.order, dtype))
        for each, dtype in ((a, problem.dtype), (b, problem.dtype), (c, result))
    )
    operation = ProductOperation(
        problem.m, problem.n, problem.k, problem.batch, left, right, out, (problem.dtype, result),
        epilogue_of(precision=problem.precision), (False, False),
    )  # fmt: skip
    budget_of = partial(limited, limits=limits)
    if limits.device == ALL:
        devices = quickest(operation, devices, budget_of, problem.title, pinned)
    shared = [shares_memory(device) for device in devices]
    return choose(operation, [each.info for each in devices], shared, budget_of(devices), problem.title, pinned).shown


def _imagined(sides: tuple[int, ...], order: str, dtype: str) -> Callable[[Shape], MemoryMatrix]:
    """Matrices of which only the shape, type and order count: nothing may touch them."""
    kind = numpy_dtype(dtype)
    rows, columns = sides
    strides = (columns, 1) if order == "row" else (1, rows)
    memory = as_strided(np.empty((), kind), (rows, columns), tuple(kind.itemsize * stride for stride in strides))
    return lambda index: MemoryMatrix(memory)
