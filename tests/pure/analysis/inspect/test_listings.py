"""The parsers of machine code, on listings of the project's own kernels; what they count is checked against the text."""

import re

import pytest
from paths import DATA, ROOT

from tilewright.analysis.inspect import instruction_kinds as kinds
from tilewright.analysis.inspect.counts import Mix, mix_of
from tilewright.analysis.inspect.gcn import metadata, parse_gcn
from tilewright.analysis.inspect.loops import loops_of, main_loop
from tilewright.analysis.inspect.machine_code import Listing, calls, places
from tilewright.analysis.inspect.ptx import parse_ptx
from tilewright.analysis.inspect.sass import counters, parse_sass
from tilewright.analysis.inspect.x86_code import effects, frame_bytes, parse_x86, vector_registers


def text(name: str) -> str:
    return (DATA / name).read_text(encoding="utf-8")


def working(listing: Listing) -> Mix:
    loop = main_loop(loops_of(listing))
    assert loop is not None
    return mix_of(loop.instructions)


@pytest.fixture
def hopper() -> Listing:
    return parse_sass(text("tiles_02.sm_90.sass"), "gemm")


def test_sass_counts_every_instruction_of_the_listing_once(hopper: Listing) -> None:
    written = len(re.findall(r"^\s+/\*[0-9a-f]{4}\*/", text("tiles_02.sm_90.sass"), re.M))
    assert len(hopper.instructions) == written
    assert not mix_of(hopper.instructions).count(kinds.OTHER)


def test_the_inner_loop_of_tiles_of_32_has_32_multiply_adds_and_their_operands(hopper: Listing) -> None:
    mix = working(hopper)
    assert mix.count(kinds.FMA) == mix.multiply_adds == 32
    # 32 values of A, a column each, one by one; 32 values of B, a row, four by four.
    assert mix.effects["local load 32"] == 32
    assert mix.effects["local load 128"] == 8
    assert mix.effects["local store 32"] == mix.effects["global load 32"] == 2
    assert mix.count(kinds.BARRIER) == 2
    assert mix.local_loads_per_fma == 40 / 32
    assert mix.integer_per_fma == mix.count(kinds.INTEGER) / 32


def test_the_old_counters_of_the_kernel_and_of_its_loop(hopper: Listing) -> None:
    whole, loop = counters(mix_of(hopper.instructions).opcodes), counters(working(hopper).opcodes)
    assert whole == {"FFMA": 32, "LDS": 40, "STS": 2, "SHFL": 0, "LD": 2, "ST": 1, "MOV": whole["MOV"]}
    assert loop == {"FFMA": 32, "LDS": 40, "STS": 2, "SHFL": 0, "LD": 2, "ST": 0, "MOV": loop["MOV"]}
    spelled = re.findall(r" (MOV|MOV\.\w+|IMAD\.MOV\.U32) ", text("tiles_02.sm_90.sass"))
    assert whole["MOV"] == len(spelled)


def test_places_are_lines_of_the_kernel_and_not_of_what_it_inlines(hopper: Listing) -> None:
    loop = main_loop(loops_of(hopper))
    assert loop is not None
    (file, (first, last)) = places(loop.instructions).popitem()
    assert file == "tiles/02_tiled.cl"
    source = (ROOT / "src/tilewright/kernels/ladders/tiles/02_tiled.cl").read_text(encoding="utf-8")
    body = source.splitlines()[first - 1 : last]
    assert sum("barrier(" in line for line in body) == 2


def test_blackwell_listings_have_conditional_jumps_without_a_guard() -> None:
    listing = parse_sass(text("rows_03.sm_120.sass"), "gemm")
    uniform = [each for each in listing.instructions if each.opcode.startswith("BRA.U")]
    assert uniform
    assert {each.flow for each in uniform} == {kinds.BRANCH}
    loops = loops_of(listing)
    assert len(loops) == 1  # the other lengths of the sum are straight code
    mix = working(listing)
    assert mix.count(kinds.FMA) * 2 == mix.count(kinds.GLOBAL_LOAD) > 0  # two operands each, unrolled
    assert "global load 32" in mix.effects


@pytest.mark.parametrize(
    ("opcode", "name"),
    [
        ("LDG.E.128.CONSTANT R4, desc[UR4][R2.64]", "global load 128"),
        ("LDG.E.LTC128B R4, [R2]", "global load 32"),
        ("LDG.E.U16 R4, desc[UR4][R2.64]", "global load 16"),
        ("LDS.64 R4, [R2]", "local load 64"),
        ("LDSM.16.M88.4 R4, [R2]", "local load 128"),
        ("LDGSTS.E.BYPASS.LTC128B.128 [R3], [R2.64]", "global to local copy 128"),
        ("STL.64 [R1], R4", "private store 64"),
        ("HMMA.1688.F32.TF32 R4, R8, R12, R4", "matrix"),
        ("HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24", "matrix"),
        ("SHFL.IDX PT, R3, R4, R5, 0x1f", "shuffle"),
        ("IMAD.MOV.U32 R7, RZ, RZ, R3", "move"),
        ("IMAD.WIDE R2, R7, 0x4, R4", "integer"),
        ("HFMA2.MMA R5, -RZ, RZ, 0, 0", "move"),
        ("HFMA2 R5, R4, R3, R5", "multiply-add"),
        ("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3", "wait"),
        ("UTMALDG.2D [UR8], [UR4]", "global to local copy"),
        ("BAR.SYNC.DEFER_BLOCKING 0x0", "barrier"),
        ("MUFU.EX2 R3, R4", "other float"),
    ],
)
def test_what_nvidias_opcodes_do(opcode: str, name: str) -> None:
    (instruction,) = parse_sass(f"        /*0000*/                   {opcode} ;").instructions
    assert [effect.name for effect in instruction.effects] == [name]


def test_cuobjdumps_way_of_printing_is_read_too() -> None:
    dumped = """
                Function : other
        /*0000*/                   EXIT ;
                Function : gemm
        /*0000*/                   MOV R1, c[0x0][0x28] ;                  /* 0x00000a0000017a02 */
        /*0010*/                   FFMA R2, R3, R4, R2 ;                   /* 0x0000000403027223 */
        /*0020*/               @P0 BRA 0x10 ;                              /* 0xfffffff000000947 */
        /*0030*/                   EXIT ;                                  /* 0x000000000000794d */
        /*0040*/                   BRA 0x40;                               /* 0xfffffff000007947 */
    """
    listing = parse_sass(dumped, "gemm")
    assert [each.opcode for each in listing.instructions] == ["MOV", "FFMA", "BRA", "EXIT", "BRA"]
    (loop,) = loops_of(listing)
    assert [each.opcode for each in loop.instructions] == ["FFMA", "BRA"]


def test_ptx_counts_the_same_multiply_adds_and_loads() -> None:
    listing = parse_ptx(text("tiles_02.sm_70.ptx"), "gemm")
    mix = working(listing)
    assert mix.count(kinds.FMA) == 32
    assert mix.count(kinds.LOCAL_LOAD) == mix.effects["local load 32"] == 64  # PTX does not yet join them
    assert mix.count(kinds.BARRIER) == 2
    assert not mix_of(listing.instructions).count(kinds.OTHER)


@pytest.mark.parametrize("arch", ["gfx90a", "gfx1100"])
def test_amds_listing_ends_with_the_kernel(arch: str) -> None:
    listing = parse_gcn(text(f"tiles_02.{arch}.s"), "gemm")
    mix = mix_of(listing.instructions)
    assert listing.instructions[-1].opcode in ("s_endpgm", "s_branch", "s_nop")
    assert mix.multiply_adds == mix.count(kinds.FMA) == 16  # a tile of 16 x 16: its depth is unrolled
    assert mix.count(kinds.BARRIER) == 2
    assert not mix.count(kinds.OTHER)
    assert not calls(listing)


def test_amds_loop_and_its_two_operations_in_one_instruction() -> None:
    old, new = (working(parse_gcn(text(f"tiles_02.{arch}.s"), "gemm")) for arch in ("gfx90a", "gfx1100"))
    for mix in (old, new):
        assert mix.count(kinds.FMA) == 16
        assert mix.effects["global load 32"] == 2
        assert mix.count(kinds.LOCAL_STORE) == 2
    dual = "v_dual_fmac_f32 v1, v2, v3 :: v_dual_fmac_f32 v4, v5, v6"
    (instruction,) = parse_gcn(f"gemm:\n\t{dual}\n.Lfunc_end0:\n", "gemm").instructions
    assert sum(effect.scalars for effect in instruction.effects) == 2


@pytest.mark.parametrize(
    ("opcode", "name"),
    [
        ("global_load_dwordx4 v[0:3], v[4:5], off", "global load 128"),
        ("global_load_b128 v[0:3], v[4:5], off", "global load 128"),
        ("global_load_ushort v0, v[4:5], off", "global load 16"),
        ("ds_read2_b32 v[0:1], v2 offset1:1", "local load 64"),
        ("ds_load_2addr_b64 v[0:3], v2 offset1:1", "local load 128"),
        ("ds_write_b128 v2, v[4:7]", "local store 128"),
        ("buffer_store_dword v0, off, s[0:3], 0 offset:4", "private store 32"),
        ("scratch_load_b32 v0, off, off", "private load 32"),
        ("s_load_dwordx8 s[8:15], s[4:5], 0x0", "constant load 256"),
        ("v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]", "matrix"),
        ("v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", "matrix"),
        ("v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[0:1]", "multiply-add"),
        ("v_fmac_f32_e32 v0, v1, v2", "multiply-add"),
        ("v_add_f32_e32 v0, v1, v2", "other float"),
        ("v_lshl_add_u32 v0, v1, 2, v3", "integer"),
        ("v_cvt_f32_i32_e32 v0, v1", "convert"),
        ("ds_bpermute_b32 v0, v1, v2", "shuffle"),
        ("s_waitcnt lgkmcnt(0)", "wait"),
        ("s_barrier", "barrier"),
        ("global_atomic_add v0, v[2:3], v1, off", "atomic"),
    ],
)
def test_what_amds_opcodes_do(opcode: str, name: str) -> None:
    (instruction,) = parse_gcn(f"gemm:\n\t{opcode}\n", "gemm").instructions
    assert [effect.name for effect in instruction.effects] == [name]


def test_amds_report_of_resources() -> None:
    values = metadata(text("tiles_02.gfx90a.s"))
    written = dict(re.findall(r"^\s+\.(\w+_count|group_segment_fixed_size):\s+(\d+)", text("tiles_02.gfx90a.s"), re.M))
    for name in ("vgpr_count", "sgpr_count", "vgpr_spill_count", "sgpr_spill_count", "group_segment_fixed_size"):
        assert values[name] == written[name]
    assert values["group_segment_fixed_size"] == str(2 * 16 * 16 * 4)


def test_a_call_in_amds_code_is_noticed() -> None:
    assert calls(parse_gcn("gemm:\n\ts_swappc_b64 s[30:31], s[4:5]\n\ts_endpgm\n", "gemm"))


def test_x86_vectors_count_all_their_lanes() -> None:
    listing = parse_x86(text("rows_03.x86-64-v4.asm"))
    mix = working(listing)
    assert mix.count(kinds.FMA) >= 1
    assert mix.multiply_adds == 16 * mix.count(kinds.FMA)
    assert not calls(listing)
    assert vector_registers(text("rows_03.x86-64-v4.asm")) <= 32


def test_x86_without_fused_multiply_adds_has_other_floating_point() -> None:
    mix = working(parse_x86(text("rows_03.x86-64-v2.asm")))
    assert mix.count(kinds.FMA) == mix.multiply_adds == 0
    assert mix.integer_per_fma is None
    assert mix.count(kinds.FLOAT) >= 2


@pytest.mark.parametrize(
    ("mnemonic", "operands", "names"),
    [
        ("vfmadd231ps", "zmm0, zmm1, zmmword ptr [rax]", ["multiply-add", "load 512"]),
        ("vfmadd213ss", "xmm0, xmm1, xmm2", ["multiply-add"]),
        ("vmovups", "ymmword ptr [rax + 4*rcx], ymm0", ["store 256"]),
        ("vmovups", "zmm1, zmmword ptr [rsp + 0x40]", ["private load 512"]),
        ("vbroadcastss", "zmm1, dword ptr [rax]", ["load 32"]),
        ("vgatherqps", "ymm1 {k1}, ymmword ptr [rax + zmm2]", ["gathered load"]),
        ("vscatterqps", "ymmword ptr [rax + zmm2] {k1}, ymm1", ["scattered store"]),
        ("add", "qword ptr [rax], rcx", ["integer", "load 64", "store 64"]),
        ("cmp", "dword ptr [rax], 3", ["integer", "load 32"]),
        ("lea", "rax, [rcx + 8*rdx]", ["integer"]),
        ("vaddps", "zmm0, zmm1, zmm2", ["other float"]),
        ("vpermilps", "xmm0, xmm1, 0x55", ["shuffle"]),
        ("vcvtdq2ps", "zmm0, zmm1", ["convert"]),
        ("push", "rbx", ["private store 64"]),
        ("vzeroupper", "", ["control"]),
        ("tdpbf16ps", "tmm0, tmm1, tmm2", ["matrix"]),
        ("vpaddd", "zmm0, zmm1, zmm2", ["integer"]),
    ],
)
def test_what_x86_instructions_do(mnemonic: str, operands: str, names: list[str]) -> None:
    assert [effect.name for effect in effects(mnemonic, operands)] == names


def test_the_stack_of_an_x86_function() -> None:
    assert frame_bytes("gemm:\n0x0:  push rbp\n0x1:  sub rsp, 0xf00\n") == 0xF00
    assert frame_bytes("gemm:\n0x0:  ret\n") == 0


def test_functions_that_a_kernel_calls_are_counted_with_it() -> None:
    program = (
        "gemm:\n0x0:  call rax\n0x2:  ret\npart:\n0x10:  vfmadd231ps zmm0, zmm1, zmm2\n0x16:  jne 0x10\n0x18:  ret\n"
    )
    listing = parse_x86(program)
    assert not calls(listing)
    assert working(listing).multiply_adds == 16
    assert calls(parse_x86("gemm:\n0x0:  call rax\n0x2:  ret\n"))


def test_a_local_array_of_ptx_is_no_place() -> None:
    text = "\n".join(
        (
            ".visible .entry f()",
            "{",
            "\t.local .align 4 .b8 \t__local_depot0[76];",
            "\t.loc\t1 8 0",
            "\tret;",
            "}",
            '.file 1 "a.cl"',
        )
    )
    (only,) = parse_ptx(text, "f").instructions
    assert (only.opcode, only.place) == ("ret", ("a.cl", 8))
