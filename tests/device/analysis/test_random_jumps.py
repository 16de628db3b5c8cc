"""Kernels made of random jumps: the interpreter of `explain`, where lanes wait for each other, against the drivers."""

import random

import numpy as np
import pytest

from tilewright.analysis.explain import explain_source
from tilewright.core.kernel import NDRange
from tilewright.core.source import parse_signature
from tilewright.runtime.opencl.device import Device

LANES, GROUP, MOST_JUMPS = 64, 32, 60
VALUES = ("x + 3u", "x * 5u + g", "x ^ g", "x >> 1", "x - n", "g & 7u", "x + a[g]")
TESTS = ("x & 1", "g & 2", "x > g", "n & 4", "(x ^ n) & 2", "g > 40", "x % 3 == 0")


def statement(chance: random.Random, number: int, labels: list[str]) -> str:
    """A statement that may jump, out of a loop, a switch, a branch, or within braces."""
    value, test, other = chance.choice(VALUES), chance.choice(TESTS), chance.choice(TESTS)
    label, second = chance.choice(labels), chance.choice(labels)
    forms = (
        f"x = {value}; if ({test}) goto {label};",
        f"for (uint i = 0; i < (g & 3) + 1; i++) {{ x = {value}; if ({test}) goto {label}; if ({other}) break; x += i; }}",
        f"switch (x & 3) {{ case 0: x = {value}; goto {label}; case 1: x += 9; break; case 2: x -= 1;"
        f" default: if ({test}) goto {second}; x += 2; }}",
        f"{{ uint y = {value}; inner{number}: y += 1; if (y & 3) goto inner{number}; x += y; if ({test}) goto {label}; }}",
        f"if ({test}) {{ x = {value}; }} else {{ if ({other}) goto {label};"
        f" do {{ x += 7; if ({test}) goto {second}; }} while (x & 4); }}",
    )
    return chance.choice(forms)


def jumping(seed: int) -> str:
    chance = random.Random(seed)
    labels = [f"label{number}" for number in range(chance.randint(3, 7))]
    body = "\n".join(
        f"{label}: if (++n > {MOST_JUMPS}) goto out;\n{statement(chance, number, labels)}"
        for number, label in enumerate(labels)
    )
    return (
        "__kernel void values(__global uint* o, __global const uint* a) {\nuint g = get_global_id(0), x = g, n = 0;\n"
        f"{body}\nout: o[2 * g] = x; o[2 * g + 1] = n; }}"
    )


@pytest.mark.parametrize("seed", range(6))
def test_random_jumps_end_as_on_the_device(device: Device, seed: int) -> None:
    source = jumping(seed)
    arrays = {
        "o": np.zeros(2 * LANES, np.uint32),
        "a": np.random.default_rng(seed).integers(0, 1 << 32, LANES, dtype=np.uint32),
    }
    signature = parse_signature(source, "values")
    kernel = device.build(source, "values", signature, "float32", ()).new_kernel()
    buffers = [device.allocate(array.nbytes) for array in arrays.values()]
    for index, (buffer, array) in enumerate(zip(buffers, arrays.values(), strict=True)):
        device.write(buffer, array)
        kernel.set_arg(index, buffer)
    device.launch(kernel, NDRange((LANES,), (GROUP,)), "values")
    device.finish("values")
    expected = device.read(buffers[0], 2 * LANES, np.dtype(np.uint32))
    found = explain_source(source, global_size=(LANES,), local_size=(GROUP,), arguments=dict(arrays), groups="all")
    assert found.faults == ()
    assert found.outputs["o"].tolist() == expected.tolist()
