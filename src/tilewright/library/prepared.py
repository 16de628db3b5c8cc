"""`prepare`: a product that is planned once, for arrays of fixed shapes, strides, types and kind."""

from __future__ import annotations  # so that a tooltip says DTypeLike, not what it stands for

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..core.plan import Plan
from ..errors import InvalidInput
from ..runtime import forks
from .epilogue_vectors import is_number
from .lookup import Slot, slot_names
from .memory.choice import MEMORIES, memory_for
from .memory.cuda import CudaMemory
from .memory.cuda_calls import first_of, keep_first
from .memory.cuda_ready import PlainRun
from .memory.host import HostReady
from .memory.opencl import OpenCLMemory
from .memory.ready import REFUSED, Given, Ready
from .multiply import multiply, ready_call, settle
from .numpy_call import mirrors_itself
from .numpy_first import numpys_function
from .requests import GIVEN, Number, Options, Transposition, gemm_product
from .rules import Casting, single_out
from .views import refuse_sparse

if TYPE_CHECKING:
    from numpy.typing import DTypeLike
    from pyopencl.array import Array as DeviceArray

    AnyArray: TypeAlias = np.ndarray | DeviceArray

ARGUMENTS = ("a", "b", "c", "bias", "scale_a", "scale_b")  # in the order of GIVEN
SCALES = ("scale_a", "scale_b")
A_NUMBER = ("a number",)  # what is described of a scale that is a number: any other one may take its place
KEPT_LAYOUTS = 64  # of each thread
PLAIN_OPTIONS = Options(1, 0, "N", "N", None, "same_kind", None, None)  # those of a product that has none


class _OfThread(threading.local):
    """The ready calls of this thread by their keys. Calls of one key differ in what they compare themselves."""

    def __init__(self) -> None:
        self.ready: OrderedDict[Hashable, list[Any]] = OrderedDict()
        # Of device arrays: the last ready calls of two arrays, without `out` and with it, which are tried before the others.
        self.run_new: PlainRun = _refuse
        self.run_into: PlainRun = _refuse


def _refuse(a: Any, b: Any, out: Any) -> Any:
    return REFUSED


class Prepared:
    """A product that `prepare` has planned. Call it with arrays like those that it was prepared for:
    `product(a, b, out=None, *, c=None, bias=None, scale_a=None, scale_b=None)`.

    It returns what `gemm` would, with the numbers, modes and queue of `prepare`. Its `plans` are what runs. Threads may share
    it: each has launches of its own. A layout of `out`, an offset or an alignment that is new to a thread is planned once.

    Raises:
        InvalidInput: an array is missing, or has another kind, shape, type or strides than `prepare` was given; and the
            errors of `gemm`.
    """

    def __reduce__(self) -> Any:
        raise InvalidInput(
            "a prepared product holds launches on this process's device: call prepare again where it is needed"
        )

    def __init__(self, arrays: tuple[Any, ...], out: Any, options: Options, device: Any, queue: Any) -> None:
        self._options, self._device, self._queue = options, device, queue
        memory = memory_for((*arrays, out), device, queue, None)  # makes the kinds of CUDA's frameworks known, too
        self._described = tuple(map(_described, ARGUMENTS, arrays))
        self._kind = type(arrays[0])
        self._kinds: Any = MEMORIES[type(arrays[0])]
        self._has_plain: bool = self._kinds.has_plain
        if isinstance(memory, OpenCLMemory):
            self._queue = memory.queue  # whatever queues the arrays of later calls have
        self._streams = isinstance(memory, CudaMemory)  # a call is for the caller's current stream
        self._threads = _OfThread()
        settled = settle(memory, gemm_product(memory, arrays, options), out, self._given(arrays, out))
        ready = ready_call(memory, settled)
        if ready is not None:
            self.add_ready(self._key(arrays, out), ready)
        self._label, self._platform = memory.device.info.label, memory.device.info.platform
        self._direct = settled.recipe is not None
        plain = options._replace(casting="same_kind") == PLAIN_OPTIONS and _nothing_added(arrays)
        # What NumPy computes as it is. Of a transpose of A, the flags of A say whether its product with its own is symmetric.
        self._numpys, self._flags, function = None, None, None
        if plain and isinstance(ready, HostReady) and mirrors_itself(*arrays[:2]):
            function = numpys_function(ready, *arrays[:2])
        if function is not None:
            self._function, self._numpys = function, _layouts(*arrays[:2])
            self._flags = arrays[0].flags.num if _is_mirrored(*arrays[:2]) else None
        self.plans: tuple[Plan, ...] = settled.call.plans

    def __call__(
        self, a: Any, b: Any, out: Any = None, *,
        c: Any = None, bias: Any = None, scale_a: Any = None, scale_b: Any = None,
    ) -> Any:  # fmt: skip
        if forks.alert:
            forks.refuse_if_forked(self._platform)
        plain = c is bias is scale_a is scale_b is None
        if plain and self._has_plain:
            threads = self._threads
            result = (threads.run_new if out is None else threads.run_into)(a, b, out)
            if result is not REFUSED:
                return result
        if (
            plain
            and self._numpys is not None
            and out is None
            and type(a) is np.ndarray is type(b)
            # `_layouts` written out: a function takes 0.1 us
            and (a.shape, b.shape, a.strides, b.strides, a.dtype, b.dtype) == self._numpys
            and (self._flags is None or a.flags.num == self._flags)
        ):
            return self._function(a, b)
        arrays = (a, b, c, bias, scale_a, scale_b)
        key = self._key(arrays, out)
        candidates = self._threads.ready.get(key)
        if candidates is not None and (result := first_of(candidates, arrays, out)) is not REFUSED:
            if plain and self._has_plain and out is None:
                self._threads.run_new = candidates[0].run_plain
            elif plain and self._has_plain:
                self._threads.run_into = candidates[0].run_plain
            return result
        self._check(arrays)  # new to this thread, or not what was prepared
        out = single_out(out)
        memory = memory_for((*arrays, out), self._device, self._queue, None)
        given = None if key is None else self._given(arrays, out)
        slot = None if given is None else Slot(self, key, given)
        return multiply(memory, gemm_product(memory, arrays, self._options), out, slot)

    def _key(self, arrays: tuple[Any, ...], out: Any) -> Hashable:
        """What a ready call depends on, but for what it compares itself. None if the arrays are of several kinds or a scale is a
        number, for which there is none."""
        kind, kinds = self._kind, self._kinds
        if self._streams:
            if _nothing_added(arrays):
                return out is None
            if any(map(is_number, arrays[4:])):
                return None
            return out is None, arrays[2] is out, *(each is None for each in arrays[2:])
        given: Any = MEMORIES.get
        a, b, c, bias, scale_a, scale_b = arrays
        usual = type(a) is kind is type(b) and (out is None or type(out) is kind)
        if not usual and any(given(type(each)) is not kinds for each in ((a, b) if out is None else (a, b, out))):
            return None
        key_of = kinds.key_of
        key: tuple[Any, ...] = (key_of(a), key_of(b), None if out is None else key_of(out), kinds.one_place(a, b))
        if c is None and bias is None and scale_a is None and scale_b is None:
            return key
        others = arrays[2:]
        if any(each is not None and given(type(each)) is not kinds for each in others):
            return None
        return key, c is out, *(None if each is None else key_of(each) for each in others)

    def __repr__(self) -> str:
        given = [
            f"{name} {_text(each)}" for name, each in zip(ARGUMENTS, self._described, strict=True) if each is not None
        ]
        called = [plan.host_call for plan in self.plans if plan.host_call]
        steps = called or [f"{step.kernel.name} ({step.config})" for plan in self.plans for step in plan.steps]
        how = "" if self._direct else ", through copies"
        return f"<Prepared: {'; '.join(given)}; on {self._label}{how}: {', '.join(steps) or 'nothing to launch'}>"

    def _given(self, arrays: tuple[Any, ...], out: Any) -> Given | None:
        names = slot_names(arrays, out, GIVEN)
        return Given(names, arrays, out) if names else None

    def add_ready(self, key: Hashable, ready: Ready) -> None:
        """Keep a ready call for this thread."""
        kept = self._threads.ready
        if key not in kept and len(kept) >= KEPT_LAYOUTS:
            kept.popitem(last=False)
        keep_first(kept.setdefault(key, []), ready)

    def _check(self, arrays: tuple[Any, ...]) -> None:
        """InvalidInput for arrays that are not like those of `prepare`."""
        for name, array, wanted in zip(ARGUMENTS, arrays, self._described, strict=True):
            given = _described(name, array)
            if given != wanted:
                raise InvalidInput(f"{name} is {_text(given)}; the product was prepared for {_text(wanted)}")


def _layouts(a: np.ndarray, b: np.ndarray) -> tuple[Any, ...]:
    return a.shape, b.shape, a.strides, b.strides, a.dtype, b.dtype


def _is_mirrored(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether `b` has the layout of `a` transposed, so that it may be that."""
    return a.shape[-2:] == b.shape[:-3:-1] and a.strides[-2:] == b.strides[:-3:-1]


def _nothing_added(arrays: tuple[Any, ...]) -> bool:
    """Whether only a and b are given. Arrays may not be compared with None: that makes an array of answers."""
    _, _, c, bias, scale_a, scale_b = arrays
    return c is bias is scale_a is scale_b is None


Description = tuple[Any, ...] | None  # whose array it is, shape, strides, type; or A_NUMBER


def _described(name: str, array: Any) -> Description:
    """What must be as it was; None for no array."""
    if array is None and name not in ("a", "b"):
        return None
    if name in SCALES and is_number(array):
        return A_NUMBER
    if type(array) not in MEMORIES:
        refuse_sparse(array, name)
        kinds = " and ".join(f"{_module(kind)}.{kind.__name__}" for kind in MEMORIES)
        raise InvalidInput(f"{name} is a {type(array).__name__}; a prepared product takes {kinds}")
    return _module(type(array)), *MEMORIES[type(array)].layout_of(array)


def _module(kind: type) -> str:
    return kind.__module__.partition(".")[0]


def _text(described: Description) -> str:
    if described is None or described is A_NUMBER:
        return "None" if described is None else A_NUMBER[0]
    kind, shape, strides, dtype = described
    return f"{kind} {dtype} {shape} with strides {strides}"


def prepare(
    a: AnyArray,
    b: AnyArray,
    out: AnyArray | tuple[AnyArray] | None = None,
    *,
    c: AnyArray | None = None,
    alpha: Number = 1,
    beta: Number = 0,
    trans_a: Transposition = "N",
    trans_b: Transposition = "N",
    bias: AnyArray | None = None,
    activation: str | None = None,
    scale_a: AnyArray | float | np.number | None = None,
    scale_b: AnyArray | float | np.number | None = None,
    casting: Casting = "same_kind",
    dtype: DTypeLike | None = None,
    precision: str | None = None,
    device: str | int | None = None,
    queue: Any = None,
) -> Prepared:
    """Plan and build a product once, to call it many times: `product = prepare(a, b)`, then `product(a, b)`.

    The call checks that its arrays have the kind (NumPy, PyOpenCL, PyTorch, CuPy), shape, strides and type of those given here,
    and runs what was planned. That saves most of the Python of a small `gemm`, and the planning of its first call. Nothing is
    multiplied here, and no array is kept.

    Arguments are those of `gemm`, without `wait_for`: a, b, c, bias and the scales have the shapes and types that it takes,
    and must be arrays, not lists; scales may be numbers. alpha, beta and modes are fixed here; `c`, `bias` and the scales are
    given again at each call. `out` is an example of the array for the result: one of another layout is planned at its first call.
    PyOpenCL arrays are multiplied on the queue of the first of them, or on `queue`, wherever those of a call have theirs. CUDA
    arrays are multiplied in the stream that is current when the product is called, or in `queue`.

    The call may not be as fast if operands are converted, a scale is a number, `out` overlaps an operand, or complex numbers lie
    in a part of another array: then it does what `gemm` does.

    Raises the errors of `gemm`.

    >>> import numpy as np, tilewright
    >>> a, b = np.eye(2, dtype=np.float32), np.array([[1, 2], [3, 4]], np.float32)
    >>> product = tilewright.prepare(a, b, alpha=10)
    >>> product(a, b).tolist()
    [[10.0, 20.0], [30.0, 40.0]]
    >>> out = np.empty((2, 2), np.float32)
    >>> product(b, b, out) is out
    True
    """
    options = Options(_fixed(alpha), _fixed(beta), trans_a, trans_b, activation, casting, dtype, precision)
    return Prepared((a, b, c, bias, scale_a, scale_b), single_out(out), options, device, queue)


def _fixed(number: Any) -> Any:
    """The number as it is now: an array without dimensions may change later."""
    return number[()] if isinstance(number, np.ndarray) and not number.ndim else number
