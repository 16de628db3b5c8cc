"""The portable part of "fp32_split" on every driver: how vectors are measured and cut, and the tiles that halves cannot hold."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from paths import DATA

from tilewright.core.kernel import Kernel, NDRange, Step
from tilewright.core.plan import Plan
from tilewright.core.problem import Gemm, Problem
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.fp16x3.config import Fp16x3Config
from tilewright.kernels.product.fp16x3.config_split import SplitConfig
from tilewright.kernels.product.fp16x3.kernels import HERE, PRODUCT, fp16x3_steps
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import Execution

pytestmark = pytest.mark.device
UNFIT = 0xFF


def cutting(problem: Gemm, config: SplitConfig | None = None) -> Step:
    """The step that cuts both operands, in the configuration of the plan or another."""
    step = fp16x3_steps(PRODUCT, PRODUCT.config, problem)[0]
    return replace(step, config=config or step.config)


def cut(
    problem: Gemm, arrays: dict[str, np.ndarray], device: Device, name: str, config: SplitConfig | None = None
) -> tuple[np.ndarray, ...]:
    """shift, small and share of each vector of operand `name`, and its high and low halves."""
    execution = Execution(Plan(problem, (cutting(problem, config),)), device)
    execution.write(arrays)
    execution.launch()
    execution.read()  # which finds what was written outside of a buffer
    word, vectors = name.lower(), problem.m if name == "A" else problem.n
    pitch = -(-problem.k // 8) * 8

    def scratch(what: str, dtype: type, shape: tuple[int, int]) -> np.ndarray:
        buffer = execution._buffers[f"{what}_{word}"].inner
        return device.read(buffer, shape[0] * shape[1], np.dtype(dtype)).reshape(shape)

    ranges = scratch("ranges", np.int32, (vectors, 2))
    halves = scratch("halves", np.float16, (2 * vectors, pitch))
    assert (halves[:, problem.k :] == 0).all()
    high, low = halves[:vectors, : problem.k], halves[vectors:, : problem.k]
    return (
        ranges[:, 0],
        ranges[:, 1] & 0xFF,
        ranges[:, 1] >> 8,
        high.astype(np.float64),
        low.astype(np.float64),
    )


def matrices(m: int, n: int, k: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    return {
        "A": random.normal(size=(m, k)).astype(np.float32),
        "B": random.normal(size=(k, n)).astype(np.float32),
    }


def check_cuts(problem: Gemm, arrays: dict[str, np.ndarray], device: Device, config: SplitConfig | None = None) -> None:
    """Every element to 22 bits, and the ranges as counted here."""
    for name, vectors in (("A", arrays["A"]), ("B", arrays["B"].T)):
        shift, small, share, high, low = cut(problem, arrays, device, name, config)
        exact, scale = vectors.astype(np.float64), 2.0 ** shift[:, None].astype(float)
        scaled = np.abs(exact * scale)
        assert ((scaled.max(axis=1) >= 2**12) & (scaled.max(axis=1) < 2**15)).all()
        again = (high + low * 2.0**-11) / scale
        assert (np.abs(again - exact) <= 2.0**-23 * np.abs(exact) + 2.0**-36 / scale).all()
        few = ((scaled > 0) & (scaled < 2.0**-12)).sum(axis=1)
        assert (small == np.where(few == 0, 0, 1 + np.ceil(np.log2(np.maximum(few, 1))))).all()
        assert (share == 255 * (scaled >= 2**7).sum(axis=1) // problem.k).all()


FEW_HELD = SplitConfig(256, 8, 16, 32)  # 128 floats of a vector of A are measured before it is cut, 256 of B


@pytest.mark.parametrize("orders", [("row", "row"), ("column", "column")])
@pytest.mark.parametrize(
    ("shape", "config"), [((33, 65, 130), FEW_HELD), ((1, 200, 129), FEW_HELD), ((20, 36, 1512), None)]
)
def test_halves_hold_every_element_to_22_bits(
    device: Device, shape: tuple[int, int, int], config: SplitConfig | None, orders: tuple[str, str]
) -> None:
    arrays = matrices(*shape)
    arrays["A"][0] *= np.float32(2.0**100)
    arrays["B"][:, -1] *= np.float32(2.0**-90)
    check_cuts(Gemm(*shape, a_order=orders[0], b_order=orders[1], precision="fp32_split"), arrays, device, config)


@pytest.mark.parametrize("orders", [("row", "row"), ("column", "column")])
@pytest.mark.parametrize("k", [520, 517])
def test_the_rest_of_a_vector_may_outgrow_its_first_chunk(device: Device, orders: tuple[str, str], k: int) -> None:
    """Not at all, a little, beyond what its scale leaves room for, and after zeros."""
    arrays = matrices(20, 12, k)
    for vectors in (arrays["A"], arrays["B"].T):
        vectors[1, -1] = 2 * np.abs(vectors[1]).max()
        vectors[2, -1] = 2.0**9
        vectors[3, :300] = 0
        vectors[4, :300] *= np.float32(2.0**-20)
        vectors[5, -20:] *= np.float32(2.0**15)
    problem = Gemm(20, 12, k, a_order=orders[0], b_order=orders[1], precision="fp32_split")
    check_cuts(problem, arrays, device, FEW_HELD)


@pytest.mark.parametrize("order", ["row", "column"])
def test_what_halves_cannot_hold_is_counted_after_the_first_chunk_too(device: Device, order: str) -> None:
    problem = Gemm(8, 32, 512, a_order=order, precision="fp32_split")
    arrays = matrices(8, 32, 512)
    a = arrays["A"]
    a[0, 500], a[1, 501], a[2, 300] = np.inf, np.nan, 2.0**-40
    a[3, :200] = np.float32(2.0**-120)  # too small by itself, and then beside the rest
    shift, small, share, _, _ = cut(problem, arrays, device, "A", FEW_HELD)
    assert (small[:2] == UNFIT).all()
    assert (small[2], small[3]) == (1, 1 + 8)
    assert (small[4:] == 0).all()
    assert share[3] == 255 * (np.abs(a[3].astype(np.float64)) * 2.0 ** float(shift[3]) >= 2**7).sum() // 512


def test_vectors_that_halves_cannot_hold_are_named(device: Device) -> None:
    problem = Gemm(8, 32, 256, precision="fp32_split")
    arrays = matrices(8, 32, 256)
    a = arrays["A"]
    a[0, 3], a[1, 4], a[2] = np.inf, np.nan, a[2] * np.float32(1e-38)
    a[3] = 0
    a[4, :5] = np.float32(2.0**-40)
    a[5, 7] = 0
    shift, small, share, _, _ = cut(problem, arrays, device, "A")
    assert (small[:3] == UNFIT).all()
    assert (shift[3], small[3], share[3]) == (0, 0, 0)
    assert small[4] == 1 + 3
    assert (small[5:] == 0).all()


@dataclass(frozen=True)
class ExactConfig(Fp16x3Config):
    """exact_tiles.cl: a work-group for each tile."""

    def macros(self, problem: Problem) -> dict[str, str | int]:
        files = {
            "ELEMENTS": HERE.parent / "elements.cl",
            "EPILOGUE": HERE.parent / "epilogue.cl",
            "CUT": HERE / "split.cl",
            "EXACT": HERE / "fallback.cl",
        }
        own = {**super().macros(problem), "C_VEC": self.result_width(call_of(problem))}
        return {**own, **{name: str(path) for name, path in files.items()}}

    def ndrange(self, problem: Problem) -> NDRange:
        call = call_of(problem)
        down, across = -(-call.m // self.BM), -(-call.n // self.BN)
        return NDRange((down * 256, across), (256, 1))


EXACT = Kernel(DATA / "exact_tiles.cl", ExactConfig())


def multiply_what_is_left(problem: Gemm, arrays: dict[str, np.ndarray], device: Device) -> np.ndarray:
    """C where halves cannot hold the vectors, NaN elsewhere."""
    call = call_of(problem)
    steps = (cutting(problem), Step(EXACT, EXACT.config, call, call.buffers))
    execution = Execution(Plan(problem, steps), device)
    execution.write(arrays)
    execution.poison()
    execution.launch()
    return execution.read()


@pytest.mark.parametrize("shape", [(150, 140, 130), (129, 257, 128)])
def test_tiles_that_halves_cannot_hold_are_multiplied_as_floats(device: Device, shape: tuple[int, int, int]) -> None:
    """Every row of A is too small, so that nothing is left to the tensor cores."""
    problem = Gemm(*shape, precision="fp32_split")
    arrays = matrices(*shape)
    arrays["A"] *= np.float32(1e-37)
    result, reference = multiply_what_is_left(problem, arrays, device), problem.reference(arrays)
    assert (np.abs(result - reference) <= problem.error_bound(arrays, reference) + 2.0**-149).all()


def test_what_halves_can_hold_is_left_alone(device: Device) -> None:
    problem = Gemm(130, 128, 128, precision="fp32_split")
    arrays = matrices(130, 128, 128)
    arrays["A"][129, 0] = np.inf
    result = multiply_what_is_left(problem, arrays, device)
    assert np.isnan(result[:129]).all()
    assert np.isinf(result[129]).all()
