"""Intel's assembly and binaries: what instructions and messages do, loops of diverging lanes, and stated resources."""

import struct

import pytest

from tilewright.analysis.inspect import instruction_kinds as kinds
from tilewright.analysis.inspect.counts import mix_of
from tilewright.analysis.inspect.intel import completed, errors_of, resources_of, shortened
from tilewright.analysis.inspect.intel_binary import IntelKernel, read_kernel
from tilewright.analysis.inspect.loops import loops_of, main_loop
from tilewright.analysis.inspect.machine_code import calls, places
from tilewright.analysis.inspect.printing import registers_line
from tilewright.analysis.inspect.xe import parse_xe
from tilewright.errors import InvalidInput

GOTO_LOOP = """//.kernel sums
//.spill size 64

// File: sums.cl

// Line 4
(f0.0)  goto (16|M0)                         _0_007            _0_007                                // $9
// B003: [inDivergent],  Preds:{B002},  Succs:{B006}
_0_008:
        mov (16|M0)              r68.0<1>:ud   0x0:ud                                                // $11
        goto (16|M0)                         _0_007            _0_009                                // $12
_0_007:
        join (16|M0)                         _0_009                                                  //
_0_010:

// Line 6
        send.dc1 (16|M0)         r16 r72 null:0 0x0 0x048050FE {$10} // wr:2+0, rd:8; untyped surface read with xyzw // $57
        mad (16|M0)              acc0.0<1>:f   r68.0<1;0>:f      r16.0<1;0>:f      r24.0<1>:f       {Compacted,$10.dst} // $62
(W)     add (1|M0)               r6.4<1>:d     r6.4<0;1,0>:d     16:w                                // $95
(W)     cmp (16|M0)   (lt)f0.1   null<1>:d     r6.4<0;1,0>:d     r6.0<0;1,0>:d    {I@1}              // $96
(f0.1)  goto.b (16|M0)                       _0_009            _0_010                                // $97

// Line 9
_0_009:
        join (16|M0)                         L1744                                                   //
L1744:
(W)     send.gtwy (8|M0)         null r127 null:0 0x0 0x02000010 {EOT,A@1} // wr:1+0, rd:0; end of thread // $105
L1888:
        nop                                                                                          // $105
(W)     mov (16|M0)              null<1>:ud    0x6E7A54E4:ud                                         //
"""
STRUCTURED = """
_0_028:
(~f0.0) if (32|M0)                           _0_032            _0_034                           // $1
        mov (32|M0)              r1.0<1>:f     r2.0<1;1,0>:f                    // $1
        else (32|M0)                         _0_034            _0_034                           // $1
_0_032:
        mov (32|M0)              r3.0<1>:f     r2.0<1;1,0>:f                    // $1
_0_034:
        endif (32|M0)                        L1792                                              // $1
L1792:
(f1.0)  break (32|M0)                        _4_cf             _4_cf                            // $1
        mul (32|M0)              r5.0<1>:f     r3.0<1;1,0>:f    r1.0<1;1,0>:f                    // $1
_4_cf:
        while (32|M0)                        _0_028                                             // $1
(W)     send.gtwy (1|M0)         null r112 null:0 0x0 0x02000010 {EOT,F@1} // wr:1+0, rd:0; end of thread // $113
"""


def test_a_loop_that_lanes_leave_one_by_one() -> None:
    listing = parse_xe(GOTO_LOOP)
    (loop,) = loops_of(listing)
    assert [each.opcode for each in loop.instructions] == ["send.dc1", "mad", "add", "cmp", "goto.b"]
    mix = mix_of(loop.instructions)
    assert mix.effects == {"control": 1, "integer": 2, "local load 128": 1, "multiply-add": 1}
    assert mix.multiply_adds == 1
    assert mix.local_loads_per_fma == 1
    assert places(loop.instructions) == {"sums.cl": (6, 6)}
    assert not calls(listing)


def test_what_follows_the_end_of_the_thread_is_no_code() -> None:
    assert parse_xe(GOTO_LOOP).instructions[-1].flow == kinds.END


def test_the_text_of_a_message_says_what_it_does() -> None:
    message = next(each for each in parse_xe(GOTO_LOOP).instructions if each.opcode == "send.dc1")
    assert message.text.endswith("{$10} // untyped surface read with xyzw")


def test_a_loop_with_break_and_both_branches_of_an_if() -> None:
    listing = parse_xe(STRUCTURED)
    loop = main_loop(loops_of(listing))
    assert loop is not None
    assert [each.opcode for each in loop.instructions] == ["if", "mov", "else", "mov", "endif", "break", "mul", "while"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("mad (16|M0) r8.0<1>:f r16.0<1;0>:f r18.0<1;0>:f r26.0<1>:f {$12.dst} // $63", "multiply-add"),
        ("(W) mad (1|M0) r127.2<1>:ud r127.2<0;0>:ud r127.0<0;0>:uw 0xC0:uw {I@1} // $5", "integer"),
        ("mad (16|M0) r8.0<1>:hf r16.0<1;0>:hf r18.0<1;0>:hf r26.0<1>:hf // $63", "multiply-add"),
        ("dpas.8x8 (8|M0) r36:f r36:f r44:hf r8.0:hf {Atomic} // $2", "matrix"),
        ("math.rsqt (16|M0) r8.0<1>:f r10.0<1;1,0>:f {$1.dst} // $8", "other float"),
        ("bfn.(s0^s1^s2) (16|M0) r8.0<1>:ud r10.0<1;0>:ud r12.0<1;0>:ud r14.0<1>:ud // $8", "integer"),
        ("mov (16|M0) r60.0<1>:d r1.0<1;1,0>:uw {$0.dst} // $3", "move"),
        ("mov (16|M0) r60.0<1>:f r1.0<1;1,0>:d {$0.dst} // $3", "convert"),
        ("mov (16|M0) r60.0<1>:f r[a0.0]<1,0>:f // $3", "shuffle"),
        ("cmp (16|M0) (gt)f0.0 null<1>:f r6.0<0;1,0>:f r8.0<0;1,0>:f // $8", "other float"),
        ("sync.nop null {Compacted,$2.dst} // $8", "wait"),
        ("sync.bar null // $56", "wait"),
        ("(W) send.gtwy (1|M0) null r7 null:0 0x0 0x02000004 {A@2,$9} // wr:1+0, rd:0; signal barrier // $56", "barrier"),
        ("(W) send.slm (1|M0) r3 r58 null:0 0x0 0x0210011F {$8} // wr:1+0, rd:1; fence.slm.none.group // $55", "wait"),
        ("send.dc1 (16|M0) null r74 r12:2 0x0 0x04025EFE {$4} // wr:2+2, rd:0; untyped surface write with x", "local store 32"),
        ("send.dc1 (16|M0) r12 r10 null:0 0x0 0x04205E00 // wr:2+0, rd:2; untyped surface read with x", "global load 32"),
        ("send.dc1 (16|M0) r12 r10 null:0 a0.2 a0.0 {A@2,$6} // wr:2+0, rd:2; untyped surface read with xy", "global load 64"),
        ("send.dc1 (8|M0) r12 r10 null:0 0x0 0x042350FE {$6} // wr:4+0, rd:2; a64 dword gathering read // $45", "global load 32"),
        ("send.dc0 (16|M0) r12 r10 null:0 0x0 0x042004FE {$6} // wr:2+0, rd:2; byte gathering read 16b // $45", "local load 16"),
        ("(W) send.dc0 (8|M0) r1 r127 null:0 0x0 0x022843FD // wr:1h+0, rd:2; oword aligned block read x4", "constant load 512"),
        ("(W) send.dc0 (16|M0) r16 r0 null:0 0x0 0x022C21A4 // wr:1h+0, rd:2; hword scratch block read x4", "private load"),
        ("send.dc1 (16|M0) r12 r10 null:0 0x0 0x02000000 {$6} // wr:2+0, rd:2; untyped atomic int32 integer add", "atomic"),
        ("load.ugm.d32.a64 (32|M0) r25:2 [r19:4] {I@3,$6} // ex_desc:0x0; desc:0x8200580 // $31", "global load 32"),
        ("load.ugm.d32x4.a32.ca.ca (16|M0) r12:8 bss[a0.0][r10:2] {ExBSO,A@2,$6}", "global load 128"),
        ("load.slm.d32x4.a32 (32|M0) r43:8 [r118:2] {$9} // ex_desc:0x0; desc:0x4803500 // $44", "local load 128"),
        ("store.slm.d8u32.a32 (32|M0) [r4:2] r6:2 {I@2,$6} // ex_desc:0x0; desc:0x40E0904 // $1", "local store 8"),
        ("store.ugm.d64.a64 (16|M0) [r17:4] r114:2 {I@1,$6} // ex_desc:0x0; desc:0x8000584 // $93", "global store 64"),
        ("(W) load.ugm.d32x16t.a32.ca.cc (1|M0) r4:1 bti[255][r127:1] {I@1,$1} //", "constant load 512"),
        ("(W) load.slm.d32x8t.a32 (1|M0) r4:1 [r127:1] {I@1,$1} // ex_desc:0x0; desc:0x6219C500 //", "local load 256"),
        ("store.ugm.d32.a32.wb.wb (32|M0) ss[a0.0][r4:2] r6:2 {I@2,$6}", "private store 32"),
        ("load.ugm.d32.a64 (32|M0) r25:2 [r19:4] {I@3,$6} //  address space: private; $31", "private load 32"),
        ("load.ugm.d32.a64.ca.ca (32|M0) null:0 [r19:4] {I@3,$6} // ex_desc:0x0; desc:0x8200580 // $31", "other"),
        ("load_block2d.ugm.d16v.a64 (1|M0) r10:16 [r8:1] {$6} // ex_desc:0x0; desc:0x2000203 // $31", "global load"),
        ("atomic_iadd.ugm.d32.a64 (16|M0) r10:2 [r8:4] r12:2 {$6} // ex_desc:0x0; desc:0x8000584 // $93", "atomic"),
        ("nop // $105", "control"),
    ],
)  # fmt: skip
def test_what_instructions_and_messages_do(line: str, name: str) -> None:
    (instruction,) = parse_xe(line).instructions
    assert [effect.name for effect in instruction.effects] == [name]


def test_a_multiply_add_of_every_work_item_is_counted_once_however_many_instructions_it_takes() -> None:
    halves = "\n".join(
        f"mad (16|{lanes}) r8.0<1>:f r16.0<1;0>:f r18.0<1;0>:f r26.0<1>:f // $63" for lanes in ("M0", "M16")
    )
    mix = mix_of(parse_xe(halves).instructions)
    assert (mix.count(kinds.FMA), mix.multiply_adds) == (2, 1)


INFO = """---
version:         '1.73'
kernels:
  - name:            other
    execution_env:
      grf_count:       128
      simd_size:       8
    payload_arguments:
      - arg_type:        private_base_stateless
        size:            8
  - name:            gemm
    user_attributes:
      reqd_work_group_size: [ 16, 16, 1 ]
    execution_env:
      barrier_count:   1
      grf_count:       256
      private_size:    38400
      simd_size:       32
      slm_size:        2048
      spill_size:      6144
    payload_arguments:
      - arg_type:        arg_bypointer
        offset:          16
kernels_misc_info:
  - name:            gemm
    args_info:
      - index:           0
...
"""


def elf(sections: dict[str, bytes]) -> bytes:
    """A 64-bit ELF file of these sections."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in (*sections, ".shstrtab"))
    contents = {**sections, ".shstrtab": names}
    body, rows = b"", [bytes(64)]
    for name, data in contents.items():
        kind = 3 if name == ".shstrtab" else 1
        rows.append(
            struct.pack(
                "<IIQQQQIIQQ", names.index(name.encode() + b"\0"), kind, 0, 0, 64 + len(body), len(data), 0, 0, 1, 0
            )
        )
        body += data
    head = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01",
        1,
        205,
        1,
        0,
        0,
        64 + len(body),
        0,
        64,
        0,
        0,
        64,
        len(rows),
        len(rows) - 1,
    )
    return head + body + b"".join(rows)


def tokens(*, private: int, facts: int = 27) -> bytes:
    """A program with one kernel "f" of SIMD16, 128 registers, 2,048 bytes of local memory. `facts` is the length of a token."""
    execution = [0] * 27
    execution[3], execution[20] = 16, 128
    execution = execution[:facts]
    patches = b"".join(
        struct.pack(f"<II{len(numbers)}I", token, 8 + 4 * len(numbers), *numbers)
        for token, numbers in ((15, [0, 2048]), (23, execution), (38, [64, 48, 8, private, 1]))
    )
    heap = b"code of f" + bytes(7)
    kernel = struct.pack("<IQ7I", 0, 0, 4, len(patches), len(heap), 0, 8, 0, 9) + b"f\0\0\0" + heap + bytes(8) + patches
    return struct.pack("<7I", 0x494E5443, 1081, 0, 8, 1, 0, 0) + kernel


def test_resources_from_the_info_section() -> None:
    binary = elf({".text.gemm": b"code", ".text.other": b"more", ".ze_info": INFO.encode()})
    found = read_kernel(binary, "gemm")
    assert found == IntelKernel(b"code", 32, 256, 2048, 1200, 6144)
    assert read_kernel(binary, "other") == IntelKernel(b"more", 8, 128, 0, 0, 0)
    with pytest.raises(InvalidInput, match="no kernel 'third'"):
        read_kernel(binary, "third")


def test_resources_from_patch_tokens() -> None:
    binary = elf({"Intel(R) OpenCL Device Binary": tokens(private=400)})
    assert read_kernel(binary, "f") == IntelKernel(b"code of f", 16, 128, 2048, 400, -1)
    with pytest.raises(InvalidInput, match="no kernel 'g'"):
        read_kernel(binary, "g")
    with pytest.raises(InvalidInput, match="begins with"):
        read_kernel(elf({"Intel(R) OpenCL Device Binary": b"\1" + tokens(private=0)[1:]}), "f")


def test_a_binary_of_neither_form_is_refused_with_its_sections() -> None:
    with pytest.raises(InvalidInput, match=r"\.text\.gemm"):
        read_kernel(elf({".text.gemm": b"code"}), "gemm")


def test_spills_that_only_the_assembly_states() -> None:
    old = resources_of(completed(IntelKernel(b"", 16, 128, 2048, 0, -1), GOTO_LOOP))
    assert old.spilled == {"bytes of a hardware thread": 64}
    assert old.spills
    assert old.stack_bytes == 4
    new = resources_of(completed(IntelKernel(b"", 32, 256, 2048, 1200, 6144), ""))
    assert (new.stack_bytes, new.sub_group, new.registers) == (1200 + 192, 32, 256)
    assert registers_line(new, "Xe") == (
        "256 of a hardware thread, which runs 32 work-items, spilled: 6,144 bytes of a hardware thread"
    )


def test_spills_that_nobody_stated_are_not_denied() -> None:
    unknown = resources_of(completed(IntelKernel(b"", 16, 128, 2048, 400, -1), ""))
    assert (unknown.spilled, unknown.stack_bytes) == ({}, 400)
    assert registers_line(unknown, "Xe") == "128 of a hardware thread, which runs 16 work-items"


def test_the_assembly_is_kept_without_its_declarations() -> None:
    kept = shortened("//.kernel f\n//.declare V1 (1)  rf=r\n//.instCount 1\n\n\n\n\n// | V0040 |\n        nop\n")
    assert kept == "//.kernel f\n\n        nop\n"


def test_a_log_keeps_the_compilers_words() -> None:
    log = "1:1:41: error: use of undeclared identifier 'x'\n\nBuild failed with error code: -11\nCommand was: ocloc compile\n"
    assert errors_of(log) == "1:1:41: error: use of undeclared identifier 'x'"


def test_binaries_that_leave_out_what_is_needed_are_refused_by_a_sentence() -> None:
    bare = INFO.replace("grf_count", "grf_kount").encode()
    with pytest.raises(InvalidInput, match="says nothing of grf_count of the kernel 'gemm'"):
        read_kernel(elf({".text.gemm": b"code", ".ze_info": bare}), "gemm")
    with pytest.raises(InvalidInput, match="patch token 23 has 12 numbers"):
        read_kernel(elf({"Intel(R) OpenCL Device Binary": tokens(private=0, facts=12)}), "f")
