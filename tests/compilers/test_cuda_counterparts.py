"""Every kernel's CUDA counterpart compiles with NVRTC, without a GPU, for several architectures; refusals say why."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from devices import NVIDIA as GPU

from tilewright.core.in_place import InPlaceTranspose
from tilewright.core.kernel import KERNELS, PRELUDE, Config, Dialect, Kernel, NDRange, Step, render
from tilewright.core.operands import Layout
from tilewright.core.plan import plan_kernel, violations
from tilewright.core.problem import Copy, Gemm, Problem, StridedGemm, Transpose
from tilewright.core.problems import make_problem
from tilewright.core.source import read_source
from tilewright.core.types import ELEMENT_TYPES, FLOAT8, element_type
from tilewright.dispatch.choice import plan_copy, product_candidates
from tilewright.errors import BuildFailed, InvalidInput, LaunchFailed, NoDevice, Unsupported
from tilewright.kernels import LADDERS, find_kernel
from tilewright.kernels.copy import COPY_UNALIGNED
from tilewright.kernels.copy.copy_nd import StridedCopyND
from tilewright.kernels.peaks import CHAINS, COPY, GPU_CHAINS, GPU_COPY, GPU_LOCAL, LOCAL, Chains, LocalReads
from tilewright.kernels.product.packing import PACK
from tilewright.kernels.product.portable.config import PortableConfig
from tilewright.kernels.product.portable.kernels import SPLIT_K, TILES
from tilewright.kernels.product.symmetric import MIRROR
from tilewright.runtime.cuda import driver as cuda_driver
from tilewright.runtime.cuda.compilers import nvrtc_for
from tilewright.runtime.cuda.counterparts import CUDA_FEATURES, open_backends, without_counterpart
from tilewright.runtime.cuda.device import grid
from tilewright.runtime.cuda.information import list_devices
from tilewright.runtime.cuda.nvrtc import Nvrtc, find_nvrtc

RUNGS = [
    kernel
    for ladder in LADDERS.values()
    for kernel in ladder.with_originals
    if {feature for feature, _ in kernel.requires} <= CUDA_FEATURES - {"cpu"}
]
PEAKS: tuple[tuple[Kernel, Config, Problem], ...] = (
    (CHAINS, GPU_CHAINS, Chains(1 << 16, 64, 1, "float32")),
    (COPY, GPU_COPY, Copy(1, 1 << 16)),
    (LOCAL, GPU_LOCAL, LocalReads(1 << 16, 1 << 10, "float32")),
)


@pytest.fixture
def compiler() -> Nvrtc:
    """A test that asks for it is skipped where no NVRTC is installed."""
    return find_nvrtc("sm_90") or pytest.skip("NVRTC is not here")


def check_compiles(step: Step, architecture: str, compiler: Nvrtc) -> None:
    """AssertionError or BuildFailed with the compiler's words if a step's counterpart does not compile without a warning."""
    source = render(step.kernel, step.config, step.problem, Dialect.CUDA)
    built = compiler.compile(source, step.kernel.name, architecture)
    assert built.cubin.startswith(b"\x7fELF"), step.kernel.name
    assert not built.log, f"{step.kernel.name} for {step.problem.title}, {architecture}: {built.log}"


@pytest.mark.parametrize(
    ("architecture", "dtypes"),
    [("sm_90", ("float32", "float64", "int32")), ("sm_80", ("float32",)), ("sm_120", ("float32",))],
)
@pytest.mark.parametrize("kernel", RUNGS, ids=lambda kernel: kernel.name)
def test_every_rung_compiles(kernel: Kernel, architecture: str, dtypes: tuple[str, ...], compiler: Nvrtc) -> None:
    for dtype in set(dtypes) & set(kernel.dtypes) or {kernel.usual_dtype}:
        for step in plan_kernel(kernel, make_problem(kernel, (256,), dtype), GPU).steps:
            check_compiles(step, architecture, compiler)


PRODUCTS = ((256, 256, 256, "row", "row"), (255, 257, 13, "column", "column"), (64, 64, 8192, "row", "row"),
            (512, 1, 512, "row", "row"), (4096, 1, 4096, "column", "row"))  # fmt: skip


def library_steps(dtype: str) -> Iterator[Step]:
    """Launches of every kernel that the library has for GPUs: the first of each one's configurations that can run,
    whichever the library would choose; of float32 for each product."""
    known: set[tuple[str, ...]] = set()
    for m, n, k, a_order, b_order in PRODUCTS:
        problem = Gemm(m, n, k, dtype, a_order, b_order, out_dtype="float32" if dtype.startswith("float8") else None)
        known = set() if dtype == "float32" else known
        for kernel in product_candidates(problem, GPU):
            if any(violations(kernel, kernel.config, problem, GPU)):
                continue
            steps = kernel.steps(kernel, kernel.config, problem)
            names = tuple(step.kernel.name for step in steps)
            if names not in known:
                known.add(names)
                yield from steps
    if dtype not in FLOAT8:
        a = Layout(0, 65, 1)
        views, result = (a, a.swapped, Layout(0, 70, 1)), element_type(dtype).result
        halved = StridedGemm(70, 70, 65, dtype, views=views, out_dtype=result, symmetric=True)
        yield from TILES.steps(TILES, PortableConfig(32, 32, 16, 4, 4), halved)
    moves = (Transpose(256, 256, dtype), Transpose(255, 257, dtype), Copy(256, 64, dtype), Copy(255, 33, dtype, 1))
    many = StridedCopyND((5, 4, 3, 7), (1, 5, 20, 60), (84, 21, 7, 1), dtype)
    for move in (*moves, InPlaceTranspose(256, dtype), many):
        yield from plan_copy(move, GPU).steps


@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
def test_the_librarys_kernels_compile(dtype: str, compiler: Nvrtc) -> None:
    steps = {render(step.kernel, step.config, step.problem, Dialect.CUDA): step for step in library_steps(dtype)}
    folders = ("product", "product/portable", "product/gemv", "copy")
    files = [path for folder in folders for path in (KERNELS / folder).glob("*.cl")]
    wanted = {f"{path.parent.name}/{path.stem}" for path in files if "__kernel" in read_source(path)}
    if element_type(dtype).itemsize >= 4:
        wanted -= {COPY_UNALIGNED.name}
    if element_type(dtype).itemsize not in (4, 8):
        wanted -= {PACK.name}
    if dtype in FLOAT8:
        wanted -= {MIRROR.name}
    assert wanted == {step.kernel.name for step in steps.values()}
    for step in steps.values():
        check_compiles(step, "sm_90", compiler)
        if dtype == "float32":
            check_compiles(step, "sm_80", compiler)


def test_what_takes_all_local_memory_takes_no_more(compiler: Nvrtc) -> None:
    """ptxas refuses one byte too many."""
    problem = Gemm(16, 32, 4096, "complex128", a_order="column")
    config = PortableConfig(16, 32, 32, 4, 4, SLICED_K=4, split_k=4)
    assert config.local_bytes(problem) == GPU.local_bytes
    for step in plan_kernel(replace(SPLIT_K, config=config), problem, GPU).steps:
        check_compiles(step, "sm_90", compiler)


def test_every_instruction_of_nvidias_prelude_has_a_word_in_cudas() -> None:
    words = re.findall(r"^static inline \w+ (\w+)\(", read_source(PRELUDE / "nvidia.cl"), re.M)
    assert len(words) > 1
    assert not [word for word in words if f" {word}(" not in read_source(PRELUDE / "cuda.h")]


def test_the_peaks_compile(compiler: Nvrtc) -> None:
    for kernel, config, problem in PEAKS:
        check_compiles(Step(kernel, config, problem), "sm_90", compiler)


def test_a_counterpart_that_does_not_compile_is_reported_with_the_files_own_lines(compiler: Nvrtc) -> None:
    kernel = find_kernel("tiles/02_tiled")
    problem = make_problem(kernel, (64,), "float32")
    source = render(kernel, kernel.config, problem, Dialect.CUDA).replace("const int item_m =", "const int item_m +")
    with pytest.raises(BuildFailed, match=r"sm_90(.|\n)*tiles/02_tiled\.cl\(11\): error"):
        compiler.compile(source, kernel.name, "sm_90")


def test_a_compilation_has_machine_code_ptx_and_no_empty_log(compiler: Nvrtc) -> None:
    built = compiler.compile('extern "C" __global__ void f() {}', "f", "sm_90")
    assert built.log == ""
    assert ".entry f()" in built.ptx
    assert "\0" not in built.ptx


@pytest.mark.parametrize("architecture", ["sm_70", "sm_75", "sm_90a", "sm_120"])
def test_the_version_is_chosen_by_the_architecture(architecture: str) -> None:
    found = find_nvrtc(architecture)
    if found is None:
        pytest.skip(f"no NVRTC for {architecture} is here")
    assert int(architecture.strip("sm_a")) in found.architectures
    assert found.compile('extern "C" __global__ void f() {}', "f", architecture).cubin.startswith(b"\x7fELF")


def test_an_architecture_that_no_version_knows_is_told_what_to_install() -> None:
    assert find_nvrtc("gfx90a") is None
    with pytest.raises(NoDevice, match=r"pip install .*sm_10"):
        nvrtc_for("sm_10")


def test_options_of_opencl_compilers_are_left_out_and_macros_are_not(compiler: Nvrtc) -> None:
    text = 'extern "C" __global__ void f(int* p) { *p = WORD; }'
    assert compiler.compile(text, "f", "sm_90", ("-cl-fast-relaxed-math", "-DWORD=7")).cubin


def test_work_groups_become_blocks_and_too_many_are_told() -> None:
    assert grid(NDRange((64, 6), (16, 2)), "f") == ((4, 3, 1), (16, 2, 1))
    assert grid(NDRange((1 << 24,), (1,)), "f") == ((1 << 24, 1, 1), (1, 1, 1))
    with pytest.raises(LaunchFailed, match="65,535"):
        grid(NDRange((1, 1 << 17), (1, 1)), "f")


def test_kernels_that_only_opencl_reaches_are_refused_by_name() -> None:
    without_counterpart(find_kernel("tiles/08_shuffles"))
    foreign = Kernel(find_kernel("tiles/02_tiled").source, Config(), requires=(("wgmma", "matrix instructions"),))
    with pytest.raises(Unsupported, match="wgmma"):
        without_counterpart(foreign)


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"'vulkan'.*opencl, cuda, both"):
        open_backends("vulkan")


def test_a_machine_without_nvidias_driver_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda_driver.driver_calls.cache_clear()
    monkeypatch.setattr(cuda_driver, "LIBRARIES", ("libcuda-that-is-not-here.so.1",))
    with pytest.raises(NoDevice, match=r"libcuda-that-is-not-here"):
        list_devices()
    cuda_driver.driver_calls.cache_clear()
