"""What the element types of a product become in the CPU kernels' source: macros, and nothing of its sizes."""

from dataclasses import dataclass

from ....device import DeviceInfo
from ....dtypes import DOUBLES, element_type
from ..call import GemmCall


@dataclass(frozen=True)
class Form:
    """How a dtype is multiplied (`real`), stored (`stored`, in a `format` of vectors.cl) and summed (`sum`)."""

    real: str
    stored: str
    sum: str
    format: str = "plain"


# int32 is multiplied as uint, whose arithmetic wraps by definition. int8 is multiplied as float, which is exact as long
# as sums stay below 2^24: 128 * 128 * 1024, so blocks of K may have 1024 steps. Then they are added as integers.
FORMS = {
    "float32": Form("float", "float", "float"),
    "float64": Form("double", "double", "double"),
    "int32": Form("uint", "uint", "uint"),
    "int8": Form("float", "char", "uint", "int8"),
    "float16": Form("float", "half", "float", "float16"),
    "bfloat16": Form("float", "ushort", "float", "bfloat16"),
    "complex64": Form("float", "float2", "float2"),
    "complex128": Form("double", "double2", "double2"),
}
# int8 with an instruction that multiplies four bytes by four at a time and adds the products as integers.
QUADS = Form("uint", "char", "uint", "int8")
SHORT = ("float16", "bfloat16")  # types of C that cannot hold sums


def takes_vectors(device: DeviceInfo) -> bool:
    """Whether the kernels of this folder are for the device: a CPU whose driver says that its vectors hold several floats.

    Drivers whose vector is one float long, such as rusticl on llvmpipe, make vectors of neighbouring work-items, as GPUs do,
    and need not know clang's built-in functions: they get the kernels for GPUs.
    """
    return device.kind == "cpu" and device.native_widths.get("float32", 4) > 1


def component_bytes(dtype: str) -> int:
    """Bytes of a real number while it is multiplied."""
    return 8 if dtype in DOUBLES else 4


def multiplied_as_stored(dtype: str) -> bool:
    """Whether the numbers in memory are what is multiplied: not in another format."""
    return dtype in FORMS and FORMS[dtype].stored in (FORMS[dtype].real, f"{FORMS[dtype].real}2")


def sums_wait(call: GemmCall) -> bool:
    """Whether sums between blocks of K need a scratch matrix, because C's type is too short for them."""
    return call.result in SHORT


def element_macros(call: GemmCall, quads: bool = False) -> dict[str, str | int]:
    """The element types and the epilogue; `quads` for bytes multiplied four at a time."""
    own, result = QUADS if quads else FORMS[call.dtype], FORMS[call.result]
    summed = own.real == own.sum or call.dtype.startswith("complex")  # as they are stored, but for their format
    direct = summed and not call.bias and not call.activation
    return {
        "REAL": own.real, "REAL_IS_INTEGER": int(own.real == "uint"), "COMPLEX": int(call.dtype.startswith("complex")),
        "IN": own.stored, "IN_FORMAT": own.format, "IN_IS_INT8": int(call.dtype == "int8" and not quads),
        "OUT": result.stored, "OUT_FORMAT": result.format, "OUT_IS_ACC": int(result.stored == own.sum),
        "OUT_IS_BFLOAT16": int(call.result == "bfloat16"),
        "ACC": own.sum, "SCRATCH_SUMS": int(sums_wait(call)), "DIRECT": int(direct),
        "BIAS": int(bool(call.bias)), "ACTIVATION": call.activation or "none",
    }  # fmt: skip


def result_refusal(call: GemmCall) -> str:
    """Why no kernel of this folder makes such a result; "" if one does."""
    short = {"float32", *SHORT}
    allowed = short if call.dtype in short else {call.dtype, element_type(call.dtype).accumulator} - {"int8"}
    if call.result not in allowed:
        return f"{call.dtype} operands give {' or '.join(sorted(allowed))}, not {call.result}"
    if call.activation and FORMS[call.result].real not in ("float", "double"):
        return f"the activation {call.activation} is not defined for {call.result}"
    if call.activation and call.result.startswith("complex"):
        return f"the activation {call.activation} is not defined for complex numbers"
    return ""
