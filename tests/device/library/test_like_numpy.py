"""`matmul` beside NumPy's: the same values or the same kind of error, for random shapes, axes, types, casts and memory.

The elements are small whole numbers, so that every sum is exact in every type and results must be equal.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, mutually_broadcastable_shapes
from says import says

import tilewright
from tilewright.errors import InvalidInput, TilewrightError, UnsupportedType
from tilewright.runtime.opencl.device import Device

TYPES = ("float32", "float64", "complex64", "complex128", "int32")
SIDE = 64  # of the square in which operands and out overlap: more than one tile of any kernel for CPUs
CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
few = settings(max_examples=100, derandomize=True, deadline=None)
many = settings(max_examples=250, derandomize=True, deadline=None)

types = st.sampled_from(TYPES)
seeds = st.integers(0, 2**32 - 1)
valid_shapes = mutually_broadcastable_shapes(signature=np.matmul.signature, max_dims=4, min_side=0, max_side=4).map(
    lambda shapes: shapes.input_shapes
)
any_shapes = st.tuples(*[st.just(()) | array_shapes(min_dims=1, max_dims=6, min_side=0, max_side=3)] * 2)


@dataclass(frozen=True)
class Outcome:
    """What a call gave, or raised."""

    value: Any = None
    error: Exception | None = None


def outcome(call: Callable[..., Any], *arguments: Any, **options: Any) -> Outcome:
    """ComplexWarning, which NumPy gives where a rule lets imaginary parts go, is no part of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        try:
            return Outcome(value=call(*arguments, **options))
        except (ValueError, TypeError, LookupError) as error:
            return Outcome(error=error)


def assert_alike(ours: Outcome, numpys: Outcome) -> None:
    """The same type, shape and elements; or an error of tilewright's that is what NumPy's is, too."""
    if numpys.error is not None:
        kind = TypeError if isinstance(numpys.error, TypeError) else ValueError
        assert isinstance(ours.error, TilewrightError), f"NumPy raises {numpys.error!r}; ours {ours}"
        assert isinstance(ours.error, kind), f"NumPy raises {numpys.error!r}; ours {ours.error!r}"
        return
    assert ours.error is None, f"NumPy gives {numpys.value!r}; ours {ours.error!r}"
    assert type(ours.value) is type(numpys.value)
    assert ours.value.dtype == numpys.value.dtype
    assert ours.value.shape == numpys.value.shape
    assert np.array_equal(ours.value, numpys.value)


def numbers(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    """Whole numbers from -8 to 8, complex ones with imaginary parts."""
    generator = np.random.default_rng(seed)
    real = generator.integers(-8, 9, shape)
    if np.dtype(dtype).kind == "c":
        return (real + 1j * generator.integers(-8, 9, shape)).astype(dtype)
    return real.astype(dtype)


@many
@given(shapes=valid_shapes | any_shapes, left=types, right=types, seed=seeds)
def test_any_two_shapes(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], left: str, right: str, seed: int, one_device: Device
) -> None:
    a, b = numbers(shapes[0], left, seed), numbers(shapes[1], right, seed + 1)
    assert_alike(outcome(tilewright.matmul, a, b, queue=one_device.queue), outcome(np.matmul, a, b))


@st.composite
def placed(draw: st.DrawFn) -> tuple[tuple[np.ndarray, np.ndarray], list[tuple[int, ...]]]:
    """Two operands whose matrices lie in any of their dimensions, and the axes that say where; some axes are wrong."""
    shapes = draw(valid_shapes)
    result = np.matmul(*(np.empty(shape, bool) for shape in shapes)).ndim
    sides = (len(shapes[0]), len(shapes[1]), result)
    cores = (min(sides[0], 2), min(sides[1], 2), max(min(sides[0], 2) + min(sides[1], 2) - 2, 0))
    axes = []
    for count, core in zip(sides, cores, strict=True):
        order = draw(st.permutations(range(count)))[:core]
        axes.append(tuple(axis - count * draw(st.booleans()) for axis in order))
    seed, dtype = draw(seeds), draw(types)
    operands = [
        np.moveaxis(numbers(shape, dtype, seed + place), range(-core, 0), axes[place])
        for place, (shape, core) in enumerate(zip(shapes, cores[:2], strict=True))
    ]
    if draw(st.integers(0, 4)) == 0:
        axes[draw(st.integers(0, 2))] = tuple(draw(st.lists(st.integers(-4, 4), max_size=3)))
    return (operands[0], operands[1]), axes


@many
@given(case=placed(), with_out=st.booleans())
def test_axes(
    case: tuple[tuple[np.ndarray, np.ndarray], list[tuple[int, ...]]], with_out: bool, one_device: Device
) -> None:
    operands, axes = case
    numpys = outcome(np.matmul, *operands, axes=axes)
    ours = outcome(tilewright.matmul, *operands, axes=axes, queue=one_device.queue)
    assert_alike(ours, numpys)
    if with_out and numpys.error is None:
        out = np.full_like(numpys.value, 99)
        assert tilewright.matmul(*operands, out, axes=axes, queue=one_device.queue) is out
        assert np.array_equal(out, numpys.value)


WRONG_AXES: tuple[tuple[Any, type[Exception]], ...] = (
    (1, TypeError),
    ([(0, 1), (0, 1)], ValueError),
    ([(0, 1), (0, 1), (0, 1), (0, 1)], ValueError),
    ([(0, 0), (0, 1), (0, 1)], ValueError),
    ([(0, 2), (0, 1), (0, 1)], ValueError),
    ([(0, 1.0), (0, 1), (0, 1)], TypeError),
    ([None, (0, 1), (0, 1)], TypeError),
    ([0, (0, 1), (0, 1)], ValueError),
    ([(0, 1), (0, 1), ()], ValueError),
)


@pytest.mark.parametrize(("axes", "kind"), WRONG_AXES, ids=str)
def test_axes_that_are_none(axes: Any, kind: type[Exception], one_device: Device) -> None:
    matrix = np.eye(3, dtype=np.float32)
    with pytest.raises(kind):
        np.matmul(matrix, matrix, axes=axes)
    with pytest.raises(kind) as refused:
        tilewright.matmul(matrix, matrix, axes=axes, queue=one_device.queue)
    assert isinstance(refused.value, InvalidInput)
    assert says(str(refused.value), "axes")


@many
@given(
    read=st.tuples(types, types),
    asked=types | st.none(),
    stored=types | st.none(),
    casting=st.sampled_from(CASTINGS),
    seed=seeds,
)
def test_casts(
    read: tuple[str, str], asked: str | None, stored: str | None, casting: str, seed: int, one_device: Device
) -> None:
    a, b = numbers((3, 4), read[0], seed), numbers((4, 5), read[1], seed + 1)
    outs: list[Any] = [None if stored is None else np.full((3, 5), 99, stored) for _ in range(2)]
    options: dict[str, Any] = {"casting": casting, "dtype": asked}
    numpys = outcome(np.matmul, a, b, out=outs[0], **options)
    ours = outcome(tilewright.matmul, a, b, out=outs[1], queue=one_device.queue, **options)
    assert_alike(ours, numpys)
    if stored is not None:
        assert np.array_equal(outs[0], outs[1]), "an out is written where NumPy writes it, and only there"
        assert numpys.error or ours.value is outs[1]


@st.composite
def windows(draw: st.DrawFn, sides: tuple[int, int]) -> tuple[Any, ...]:
    """How a matrix of these sides lies in a square of SIDE x SIDE: where it begins, its steps, and whether it is turned."""
    turned = draw(st.booleans())
    cuts = []
    for side in sides[::-1] if turned else sides:
        step = draw(st.sampled_from((1, 2, -1, -2)))
        reach = (side - 1) * abs(step) + 1 if side else 0
        begin = draw(st.integers(0, SIDE - reach))
        places = range(begin, begin + reach, abs(step))
        cuts.append([*places][::-1] if step < 0 else [*places])
    return (*cuts, turned)


def window(square: np.ndarray, rows: list[int], columns: list[int], turned: bool) -> np.ndarray:
    """The view, never a copy, of those rows and columns."""
    view = _every(_every(square, rows).T, columns).T
    return view.T if turned else view


def _every(square: np.ndarray, places: list[int]) -> np.ndarray:
    if not places:
        return square[:0]
    step = places[1] - places[0] if len(places) > 1 else 1
    end = places[-1] + (1 if step > 0 else -1)
    return square[places[0] : None if end < 0 else end : step]


@st.composite
def overlapping(draw: st.DrawFn) -> tuple[tuple[Any, ...], ...]:
    m, n, k = (draw(st.sampled_from((1, 5, 16, 30))) for _ in range(3))
    return draw(windows((m, k))), draw(windows((k, n))), draw(windows((m, n)))


@few
@given(cuts=overlapping(), dtype=types, seed=seeds)
def test_operands_and_out_in_one_memory(
    cuts: tuple[tuple[Any, ...], ...], dtype: str, seed: int, one_device: Device
) -> None:
    squares = [numbers((SIDE, SIDE), dtype, seed) for _ in range(2)]
    numpys, ours = ([window(square, *cut) for cut in cuts] for square in squares)
    assert np.shares_memory(ours[0], squares[1])
    np.matmul(numpys[0], numpys[1], out=numpys[2])
    assert tilewright.matmul(ours[0], ours[1], ours[2], queue=one_device.queue) is ours[2]
    assert np.array_equal(squares[0], squares[1])


@few
@given(
    shapes=valid_shapes,
    other=array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4),
    fits=st.booleans(),
    dtype=types,
    seed=seeds,
)
def test_out_of_any_shape(
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    other: tuple[int, ...],
    fits: bool,
    dtype: str,
    seed: int,
    one_device: Device,
) -> None:
    a, b = numbers(shapes[0], dtype, seed), numbers(shapes[1], dtype, seed + 1)
    product = np.asarray(np.matmul(a, b))
    shape = product.shape if fits else other
    outs = [np.full(shape, 99, dtype) for _ in range(2)]
    numpys = outcome(np.matmul, a, b, out=outs[0])
    ours = outcome(tilewright.matmul, a, b, out=(outs[1],), queue=one_device.queue)
    if numpys.error is None and shape != product.shape:  # NumPy repeats the result in a larger out
        assert isinstance(ours.error, InvalidInput)
        assert says(str(ours.error), "out", shape, product.shape)
        assert (outs[1] == 99).all()
        return
    assert_alike(ours, numpys)
    assert ours.error or ours.value is outs[1]


@few
@given(sides=st.lists(st.integers(0, 5), max_size=5), random=st.randoms(use_true_random=False), dtype=types, seed=seeds)
def test_transposes(sides: list[int], random: Any, dtype: str, seed: int, one_device: Device) -> None:
    order = list(range(len(sides)))
    random.shuffle(order)
    steps: Any = (*(slice(None, None, random.choice((1, -1, 2, -2))) for _ in sides), ...)
    array = numbers(tuple(sides), dtype, seed).transpose(order)[steps]
    queue = one_device.queue
    for ours, numpys in (
        (tilewright.transpose, lambda a: a.T.copy()),
        (tilewright.matrix_transpose, lambda a: np.matrix_transpose(a).copy()),
        (tilewright.copy, lambda a: a.copy()),
    ):
        assert_alike(outcome(ours, array, queue=queue), outcome(numpys, array))


@pytest.mark.parametrize("dtype", TYPES)
def test_out_without_dimensions(dtype: str, one_device: Device) -> None:
    vector, out = numbers((9,), dtype, 1), np.zeros((), dtype)
    assert tilewright.matmul(vector, vector, out, queue=one_device.queue) is out
    assert out == np.matmul(vector, vector)


def test_tuples_as_out(one_device: Device) -> None:
    matrix, out = np.eye(3), np.zeros((3, 3))
    assert tilewright.matmul(matrix, matrix, out=(out,), queue=one_device.queue) is out
    assert np.array_equal(out, matrix)
    assert np.array_equal(tilewright.matmul(matrix, matrix, out=(None,), queue=one_device.queue), matrix)
    for wrong in ((), (out, out), 3, [[0.0] * 3] * 3):
        assert_alike(
            outcome(tilewright.matmul, matrix, matrix, out=wrong, queue=one_device.queue),
            outcome(np.matmul, matrix, matrix, out=wrong),
        )


def test_out_that_may_not_be_written(one_device: Device) -> None:
    matrix = np.eye(3)
    for out in (np.broadcast_to(7.0, (3, 3)), np.frombuffer(bytes(72)).reshape(3, 3)):
        before = out.copy()
        assert_alike(
            outcome(tilewright.matmul, matrix, matrix, out=out, queue=one_device.queue),
            outcome(np.matmul, matrix, matrix, out=out),
        )
        assert np.array_equal(out, before)


def test_subclasses_are_taken_as_plain_arrays(one_device: Device) -> None:
    class Own(np.ndarray):
        pass

    numbered = numbers((3, 3), "float64", 1)
    for kind in (Own, np.matrix):
        result = tilewright.matmul(numbered.view(kind), numbered.view(kind), queue=one_device.queue)
        assert type(result) is np.ndarray
        assert np.array_equal(result, np.matmul(numbered, numbered))
        out = np.zeros((3, 3)).view(kind)
        assert tilewright.matmul(numbered, numbered, out, queue=one_device.queue) is out
        assert np.array_equal(out, result)


def test_masked_arrays_are_refused(one_device: Device) -> None:
    plain = np.eye(3)
    masked = np.ma.masked_array(plain, mask=plain > 0)
    for arguments in ((masked, plain), (plain, masked), (plain, plain, masked)):
        with pytest.raises(UnsupportedType, match="mask"):
            tilewright.matmul(*arguments, queue=one_device.queue)


def test_what_numpy_gives_in_float16_and_int8(one_device: Device) -> None:
    halves = np.ones((3, 5000), np.float16)
    ours = tilewright.matmul(halves, halves.T, queue=one_device.queue)
    assert np.array_equal(ours, np.matmul(halves, halves.T)), "NumPy, too, sums them in float32"
    small = np.full((2, 1000), 100, np.int8)
    assert (tilewright.matmul(small, small.T, queue=one_device.queue) == 10**7).all()
    assert (np.matmul(small, small.T) == -128).all(), "NumPy's wraps"
