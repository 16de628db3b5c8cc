"""Sees every kernel launch of PyOpenCL in this process, before it is enqueued: the kernel, its NDRange, its arguments.

The functions through which PyOpenCL passes all arguments and launches are replaced while an Interception is in place. They
work as before; if PyOpenCL is not imported yet, they are replaced right after its import.
"""

import importlib.util
import struct
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ...core.captured import CapturedKernel
from .launch_values import Given, GivenBytes, PendingLaunch, given_value

ARGUMENTS = "_tilewright_arguments"  # attributes of PyOpenCL's kernels
KERNEL = "_tilewright_kernel"
UNKNOWN = "its program was made from binaries or by linking, or released before watching began"
# The keywords of PyOpenCL's calls; that of the offset differs between its versions.
PARAMETERS = {
    "global_work_size": "global", "local_work_size": "local", "global_offset": "offset", "global_work_offset": "offset",
    "wait_for": "wait_for", "g_times_l": "g_times_l",
}  # fmt: skip

OnLaunch = Callable[[PendingLaunch], AbstractContextManager[None]]


class Interception:
    """A context in which `on_launch` gets each launch, and gives what it is enqueued in. That must not raise exceptions but
    the one by which PyOpenCL refuses the launch."""

    def __init__(self, on_launch: OnLaunch) -> None:
        self._on_launch = on_launch
        self._replaced: list[tuple[Any, str, Any]] = []
        self._finder: _AfterImport | None = None

    def __enter__(self) -> "Interception":
        module = sys.modules.get("pyopencl")
        if module is not None:
            self._install(module)
        else:
            self._finder = _AfterImport("pyopencl", self._install)
            sys.meta_path.insert(0, self._finder)
        return self

    def __exit__(self, *_: object) -> None:
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        for owner, name, original in reversed(self._replaced):
            setattr(owner, name, original)
        self._replaced.clear()

    def _install(self, cl: ModuleType) -> None:
        native, kernel = sys.modules["pyopencl._cl"], cl.Kernel
        self._replace(cl.Program, "all_kernels", _all_made)
        self._replace(cl, "Kernel", _remembering)
        self._replace(kernel, "clone", _cloned)
        for name, read in SETTERS.items():
            if hasattr(kernel, name):
                self._replace(kernel, name, _recording(read))
        for owner in (native, cl):
            self._replace(owner, "enqueue_nd_range_kernel", self._enqueued)

    def _replace(self, owner: Any, name: str, wrapper: Callable[[Any], Any]) -> None:
        original = getattr(owner, name)
        self._replaced.append((owner, name, original))
        setattr(owner, name, wrapper(original))

    def _enqueued(self, original: Any) -> Any:
        def enqueue_nd_range_kernel(queue: Any, kernel: Any, *arguments: Any, **named: Any) -> Any:
            try:
                pending = self._pending(queue, kernel, arguments, named)
            except (AttributeError, KeyError, TypeError, ValueError):
                return original(queue, kernel, *arguments, **named)  # which says what is wrong with them
            with self._on_launch(pending):
                return original(queue, kernel, *arguments, **named)

        return enqueue_nd_range_kernel

    def _pending(self, queue: Any, kernel: Any, arguments: Sequence[Any], named: dict[str, Any]) -> PendingLaunch:
        """The launch that a call of enqueue_nd_range_kernel asks for; its parameters are those of PyOpenCL."""
        given = dict(zip(("global", "local", "offset", "wait_for", "g_times_l"), arguments, strict=False))
        given |= {PARAMETERS[name]: value for name, value in named.items() if name in PARAMETERS}
        global_size = _sizes(given["global"])
        local = given["local"]
        local_size = None if local is None else _sizes(local)
        if given.get("g_times_l") and local_size is not None:
            local_size += (1,) * (len(global_size) - len(local_size))
            global_size = tuple(a * b for a, b in zip(global_size, local_size, strict=False))
        offset = given.get("offset")
        return PendingLaunch(
            _known(kernel), global_size, local_size,
            (0,) * len(global_size) if offset is None else _sizes(offset),
            queue, kernel.num_args, dict(vars(kernel).get(ARGUMENTS, {})), given.get("wait_for"),
        )  # fmt: skip


def _remembering(original: Any) -> Any:
    """A class of kernels that keep what is known of their program when they are made: drivers may not name it later, when
    its user has released it. A class, because PyOpenCL's own calls no `__init__` that is replaced."""

    class Kernel(original):  # type: ignore[misc]
        def __init__(self, program: Any, *arguments: Any, **named: Any) -> None:
            super().__init__(program, *arguments, **named)
            setattr(self, KERNEL, _captured(self, program))

    return Kernel


def _all_made(original: Any) -> Any:
    def all_kernels(program: Any) -> Any:
        kernels = original(program)
        for kernel in kernels:
            setattr(kernel, KERNEL, _captured(kernel, program))
        return kernels

    return all_kernels


def _known(kernel: Any) -> CapturedKernel:
    """What is known of a kernel; of one that was made before watching began, what the driver knows."""
    import pyopencl as cl

    if KERNEL not in vars(kernel):
        try:
            found = _captured(kernel, kernel.get_info(cl.kernel_info.PROGRAM))
        except cl.Error:  # the program was released
            found = CapturedKernel(kernel.function_name, None, "", f"its source is not known: {UNKNOWN}")
        setattr(kernel, KERNEL, found)
    return vars(kernel)[KERNEL]  # type: ignore[no-any-return]


def _captured(kernel: Any, program: Any) -> CapturedKernel:
    """The source as it was given to PyOpenCL, whose cache makes programs from binaries, or as the driver has it."""
    import pyopencl as cl

    source = vars(program).get("_source") if hasattr(program, "__dict__") else None
    source = source or program.get_info(cl.program_info.SOURCE)
    if isinstance(source, bytes):
        source = source.decode("utf-8", errors="replace")
    device = program.get_info(cl.program_info.DEVICES)[0]
    options = program.get_build_info(device, cl.program_build_info.OPTIONS)
    missing = "" if source else f"its source is not known: {UNKNOWN}"
    return CapturedKernel(kernel.function_name, source or None, options or "", missing)


def _sizes(given: Any) -> tuple[int, ...]:
    return tuple(int(each) for each in given) if hasattr(given, "__len__") else (int(given),)


def _record(kernel: Any, values: dict[int, Given]) -> None:
    vars(kernel).setdefault(ARGUMENTS, {}).update(values)


def _recording(read: Callable[..., dict[int, Given]]) -> Callable[[Any], Any]:
    """A wrapper that keeps what a successful call of one of PyOpenCL's setters has set."""

    def wrapper(original: Any) -> Any:
        def set_arguments(kernel: Any, *arguments: Any) -> Any:
            result = original(kernel, *arguments)
            _record(kernel, read(*arguments))
            return result

        return set_arguments

    return wrapper


def _cloned(original: Any) -> Any:
    def clone(kernel: Any) -> Any:
        copy = original(kernel)
        _record(copy, vars(kernel).get(ARGUMENTS, {}))
        setattr(copy, KERNEL, _known(kernel))
        return copy

    return clone


def _one(index: int, value: Any = None) -> dict[int, Given]:
    return {index: given_value(value)}


def _bytes(index: int, value: Any) -> dict[int, Given]:
    return {index: GivenBytes(bytes(memoryview(value).cast("B")))}


def _several(flat: Sequence[Any]) -> dict[int, Given]:
    return {index: given_value(value) for index, value in zip(flat[::2], flat[1::2], strict=True)}


def _several_bytes(flat: Sequence[Any]) -> dict[int, Given]:
    return {index: GivenBytes(bytes(value)) for index, value in zip(flat[::2], flat[1::2], strict=True)}


def _several_packed(flat: Sequence[Any]) -> dict[int, Given]:
    """Index, type character of `struct`, value; again and again."""
    triples = zip(flat[::3], flat[1::3], flat[2::3], strict=True)
    return {index: GivenBytes(struct.pack(code, value)) for index, code, value in triples}


# PyOpenCL's calls that set arguments: what users call, and what the code calls that it generates for a kernel.
SETTERS: dict[str, Callable[..., dict[int, Given]]] = {
    "set_arg": _one,
    "_set_arg_null": _one,
    "_set_arg_svm": _one,
    "_set_arg_buf": _bytes,
    "_set_arg_multi": _several,
    "_set_arg_buf_multi": _several_bytes,
    "_set_arg_buf_pack_multi": _several_packed,
}


class _AfterImport(MetaPathFinder):
    """Calls a function right after the first import of a module."""

    def __init__(self, name: str, then: Callable[[ModuleType], None]) -> None:
        self._name, self._then = name, then

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                self._then(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
