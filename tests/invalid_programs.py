"""Programs that compilers refuse, and valid ones that look like them."""

MANY = "__attribute__((overloadable))"


def source_of(prelude: str, body: str) -> str:
    """The prelude is line 1 of the source, the body line 3. `v` is a vector."""
    return f"{prelude}\n__kernel void k(__global int* o) {{ int4 v = (int4)(o[0], 1, 2, 3);\n{body}\n}}"


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
    ("int f(int x) { return x; } int f(int x) { return 1; }", ""): "1:32: there are two functions 'f'; functions of",
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
    ("enum e { A = 1, A = 2 };", ""): "1:17: there are two enumerators 'A' in one scope",
    ("enum e { A = 1 }; enum f { A = 1 };", ""): "1:28: there are two enumerators 'A' in one scope",
    ("enum e { A }; constant int A = 2;", ""): "1:28: 'A' is declared twice in one scope: as an enumerator and as a variable",
    ("enum e { A }; int A(int x) { return x; }", ""): "1:19: 'A' is declared twice in one scope: as an enumerator and as a",
    ("typedef int A; enum e { A };", ""): "1:25: 'A' is declared twice in one scope: as a type and as an enumerator",
    ("int f(int A) { enum { A }; return A; }", ""): "1:23: 'A' is declared twice in one scope: as a variable and as an",
    ("", "int B = 3; enum { B };"): "3:19: 'B' is declared twice in one scope: as a variable and as an enumerator",
    ("", "typedef int t; int t = 3;"): "3:20: 't' is declared twice in one scope: as a type and as a variable",
    ("enum e { A }; enum e { B };", ""): "1:15: there are two definitions of enum e",
    ("enum e { A }; struct e { int x; };", ""): "1:15: there are two definitions of struct e",
    ("", "float x = 1f;"): "3:11: '1f' is no number: a suffix f or h needs a point or an exponent, as in 1.0f",
    ("", "half x = 07H;"): "3:10: '07H' is no number: a suffix f or h needs a point or an exponent, as in 07.0H",
    ("", "float x = 1.0ff;"): "3:11: '1.0ff' is not a number",
    ("", "o[0] = 1lul;"): "3:8: '1lul' is not an integer",
    ("", "o[0] = 1lL;"): "3:8: '1lL' is not an integer",
    ("struct s;", "struct s* p = (struct s*)o; p++;"): "3:30: struct s is not defined",
    ("struct s;", "struct s* p = (struct s*)o; o[0] = p->a;"): "3:37: struct s is not defined",
    ("struct s { int a; };", "struct s; struct s x;"): "3:20: struct s is not defined",
    ("struct s; union s { int a; };", ""): "1:11: there are two definitions of union s",
    ("struct s { struct s { int a; } b; };", ""): "1:1: there are two definitions of struct s",
    ("", "int x[4] = {[3 ... 2] = 1};"): "3:13: the range [3 ... 2] is empty",
    ("", "int x[4] = {[1 ... 4] = 1};"): "3:25: index 4 is outside int[4]",
    ("", "int4 x = {[1] = 1};"): "3:10: int4 takes no designators",
    (f"int {MANY} f(int x) {{ return x; }} int {MANY} f(int y) {{ return 1; }}", ""): "there are two functions 'f'; functions of",
    ("int f(int x) { return x; } int f(float y) { return 1; }", ""): "1:32: there are two functions 'f'; functions of",
    (f"int {MANY} f(int x) {{ return x; }} int {MANY} f(float x) {{ return 1; }}", "o[0] = f(1l);"): (
        "3:8: f(long) is ambiguous: cast an argument to choose one of f(int), f(float)"
    ),
    (f"int {MANY} f(int x, float y) {{ return x; }} int {MANY} f(float x, int y) {{ return 1; }}", "o[0] = f(1, 1);"): (
        "3:8: f(int, int) is ambiguous"
    ),
    (f"int {MANY} f(int2 x) {{ return 1; }} int {MANY} f(float2 x) {{ return 1; }}", "o[0] = f(v);"): (
        "3:8: no function fits f(int4): there are f(int2), f(float2)"
    ),
    (f"int {MANY} f(const int* x) {{ return 1; }} int {MANY} f(global int* x) {{ return 1; }}", "o[0] = f((global void*)o);"): (
        "3:8: f(global void *) is ambiguous"
    ),
    (f"int {MANY} f(int x); int {MANY} f(float x) {{ return 1; }}", "o[0] = f(1);"): "3:8: f(int) is declared and has no body",
    ("int g(int x) { return f(x); } int f(int x) { return x; }", "o[0] = g(1);"): "1:23: f is called before it is declared",
    ("", "switch (v.x) { case 3 ... 9: ; case 5: ; }"): "3:32: there are two cases for 5",
    ("", "switch ((uchar)v.x) { case 1: ; case -1 ... 3: ; }"): "3:33: there are two cases for 1",
    ("", "o[0] = vec_step(int[3]);"): "3:8: vec_step takes a scalar or a vector, not int[3]",
    ("", "ulong4 w = 1; w = w * 3ull;"): "3:21: a constant with ll is of higher rank than the elements of ulong4: write ul",
    ("", "\n#if 1\n#else\n#else\n#endif\n"): "6:1: #else after #else",
    ("", "\n#if 0\n#if 1\n#else\n#elif 1\n#endif\n#endif\n"): "7:1: #elif after #else",
}  # fmt: skip

VALID = {
    "shadows": (
        "int f(int x) { { int x = 1; } return x; }",
        "int a = 1; { int a = 2; } for (int a = 0; a < 1; a++) { int a = 3; } o[0] = a;",
    ),
    "enumerators in inner scopes": (
        "enum e { A, B }; int f(int A) { { enum { A = 3 }; return A; } } typedef int t;",
        "int C = 5; { enum { C = 7, t = 9 }; o[0] = C + t; } for (int i = 0; i < 1; i++) { enum { i = 4 }; } enum { B = 6 };"
        "o[0] = f(2) == 3 && C == 5 && B == 6 && A == 0;",
    ),
    "numbers": ("", "float a = 1e0f + 0x1p3f + 1.f; ulong b = 1ull + 2LU + 3lu + 0x1fULL; o[0] = a == 10 && b == 37;"),
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
