"""What the element types of a product become in the CPU kernels' source: macros, and nothing of its sizes."""

from dataclasses import dataclass, replace
from functools import cache

from ....core.device import DeviceInfo
from ....core.types import ELEMENT_TYPES, element_type, storable
from ..call import GemmCall
from .cost import DEPTH_STEP

DECODED = ("plain", "half", "bfloat", "truth")  # the forms that vectors.cl reads
DTYPES = tuple(name for name, kind in ELEMENT_TYPES.items() if kind.decode in DECODED)


SHORT = ("integer", "truth")  # the formats of what is shorter in memory than its sums, and exact


@dataclass(frozen=True)
class Form:
    """How a type is multiplied (`real`), stored (`stored`, in a `format` of vectors.cl) and summed (`sum`)."""

    real: str
    stored: str
    sum: str
    format: str

    @property
    def as_float(self) -> bool:
        """Whether integers or bools are multiplied as floats."""
        return self.format in SHORT and self.real == "float"


@cache
def form(dtype: str) -> Form:
    """Integers of 4 and 8 bytes are multiplied as uint and ulong, whose arithmetic wraps by definition. Shorter ones, and bools,
    are multiplied as float where a block of K stays exact (`exact_depth`); each block's sums are then added as integers."""
    kind = element_type(dtype)
    if kind.exact and kind.itemsize >= 4:
        real = "ulong" if kind.itemsize == 8 else "uint"
        return Form(real, real, real, "plain")
    if kind.exact:
        stored_as = "truth" if kind.decode == "truth" else "integer"
        return Form("float" if kind.float32_steps >= DEPTH_STEP else "uint", kind.real, "uint", stored_as)
    component = "double" if kind.component_bytes == 8 else "float"
    return Form(component, kind.real, element_type(kind.accumulator).real, kind.decode)


def exact_depth(dtype: str) -> int:
    """The most steps of K in a block whose sums are exact, if integers are multiplied as floats; 0 if any depth will do."""
    return element_type(dtype).float32_steps if form(dtype).as_float else 0


def takes_vectors(device: DeviceInfo) -> bool:
    """Whether the kernels of this folder are for the device: a CPU whose driver says that its vectors hold several floats.

    Drivers whose vector is one float long, such as rusticl on llvmpipe, make vectors of neighbouring work-items, as GPUs do,
    and need not know clang's built-in functions: they get the kernels for GPUs.
    """
    return device.kind == "cpu" and device.native_widths.get("float32", 4) > 1


def multiplied_as_stored(dtype: str) -> bool:
    """Whether the numbers in memory are what is multiplied: not in another format."""
    return dtype in DTYPES and form(dtype).format == "plain"


def sums_wait(call: GemmCall) -> bool:
    """Whether sums between blocks of K need a scratch matrix, because C's type is too short for them."""
    result = element_type(call.result)
    return result.itemsize < element_type(result.accumulator).itemsize


def element_macros(call: GemmCall, pieces: bool = False) -> dict[str, str | int]:
    """The element types and the epilogue; `pieces` for short integers, several of which are multiplied as one uint."""
    own, result = form(call.dtype), form(call.result)
    own = replace(own, real="uint") if pieces else own
    parts = element_type(call.dtype).parts
    summed = own.real == own.sum or parts == 2  # as they are stored, but for their format
    direct = summed and not call.bias and not call.activation
    return {
        "REAL": own.real, "REAL_IS_INTEGER": int(own.real in ("uint", "ulong")), "COMPLEX": int(parts == 2),
        "MASK": "long" if own.real in ("double", "ulong") else "int",
        "IN": own.stored, "IN_FORMAT": own.format, "IN_IS_SHORT": int(own.format in SHORT),
        "IN_IS_TRUTH": int(own.format == "truth"), "SIGNED_BYTES": int(own.stored == "char"),
        "INTEGERS_AS_FLOAT": int(own.as_float),
        "OUT": result.stored, "OUT_FORMAT": result.format, "OUT_IS_ACC": int(result.stored == own.sum),
        "OUT_IS_BFLOAT16": int(result.format == "bfloat"), "OUT_IS_SHORT": int(result.format in SHORT),
        "ACC": own.sum, "SCRATCH_SUMS": int(sums_wait(call)), "DIRECT": int(direct),
        "BIAS": int(bool(call.bias)), "ACTIVATION": call.activation or "none",
    }  # fmt: skip


def result_refusal(call: GemmCall) -> str:
    """Why no kernel of this folder makes such a result; "" if one does."""
    allowed = storable(call.dtype)
    if call.result not in allowed:
        return f"{call.dtype} operands give {' or '.join(sorted(allowed))}, not {call.result}"
    kind = element_type(call.result)
    if call.activation and kind.exact:
        return f"the activation {call.activation} is not defined for {call.result}"
    if call.activation and kind.parts == 2:
        return f"the activation {call.activation} is not defined for complex numbers"
    return ""


def depth_refusal(dtype: str, depth: int) -> str:
    """Why sums of so many steps of K would not be exact; "" if they are."""
    most = exact_depth(dtype)
    if not 0 < most < depth:
        return ""
    return f"blocks of {depth} steps of K are summed as float32, which is exact for {dtype} up to {most} steps"
