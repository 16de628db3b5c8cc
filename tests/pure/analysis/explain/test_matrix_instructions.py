"""Matrix instructions and copies of NVIDIA's in the interpreter: right results, counted requests, and faults that show."""

from pathlib import Path

import numpy as np
import pytest

from tilewright.analysis.explain import PrintedExplanation, explain_kernel, explain_source
from tilewright.analysis.explain.models import find_model
from tilewright.analysis.explain.simt.tensor_maps import encode
from tilewright.analysis.explanations import explain, what_if
from tilewright.core.kernel import PRELUDE, Kernel
from tilewright.core.problem import Gemm, random_arrays
from tilewright.core.tensor_map import TensorMap
from tilewright.errors import SourceError, Unsupported
from tilewright.kernels import find_ladder

RUNGS = find_ladder("tensor").kernels[:7]
INLINE = "#define INLINE static inline\n"  # of opencl.cl
WRAPPERS = INLINE + "".join((PRELUDE / name).read_text() for name in ("nvidia.cl", "mma.cl", "tma.cl"))
# The fragments as PTX ISA has them, for each instruction: (element type, word, depth, A's register i, B's register i).
PRODUCTS = {
    "m16n8k8_f32_tf32": ("float", "uint", 8, "A[(g + i % 2 * 8) * 8 + q + i / 2 * 4]", "B[g * 8 + q + i * 4]"),
    "m16n8k4_f64": ("double", "double", 4, "A[(g + i % 2 * 8) * 4 + q]", "B[g * 4 + q]"),
    "m16n8k16_f64": ("double", "double", 16, "A[(g + i % 2 * 8) * 16 + q + i / 2 * 4]", "B[g * 16 + q + i * 4]"),
    "m16n8k32_s32_s8": (
        "int", "uint", 32, "((const __global uint*)A)[(g + i % 2 * 8) * 8 + q + i / 2 * 4]",
        "((const __global uint*)B)[g * 8 + q + i * 4]",
    ),
}  # fmt: skip
ELEMENTS = {"float": np.float32, "double": np.float64, "int": np.int32}


@pytest.mark.parametrize("kernel", RUNGS, ids=lambda kernel: kernel.name)
def test_rungs_are_right_and_free_of_faults(kernel: Kernel) -> None:
    problem = Gemm(128, 256, 192, "float16", *kernel.orders)
    arrays = random_arrays(problem)
    (found,) = explain_kernel(kernel, problem, groups="all", arrays=arrays)
    assert [str(each) for each in found.faults] == []
    reference = problem.reference(arrays)
    result = problem.operands[2].unflatten(found.outputs["C"])
    assert (np.abs(result - reference) <= problem.error_bound(arrays, reference)).all()


def test_ldmatrix_reads_plain_rows_of_64_bytes_with_conflicts_and_swizzled_ones_without() -> None:
    conflicts = []
    for kernel in RUNGS[1:3]:
        (found,) = explain_kernel(kernel, Gemm(128, 128, 32, "float16", *kernel.orders), groups="all")
        conflicts.append(sum(each.conflicts for each in found.accesses))
    assert conflicts[0] > 0
    assert conflicts[1] == 0


def product_of(instruction: str) -> tuple[PrintedExplanation, np.ndarray, np.ndarray]:
    kind, word, depth, a, b = PRODUCTS[instruction]
    element = "char" if instruction.endswith("s8") else kind
    bits = "as_uint" if word == "uint" and element == "float" else ""
    width = 4 if element == "char" else 1
    source = f"""{WRAPPERS}
    __kernel void k(const __global {element}* A, const __global {element}* B, __global {kind}* C) {{
        const int g = get_local_id(0) / 4, q = get_local_id(0) % 4;
        {word} a[{depth // width // 2}], b[{depth // width // 4}];
        {kind} sum[4] = {{1, 2, 3, 4}};
        for (int i = 0; i < {depth // width // 2}; i++) a[i] = {bits}({a});
        for (int i = 0; i < {depth // width // 4}; i++) b[i] = {bits}({b});
        mma_sync_{instruction}(sum, a, b);
        for (int i = 0; i < 4; i++) C[(g + i / 2 * 8) * 8 + 2 * q + i % 2] = sum[i];
    }}"""
    chance = np.random.default_rng(1)
    dtype = np.int8 if element == "char" else ELEMENTS[kind]
    first, second = (chance.integers(-100, 100, (rows, depth)).astype(dtype) for rows in (16, 8))
    found = explain_source(
        source, global_size=(32,), local_size=(32,),
        arguments={"A": first, "B": second, "C": np.zeros((16, 8), ELEMENTS[kind])},
    )  # fmt: skip
    return found, first, second


@pytest.mark.parametrize("instruction", PRODUCTS)
def test_each_product_takes_its_fragments(instruction: str) -> None:
    found, first, second = product_of(instruction)
    started = np.where(np.arange(8) % 2, 2, 1) + np.where(np.arange(16) < 8, 0, 2)[:, None]
    assert not found.findings
    assert (found.outputs["C"] == started + first.astype(np.int64) @ second.astype(np.int64).T).all()


COPY = """__kernel void k(const __global uint* from, __global uint* to) {
    __local uint tile[128] __attribute__((aligned(16)));
    const int i = get_local_id(0);
    cp_async_cg_16(local_address(tile + 4 * i), from + 4 * i, 16);
    cp_async_commit_group();
    WAIT
    barrier(CLK_LOCAL_MEM_FENCE);
    to[i] = tile[127 - i];
}"""


@pytest.mark.parametrize(("wait", "kinds"), [("cp_async_wait_group(0);", []), ("", ["uninitialised read"])])
def test_a_missing_wait_for_a_copy_shows(wait: str, kinds: list[str]) -> None:
    arrays = {"from": np.arange(128, dtype=np.uint32), "to": np.zeros(32, np.uint32)}
    found = explain_source(WRAPPERS + COPY.replace("WAIT", wait), global_size=(32,), local_size=(32,), arguments=arrays)
    assert [each.kind for each in found.faults] == kinds
    assert wait == "" or (found.outputs["to"] == np.arange(127, 95, -1)).all()


HALF_A_WARP = """__kernel void k(__global float* C) {
    float sum[4] = {0}; uint a[4] = {0}, b[2] = {0};
    if (get_local_id(0) < 16)
        mma_sync_m16n8k16_f32_f16(sum, a, b);
    C[get_local_id(0)] = sum[0];
}"""


def test_a_product_of_half_a_warp_is_a_fault() -> None:
    arrays = {"C": np.zeros(32, np.float32)}
    found = explain_source(WRAPPERS + HALF_A_WARP, global_size=(32,), local_size=(32,), arguments=arrays)
    assert [each.kind for each in found.faults] == ["divergent collective"]
    assert "mma_sync_m16n8k16_f32_f16" in found.faults[0].text


def test_warps_are_nvidias() -> None:
    arrays = {"C": np.zeros(64, np.float32)}
    with pytest.raises(SourceError, match="sub-groups of 64 in work-groups of 64"):
        explain_source(
            WRAPPERS + HALF_A_WARP, global_size=(64,), local_size=(64,), arguments=arrays, model=find_model("amd64")
        )


BOX = """__kernel void k(const __global half* A, __global ushort* to, __global ulong* map) {
    __local ushort tile[8][64] __attribute__((aligned(1024)));
    __local ulong full[1];
    const int i = get_local_id(0);
    if (i == 0) {
        mbarrier_init(local_address(full), 1);
        fence_mbarrier_init();
        tensormap_address(map, (ulong)A);
        mbarrier_arrive_expect_tx(local_address(full), sizeof(tile));
        cp_async_bulk_tensor_2d(local_address(tile), map, 64, 4, local_address(full));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    WAIT
    for (int at = i; at < 512; at += 32)
        to[at] = tile[at / 64][at % 64];
}"""


def copied_box(wait: str, swizzle: int) -> PrintedExplanation:
    """A box of 8 x 64 at row 4 and column 64 of a matrix of 8 x 128: its last four rows lie outside."""
    words = encode(TensorMap("float16", (128, 8), (256,), (64, 8), swizzle), "map")
    arrays: dict[str, np.ndarray] = {
        "A": np.arange(1024, dtype=np.uint16).view(np.float16),
        "to": np.zeros(512, np.uint16),
        "map": words,
    }
    return explain_source(
        WRAPPERS + BOX.replace("WAIT", wait), global_size=(32,), local_size=(32,), arguments=arrays, typed=False
    )


@pytest.mark.parametrize("swizzle", [0, 128])
def test_tma_copies_a_box_and_zeros_beyond_the_matrix(swizzle: int) -> None:
    found = copied_box("mbarrier_wait(local_address(full), 0);", swizzle)
    assert not found.findings
    expected = np.zeros((8, 64), np.uint16)
    for row in range(4):
        for column in range(64):
            place = column ^ (row % 8 * 8) if swizzle else column
            expected[row, place] = (row + 4) * 128 + 64 + column
    assert (found.outputs["to"].reshape(8, 64) == expected).all()
    (load,) = (each for each in found.accesses if each.buffer == "A")
    assert (load.requests, load.cost, load.useful_bytes) == (4, 16, 4 * 128)


def test_a_missing_wait_for_tma_shows() -> None:
    assert {each.kind for each in copied_box("", 128).faults} == {"uninitialised read"}


def test_a_phase_that_nobody_ends_is_an_error() -> None:
    with pytest.raises(SourceError, match="1 arrivals and 0 bytes are missing"):
        copied_box("mbarrier_wait(local_address(full), 0); mbarrier_wait(local_address(full), 1);", 128)


def test_warps_that_wait_for_another_branch_are_refused_by_a_sentence() -> None:
    kernel = RUNGS[6]
    with pytest.raises(SourceError, match="branches one after the other"):
        explain_kernel(kernel, Gemm(128, 256, 384, "float16", *kernel.orders))


def test_tensor_maps_of_three_dimensions_are_refused_by_a_sentence() -> None:
    with pytest.raises(Unsupported, match="3 dimensions"):
        encode(TensorMap("float16", (64, 8, 2), (128, 1024), (64, 8, 1), 128), "map_a")


def test_the_best_pitch_counts_loads_and_stores_as_often_as_they_are_made() -> None:
    """A store that gets dearer may pay, if the loads that get cheaper are more: what the sweep finds is what is advised."""
    advice = str(explain("tensor/02"))
    assert "no pitch frees all accesses of tile_a: 40 would be best for them together" in advice
    counts = what_if("tensor/02", pitches={"tile_a": (32, 40, 48)})
    costs = {
        dict(each.settings)["pitch of tile_a"]: each.totals.wavefronts
        for each in counts.answers
        if each.totals is not None
    }
    assert min(costs, key=lambda pitch: costs[pitch]) == "40"


def test_a_buffer_that_is_no_tensor_map_is_refused_by_a_sentence(tmp_path: Path) -> None:
    kernel = tmp_path / "k.cl"
    kernel.write_text(
        "__kernel void k(const __global float* map, __global float* b) {\n"
        "__local float tile[32]; mbarrier_init(0, 1); tensormap_address(map, (ulong)b);\n"
        "cp_async_bulk_tensor_2d(0, map, 0, 0, 0); tile[get_local_id(0)] = b[get_local_id(0)]; b[0] = tile[0]; }\n"
    )
    with pytest.raises(SourceError, match="this pointer is no tensor map"):
        explain(kernel, global_size=(32,), local_size=(32,))
