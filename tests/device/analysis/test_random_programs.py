"""Random whole programs: `explain` computes what the driver computes, and refuses what the driver's compiler refuses.

Longer runs found the faults that `tests/pure/analysis/explain/test_front_end.py` and `tests/language_corners.py` keep. Here are
as many seeds as take few seconds. Where a program of a longer run differs, `-cl-opt-disable` tells whose fault it is: that of
Intel's optimiser in 6 of 1770 programs.
A seed names a program: `programs.program(seed)`.
"""

import numpy as np
import pytest
from program_expressions import ITEMS
from programs import mutated, program

from tilewright.analysis.explain import explain_source
from tilewright.analysis.explain.clc import parse_program
from tilewright.core.kernel import NDRange
from tilewright.core.source import parse_signature
from tilewright.errors import BuildFailed, SourceError
from tilewright.runtime.opencl.device import Device

LANES = 4 * ITEMS
RESULTS = 8
PROGRAMS = 10
MUTANTS = 45
# Accepted by drivers only: a second specifier of one type, labels.
LENIENT = ("'short'", "'long'", "labels")


def arrays_of() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(0)
    return {
        "a": generator.integers(0, 2**32, 4 * ITEMS, dtype=np.uint32),
        "x": (generator.random(LANES, dtype=np.float32) - 0.5) * 100,
        "out": np.zeros(LANES * RESULTS, np.uint32),
    }


def driver_results(device: Device, source: str, arrays: dict[str, np.ndarray]) -> np.ndarray:
    signature = parse_signature(source, "values")
    rounds = device.info.kind == "cpu" or "nvidia" in device.info.features
    options = ("-cl-fp32-correctly-rounded-divide-sqrt",) if rounds else ()
    kernel = device.build(source, "values", signature, "float32", options).new_kernel()
    buffers = {name: device.allocate(array.nbytes) for name, array in arrays.items()}
    for index, parameter in enumerate(signature.parameters):
        device.write(buffers[parameter.name], arrays[parameter.name])
        kernel.set_arg(index, buffers[parameter.name])
    device.launch(kernel, NDRange((LANES,), (ITEMS,)), "values")
    device.finish("values")
    return device.read(buffers["out"], LANES * RESULTS, np.dtype(np.uint32))


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_programs_compute_the_same_bits(device: Device, seed: int) -> None:
    source, arrays = program(seed), arrays_of()
    explanation = explain_source(
        source, global_size=(LANES,), local_size=(ITEMS,), arguments=dict(arrays), groups="all"
    )
    assert {each.kind for each in explanation.faults} <= {"integer overflow", "division by zero"}
    expected = driver_results(device, source, arrays)
    wrong = np.flatnonzero(explanation.outputs["out"] != expected)
    assert not wrong.size, f"seed {seed}: (work-item, result) {[divmod(int(at), RESULTS) for at in wrong[:5]]}"


def refusal(source: str) -> str:
    """Why `explain` refuses a program; "" if it does not."""
    arguments = dict(arrays_of())
    try:
        explain_source(
            source, global_size=(LANES,), local_size=(ITEMS,), arguments=arguments, groups=[(0, 0, 0)], step_limit=1000
        )
    except SourceError as error:
        return "" if "stopped after" in str(error) else str(error)
    return ""


def test_mutants_are_refused_by_both_or_by_neither(device: Device) -> None:
    signature = parse_signature(program(0), "values")
    disagreed, accepted = [], 0
    for seed in range(MUTANTS):
        source = mutated(seed)
        mine, theirs = refusal(source), ""
        try:
            device.build(source, "values", signature, "float32", ())
        except BuildFailed as error:
            theirs = str(error)
        if bool(mine) != bool(theirs) and not any(each in mine for each in LENIENT):
            disagreed.append(f"seed {seed}: explain says {mine or 'nothing'}, the driver {theirs[:500] or 'nothing'}")
        accepted += not mine
    assert not disagreed, "\n".join(disagreed)
    assert 0 < accepted < MUTANTS / 2


def test_a_seed_is_a_program() -> None:
    assert program(3) == program(3) != program(4)
    assert {"switch", "barrier", "Mixed", "Record", "vload4", "for", "while"} <= set(
        "\n".join(map(program, range(9))).replace("(", " ").split()
    )
    assert "values" in parse_program(program(3)).kernels
