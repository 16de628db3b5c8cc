"""The CUDA counterpart on an NVIDIA GPU: every rung and the library's kernels right, and times that can be believed."""

import numpy as np
import pytest
from shapes import DTYPES, check_kernel

from tilewright.core.kernel import Kernel, NDRange
from tilewright.core.plan import plan_kernel
from tilewright.core.problem import Copy, Gemm, Problem, Transpose, compulsory_bytes, random_arrays
from tilewright.core.source import parse_signature
from tilewright.core.types import ELEMENT_TYPES
from tilewright.dispatch.choice import plan_copy, plan_product
from tilewright.errors import BuildFailed, InvalidInput, LaunchFailed
from tilewright.kernels import LADDERS, find_kernel
from tilewright.measurement.baselines.clblast import CLBlastBaseline, clblast_present
from tilewright.measurement.baselines.cublas import CublasBaseline, cublas_loads
from tilewright.measurement.ladders import run_ladder
from tilewright.measurement.sets import STORED
from tilewright.runtime.cuda.counterparts import CUDA_FEATURES, counterpart_of
from tilewright.runtime.cuda.device import Device
from tilewright.runtime.opencl.device import Device as OpenCLDevice
from tilewright.runtime.run import Execution
from tilewright.runtime.verify import Reference, verify

RUNGS = [
    kernel
    for ladder in LADDERS.values()
    for kernel in ladder.kernels
    if {feature for feature, _ in kernel.requires} <= CUDA_FEATURES - {"cpu"}
]
GEMM_SHAPES = ((256, 256, 256), (251, 509, 127), (1000, 36, 68))
MATRIX_SHAPES = ((256, 256, 0), (251, 509, 0), (1000, 36, 5))
PRODUCTS = ((256, 256, 256), (37, 41, 31), (1, 512, 300), (512, 1, 300), (64, 64, 5000), (129, 3, 77))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", RUNGS, ids=lambda kernel: kernel.name)
def test_every_rung_is_right_or_refuses(kernel: Kernel, dtype: str, cuda: Device) -> None:
    shapes = GEMM_SHAPES if kernel.operation == "gemm" else MATRIX_SHAPES
    outcomes = {shape: check_kernel(kernel, shape, dtype, cuda) for shape in shapes}
    if dtype in kernel.dtypes:
        assert outcomes[shapes[0]] == "passed", f"{kernel.name} {dtype} on {cuda.info.label}: {outcomes}"


@pytest.mark.parametrize("orders", ["row row", "row column", "column row", "column column"])
@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
def test_the_librarys_products_are_right(dtype: str, orders: str, cuda: Device) -> None:
    for m, n, k in PRODUCTS:
        a_order, b_order = orders.split()
        problem = Gemm(m, n, k, dtype, a_order, b_order, out_dtype=STORED.get(dtype))
        verdict = verify(plan_product(problem, cuda.info), cuda)
        assert verdict.passed, f"{problem.title} {orders} on {cuda.info.label}: {verdict}"


@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
def test_the_librarys_moves_are_right(dtype: str, cuda: Device) -> None:
    for problem in (
        Transpose(256, 512, dtype),
        Transpose(251, 37, dtype, 3),
        Copy(33, 250, dtype),
        Copy(512, 256, dtype),
    ):
        verdict = verify(plan_copy(problem, cuda.info), cuda)
        assert verdict.passed, f"{problem.title} on {cuda.info.label}: {verdict}"


def test_the_counterpart_is_the_same_gpu(nvidia: OpenCLDevice, cuda: Device) -> None:
    counterpart = counterpart_of(nvidia)
    assert counterpart.info.name == nvidia.info.name
    assert counterpart.info.compute_units == nvidia.info.compute_units
    assert counterpart.info.compute_capability == nvidia.info.compute_capability
    assert cuda.info.local_bytes >= 48 * 1024


def test_a_ladder_by_both_backends_has_two_rows_for_each_rung(nvidia: OpenCLDevice, cuda: Device) -> None:
    record = run_ladder("tiles", nvidia, [(256,)], rungs=("2", "8"), seconds=1, baselines=False, backend="both")
    found = [(row.label, row.status) for row in record.rows]
    names = ("tiles/02_tiled", "tiles/08_shuffles")
    assert found == [(label, "ok") for name in names for label in (name, f"{name} (CUDA)")]
    assert "NVRTC" in record.environment.versions["NVIDIA CUDA"]


def execution(problem: Problem, name: str, device: Device | OpenCLDevice) -> Execution:
    made = Execution(plan_kernel(find_kernel(name), problem, device.info), device)
    made.write(random_arrays(problem))
    made.launch()
    return made


def test_a_launchs_time_holds_the_kernel_alone(cuda: Device) -> None:
    """An empty queue before a launch must not count: a small copy takes microseconds, the host's share many of them."""
    small = execution(Copy(64, 64), "transpose/01_copy", cuda)
    large = execution(Copy(8192, 8192), "transpose/01_copy", cuda)
    shortest = min(small.launch().device_s for _ in range(20))
    longest = min(large.launch().device_s for _ in range(20))
    assert 0 < shortest < 10e-6
    moved = compulsory_bytes(Copy(8192, 8192)) / longest
    assert 100e9 < moved < 20e12, f"{moved / 1e9:.0f} GB/s"


def test_bursts_longer_than_the_gate_end(cuda: Device) -> None:
    copied = execution(Copy(256, 256), "transpose/01_copy", cuda)
    times = copied.burst(300)
    assert 0 < times.device_s < 1e-3
    assert copied.launch().device_s > 0


def test_memory_is_cut_filled_written_and_read(cuda: Device) -> None:
    whole = cuda.allocate(1024)
    cuda.fill(whole, 7, 0, 1024)
    part = cuda.part(whole, 256, 512)
    cuda.write(part, np.arange(128, dtype=np.float32))
    cuda.fill(part, 0, 0, 4)
    everything = cuda.read(whole, 1024, np.dtype(np.uint8))
    assert (everything[:256] == 7).all()
    assert (everything[768:] == 7).all()
    assert (everything[256:768].view(np.float32) == np.arange(128)).all()
    with pytest.raises(InvalidInput, match=r"\b600\b"):
        cuda.part(whole, 600, 512)


def test_errors_name_the_launch_and_the_compilers_words(cuda: Device) -> None:
    text = 'extern "C" __global__ void f(int n) { undeclared = n; }'
    signature = parse_signature("__kernel void f(int n) {}", "f.cl")
    with pytest.raises(BuildFailed, match="undeclared"):
        cuda.build(text, "f", signature, "float32")
    program = cuda.build(text.replace("undeclared = n", ""), "f", signature, "float32")
    kernel = program.new_kernel()
    kernel.set_arg(0, np.int32(3))
    with pytest.raises(LaunchFailed, match=r"too many .*INVALID"):
        cuda.launch(kernel, NDRange((4096,), (4096,)), "too many")
    with pytest.raises(LaunchFailed, match="65,535"):
        cuda.launch(kernel, NDRange((1, 70000), (1, 1)), "too high")
    cuda.launch(kernel, NDRange((32,), (32,)), "a fair one")
    cuda.finish("a fair one")


@pytest.mark.parametrize(
    "problem", [Gemm(300, 200, 100), Gemm(64, 80, 96, "float64", "column"), Transpose(99, 70), Copy(33, 40)], ids=str
)
def test_cublas_is_right_and_timed_by_the_device(problem: Problem, cuda: Device) -> None:
    if not cublas_loads():
        pytest.skip("cuBLAS is not installed")
    reference = Reference(problem, random_arrays(problem))
    baseline = CublasBaseline(problem, reference.arrays, cuda)
    times = baseline.run()
    verdict = reference.judge(baseline.result())
    baseline.close()
    assert verdict.passed, verdict
    assert 0 < times.device_s <= times.wall_s


@pytest.mark.parametrize(
    "problem", [Gemm(300, 200, 100), Gemm(64, 64, 64, "float64", "column"), Transpose(99, 70)], ids=str
)
def test_clblast_is_right_and_timed_by_the_device(problem: Problem, nvidia: OpenCLDevice) -> None:
    if not clblast_present():
        pytest.skip("CLBlast is not installed")
    reference = Reference(problem, random_arrays(problem))
    baseline = CLBlastBaseline(problem, reference.arrays, nvidia)
    times = baseline.run()
    verdict = reference.judge(baseline.result())
    baseline.close()
    assert verdict.passed, verdict
    assert 0 < times.device_s <= 1.5 * times.wall_s
