"""What a compiler refuses is refused, with a sentence at its place; what looks like it and is valid is not."""

import numpy as np
import pytest

from tilewright.analysis.explain import Explanation, explain_source
from tilewright.errors import SourceError


def explain(body: str, prelude: str = "") -> Explanation:
    """The prelude is line 1 of the source, the body line 3. `v` is a vector."""
    source = f"{prelude}\n__kernel void k(__global int* o) {{ int4 v = (int4)(o[0], 1, 2, 3);\n{body}\n}}"
    arguments = {"o": np.zeros(4, np.int32)}
    return explain_source(source, entry="k", global_size=(1,), local_size=(1,), arguments=arguments, step_limit=1000)


SCALAR = r"^kernel.cl:3:\d+: a condition is a scalar, not "
VECTOR = SCALAR + r"int4: write any\(v != 0\) or all\(v != 0\) for a vector v$"
CONDITIONS = {
    "if (v) o[0] = 1;": VECTOR,
    "while (v) o[0] = 1;": VECTOR,
    "for (; v;) o[0] = 1;": VECTOR,
    "do o[0] = 1; while (v);": VECTOR,
    "if (v && 1) o[0] = 1;": VECTOR,
    "if (1 || v) o[0] = 1;": VECTOR,
    "if (v > 1) o[0] = 1;": VECTOR,
    "if (!v) o[0] = 1;": VECTOR,
    "struct s { int a; } x; if (x) o[0] = 1;": SCALAR + "struct s$",
    "struct s { int a; } x; o[0] = x ? 1 : 2;": SCALAR + "struct s$",
    "struct s { int a; } x; o[0] = x && 1;": SCALAR + "struct s$",
    "if ((void)0) o[0] = 1;": SCALAR + "void$",
    "o[0] = 1 || (void)0;": SCALAR + "void$",
    "event_t e; if (e) o[0] = 1;": SCALAR + "event_t$",
    "switch (v) { case 0: o[0] = 1; }": "a switch takes an integer, not int4$",
    "switch (1.5f) { case 0: o[0] = 1; }": "a switch takes an integer, not float$",
    "switch (o) { case 0: o[0] = 1; }": "a switch takes an integer, not global int",
    "float4 f = 1; o[0] = (f ? v : v).x;": "a condition of components is made of integers, not float4$",
    "float2 f = 1; f = v ? f : f;": "int4 cannot choose between values of float2",
    "char4 f = 1; f = v ? f : f;": "int4 cannot choose between values of char4",
}


@pytest.mark.parametrize("body", CONDITIONS)
def test_conditions_are_scalars(body: str) -> None:
    with pytest.raises(SourceError, match=CONDITIONS[body]):
        explain(body)


VALID_CONDITIONS = {
    "if (any(v != 0)) o[0] = 1;": 1,
    "if (o && 1.5f && !0) o[0] = 2;": 2,
    "int a[2]; if (a) o[0] = 3;": 3,
    "o[0] = (v && 1).y + (v || v).z;": -2,
    "o[0] = (!v).x;": -1,
    "o[0] = (v > 1 ? v : 7).z + (v > 1 ? (float4)(2) : 5.0f).x;": 7,
    "double2 d = 1; o[0] = (d < 2.0 ? (double2)(8) : 5.0).x;": 8,
    "switch ((char)v.y) { case 1: o[0] = 9; }": 9,
}


@pytest.mark.parametrize("body", VALID_CONDITIONS)
def test_vectors_have_logic_of_their_own(body: str) -> None:
    assert explain(body).outputs["o"][0] == VALID_CONDITIONS[body]


SWITCHES = {
    "switch (o[1]) { int z = 5; case 0: z = 3; o[0] = z; }": 3,
    "switch (o[1]) { int z[2] = {1, 2}; struct s { int a; } s; ; case 0: z[1] = 3; s.a = 4; o[0] = z[1] + s.a; }": 7,
    "for (int i = 0; i < 3; i++) switch (i) { int z = 9; case 0: z = 3; o[0] += z; break; default: z = i; o[0] += z; }": 6,
    "enum { A = 1 }; switch (o[1]) { enum { A = 2 }; case 0: ; } o[0] = A;": 1,
    "enum { A = 1 }; { enum { A = 2 }; } o[0] = A;": 1,
}  # fmt: skip


@pytest.mark.parametrize("body", SWITCHES)
def test_declarations_before_the_first_case_and_their_scope(body: str) -> None:
    found = explain(body)
    assert (found.faults, found.outputs["o"][0]) == ((), SWITCHES[body])


def test_an_initialiser_before_the_first_case_never_runs() -> None:
    assert {each.kind for each in explain("switch (v.y) { int z = 5; case 1: o[0] = z; }").faults} == {
        "uninitialised read"
    }


def test_a_statement_before_the_first_case_is_refused() -> None:
    with pytest.raises(SourceError, match="3:16: a statement before the first case is never reached"):
        explain("switch (v.x) { o[0] = 1; case 0: o[0] = 2; }")


# (prelude, body) -> place and what is said
INVALID = {
    ("", "int a; float a;"): "3:14: 'a' is declared twice in one scope",
    ("", "int a, a;"): "3:8: 'a' is declared twice",
    ("", "int o = 1;"): "3:5: 'o' is declared twice",
    ("", "for (int i = 0, i = 1; i < 2; i++) ;"): "3:17: 'i' is declared twice",
    ("", "switch (v.x) { case 0: ; int a; break; case 1: ; int a; }"): "3:54: 'a' is declared twice",
    ("", "int x = ({ int a = 2; int a = 3; a; });"): "3:27: 'a' is declared twice",
    ("int f(int x) { int x = 1; return x; }", ""): "1:20: 'x' is declared twice",
    ("constant int c = 1; constant int c = 2;", ""): "1:34: 'c' is defined twice",
    ("int f(int x) { return x; } int f(int x) { return 1; }", ""): "1:32: there are two functions 'f', and overloading",
    ("int f(int x, int x);", ""): "1:18: there are two parameters 'x'",
    ("int f(void x) { return 1; }", ""): "1:12: no variable, parameter or member is void",
    ("int f(int x, void) { return 1; }", ""): "1:18: no variable, parameter or member is void",
    ("struct s { int a; float a; };", ""): "1:25: there are two members 'a'",
    ("struct s { int a; union { int b; struct { int a; }; }; };", ""): "there are two members 'a'",
    ("struct s { int a; }; union s { int a; };", ""): "1:22: there are two definitions of union s",
    ("struct a { struct s { int x; } y; }; struct s { int x; };", ""): "1:38: there are two definitions of struct s",
    ("", "struct s { int a; }; struct s { int a; };"): "3:22: there are two definitions of struct s",
    ("struct s { struct s inner[2]; };", ""): "1:21: struct s is not defined",
    ("struct s { int a; };", "struct s { struct s inner; };"): "3:21: struct s is not defined",
    ("struct s { void a; };", ""): "1:17: no variable, parameter or member is void",
    ("", "void a[3];"): "3:6: no variable, parameter or member is void",
    ("", "if (v.x) { break; }"): "3:12: break stands in no loop and no switch",
    ("", "for (int i = 0; i < 2; i++) ; continue;"): "3:31: continue stands in no loop",
    ("", "switch (v.x) { case 0: continue; }"): "3:24: continue stands in no loop",
    ("", "if (v.x) int y = 1;"): "3:10: a declaration alone is no branch",
    ("", "o[0] = sizeof(void);"): "3:8: void has no size",
    ("", "o[0] = sizeof((void)0);"): "3:8: void has no size",
    ("", "o[0] = sizeof(struct t);"): "3:8: struct t is not defined",
    ("", "\n#if 1\n#else\n#else\n#endif\n"): "6:1: #else after #else",
    ("", "\n#if 0\n#if 1\n#else\n#elif 1\n#endif\n#endif\n"): "7:1: #elif after #else",
}  # fmt: skip


@pytest.mark.parametrize(("prelude", "body"), INVALID)
def test_what_a_compiler_refuses_is_refused(prelude: str, body: str) -> None:
    with pytest.raises(SourceError) as caught:
        explain(body, prelude)
    assert f"{caught.value}".startswith("kernel.cl:")
    assert INVALID[prelude, body] in str(caught.value)


VALID = {
    "shadows": (
        "int f(int x) { { int x = 1; } return x; }",
        "int a = 1; { int a = 2; } for (int a = 0; a < 1; a++) { int a = 3; } o[0] = a;",
    ),
    "shadows in a switch": (
        "",
        "int a = 1; switch (v.y) { case 1: ; int a = 2; } switch (v.y) { case 1: { int a; } default: { int a; } } o[0] = a;",
    ),
    "shadows in values": ("", "int a = ({ int a = 1; a; }); o[0] = a;"),
    "prototypes": (
        "int f(int, int); int f(int x, int); int f(int x, int y) { return y; } int f(int y, int x);",
        "o[0] = f(2, 1);",
    ),
    "structs of inner blocks": (
        "struct s { int a; };",
        "struct s { char a; }; { struct s { short a; } x; } o[0] = sizeof(struct s);",
    ),
    "structs declared early": (
        "struct s; typedef struct s s_t; struct s { int a; }; struct s; struct t { s_t x; };",
        "struct t y = {{1}}; o[0] = y.x.a;",
    ),
    "typedefs again": (
        "typedef int t; typedef int t; typedef struct s { t a; } s; typedef struct s s;",
        "s x; { t s = 1; t t = s; o[0] = t; }",
    ),
    "members of other structs": (
        "struct a { struct { int x; } b; struct { int x; } c; int x; void* d; struct a* e; };",
        "struct a y = {.x = 1}; o[0] = y.x;",
    ),
    "leaving loops": (
        "",
        "for (;;) { switch (v.x) { case 0: break; default: continue; } if (v.y) break; } do { o[0] = 1; continue; } while (0);",
    ),
    "pointers to void": ("int f(void) { return sizeof(void*); }", "void* p = o; o[0] = f() == 8;"),
    "branches": ("", "\n#if 0\n#if 1\n#else\n#endif\n#elif 1\n#elif 1\n#else\n#endif\no[0] = 1;"),
}  # fmt: skip


@pytest.mark.parametrize("name", VALID)
def test_what_looks_like_it_and_is_valid_is_run(name: str) -> None:
    prelude, body = VALID[name]
    assert explain(body, prelude).outputs["o"][0] == 1
