"""Intel's GPUs without a GPU: rungs, products of the library and faulty kernels, compiled by ocloc."""

from pathlib import Path

import pytest
from foreign import FOLDER, launches

from tilewright.analysis.inspect import Inspection, inspect, intel
from tilewright.analysis.inspect import instruction_kinds as kinds
from tilewright.analysis.inspect.compare import compare
from tilewright.analysis.inspect.compile_and_count import find_target, inspect_step, listing_of
from tilewright.analysis.inspect.find_tools import find_ocloc
from tilewright.cli.main import main
from tilewright.core.problem import Gemm, Transpose
from tilewright.dispatch.choice import plan_copy, plan_product
from tilewright.errors import BuildFailed, Unsupported
from tilewright.kernels import find_ladder

OCLOC = find_ocloc()
needs_ocloc = pytest.mark.skipif(OCLOC is None, reason="Intel's offline compiler ocloc is not here")
SPILLING = """__kernel void f(__global float* p, int n) {
    float a[100];
    int g = get_global_id(0);
    __attribute__((opencl_unroll_hint(100))) for (int i = 0; i < 100; i++) a[i] = p[i * 1024 + g];
    for (int k = 0; k < n; k++) {
        __attribute__((opencl_unroll_hint(100))) for (int i = 0; i < 100; i++) a[i] = a[i] * p[k] + a[(i + 7) % 100];
    }
    __attribute__((opencl_unroll_hint(100))) for (int i = 0; i < 100; i++) p[i * 1024 + g] = a[i];
}"""


def counted(found: Inspection) -> Inspection:
    """The inspection, which has everything that is known of other vendors' code."""
    assert not found.missing
    assert found.form == "Xe"
    assert found.resources is not None
    assert found.resources.sub_group in (8, 16, 32)
    assert found.resources.registers in (128, 256)
    assert found.occupancy is not None
    assert found.mix is not None
    assert not found.mix.count(kinds.OTHER)
    listing = listing_of(found)
    assert listing is not None
    assert all(listing.target(each) is not None for each in listing.instructions if each.target)
    return found


@needs_ocloc
@pytest.mark.parametrize("arch", ["tgllp", "dg2", "pvc"])
def test_intels_code_of_a_register_tile(arch: str) -> None:
    found = counted(inspect("tiles/06", arch))
    assert found.resources is not None
    assert found.resources.local_bytes == 128 * 16 * 4 + 128 * (16 + 2) * 4
    assert found.loop is not None
    assert found.loop.mix.multiply_adds % 64 == 0
    assert found.loop.mix.local_loads_per_fma == 16 / 64
    assert list(found.loop.lines) == ["tiles/06_register_tile.cl"]
    assert found.occupancy is not None
    assert found.occupancy.shares == "Xe-core"


@needs_ocloc
@pytest.mark.parametrize("ladder", ["rows", "tiles", "transpose"])
def test_ocloc_takes_every_portable_rung(ladder: str) -> None:
    for kernel in find_ladder(ladder).kernels:
        if not kernel.requires:
            counted(inspect(kernel, "dg2"))


@needs_ocloc
@pytest.mark.parametrize("arch", ["dg2", "pvc"])
def test_what_the_library_plans_for_intels_gpus_compiles(arch: str) -> None:
    info = find_target(arch).info
    problems = (Gemm(33, 20, 17), Gemm(512, 512, 512), Gemm(70, 1, 40, "float16"), Transpose(70, 33, "int8"))
    for each in problems:
        plan = plan_copy(each, info) if isinstance(each, Transpose) else plan_product(each, info)
        for step in plan.steps:
            counted(inspect_step(step, arch))


@needs_ocloc
def test_double_precision_is_refused_where_the_gpu_has_none() -> None:
    with pytest.raises(Unsupported, match="dg2 has no double precision"):
        inspect("tiles/02", "dg2", dtype="float64")
    assert counted(inspect("tiles/02", "pvc", dtype="float64")).loop is not None
    (launch,) = launches("gemm_double")
    with pytest.raises(BuildFailed, match="cl_khr_fp64"):
        inspect(
            FOLDER / "gemm_double.cl", "dg2", settings=launch.macros, global_size=launch.global_size,
            local_size=launch.local_size, entry=launch.entry, arguments=launch.arguments,
        )  # fmt: skip


@needs_ocloc
def test_a_kernel_that_ocloc_refuses_gives_its_log_with_the_files_lines(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.cl"
    wrong.write_text("__kernel void wrong(__global float* A) {\n  A[0] = undefined_word;\n}\n")
    with pytest.raises(BuildFailed, match=r"wrong\.cl:2:10: error: use of undeclared identifier 'undefined_word'"):
        inspect(wrong, "dg2", global_size=(64,), local_size=(64,))


@needs_ocloc
def test_spills_of_intels_registers_are_reported() -> None:
    found = intel.compile_for_intel(SPILLING, "f", "pvc")
    assert found.resources is not None
    assert found.resources.spills or found.resources.stack_bytes >= 400
    assert "send" in found.texts["Xe"] or "load" in found.texts["Xe"]


@needs_ocloc
@pytest.mark.parametrize(("arch", "told"), [("tgllp", True), ("dg2", True), ("pvc", False)])
def test_private_arrays_in_memory_are_told_where_they_look_like_global_memory(arch: str, told: bool) -> None:
    body = "for (int i = 0; i < 300; i++) a[i] = p[i * n]; for (int i = 0; i < n; i++) p[i * n] = a[p[i]];"
    source = f"__kernel void f(__global int* p, int n) {{ int a[300]; p += get_global_id(0); {body} }}"
    found = intel.compile_for_intel(source, "f", arch)
    assert found.resources is not None
    assert found.resources.stack_bytes == 1200
    assert any("1,200 bytes of private arrays" in note for note in found.notes) == told


@needs_ocloc
def test_the_second_inspection_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    first = inspect("tiles/01", "dg2")
    monkeypatch.setattr(intel, "run_tool", None)
    assert inspect("tiles/01", "dg2") == first


@needs_ocloc
def test_intel_beside_another_architecture(capsys: pytest.CaptureFixture[str]) -> None:
    lines = compare(inspect("tiles/06", "tgllp"), inspect("tiles/06", "dg2"))
    assert any("multiply-add" in line for line in lines)
    assert main(["inspect", "tiles/02", "--arch", "dg2", "--diff", "pvc"]) == 0
    assert "for pvc" in capsys.readouterr().out
    assert main(["inspect", "tiles/02", "--arch", "dg2", "--isa"]) == 0
    assert "signal barrier" in capsys.readouterr().out


def test_a_missing_ocloc_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intel, "find_ocloc", lambda: None)
    found = inspect("tiles/01", "dg2")
    assert found.mix is None
    assert "install the package intel-ocloc" in found.missing[0]


@needs_ocloc
def test_a_gpu_that_this_ocloc_does_not_know_is_no_error() -> None:
    found = intel.compile_for_intel("__kernel void f(__global float* A) { A[0] = 1; }", "f", "no-such-gpu")
    assert not found.texts
    assert "does not know no-such-gpu" in found.missing[0]


@needs_ocloc
def test_without_a_dump_resources_are_known_all_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(intel, "_listing", lambda dumps, kernel: "")
    found = inspect("tiles/02", "dg2")
    assert found.resources is not None
    assert found.resources.local_bytes == 2 * found.group_items * 4
    assert "dumped no assembly" in found.missing[0]
