"""Which framework an array belongs to. No framework is imported before one of its arrays comes."""

from functools import cache
from importlib import import_module

from .array import Framework

_found: dict[type, Framework | None] = {}
_OWN = {  # by the package of an array's class: our module, and its class
    "torch": ("of_torch", "TorchArrays"),
    "cupy": ("of_cupy", "CupyArrays"),
    "numba": ("of_others", "NumbaArrays"),
    "jax": ("of_others", "JaxArrays"),
    "jaxlib": ("of_others", "JaxArrays"),
}


def framework_of(value: object) -> Framework | None:
    """The framework of an array in the memory of a CUDA device; None for any other value."""
    kind = type(value)
    try:
        framework = _found[kind]
    except KeyError:
        framework = _found[kind] = _framework(kind)
    return framework if framework is not None and framework.holds(value) else None


def _framework(kind: type) -> Framework | None:
    package = next((own for each in kind.__mro__ if (own := each.__module__.partition(".")[0]) in _OWN), "")
    has_interface, has_dlpack = hasattr(kind, "__cuda_array_interface__"), hasattr(kind, "__dlpack__")
    if kind.__module__.partition(".")[0] in ("numpy", "pyopencl") or not (has_interface or has_dlpack):
        return None
    if kind.__name__ == "CudaResult":  # of ours: its interface has no names for narrow floats
        return _made("of_others", "DlpackArrays")
    if package:
        return _made(*_OWN[package])
    return _made("of_others", "InterfaceArrays" if has_interface else "DlpackArrays")


@cache
def _made(module: str, name: str) -> Framework:
    framework: Framework = getattr(import_module(f".{module}", __package__), name)()
    return framework
