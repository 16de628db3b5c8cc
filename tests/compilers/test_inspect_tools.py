"""Inspection off the device: with the tools that are here, and what is said of those that are not."""

from pathlib import Path

import msgspec
import pytest
from says import says

from tilewright.analysis.inspect import Inspection, amd, inspect, nvidia, x86, x86_code
from tilewright.analysis.inspect import find_tools as tools
from tilewright.analysis.inspect import instruction_kinds as kinds
from tilewright.analysis.inspect.compare import compare
from tilewright.analysis.inspect.compile_and_count import find_target
from tilewright.analysis.inspect.elf import Function, read_functions, read_sections
from tilewright.analysis.inspect.record import load_inspection
from tilewright.cli.main import main
from tilewright.core.records import save_record
from tilewright.errors import BuildFailed, InvalidInput, RecordError, UnknownName, Unsupported
from tilewright.kernels import find_ladder
from tilewright.runtime.cuda.nvrtc import find_nvrtc
from tools.pages.refresh import refresh

needs_clang = pytest.mark.skipif(tools.find_clang() is None, reason="clang 19 or later is not here")
needs_nvrtc = pytest.mark.skipif(find_nvrtc("sm_90") is None, reason="NVRTC is not here")
needs_nvdisasm = pytest.mark.skipif(tools.find_nvidia_tool("nvdisasm") is None, reason="nvdisasm is not here")


def inspected(rung: str, arch: str, **settings: int) -> Inspection:
    return inspect(rung, arch, settings=settings)


@needs_nvrtc
@needs_nvdisasm
def test_nvidias_code_of_a_register_tile() -> None:
    found = inspected("tiles/06", "sm_90")
    assert found.form == "SASS"
    assert found.resources is not None
    assert not found.resources.spills
    assert 100 < found.resources.registers <= 255
    assert found.resources.local_bytes == 128 * 16 * 4 + 128 * (16 + 2) * 4
    assert found.loop is not None
    # 8 x 8 products take 8 + 8 values, and hardly anything else.
    assert found.loop.mix.count(kinds.FMA) % 64 == 0
    assert found.loop.mix.local_loads_per_fma == 16 / 64
    assert (found.loop.mix.integer_per_fma or 0) < 0.25
    assert found.occupancy is not None
    assert found.occupancy.limiter == "registers"
    assert list(found.loop.lines) == ["tiles/06_register_tile.cl"]


@needs_nvrtc
@pytest.mark.parametrize("word", ["local", "__local"])
def test_a_tile_lies_in_local_memory_by_either_word(word: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.cl"
    file.write_text(
        f"kernel void mine(global const float* x, global float* y) {{ {word} float tile[256]; int t = get_local_id(0);"
        " tile[t] = x[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);"
        f" const {word} float* row = tile; y[get_global_id(0)] = row[255 - t]; }}\n"
    )
    found = inspect(str(file), "sm_90", global_size=1024, local_size=256)
    assert found.resources is not None
    assert found.resources.local_bytes == 1024


@needs_clang
@pytest.mark.parametrize("arch", ["gfx90a", "gfx1100"])
def test_amds_code_of_a_register_tile(arch: str) -> None:
    found = inspected("tiles/06", arch)
    assert found.form == "ISA"
    assert found.resources is not None
    assert not found.resources.spills
    assert found.loop is not None
    assert found.loop.mix.multiply_adds % 64 == 0
    assert found.loop.mix.count(kinds.FMA) > found.loop.mix.count(kinds.INTEGER)


@needs_clang
@pytest.mark.parametrize("ladder", ["rows", "tiles", "transpose"])
def test_amds_compiler_takes_every_portable_rung(ladder: str) -> None:
    for kernel in find_ladder(ladder).kernels:
        if not kernel.requires:
            found = inspect(kernel, "gfx1100")
            assert found.mix is not None
            assert not found.mix.count(kinds.OTHER)


@needs_clang
def test_a_builtin_function_that_clang_has_not_is_named(tmp_path: Path) -> None:
    with pytest.raises(BuildFailed, match="'intel_sub_group_block_read'"):
        amd.compile_for_amd(
            "__kernel void f(__global uint* A) { A[0] = intel_sub_group_block_read(A); }", "f", "gfx90a"
        )


@needs_clang
@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("A[0] = lgamma(A[0]);", "__ocml_lgamma_f32"),
        ("A[0] = exp((double)A[0]);", "__ocml_exp_f64"),
        ("hidden(A);", "hidden"),
        ("A[0] = read_imagef(image, (int2)(0, 1)).x;", "read_imagef"),
    ],
)
def test_functions_that_stay_calls_are_named(body: str, name: str) -> None:
    source = (
        f"void hidden(__global float* A);\n__kernel void f(__global float* A, read_only image2d_t image) {{ {body} }}"
    )
    found = amd.compile_for_amd(source, "f", "gfx90a")
    assert found.resources is None
    assert any(name in note for note in found.notes)


@needs_nvrtc
def test_a_kernel_that_does_not_compile_gives_the_log() -> None:
    with pytest.raises(BuildFailed, match="undefined_word"):
        nvidia.compile_for_nvidia('extern "C" __global__ void f() { undefined_word; }', "f", "sm_90")


@needs_nvrtc
def test_spills_are_reported() -> None:
    read = "float a[160]; for (int i = 0; i < 160; i++) a[i] = p[i * 1024 + threadIdx.x];"
    change = "for (int k = 0; k < n; k++) for (int i = 0; i < 160; i++) a[i] = a[i] * p[k] + a[(i + 7) % 160];"
    write = "for (int i = 0; i < 160; i++) p[i * 1024 + threadIdx.x] = a[i];"
    body = "\n".join((read, change, write)).replace("for (int i", "\n#pragma unroll\nfor (int i")
    source = f'extern "C" __global__ void __launch_bounds__(1024) f(float* p, int n) {{ {body} }}'
    found = nvidia.compile_for_nvidia(source, "f", "sm_90")
    assert found.resources is not None
    assert found.resources.registers <= 64
    assert found.resources.spills
    assert found.resources.stack_bytes >= 4 * (160 - 64)


@needs_nvrtc
def test_settings_change_the_configuration() -> None:
    small = inspected("tiles/02", "sm_90", BM=16, BN=16, BK=16)
    assert small.group_items == 256
    assert small.resources is not None
    assert small.resources.local_bytes == 2 * 16 * 16 * 4


def test_settings_that_a_rung_does_not_have_are_refused() -> None:
    with pytest.raises(UnknownName, match="SIZE"):
        inspected("tiles/02", "sm_90", SIZE=3)


def test_an_architecture_that_is_not_in_the_tables_is_refused() -> None:
    for name in ("sm_35", "gfx700", "avr"):
        with pytest.raises(UnknownName, match=name):
            find_target(name)


def test_a_rung_of_nvidias_is_refused_elsewhere_with_the_reason() -> None:
    with pytest.raises(Unsupported, match=r"nvidia.*gfx90a"):
        inspected("tiles/08", "gfx90a")


def test_what_missing_tools_would_add(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(amd, "find_clang", lambda: None)
    monkeypatch.setattr(x86, "find_clang", lambda: None)
    monkeypatch.setattr(nvidia, "find_nvrtc", lambda architecture: None)
    monkeypatch.setattr("tilewright.analysis.inspect.compile_and_count.list_devices", lambda: ())
    cases = (("tiles/01", "sm_90", "inspect-nv"), ("tiles/01", "gfx90a", "inspect-amd"), ("cpu/02", "x86-64-v4", "cpu"))
    for rung, arch, extra in cases:
        found = inspected(rung, arch)
        assert found.form == ""
        assert found.mix is None
        assert len(found.missing) == 1
        assert f"[{extra}]'" in found.missing[0]
        assert "missing:" in str(found)


@needs_nvrtc
def test_without_a_disassembler_ptx_is_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(nvidia, "find_nvidia_tool", lambda name: None)
    found = inspected("tiles/02", "sm_90")
    assert found.form == "PTX"
    assert found.loop is not None
    assert found.loop.mix.count(kinds.FMA) == 32
    assert says(found.missing[0], "nvdisasm")
    assert found.resources is not None
    assert not list(tmp_path.rglob("*.bin"))  # the tool may be there next time


def test_without_capstone_the_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "capstone", None)
    with pytest.raises(Unsupported, match="capstone"):
        x86_code.disassembly(Function("f", b"\xc3", 0))


@needs_clang
def test_clang_refuses_barriers_on_a_cpu_and_compiles_without(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("capstone")
    monkeypatch.setattr("tilewright.analysis.inspect.compile_and_count.list_devices", lambda: ())
    assert "barriers" in inspected("tiles/02", "x86-64-v4").missing[0]
    found = inspected("cpu/02", "x86-64-v4")
    assert found.loop is not None
    assert found.loop.mix.multiply_adds % 16 == 0
    assert "single work-item" in found.notes[0]


def test_the_report_of_ptxas() -> None:
    log = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'other' for 'sm_90'
ptxas info    : Used 9 registers, used 0 barriers
ptxas info    : Compiling entry function 'gemm' for 'sm_90'
ptxas info    : Function properties for gemm
    8 bytes stack frame, 744 bytes spill stores, 900 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 2112 bytes smem, 392 bytes cmem[0]
"""
    found = nvidia.read_report(log, "gemm")
    assert found is not None
    assert (found.registers, found.local_bytes, found.stack_bytes) == (64, 2112, 8)
    assert found.spilled == {"bytes stored": 744, "bytes loaded": 900}
    assert nvidia.read_report("nothing of it", "gemm") is None


def test_an_inspection_goes_to_json_and_back(tmp_path: Path) -> None:
    found = inspected("tiles/02", "gfx90a")
    save_record(found, tmp_path / "one.json")
    assert load_inspection(tmp_path / "one.json") == found
    (tmp_path / "two.json").write_bytes(msgspec.json.encode({"kernel": 3}))
    with pytest.raises(RecordError, match=r"two\.json"):
        load_inspection(tmp_path / "two.json")


@needs_clang
def test_two_architectures_side_by_side() -> None:
    lines = compare(inspected("tiles/06", "gfx90a"), inspected("tiles/06", "gfx1100"))
    assert any(line.split()[:1] == ["registers"] for line in lines)
    assert any("limited by" in line for line in lines)
    assert any("multiply-add" in line for line in lines)


def test_files_that_are_no_elf() -> None:
    with pytest.raises(InvalidInput, match="ELF"):
        read_sections(b"poclbin\0")
    with pytest.raises(InvalidInput, match="ELF"):
        read_functions(b"")


@needs_clang
def test_a_pages_inspections_are_made_again(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    marks = ("tiles/02 gfx90a", "tiles/02 gfx90a gfx1100", "ladder transpose gfx1100")
    page.write_text("".join(f"# one\n<!-- inspect: {mark} -->\nold\n<!-- end inspect -->\n" for mark in marks))
    assert refresh(page) == 3
    text = page.read_text(encoding="utf-8")
    assert "old" not in text
    assert "limited by" in text
    assert "| transpose/05_tiled |" in text
    assert refresh(page) == 3
    assert page.read_text(encoding="utf-8") == text


@needs_clang
def test_the_command_offline(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["inspect", "tiles/02", "--arch", "gfx90a"]) == 0
    assert "CDNA 2" in capsys.readouterr().out
    assert main(["inspect", "tiles/02", "--arch", "gfx90a", "--isa"]) == 0
    assert "s_endpgm" in capsys.readouterr().out
    assert main(["inspect", "tiles/02", "--arch", "gfx90a", "--diff", "BM=8,BN=8,BK=8"]) == 0
    assert "BK=8" in capsys.readouterr().out
    assert main(["inspect", "tiles/02", "--arch", "gfx90a", "--sass"]) == 1
    assert says(capsys.readouterr().err, "SASS")
    assert main(["inspect", "tiles/02", "--arch", "sm_1"]) == 2
    assert main(["inspect", "tiles/02", "--arch", "gfx90a", "-D", "B K=8"]) == 2
    own = tmp_path / "own.cl"
    own.write_text("__kernel void own(const int M, __global float* C) { C[get_global_id(0)] = TS * M; }")
    assert main(["inspect", str(own), "--arch", "gfx90a", "-D", "TS=4", "--local", "64"]) == 0
    assert "64 work-items" in capsys.readouterr().out
