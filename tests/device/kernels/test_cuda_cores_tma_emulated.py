"""cuda_cores_tma/main_loop.cl on every driver, with Hopper's instructions put into plain OpenCL C: its tiles, slices and edges.

All warps go in step here, and a stage is copied when they wait for it: what its barriers protect is not seen. Work-groups that
share a tile would wait for each other, and here may run one after another: so they leave their pieces in one launch, and add
them up in a second one. Operands that are turned in local memory are tested on GPUs.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from emulation import FMA, NO_MAPS, emulated_text
from promised_bits import EPILOGUES, kernel_has_promised_bits

from tilewright.core.kernel import Config, Kernel, NDRange, Steps
from tilewright.core.operands import Layout
from tilewright.core.plan import plan
from tilewright.core.problem import Gemm, Problem, StridedGemm, random_array
from tilewright.kernels.product.chain import chained
from tilewright.kernels.product.config import FUSED
from tilewright.kernels.product.cuda_cores_tma.config import CONSUMERS, CudaCoresConfig
from tilewright.kernels.product.cuda_cores_tma.kernels import PRODUCT
from tilewright.kernels.product.macros import elements
from tilewright.kernels.product.packing import PACK
from tilewright.kernels.product.steps import tiled_steps
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import LoadedPlan, run_plan
from tilewright.runtime.verify import verify

# Work-groups wait for each other's pieces: so one launch leaves them, and a second one joins them.
PARTIALS, FIXUP = "#define EMULATED_PARTIALS 1\n", "#define EMULATED_FIXUP 1\n"


@dataclass(frozen=True)
class InStep(CudaCoresConfig):
    """Without the warps that fetch."""

    def ndrange(self, problem: Problem) -> NDRange:
        return NDRange((self.work_groups(self.oriented(problem)) * CONSUMERS,), (CONSUMERS,))

    def tensor_maps(self, problem: Problem) -> dict[str, object]:  # type: ignore[override]
        return {}

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call = self.oriented(problem)
        macros, parts = super().macros(problem), elements(call.dtype).parts
        for name in ("A", "B"):
            view, _ = call.sided(name)
            macros |= {f"{name}_PITCH": view.column * parts, f"{name}_BATCH": view.batch * parts}
        return macros


def emulated(folder: Path) -> Kernel:
    """The kernel in a file of its own, that needs no feature."""
    text = emulated_text(PRODUCT, FMA, NO_MAPS)
    multiplying, joining = folder / PRODUCT.source.name, folder / f"joining_{PRODUCT.source.name}"
    multiplying.write_text(PARTIALS + text)
    joining.write_text(FIXUP + text)

    def steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
        *copies, product = tiled_steps(kernel, config, problem)
        left = (replace(product, kernel=replace(kernel, source=joining)),) if product.zeroed else ()
        return (*copies, product, *left)

    return replace(PRODUCT, source=multiplying, requires=(), target="", steps=steps)


def check(config: InStep, problem: Gemm, device: Device, folder: Path) -> None:
    roomy = replace(device.info, local_bytes=max(device.info.local_bytes, config.local_bytes(problem)))
    if roomy.local_bytes > device.info.local_bytes:
        pytest.skip(
            f"{device.info.label} has {device.info.local_bytes:,} bytes of local memory for {roomy.local_bytes:,}"
        )
    verdict = verify(plan([replace(emulated(folder), config=config)], problem, device.info), device)
    assert verdict.passed, f"{config} {problem.title} on {device.info.label}: {verdict}"


def in_views(problem: StridedGemm, kernel: Kernel, device: Device) -> None:
    """Whether a product of views is right, where all that does not belong to A and B is NaN, and C's own gaps stay so."""
    generator = np.random.default_rng(2)
    shapes = ((problem.m, problem.k), (problem.k, problem.n), (problem.m, problem.n))
    arrays, views, buffers = {}, {}, {}
    for name, layout, shape in zip("ABC", problem.views, shapes, strict=True):
        arrays[name] = np.full(layout.offset + shape[0] * layout.row + shape[1] * layout.column, np.nan, np.float32)
        strides = (4 * layout.row, 4 * layout.column)
        views[name] = np.lib.stride_tricks.as_strided(arrays[name][layout.offset :], shape, strides)
        if name != "C":
            views[name][:] = random_array(generator, shape, "float32")
        buffers[name] = device.allocate(arrays[name].nbytes)
        device.write(buffers[name], arrays[name])
    made = plan([kernel], problem, device.info)
    loaded = LoadedPlan(made, device)
    scratch = {name: device.allocate(nbytes) for name, nbytes in made.scratch.items()}
    loaded.bind(buffers | scratch | {"bias": buffers["C"]})
    loaded.enqueue()
    arrays["C"][:] = device.read(buffers["C"], arrays["C"].size, np.dtype(np.float32))
    assert np.abs(views["C"] - views["A"].astype(float) @ views["B"].astype(float)).max() < 1e-5
    views["C"][:] = np.nan
    assert np.isnan(arrays["C"]).all(), "something was written outside of C"


@pytest.mark.parametrize("config", [InStep(256, 128, pack=True), InStep(64, 512, pack=True)], ids=str)
@pytest.mark.parametrize("gap", [0, 1, 2])
def test_rows_that_begin_anywhere(gap: int, config: InStep, device: Device, tmp_path: Path) -> None:
    # Slices cannot store single floats here (below).
    m, n, k = (261, 141, 50) if config.BM == 256 else (70, 517, 19)
    views = (Layout(3, k + gap + 1 | 1, 1), Layout(1, 1, k + 3 | 1), Layout(gap, n + gap, 1))
    problem = StridedGemm(m, n, k, views=views)
    assert config.macros(problem)["C_VEC"] == 1
    kernel = replace(emulated(tmp_path), config=config)
    assert kernel.steps(kernel, config, problem)[0].kernel.source == PACK.source
    in_views(problem, kernel, device)


CONFIGURATIONS = (InStep(128, 64, 4, 8, pack=True), InStep(64, 64, 8, 8, pack=True), InStep(256, 128, pack=True))


@pytest.mark.parametrize(
    ("dtype", "config"), [("float32", CONFIGURATIONS[0]), *(("complex64", each) for each in CONFIGURATIONS)], ids=str
)
def test_layouts_and_edges(dtype: str, config: InStep, device: Device, tmp_path: Path) -> None:
    # Floats that leave one by one wait for their warp, which slices do at different places: a barrier for all cannot stand there.
    columns = 36 if dtype == "float32" else 37
    check(config, Gemm(70, columns, 50, dtype, "column", "row", batch=2), device, tmp_path)


@pytest.mark.parametrize(("conjugate_a", "conjugate_b"), [(True, False), (False, True)])
def test_conjugates_and_complex_factors(conjugate_a: bool, conjugate_b: bool, device: Device, tmp_path: Path) -> None:
    m, n, k = 35, 46, 40
    views = (Layout(0, k, 1), Layout(0, n, 1), Layout(0, n, 1))
    problem = StridedGemm(
        m, n, k, "complex64", alpha=0.5 - 2j, conjugate_a=conjugate_a, conjugate_b=conjugate_b, views=views
    )
    generator = np.random.default_rng(1)
    a, b = (random_array(generator, shape, "complex64") for shape in ((m, k), (k, n)))
    kernel = replace(emulated(tmp_path), config=CONFIGURATIONS[0])
    got = run_plan(plan([kernel], problem, device.info), {"A": a, "B": b}, device)[0]
    own_a, own_b = a.conj() if conjugate_a else a, b.conj() if conjugate_b else b
    wanted = problem.alpha * (own_a.astype(complex) @ own_b.astype(complex))
    assert np.abs(got - wanted).max() < 1e-5


@pytest.mark.parametrize(("dtype", "beta"), [("float32", -0.5), ("complex64", 0.25 + 1j)])
def test_c_is_read_where_beta_is_not_zero(dtype: str, beta: complex, device: Device, tmp_path: Path) -> None:
    m, n, k = 71, 36, 50
    problem = Gemm(m, n, k, dtype, "column", alpha=2, beta=beta)
    generator = np.random.default_rng(3)
    a, b, c = (random_array(generator, shape, dtype) for shape in ((m, k), (k, n), (m, n)))
    made = plan([replace(emulated(tmp_path), config=CONFIGURATIONS[0])], problem, device.info)
    loaded, buffers = LoadedPlan(made, device), {name: device.allocate(nbytes) for name, nbytes in made.scratch.items()}
    for name, array in (("A", a.T), ("B", b), ("C", c)):
        buffers[name] = device.allocate(array.nbytes)
        device.write(buffers[name], np.ascontiguousarray(array))
    loaded.bind({**buffers, "bias": buffers["C"]})
    loaded.enqueue()
    found = device.read(buffers["C"], c.size, c.dtype).reshape(c.shape)
    assert np.abs(found - (2 * (a.astype(complex) @ b.astype(complex)) + beta * c)).max() < 1e-5


@pytest.mark.parametrize(("dtype", "columns"), [("float32", 76), ("complex64", 38), ("complex64", 37)])
def test_tiles_that_are_shared_out(dtype: str, columns: int, device: Device, tmp_path: Path) -> None:
    config = InStep(128, 64, 4, 8, groups=5, stream_k=True, pack=columns % 2 == 1)
    problem = Gemm(60 if dtype == "complex64" else 120, columns, 300, dtype, "column", "row")
    assert config.work_groups(config.oriented(problem)) > config.tiles(config.oriented(problem)) == 2
    check(config, problem, device, tmp_path)


@pytest.mark.parametrize(("alpha", "beta"), EPILOGUES)
def test_reproducible_products_are_one_chain(alpha: float, beta: float, device: Device, tmp_path: Path) -> None:
    path = tmp_path / PRODUCT.source.name
    path.write_text(emulated_text(PRODUCT, FMA, NO_MAPS, FUSED))
    own = replace(chained(PRODUCT), source=path, requires=(), target="")
    config, problem = InStep(256, 128, pack=True), Gemm(261, 140, 37, alpha=alpha, beta=beta, precision="reproducible")
    roomy = replace(device.info, local_bytes=max(device.info.local_bytes, config.local_bytes(problem)))
    if roomy.local_bytes > device.info.local_bytes:
        pytest.skip(f"{device.info.label} has {device.info.local_bytes:,} bytes of local memory")
    assert kernel_has_promised_bits(replace(own, config=config), problem, device.info, device)
