"""Kernels of many expressions, run by `explain`'s interpreter and by a driver, which must leave the same bits."""

from collections.abc import Mapping

import numpy as np
import pytest
from driver_runs import Arrays, run_driver

from tilewright.analysis.explain import explain_source
from tilewright.runtime.opencl.device import Device

LANES = 64
EXACT = "#pragma OPENCL FP_CONTRACT OFF\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
DTYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "long": "i8", "ulong": "u8",
    "float": "f4", "double": "f8",
}  # fmt: skip
SIGNED = ("char", "short", "int", "long")
UNSIGNED = ("uchar", "ushort", "uint", "ulong")
FLOATS = ("float", "double")
ARITHMETIC = {"integer overflow", "division by zero"}  # the values at the ends of the types are tried, too


def compare(
    device: Device,
    source: str,
    arrays: Mapping[str, np.ndarray],
    *,
    local_size: int = 32,
    ulps: int = 0,
    lanes: int = LANES,
) -> None:
    """The driver and the interpreter leave the same bits in every buffer; NaNs are equal whatever their bits."""
    expected = run_driver(device, source, arrays, lanes, local_size)
    explanation = explain_source(
        source, global_size=(lanes,), local_size=(local_size,), arguments=dict(arrays), groups="all"
    )
    assert {each.kind for each in explanation.faults} <= ARITHMETIC
    for name, array in explanation.outputs.items():
        wanted, found = expected[name].reshape(-1), array.reshape(-1)
        equal = wanted.view(f"u{wanted.itemsize}") == found.view(f"u{found.itemsize}")
        if wanted.dtype.kind == "f":
            equal |= np.isnan(wanted) & np.isnan(found)
            if ulps:
                with np.errstate(all="ignore"):
                    near = np.abs(wanted.astype("f8") - found.astype("f8")) <= ulps * np.spacing(np.abs(wanted)).astype(
                        "f8"
                    )
                equal |= near | (wanted == found)
        if not equal.all():
            at = int(np.flatnonzero(~equal)[0])
            lines = [line for line in source.splitlines() if f"{name}[" in line]
            inputs = {key: value[at % LANES] for key, value in arrays.items() if value.size == LANES}
            pytest.fail(f"{name}[{at}]: driver {wanted[at]!r}, explain {found[at]!r}\n{lines}\n{inputs}")


def inputs() -> Arrays:
    """One buffer of each type: small numbers, the limits, for floats also NaN, infinities, zeros and tiny numbers."""
    generator = np.random.default_rng(3)
    arrays: Arrays = {}
    for name, code in DTYPES.items():
        dtype = np.dtype(code)
        if dtype.kind == "f":
            values = generator.normal(0, 10, LANES).astype(dtype)
            special = [
                0.0,
                -0.0,
                1.0,
                -1.0,
                0.5,
                -0.5,
                1.5,
                2.5,
                np.nan,
                np.inf,
                -np.inf,
                3.25,
                1e-3,
                100.75,
                -7.0,
                1e6,
            ]
            values[: len(special)] = special
        else:
            limits = np.iinfo(dtype)
            values = generator.integers(limits.min, limits.max, LANES, dtype=dtype, endpoint=True)
            special = [0, 1, 2, 3, limits.max, limits.min, limits.max - 1, 5, 7, 8]
            values[: len(special)] = np.array(special, dtype=dtype)
        arrays[f"in_{name}"] = values
    return arrays


def kernel_of(lines: Mapping[str, tuple[str, str]], prelude: str = "") -> tuple[str, Arrays]:
    """A kernel that stores expressions: lines are output name -> (type, expression over v_int, v_float ...)."""
    arrays = inputs()
    used = {
        name for name in DTYPES if any(f"v_{name}" in text for text in (prelude, *(text for _, text in lines.values())))
    }
    arrays = {key: value for key, value in arrays.items() if key.removeprefix("in_") in used}
    parameters = [f"__global const {name}* in_{name}" for name in DTYPES if name in used]
    body = [f"const {name} v_{name} = in_{name}[i];" for name in DTYPES if name in used]
    for output, (kind, text) in lines.items():
        element = kind.rstrip("0123456789")
        width = int(kind[len(element) :] or 1)
        arrays[output] = np.zeros(LANES * width, DTYPES[element])
        parameters.append(f"__global {element}* {output}")
        if width == 1:
            body.append(f"{output}[i] = {text};")
        else:
            body.append(f"vstore{width}({text}, i, {output});")
    source = EXACT + prelude + f"__kernel void values({', '.join(parameters)}) {{ const int i = get_global_id(0);\n"
    return source + "\n".join(body) + "\n}\n", arrays


def check_lines(device: Device, lines: list[tuple[str, str]], ulps: int = 0, prelude: str = "") -> None:
    """Compares many expressions in kernels of thirty each."""
    for first in range(0, len(lines), 30):
        chosen = {f"out_{first + index}": line for index, line in enumerate(lines[first : first + 30])}
        source, arrays = kernel_of(chosen, prelude)
        compare(device, source, arrays, ulps=ulps)
