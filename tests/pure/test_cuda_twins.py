"""Every kernel's CUDA twin compiles, by NVRTC without a GPU, for several architectures; what is said where there is none."""

import re
from collections.abc import Iterator

import pytest

from tilewright.backend import cuda
from tilewright.backend.nvrtc import compile_program, compiler_version
from tilewright.backend.twins import CUDA_FEATURES, open_backends, without_twin
from tilewright.choice import plan_move, product_candidates
from tilewright.device import DeviceInfo
from tilewright.dtypes import ELEMENT_TYPES
from tilewright.errors import BuildFailed, InvalidInput, LaunchFailed, NoDevice, Unsupported
from tilewright.kernel import KERNELS, PRELUDE, Config, Dialect, Kernel, NDRange, Step, read_source, render
from tilewright.kernels import LADDERS, find_kernel
from tilewright.kernels.peaks import CHAINS, COPY, GPU_CHAINS, GPU_COPY, GPU_LOCAL, LOCAL, Chains, LocalReads
from tilewright.ladders import make_problem
from tilewright.plan import plan_kernel, violations
from tilewright.problem import Copy, Gemm, Problem, Transpose
from tilewright.stacks import InPlaceTranspose

GPU = DeviceInfo(
    "a GPU",
    "NVIDIA CUDA",
    kind="gpu",
    compute_units=132,
    max_work_group_size=1024,
    max_work_item_sizes=(1024, 1024, 64),
    local_bytes=48 << 10,
    global_bytes=1 << 36,
    max_alloc_bytes=1 << 35,
    sub_group_width=32,
    compute_capability=(9, 0),
    fp64=True,
    features=frozenset({"gpu", "nvidia"}),
)
RUNGS = [
    kernel
    for ladder in LADDERS.values()
    for kernel in ladder.kernels
    if {feature for feature, _ in kernel.requires} <= CUDA_FEATURES - {"cpu"}
]
PEAKS: tuple[tuple[Kernel, Config, Problem], ...] = (
    (CHAINS, GPU_CHAINS, Chains(1 << 16, 64, 1, "float32")),
    (COPY, GPU_COPY, Copy(1, 1 << 16)),
    (LOCAL, GPU_LOCAL, LocalReads(1 << 16, 1 << 10, "float32")),
)


@pytest.fixture
def compiler() -> str:
    """NVRTC's version; a test that asks for it is skipped where the extra `cuda` is not installed."""
    try:
        return compiler_version()
    except NoDevice as missing:
        pytest.skip(str(missing))


def check_compiles(step: Step, architecture: str) -> None:
    """AssertionError or BuildFailed with the compiler's words if a step's twin does not compile without a warning."""
    source = render(step.kernel, step.config, step.problem, Dialect.CUDA)
    code, log = compile_program(source, step.kernel.name, architecture)
    assert code.startswith(b"\x7fELF"), step.kernel.name
    assert not log, f"{step.kernel.name} for {step.problem.title}, {architecture}: {log}"


@pytest.mark.parametrize(
    ("architecture", "dtypes"),
    [("sm_90", ("float32", "float64", "int32")), ("sm_80", ("float32",)), ("sm_120", ("float32",))],
)
@pytest.mark.parametrize("kernel", RUNGS, ids=lambda kernel: kernel.name)
def test_every_rung_compiles(kernel: Kernel, architecture: str, dtypes: tuple[str, ...], compiler: str) -> None:
    for dtype in set(dtypes) & set(kernel.dtypes):
        for step in plan_kernel(kernel, make_problem(kernel, (256,), dtype), GPU).steps:
            check_compiles(step, architecture)


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
    moves = (Transpose(256, 256, dtype), Transpose(255, 257, dtype), Copy(255, 33, dtype), InPlaceTranspose(256, dtype))
    for move in moves:
        yield from plan_move(move, GPU).steps


@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
def test_the_librarys_kernels_compile(dtype: str, compiler: str) -> None:
    steps = {render(step.kernel, step.config, step.problem, Dialect.CUDA): step for step in library_steps(dtype)}
    files = [path for folder in ("gemm", "moves") for path in (KERNELS / folder).glob("*.cl")]
    wanted = {f"{path.parent.name}/{path.stem}" for path in files if "__kernel" in read_source(path)}
    assert wanted == {step.kernel.name for step in steps.values()}
    for step in steps.values():
        check_compiles(step, "sm_90")
        if dtype == "float32":
            check_compiles(step, "sm_80")


def test_every_instruction_of_nvidias_prelude_has_a_word_in_cudas() -> None:
    words = re.findall(r"^static inline \w+ (\w+)\(", read_source(PRELUDE / "nvidia.cl"), re.M)
    assert len(words) > 1
    assert not [word for word in words if f" {word}(" not in read_source(PRELUDE / "cuda.h")]


def test_the_peaks_compile(compiler: str) -> None:
    for kernel, config, problem in PEAKS:
        check_compiles(Step(kernel, config, problem), "sm_90")


def test_a_twin_that_does_not_compile_is_reported_with_the_files_own_lines(compiler: str) -> None:
    kernel = find_kernel("tiles/02_tiled")
    problem = make_problem(kernel, (64,), "float32")
    source = render(kernel, kernel.config, problem, Dialect.CUDA).replace("const int item_m =", "const int item_m +")
    with pytest.raises(BuildFailed, match=r"sm_90(.|\n)*tiles/02_tiled\.cl\(11\): error"):
        compile_program(source, kernel.name, "sm_90")


def test_the_compilers_empty_log_leaves_pythons_own_bytes_alone(compiler: str) -> None:
    code, log = compile_program('extern "C" __global__ void f() {}', "f", "sm_90")
    assert code
    assert not log
    assert bytes([32])[0] == 32  # one object for the whole interpreter
    assert bytes([0])[0] == 0


def test_options_of_opencl_compilers_are_left_out_and_macros_are_not(compiler: str) -> None:
    text = 'extern "C" __global__ void f(int* p) { *p = WORD; }'
    code, _ = compile_program(text, "f", "sm_90", ("-cl-fast-relaxed-math", "-DWORD=7"))
    assert code


def test_work_groups_become_blocks_and_too_many_are_told() -> None:
    assert cuda.grid(NDRange((64, 6), (16, 2)), "f") == ((4, 3, 1), (16, 2, 1))
    assert cuda.grid(NDRange((1 << 24,), (1,)), "f") == ((1 << 24, 1, 1), (1, 1, 1))
    with pytest.raises(LaunchFailed, match="65,535 work-groups along dimensions 1 and 2"):
        cuda.grid(NDRange((1, 1 << 17), (1, 1)), "f")


def test_kernels_that_only_opencl_reaches_are_refused_by_name() -> None:
    without_twin(find_kernel("tiles/08_shuffles"))
    foreign = Kernel(find_kernel("tiles/02_tiled").source, Config(), requires=(("wgmma", "matrix instructions"),))
    with pytest.raises(Unsupported, match="has no CUDA twin: it uses wgmma"):
        without_twin(foreign)


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'vulkan' is none of opencl, cuda, both"):
        open_backends("vulkan")


def test_a_missing_extra_is_one_sentence_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from tilewright.backend import cuda_calls

    cuda_calls.libraries.cache_clear()
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(NoDevice, match=r"pip install 'tilewright\[cuda\]'"):
        cuda.list_devices()
    cuda_calls.libraries.cache_clear()
