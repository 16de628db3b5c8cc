"""Parts of OpenCL C whose values drivers cannot confirm, and what is said about their misuse."""

import re
from pathlib import Path

import numpy as np
import pytest

from tilewright.analysis.explain import Explanation, explain_source
from tilewright.analysis.explain.clc import parse_program, preprocess, standard_of
from tilewright.analysis.explain.clc.types import Struct
from tilewright.errors import InvalidInput, SourceError

LANES, EACH = 32, 4


def run(body: str, prelude: str = "", **settings: object) -> Explanation:
    """`g` is the global id; each of 32 work-items stores r[0] to r[3]. The body is line 3 of the source without a prelude."""
    source = (
        f"{prelude}\n__kernel void k(__global int* o) {{ int g = get_global_id(0), r[{EACH}] = {{0}};\n{body}\n"
        f"for (int n = 0; n < {EACH}; n++) o[g * {EACH} + n] = r[n]; }}"
    )
    return explain_source(
        source, entry="k", global_size=(LANES,), local_size=(16,), arguments={"o": np.zeros(LANES * EACH, np.int32)},
        groups="all", **settings,  # type: ignore[arg-type]
    )  # fmt: skip


def values(body: str, prelude: str = "") -> np.ndarray:
    found = run(body, prelude)
    assert found.faults == ()
    return found.outputs["o"].reshape(LANES, EACH)


# members -> size, alignment, and for each member the bytes of the struct in which it alone is all ones: GCC's, for x86-64.
LAYOUTS = {
    "int a : 3; uint b : 5; uint c : 30; uchar d : 2;": (
        8, 4,
        "0700000000000000 "
        "f800000000000000 "
        "00000000ffffff3f "
        "00000000000000c0",
    ),
    "char a : 5; char b : 5; short c : 9; int : 0; char d;": (
        6, 2,
        "1f0000000000 "
        "001f00000000 "
        "0000ff010000 "
        "00000000ff00",
    ),
    "ulong a : 40; uint b : 20; uint c : 20;": (
        16, 8,
        "ffffffffff0000000000000000000000 "
        "0000000000ffff0f0000000000000000 "
        "0000000000000000ffff0f0000000000",
    ),
    "char a; int b : 7; short c : 16; int : 3; char d : 1;": (
        8, 4,
        "ff00000000000000 "
        "007f000000000000 "
        "0000ffff00000000 "
        "0000000008000000",
    ),
}  # fmt: skip


def masks(kind: Struct) -> str:
    """Each member as all ones, in hexadecimal."""
    out = []
    for field in kind.fields:
        size = field.container.size if field.container else field.type.size
        ones = ((1 << field.bits) - 1) << field.shift if field.bits else (1 << 8 * size) - 1
        raw = bytearray(kind.size)
        raw[field.offset : field.offset + size] = ones.to_bytes(size, "little")
        out.append(raw.hex())
    return " ".join(out)


@pytest.mark.parametrize("members", LAYOUTS)
def test_bit_fields_lie_where_gcc_puts_them(members: str) -> None:
    size, alignment, expected = LAYOUTS[members]
    kind = (
        parse_program(f"typedef struct {{ {members} }} s; __kernel void k(s x) {{}}").functions["k"].parameters[0].type
    )
    assert isinstance(kind, Struct)
    assert (kind.size, kind.alignment, masks(kind)) == (size, alignment, expected)


def test_bit_fields_keep_their_neighbours_and_their_signs() -> None:
    prelude = "struct s { int a : 4; uint b : 4; uint c : 24; }; union u { struct s s; int whole; };"
    found = values(
        "union u u; u.whole = 0x76543210; u.s.a = g; u.s.b++; r[0] = u.whole; r[1] = u.s.a; r[2] = (u.s.b = 20) - 5;"
        "r[3] = u.s.c - 0x765433 < 0;",
        prelude,
    )
    g = np.arange(LANES)
    assert (found[:, 0] == (0x76543220 | (g & 15))).all()
    assert (found[:, 1] == np.where(g & 8, (g & 15) - 16, g & 15)).all()
    assert (found[:, 2] == -1).all()  # 4 - 5: a narrow bit-field becomes int
    assert (found[:, 3] == 1).all()


def test_bit_fields_in_memory_of_others_are_counted_and_race() -> None:
    prelude = "struct s { uint low : 12, high : 20; };"
    found = run("__local struct s t[16]; t[0].low = 1; if (g == 1) t[0].high = 2;", prelude)
    assert "data race" in {each.kind for each in found.faults}
    stores = [each for each in found.accesses if each.space == "local" and each.operation == "store"]
    assert len(stores) == 2


POINTERS = (
    "__local int l[16]; l[get_local_id(0)] = g; int own = 5; int* p = g & 1 ? &own : (int*)(l + get_local_id(0));"
    "r[0] = *p; r[1] = to_local(p) != 0; r[2] = to_private(p) != 0; r[3] = get_fence(p);"
)


def test_generic_pointers_know_where_they_point_to() -> None:
    found = values(POINTERS)
    odd = np.arange(LANES) % 2 == 1
    assert (found[:, 0] == np.where(odd, 5, np.arange(LANES))).all()
    assert (found[:, 1] == ~odd).all()
    assert (found[:, 2] == odd).all()
    assert (found[:, 3] == ~odd).all()  # CLK_LOCAL_MEM_FENCE is 1
    assert (values("r[0] = to_global(o) == o; r[1] = to_local(o) != 0;")[:, :2] == (1, 0)).all()


FINDINGS = {
    "an initialiser that overflows": (
        "r[0] = two;",
        "__constant int one = 0x7fffffff; __constant int two = one + 1;",
        "integer overflow",
    ),
    "a race at program scope": ("total += g;", "global int total;", "race between groups"),
    "a jump over an initialiser": ("if (g > 3) goto end; int x = 1; end: r[0] = x;", "", "uninitialised read"),
    "a case after a declaration": (
        "switch (g) { case 0: ; int x = 1; break; default: r[0] = x; }",
        "",
        "uninitialised read",
    ),
    "a jump over an array's": ("if (g > 3) goto end; int x[2] = {1}; end: r[0] = x[g & 1];", "", "uninitialised read"),
    "a function without its return": (
        "r[0] = half_way(g);",
        "int half_way(int x) { if (x > 3) return 1; }",
        "uninitialised read",
    ),
    "a component outside": ("int4 v = (int4)(1); r[0] = v[g];", "", "out of bounds"),
    "a component of memory outside": ("__local int4 v[2]; v[g & 1][g] = 1;", "", "out of bounds"),
    "a store to constant text": ('char* t = (char*)"abc"; t[0] = 1;', "", "write to read-only memory"),
    "a barrier that a jump avoids": ("if (g == 3) goto end; barrier(1); end: r[0] = 1;", "", "divergent barrier"),
}


@pytest.mark.parametrize("name", FINDINGS)
def test_findings(name: str) -> None:
    body, prelude, kind = FINDINGS[name]
    found = run(body, prelude)
    assert kind in {each.kind for each in found.faults}
    assert {each.position.line for each in found.faults} <= {1, 2, 3}


def test_constants_may_be_infinite_or_of_another_type() -> None:
    prelude = "__constant float c[] = {NAN, INFINITY}; __constant int d = as_int(1.5f);"
    found = values("r[0] = isnan(c[0]); r[1] = isinf(c[1]); r[2] = d;", prelude)
    assert found[0].tolist() == [1, 1, 0x3FC00000, 0]


def test_a_function_without_its_return_is_harmless_if_nobody_asks() -> None:
    assert (values("half_way(g); (void)half_way(g);", "int half_way(int x) { if (x > 3) return 1; }") == 0).all()


def test_memory_of_the_program_is_counted() -> None:
    found = run(
        "r[0] = table[g]; kept[g] = 1; r[1] = fixed[g & 3];",
        "global int table[32]; static int kept[32]; const int fixed[4] = {1};",
    )
    counted = {(each.space, each.buffer, each.operation) for each in found.accesses}
    assert {("global", "table", "load"), ("global", "kept", "store"), ("constant", "fixed", "load")} <= counted


def test_the_standard_sets_macros() -> None:
    def words(standard: str | None) -> list[str]:
        source = "__OPENCL_C_VERSION__ __OPENCL_VERSION__ CL_VERSION_2_0 __opencl_c_int64"
        return [token.text for token in preprocess(source, standard=standard).tokens[:-1]]

    assert words(None) == words("CL1.2") == ["120", "120", "CL_VERSION_2_0", "__opencl_c_int64"]
    assert words("CL2.0") == ["200", "200", "200", "__opencl_c_int64"]
    assert words("CL3.0") == ["300", "300", "200", "1"]
    assert standard_of(["-w", "-cl-std=CL2.0", " -cl-std=CL3.0"]) == "CL3.0"
    assert standard_of(["-cl-mad-enable"]) is None
    with pytest.raises(InvalidInput, match=r"CL2\.7.*CL1\.2"):
        preprocess("", standard="CL2.7")


def test_macros_with_parameters_come_from_options() -> None:
    tokens = preprocess("SQ(3) TEXT(a b)", macros={"SQ(x)": "((x)*(x))", "TEXT(x)": "#x", "NONE": ""}).tokens
    assert " ".join(token.text for token in tokens[:-1]) == '( ( 3 ) * ( 3 ) ) "a b"'


def test_marks_and_markers_of_other_tools() -> None:
    tokens = preprocess('\ufeff# 10 "one.cl"\n\u00a0a\n#line 20\nb\n# 5 "two.cl" 2\nc /* x\n*/ d', "all.cl").tokens
    places = [(token.text, token.position.file, token.position.line) for token in tokens[:-1]]
    assert places == [("a", "one.cl", 10), ("b", "one.cl", 20), ("c", "two.cl", 5), ("d", "two.cl", 6)]


def test_dead_branches_may_hold_anything() -> None:
    source = "#if 0\nit's ` @ not code\n#nonsense \"x\n#if SOMETHING(3) +\n#elif 1 /\n#endif\n#else\nfine\n#endif"
    assert [token.text for token in preprocess(source).tokens] == ["fine", ""]


def test_functions_of_included_files_are_read_when_they_are_needed(tmp_path: Path) -> None:
    (tmp_path / "many.h").write_text(
        "#define TWO 2\nint good(int x) { return x * TWO; }\nint bad(int x) { return x * ; }\n"
        "#undef TWO\n#define TWO 3\nstruct __attribute__((packed)) { int a; } s;\n"
        "int other(int x) { if (x) { return TWO; } return 0; }\n"
    )
    head = '#include "many.h"\n__kernel void k(__global int* o) { o[0] = '

    def explained(expression: str) -> int:
        found = explain_source(
            f"{head}{expression}; }}", global_size=(1,), local_size=(1,), arguments={"o": np.zeros(1, np.int32)},
            filename=str(tmp_path / "main.cl"), include=(tmp_path,),
        )  # fmt: skip
        return int(found.outputs["o"][0])

    assert explained("good(5) + other(1)") == 13
    with pytest.raises(SourceError, match=r"many\.h:3:29"):
        explained("bad(5)")
    with pytest.raises(SourceError, match=r"main\.cl:1:29"):
        explain_source("int bad(int x) { return x * ; } __kernel void k() {}", filename=str(tmp_path / "main.cl"),
                       global_size=(1,), local_size=(1,), arguments={})  # fmt: skip


def test_braces_that_a_macro_opens_are_found(tmp_path: Path) -> None:
    (tmp_path / "b.h").write_text(
        "#define BEGIN {\n#define END }\nint f(int x) BEGIN return x; END\n"
        "int g(int x) { if (x) BEGIN return 1; END return 2; }\n"
    )
    program = parse_program('#include "b.h"\n__kernel void k() {}', str(tmp_path / "m.cl"), {}, (tmp_path,))
    assert [len(program.functions[name].body.statements) for name in ("f", "g", "k")] == [1, 2, 0]


SAID = {
    "__local int t[TILE];": "3:15: 'TILE' is not declared.*-D TILE=",
    "static int x = g;": "3:16: .*'g' has no value before the kernel starts",
    "__constant int x = ({ 1; });": "3:2.: a constant is needed",
    "goto nowhere;": "3:1: there is no label 'nowhere' in k",
    "x: r[0] = 1; x: ;": "3:14: there are two labels 'x'",
    '_Static_assert(sizeof(long) == 4, "long has eight");': "3:1: _Static_assert: long has eight",
    "struct s { int : 3; int; };": "3:24: a member without a name",
    "struct s { int a : 40; };": "3:16: .*1 to 32 bits, not 40",
    "struct { int a : 3; } s; r[0] = sizeof(s.a);": "bit-field",
    "int a[2] = {[2] = 1};": r"index 2 is outside int\[2\]",
    "struct p { int x; } a = {.y = 1};": "no member 'y'",
    "r[0] = ({ goto out; 1; }); out: ;": "left by goto",
    "for (;;) { r[0] = ({ break; 1; }); }": "left by break",
}


@pytest.mark.parametrize("body", SAID)
def test_what_is_said_about_misuse(body: str) -> None:
    with pytest.raises(SourceError, match=SAID[body]):
        run(body)


def test_names_of_host_macros_in_attributes() -> None:
    with pytest.raises(SourceError, match=r"1:37: 'WG' .*-D WG="):
        parse_program("__attribute__((reqd_work_group_size(WG, 1, 1))) __kernel void k() {}")


def test_a_value_that_jumps_decide_ends_with_the_step_limit() -> None:
    with pytest.raises(SourceError, match="100"):
        run("again: if (g >= 0) goto again;", step_limit=100)


def test_columns_of_refusals_survive_long_files() -> None:
    text = "\n" * 70_000 + "__kernel void k() { goto in; { in: ; } }"
    with pytest.raises(SourceError, match=re.escape("kernel.cl:70001:21:")):
        explain_source(text, global_size=(1,), local_size=(1,), arguments={})


CALLS = "sincos(0.5f, p)", "fract(0.5f, p)", "modf(0.5f, p)"
WITH_INTEGERS = "frexp(0.5f, q)", "lgamma_r(0.5f, q)", "remquo(0.5f, 0.25f, q)"


@pytest.mark.parametrize("call", [*CALLS, *WITH_INTEGERS])
def test_a_result_through_a_pointer_is_counted_as_a_store(call: str) -> None:
    place = "__global float* p = (__global float*)o + g * 4; __global int* q = o + g * 4;"
    stores = [each for each in run(f"{place} r[0] = (int){call};").accesses if each.operation == "store"]
    assert [(each.position.line, each.requests) for each in stores] == [(3, 2), (4, 8)]
    kept = run(f"float x, *p = &x; int n, *q = &n; r[0] = (int){call};").accesses
    assert [each.position.line for each in kept] == [4]


@pytest.mark.parametrize(
    "call", ["sincos((float2)(1), &d)", "frexp(0.5f, &d)", "remquo(1.0f, 2.0f, &d)", "sincos((float2)(1), (float*)&d)"]
)
def test_a_pointer_to_another_type_gets_no_result(call: str) -> None:
    with pytest.raises(SourceError, match=r"stores .* there, and was given"):
        run(f"double d; {call};")


def test_strings_fill_arrays_of_characters() -> None:
    assert values('char a[3] = "abc"; r[0] = a[2];')[0, 0] == ord("c")
    assert values('constant char a[2] = "abc"; r[0] = a[1];')[0, 0] == ord("b")
    with pytest.raises(SourceError, match="an array of char, not"):
        run('int a[4] = "abc"; r[0] = a[g % 2];')


def test_the_last_value_of_a_constant_bit_field_counts() -> None:
    twice = "constant struct { uint a : 3; uint b : 5; } s = {.a = 1, .b = 9, .a = 2};"
    assert values("r[0] = s.a; r[1] = s.b;", twice)[0, :2].tolist() == [2, 9]
