"""`matmul` and `gemm` of blocks of rows that lie on several devices."""

from __future__ import annotations  # so that a tooltip says DTypeLike, not the twenty types that it stands for

from collections.abc import Sequence
from typing import Any

from numpy.typing import DTypeLike

from ..library.requests import Number, Options
from .given import check_blocks, given_arrays, read_blocks
from .running import Running


def matmul(
    a: Sequence[Any],
    b: Any,
    out: Sequence[Any] | None = None,
    *,
    dtype: DTypeLike | None = None,
    precision: str | None = None,
) -> list[Any]:
    """Multiply a matrix whose blocks of rows lie on several devices by one matrix: block i of the result is `a[i] @ b`.

    Shapes: `a[i]` is (m_i, k), `b` is (k, n), and block i of the result is (m_i, n). m_i may differ, and be 0.

    Arrays: CUDA arrays (of PyTorch, CuPy, JAX, Numba) on one or more GPUs, or PyOpenCL arrays of any contexts. Each block of the
    result has the kind and the device of its block of `a`, and is computed in that device's current stream, or in the array's
    own queue. The call returns before the products are done; between OpenCL contexts it waits until `b` has been read.

    Arguments:
        b: a list with the whole matrix beside each block, on the same device; or one array, which goes to every other device
            once, in panels of columns that are multiplied as they arrive. It may be freed or overwritten, in its own stream or
            queue, right after the call.
        out: a list of arrays for the blocks of the result. They share no memory with other arrays of the call.
        dtype, precision: as in `tilewright.matmul`.

    Raises:
        InvalidInput: blocks do not fit each other, two kinds of arrays are mixed or one lies in the host's memory, a list has
            another length than `a`, or an array is on another device than its block.
        UnsupportedType: no kernel multiplies the type.
        Unsupported: a stream is being captured, and one `b` has to go to other GPUs. With a list it may be.
        OutOfDeviceMemory: the result, or a copy of `b`, does not fit a device.
        LaunchFailed: a GPU cannot be reached from another one. `b` as a list needs no copies.
        Nothing is written to `out` before an InvalidInput, UnsupportedType or Unsupported.
    """
    return _products(a, b, None, None, out, Options(1, 0, "N", "N", None, "same_kind", dtype, precision))


def gemm(
    a: Sequence[Any],
    b: Any,
    c: Sequence[Any] | None = None,
    *,
    alpha: Number = 1,
    beta: Number = 0,
    bias: Any = None,
    activation: str | None = None,
    out: Sequence[Any] | None = None,
    dtype: DTypeLike | None = None,
    precision: str | None = None,
) -> list[Any]:
    """`matmul` of blocks with an epilogue: block i of the result is activation(alpha a[i] b + beta c[i] + bias).

    Arguments that are not listed here are those of `matmul`, and so are the arrays, shapes and errors.

    Arguments:
        c: a list of arrays of the shapes of the result's blocks. It is read only if beta is not 0. `c[i]` may be `out[i]`.
        alpha, beta: numbers that the result's type can hold.
        bias: n elements, one for each column: one array, or a list with one beside each block.
        activation: "relu", "gelu" (by erf), "gelu_tanh" or "silu". The result must be a real float.
    """
    return _products(a, b, c, bias, out, Options(alpha, beta, "N", "N", activation, "same_kind", dtype, precision))


def _products(a: Any, b: Any, c: Any, bias: Any, out: Any, options: Options) -> list[Any]:
    given = given_arrays(a, b, c, bias, out)
    blocks = read_blocks(given)
    running = Running(given, blocks)
    dtype = check_blocks(given, blocks, options)
    return running.products(dtype, options)
