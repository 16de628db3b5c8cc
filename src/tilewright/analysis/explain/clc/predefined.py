"""Macros that OpenCL C compilers define, with the values of the OpenCL C specification, 6.12 and 6.13 in version 3.0."""

from collections.abc import Iterable

from ....errors import InvalidInput
from .extensions import FEATURES, MACROS

# The value of __OPENCL_C_VERSION__ for each -cl-std. Without the option it is 1.2, as in drivers.
STANDARDS = {"CL1.0": 100, "CL1.1": 110, "CL1.2": 120, "CL2.0": 200, "CL3.0": 300}
_DEFAULT = "CL1.2"
# Features of OpenCL C 3.0 that the language itself has here.
_FEATURES = (
    "__opencl_c_fp64",
    "__opencl_c_int64",
    "__opencl_c_generic_address_space",
    "__opencl_c_program_scope_global_variables",
)


def standard_of(options: Iterable[str]) -> str | None:
    """The value of `-cl-std` among a compiler's options, the last one if there are several; None if there is none."""
    given = [each.strip().removeprefix("-cl-std=") for each in options if each.strip().startswith("-cl-std=")]
    return given[-1] if given else None


def predefined(standard: str | None = None) -> dict[str, str]:
    """The macros for one value of `-cl-std`. InvalidInput if there is no such version."""
    if (standard or _DEFAULT) not in STANDARDS:
        raise InvalidInput(f"-cl-std={standard}: OpenCL C has {', '.join(STANDARDS)}")
    version = STANDARDS[standard or _DEFAULT]
    macros = {"__OPENCL_VERSION__": str(max(version, 120)), "__OPENCL_C_VERSION__": str(version)}
    for known in STANDARDS.values():
        if known <= max(version, 120):
            macros[f"CL_VERSION_{known // 100}_{known // 10 % 10}"] = str(known)
    if version >= 300:
        macros |= dict.fromkeys((*_FEATURES, *FEATURES), "1")
    return macros | MACROS | _ALWAYS


_ALWAYS: dict[str, str] = {
    "__ENDIAN_LITTLE__": "1",
    "cl_khr_fp64": "1",
    "cl_khr_fp16": "1",
    "cl_khr_byte_addressable_store": "1",
    "cl_khr_global_int32_base_atomics": "1",
    "cl_khr_global_int32_extended_atomics": "1",
    "cl_khr_local_int32_base_atomics": "1",
    "cl_khr_local_int32_extended_atomics": "1",
    "FP_FAST_FMAF": "1",
    "FP_FAST_FMA": "1",
    "CLK_LOCAL_MEM_FENCE": "1",
    "CLK_GLOBAL_MEM_FENCE": "2",
    "CLK_IMAGE_MEM_FENCE": "4",
    "NULL": "((void *)0)",
    "NAN": "nan(0u)",
    "INFINITY": "__builtin_inff()",
    "HUGE_VALF": "__builtin_inff()",
    "HUGE_VAL": "__builtin_inf()",
    "MAXFLOAT": "0x1.fffffep127f",
    "FLT_DIG": "6",
    "FLT_MANT_DIG": "24",
    "FLT_MAX_10_EXP": "38",
    "FLT_MAX_EXP": "128",
    "FLT_MIN_10_EXP": "(-37)",
    "FLT_MIN_EXP": "(-125)",
    "FLT_RADIX": "2",
    "FLT_MAX": "0x1.fffffep127f",
    "FLT_MIN": "0x1.0p-126f",
    "FLT_EPSILON": "0x1.0p-23f",
    "DBL_DIG": "15",
    "DBL_MANT_DIG": "53",
    "DBL_MAX_EXP": "1024",
    "DBL_MIN_EXP": "(-1021)",
    "DBL_MAX": "0x1.fffffffffffffp1023",
    "DBL_MIN": "0x1.0p-1022",
    "DBL_EPSILON": "0x1.0p-52",
    "HALF_MAX": "0x1.ffcp15h",
    "HALF_MIN": "0x1.0p-14h",
    "HALF_EPSILON": "0x1.0p-10h",
    "CHAR_BIT": "8",
    "SCHAR_MAX": "127",
    "SCHAR_MIN": "(-127 - 1)",
    "CHAR_MAX": "SCHAR_MAX",
    "CHAR_MIN": "SCHAR_MIN",
    "UCHAR_MAX": "255",
    "SHRT_MAX": "32767",
    "SHRT_MIN": "(-32767 - 1)",
    "USHRT_MAX": "65535",
    "INT_MAX": "2147483647",
    "INT_MIN": "(-2147483647 - 1)",
    "UINT_MAX": "0xffffffffU",
    "LONG_MAX": "0x7fffffffffffffffL",
    "LONG_MIN": "(-0x7fffffffffffffffL - 1)",
    "ULONG_MAX": "0xffffffffffffffffUL",
    "FP_ILOGB0": "INT_MIN",
    "FP_ILOGBNAN": "INT_MIN",
    "M_E_F": "2.71828182845904523536028747135266250f",
    "M_LOG2E_F": "1.44269504088896340735992468100189214f",
    "M_LOG10E_F": "0.434294481903251827651128918916605082f",
    "M_LN2_F": "0.693147180559945309417232121458176568f",
    "M_LN10_F": "2.30258509299404568401799145468436421f",
    "M_PI_F": "3.14159265358979323846264338327950288f",
    "M_PI_2_F": "1.57079632679489661923132169163975144f",
    "M_PI_4_F": "0.785398163397448309615660845819875721f",
    "M_1_PI_F": "0.318309886183790671537767526745028724f",
    "M_2_PI_F": "0.636619772367581343075535053490057448f",
    "M_2_SQRTPI_F": "1.12837916709551257389615890312154517f",
    "M_SQRT2_F": "1.41421356237309504880168872420969808f",
    "M_SQRT1_2_F": "0.707106781186547524400844362104849039f",
    "M_E": "2.71828182845904523536028747135266250",
    "M_LOG2E": "1.44269504088896340735992468100189214",
    "M_LOG10E": "0.434294481903251827651128918916605082",
    "M_LN2": "0.693147180559945309417232121458176568",
    "M_LN10": "2.30258509299404568401799145468436421",
    "M_PI": "3.14159265358979323846264338327950288",
    "M_PI_2": "1.57079632679489661923132169163975144",
    "M_PI_4": "0.785398163397448309615660845819875721",
    "M_1_PI": "0.318309886183790671537767526745028724",
    "M_2_PI": "0.636619772367581343075535053490057448",
    "M_2_SQRTPI": "1.12837916709551257389615890312154517",
    "M_SQRT2": "1.41421356237309504880168872420969808",
    "M_SQRT1_2": "0.707106781186547524400844362104849039",
}
