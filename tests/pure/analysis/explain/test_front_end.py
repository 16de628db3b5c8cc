"""The front end of `explain`: preprocessor, parser, and errors that name file, line and column."""

from pathlib import Path

import numpy as np
import pytest

from tilewright.analysis.explain import explain_source
from tilewright.analysis.explain.clc import parse_program, preprocess
from tilewright.analysis.explain.clc.lexer import tokens_of_text
from tilewright.errors import InvalidInput, SourceError, UnknownName


def words(source: str, macros: dict[str, str | int] | None = None, include: tuple[Path, ...] = ()) -> str:
    tokens = preprocess(source, "a.cl", macros, include).tokens
    return " ".join(token.text for token in tokens[:-1])


def value(body: str, *, prelude: str = "", macros: dict[str, str | int] | None = None) -> int:
    """The int that one work-item stores."""
    source = f"{prelude}\n__kernel void k(__global int* o) {{ {body} }}"
    found = explain_source(
        source, macros=macros, entry="k", global_size=(1,), local_size=(1,), arguments={"o": np.zeros(1, np.int32)}
    )
    assert found.findings == ()
    return int(found.outputs["o"][0])


EXPANSIONS = {
    "#define A 1\nA A": "1 1",
    "#define A B\n#define B A\nA": "A",
    "#define F(x, y) x + y\nF(1, F(2, 3))": "1 + 2 + 3",
    '#define F(x) #x\nF(a  +  "b")': '"a + \\"b\\""',
    "#define J(a, b) a##b\nJ(fl, oat) J(x, 1)": "float x1",
    "#define J2(a, b) a##b\n#define J(a, b) J2(a, b)\n#define N 4\nJ(float, N)": "float4",
    "#define V(...) f(__VA_ARGS__)\nV() V(1) V(1, 2)": "f ( ) f ( 1 ) f ( 1 , 2 )",
    "#define V(a, ...) f(a, ## __VA_ARGS__)\nV(1) V(1, 2)": "f ( 1 ) f ( 1 , 2 )",
    "#define F() 7\nF() F": "7 F",
    "#define F(x) x\nF\n(\n3\n)": "3",
    "#define EMPTY\n#define F(x) [x]\nF(EMPTY)": "[ ]",
    "#define A 1 \\\n + 2\nA": "1 + 2",
    "#define A 1 // no\n#define B /* no\n no */ 2\nA B": "1 2",
    "#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)": "2 * 9 * g",
    "#ifdef X\n1\n#elif defined(Y) || 1\n2\n#else\n3\n#endif": "2",
    "#if 0\n#error no\n#if 1\n#endif\n#else\nyes\n#endif": "yes",
    "#define N 8\n#if N / 2 == 4 && !(N & 1) && (N ? 1 : 0) && -1 < 0 && 0x10 == 020\nyes\n#endif": "yes",
    "#if defined X && X / 0\n#endif\nfine": "fine",
    "#define X\n#undef X\n#ifndef X\nfine\n#endif": "fine",
    "__LINE__\n__LINE__": "1 2",
    '_Pragma("unroll") x': "x",
    "#pragma unroll 4\nx": "x",
}


@pytest.mark.parametrize("source", EXPANSIONS)
def test_expansion(source: str) -> None:
    assert words(source) == EXPANSIONS[source]


def test_options_are_macros() -> None:
    assert words("A B", {"A": 5, "B": "x + 1"}) == "5 x + 1"
    assert words("__OPENCL_VERSION__ CLK_LOCAL_MEM_FENCE") == "120 1"


def test_includes_are_found_in_the_given_folders(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "a.h").write_text('#ifndef A\n#define A\n#include "inner/b.h"\n#include "a.h"\nfrom_a\n#endif\n')
    (tmp_path / "inner" / "b.h").write_text("from_b __FILE__\n")
    assert words('#include "a.h"\n#include <a.h>\nhere', include=(tmp_path,)).startswith("from_b")
    tokens = preprocess('#include "a.h"\nhere', "main.cl", {}, (tmp_path,)).tokens
    assert [(Path(token.position.file).name, token.position.line) for token in tokens[:1]] == [("b.h", 1)]
    with pytest.raises(SourceError, match=r"a\.cl:2:1.*nothing\.h"):
        words('\n#include "nothing.h"', include=(tmp_path,))
    (tmp_path / "loop.h").write_text('#include "loop.h"\n')
    with pytest.raises(SourceError, match=r"loop\.h"):
        words('#include "loop.h"', include=(tmp_path,))


def test_line_directives_name_other_files() -> None:
    tokens = preprocess('x\n#line 40 "other.cl"\ny\nz\n', "a.cl").tokens
    assert [(token.position.file, token.position.line) for token in tokens[:3]] == [
        ("a.cl", 1),
        ("other.cl", 40),
        ("other.cl", 41),
    ]


def test_tokens_of_a_macro_stand_where_it_is_used() -> None:
    tokens = preprocess("#define F(x) (x + one)\n\n  F( two )", "a.cl").tokens
    places = {token.text: (token.position.line, token.position.column) for token in tokens}
    assert places["one"] == (3, 3)
    assert places["two"] == (3, 6)


def test_columns_count_from_one() -> None:
    tokens = tokens_of_text("ab  cd\n e /* x\n y */ f", "a.cl")
    assert [(token.text, token.position.line, token.position.column) for token in tokens if token.kind == "name"] == [
        ("ab", 1, 1),
        ("cd", 1, 5),
        ("e", 2, 2),
        ("f", 3, 7),
    ]


# What is wrong -> (source, line, column, a name or number of the message). Each is the body of a kernel from line 2 on.
ERRORS = {
    "undeclared name": ("o[0] = nothing;", 2, 8, "nothing"),
    "unknown function": ("o[0] = nothing(1);", 2, 8, "nothing"),
    "missing semicolon": ("o[0] = 1\no[0] = 2;", 3, 1, "';'"),
    "bad character": ("o[0] = 1 ` 2;", 2, 10, "`"),
    "unequal vectors": ("o[0] = ((float4)(1) + (float2)(1)).x;", 2, 21, "float4.*float2"),
    "bad swizzle": ("o[0] = ((float4)(1)).w9;", 2, 21, "w9"),
    "too few elements": ("float4 v = (float4)(1, 2); o[0] = v.x;", 2, 12, r"\b4\b"),
    "write to const": ("const int x = 1; x = 2;", 2, 18, "const"),
    "write through const": ("((__global const int*)o)[0] = 1;", 2, 25, "const"),
    "subscript of a number": ("int x = 1; o[0] = x[1];", 2, 20, "int"),
    "float subscript": ("o[1.5f] = 1;", 2, 3, "float"),
    "goto": ("goto end; o[0] = 1;", 2, 1, "label 'end'"),
    "inline assembly": ('asm("nop;"); o[0] = 1;', 2, 1, "assembly"),
    "arguments of a builtin": ("o[0] = min(1);", 2, 8, r"\b2\b"),
    "vector length": ("int n = 3; int a[n]; a[0] = 1; o[0] = a[0];", 2, 18, "constant"),
    "cast between vectors": ("float4 v = (float4)((int4)(1)); o[0] = v.x;", 2, 12, "convert_float4"),
    "initialised local": ("__local int x = 1; o[0] = x;", 2, 13, "local"),
    "modulo of floats": ("o[0] = 1.5f % 2.0f;", 2, 13, "%"),
    "array assignment": ("int a[2], b[2]; a = b; o[0] = a[0];", 2, 19, "array"),
    "unfinished block": ("if (1) { o[0] = 1;", 2, 8, "brace"),
    "loop without end": ("while (1) { o[0] += 1; }", 2, 1, "100"),
    "return of a value": ("return 1;", 2, 1, "int"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_file_line_and_column(name: str) -> None:
    body, line, column, word = ERRORS[name]
    closing = "" if name == "unfinished block" else "\n}"
    with pytest.raises(SourceError, match=word.replace("(", r"\(")) as caught:
        explain_source(
            f"__kernel void k(__global int* o) {{\n{body}{closing}", filename="wrong.cl", global_size=(1,), local_size=(1,),
            arguments={"o": np.zeros(2, np.int32)}, step_limit=100,
        )  # fmt: skip
    assert (caught.value.file, caught.value.line) == ("wrong.cl", line)
    assert caught.value.column == column
    assert str(caught.value).startswith(f"wrong.cl:{line}:{column}: ")


@pytest.mark.parametrize(
    ("source", "line", "column", "word"),
    [
        ("__kernel void k(queue_t i) {}", 1, 17, "queue_t"),
        ("int f(int a) { return f(a); } __kernel void k(__global int* o) { o[0] = f(1); }", 1, 23, r"\bf\b"),
        ("#if 1\n__kernel void k() {}", 1, 1, "#endif"),
        ("#endif\n", 1, 1, "#endif.*#if"),
        ("#define F(\n", 1, 9, r"\bF\b"),
        ("#define F(x) x\nint y = F(1, 2);", 2, 9, r"\bF\b.*\b1\b.*\b2\b"),
        ("#nonsense\n", 1, 1, "#nonsense"),
        ("struct s { float a : 3; };", 1, 18, "bit-field"),
        ("struct s { int a : 33; };", 1, 16, "bit-field.*33"),
        ("local int x;__kernel void k(__global int* o) { o[0] = x; }", 1, 11, "local"),
    ],
)
def test_errors_outside_of_a_kernels_body(source: str, line: int, column: int, word: str) -> None:
    with pytest.raises(SourceError, match=word) as caught:
        explain_source(source, global_size=(1,), local_size=(1,), arguments={"o": np.zeros(1, np.int32)})
    assert (caught.value.line, caught.value.column) == (line, column)


def test_programs_hold_their_kernels() -> None:
    program = parse_program("""
        typedef struct { float x; int n[3]; } thing;
        inline float twice(float a) { return 2 * a; }
        __kernel __attribute__((reqd_work_group_size(8, 4, 1))) void a(__global thing* t, const __local uchar* l) {}
        kernel void b(constant float4* c, size_t n, __global const float (*rows)[4]) {}""")
    assert program.kernels == ("a", "b")
    assert program.functions["a"].work_group == (8, 4, 1)
    assert [str(each.type) for each in program.functions["b"].parameters] == [
        "constant float4 *",
        "ulong",
        "global const float[4] *",
    ]


EXPRESSIONS = {
    "0x7fffffff + 0": 2147483647,
    "010 + '\\n' + 'a'": 8 + 10 + 97,
    "(int)(1.5e1f + .5f + 1e-1)": 15,
    "0b101 + (int)sizeof(long)": 13,
    "(int)(0xffffffff >> 28) + (0xffffffff > 0)": 16,
    "sizeof(int[3]) + sizeof(float3)": 28,
    "(1, 2)": 2,
    "-7 / 2 * 100 + -7 % 2": -301,
    "(char)300 + (uchar)300": 88,
    "1 ? 2 : 3 ? 4 : 5": 2,
    "((int4)(1, 2, 3, 4)).s3 + ((int2)(5)).y": 9,
    "((float4){1, 2, 3, 4}).y": 2,
    "as_int(1.0f) >> 23": 127,
    "((union { float f; int i; } *)0 == 0)": 1,
}


@pytest.mark.parametrize("text", [each for each in EXPRESSIONS if "union" not in each])
def test_constants(text: str) -> None:
    assert value(f"o[0] = {text};") == EXPRESSIONS[text]


def test_structs_nest_and_point() -> None:
    prelude = """typedef struct { int a; struct { short b; char c[3]; } inner[2]; } outer;
        void fill(outer* p, int n) { p->a = n; p->inner[1].b = n + 1; p->inner[1].c[2] = 5; }
        outer copy(outer from) { from.a += 100; return from; }"""
    body = """outer x = {0}; fill(&x, 7); outer y = copy(x); outer all[2]; all[1] = y;
        o[0] = x.a + y.a * 1000 + all[1].inner[1].b + all[1].inner[1].c[2] + copy(y).inner[1].b + (int)sizeof(outer);"""
    assert value(body, prelude=prelude) == 7 + 107 * 1000 + 8 + 5 + 8 + 16


def test_functions_private_arrays_and_pointers_to_rows() -> None:
    prelude = "int total(const int* p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }"
    body = """__local int rows[3][5]; __local int (*p)[5] = rows; for (int i = 0; i < 15; i++) p[i / 5][i % 5] = i;
        int t[4] = {1, 2, 3}; t[3] = rows[2][4]; o[0] = total(t, 4) + p[1][1];"""
    assert value(body, prelude=prelude) == 1 + 2 + 3 + 14 + 6


def test_arguments_are_checked() -> None:
    source = "__kernel void k(__global int* o, int n, __local float* l, float4 v) { l[0] = v.w; o[0] = n + (int)l[0]; }"
    good = {"o": np.zeros(1, np.int32), "n": 3, "l": 64, "v": [1, 2, 3, 4]}

    def run(**changed: object) -> int:
        arguments = {key: each for key, each in {**good, **changed}.items() if each is not None}
        found = explain_source(source, global_size=(1,), local_size=(1,), arguments=arguments)  # type: ignore[arg-type]
        return int(found.outputs["o"][0])

    assert run() == 7
    for changed, word in (
        ({"o": None}, r"\bo\b"),
        ({"extra": 1}, "extra"),
        ({"o": 3}, r"\bo\b"),
        ({"n": np.zeros(2)}, r"\bn\b"),
        ({"v": [1, 2]}, r"\bv\b.*\b4\b"),
        ({"l": 0}, r"\bl\b"),
    ):
        with pytest.raises(InvalidInput, match=word):
            run(**changed)


def test_geometry_and_entry_are_checked() -> None:
    two = "__kernel void a(__global int* o) {} __kernel void b(__global int* o) {}"
    arguments = {"o": np.zeros(1, np.int32)}
    with pytest.raises(InvalidInput, match="a, b"):
        explain_source(two, global_size=(1,), local_size=(1,), arguments=arguments)
    with pytest.raises(UnknownName, match="'c'"):
        explain_source(two, entry="c", global_size=(1,), local_size=(1,), arguments=arguments)
    with pytest.raises(InvalidInput, match=r"\b10\b.*\b4\b"):
        explain_source(two, entry="a", global_size=(10,), local_size=(4,), arguments=arguments)
    with pytest.raises(InvalidInput, match=r"\(2, 0, 0\)"):
        explain_source(two, entry="a", global_size=(8,), local_size=(4,), arguments=arguments, groups=[(2, 0, 0)])
    fixed = "__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void k() {}"
    with pytest.raises(InvalidInput, match=r"\b8\b.*\b4\b"):
        explain_source(fixed, global_size=(8,), local_size=(4,), arguments={})
    with pytest.raises(InvalidInput, match=r"kernel\.cl.*__kernel"):
        explain_source("int f(int a) { return a; }", global_size=(8,), local_size=(4,), arguments={})


@pytest.mark.parametrize("terms", [600, 5000])
def test_expressions_nested_too_deeply_are_refused(terms: int) -> None:
    for text in ("+".join(["get_local_id(0)"] * terms), "(" * terms + "1" + ")" * terms):
        with pytest.raises(SourceError, match="nested") as caught:
            value(f"o[0] = {text};")
        assert caught.value.line == 2
