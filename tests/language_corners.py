"""Rarely used parts of OpenCL C, each with what a work-item must store. The values are Intel's driver's."""

EACH, ITEM, LANES = 8, 3, 8  # outputs of a work-item, the work-item whose outputs are given, work-items
UNIONS = "union u { char c; int i; }; struct s { union u a; int j; };"

# name -> (what stands before the kernel, its body, r[0] to r[7] of work-item ITEM). `g` is the global id.
CORNERS: dict[str, tuple[str, str, list[int]]] = {
    "trigraphs": (
        "??=define A 1\n??=define C(a,b) a??=??=b\n#define M(x) \\\n x+1 ??/\n + 2\n",
        'int x??(2??) = ??<4, 5??>; r[0] = x[1] ??\' 3; r[1] = ??-g; r[2] ??!= 8; r[3] = sizeof("??/x41"); r[4] = "???="[1];'
        'r[5] = sizeof("???") * 100 + "??/n"[0]; r[6] = C(1,2); int a1 = A ??!??! 0; r[7] = a1 + M(1); // ends??/\n r[7] = 0;',
        [6, -4, 8, 2, 35, 410, 12, 5],
    ),
    "digraphs": (
        "%:define N 4\n%:define JOIN(a, b) a%:%:b\n %: ifdef N\n%:define TEXT(x) %:x\n%:else\n#define TEXT(x) 1\n%:endif\n"
        "int third(int* t) <% if (t) <% return t<:2:>; %> return 0; %>",
        "int t<:N:> = <%1, 2, 3%>; r<:0:> = JOIN(t, )[1]; r[1] = sizeof(TEXT(<:)) * 10 + sizeof(TEXT([)); r[2] = third(t);"
        "r[3] = TEXT(a <% %:%: 5)[3]; r[4] = sizeof(\"<:\"); r[5] = 5 %2;",
        [2, 32, 3, 37, 3, 1, 0, 0],
    ),
    "unions that are filled again": (
        UNIONS,
        "union u x[2] = {[0].i = -1, [0] = 5}; r[0] = x[0].i; struct s y = {.a.i = -1, .a = 5, 3}; r[1] = y.a.i;"
        "struct s z[2] = {[0].a.i = -1, [0] = 7, 8}; r[2] = z[0].a.i; struct s t[2] = {{.a.i = -1, .j = 3}, [0].a = 7};"
        "r[3] = t[0].a.i; r[4] = t[0].j; union u v[3] = {[0 ... 2].i = -1, [1].c = 5}; r[5] = v[0].i * 10 + v[1].i;"
        "struct { union { struct { char a, b; } p; int i[2]; } v; int j; } w = {.v.i = {-1, -1}, .v = 1, 2, 4};"
        "r[6] = w.v.i[0]; r[7] = w.v.i[1];",
        [5, 5, 7, 7, 3, -5, 513, 0],
    ),
    "unions that are copied and filled again": (
        UNIONS + "struct p { int x, y; }; struct q { struct p a; int b; };",
        "union u k = {.i = -1}; struct s y = {.a = k, .a.c = 1}; r[0] = y.a.i; struct s z = {.a.i = -1, .a = k}; r[1] = z.a.i;"
        "union u v[3] = {[0 ... 2] = k, [1].c = 5, [2] = 4}; r[2] = v[0].i * 1000 + v[1].i * 10 + v[2].i;"
        "struct p l = {7, 8}; struct q m = {.a = l, .a.x = 1}; r[3] = m.a.x * 10 + m.a.y; struct q n = {.a = l, .a = 5};"
        "r[4] = n.a.x * 10 + n.a.y; struct p h[3] = {[0 ... 2] = l, [1] = 5, 6, 9};"
        "r[5] = h[0].x * 1000 + h[1].x * 100 + h[1].y * 10 + h[2].x; r[6] = h[2].y; union w { uchar c; ushort s[2]; int i; };"
        "union w e = {.i = g + 33}; struct { union w w; } f = {.w = e, .w.s[1] = 4}; r[7] = f.w.i;",
        [1, -1, -946, 18, 50, 7569, 0, 262180],
    ),
    "sizes of constants with ll": (
        "",
        "ulong x = 5; r[0] = sizeof(1ull) + 100 * sizeof(~1ll) + 10000 * sizeof(g ? 1 : 1ull); r[1] = _Alignof(1ull << 2);"
        "r[2] = sizeof(({ 1ull; })) + 100 * sizeof((2, x + 1ull)); r[3] = sizeof(x += 1ull) + 100 * sizeof((ulong)1ull);"
        "r[4] = sizeof(1 << 2ull) + 100 * sizeof(1ull > 2) + 10000 * sizeof(1.0f * 1ull); r[5] = sizeof(r[1ull]);",
        [161616, 16, 1616, 808, 40404, 4, 0, 0],
    ),
    "constants with ll that fit into 64 bits": (
        "",
        "ulong x = 5, h = 14695981039346656037ull; int y = -5; h = (h ^ (uchar)g) * 1099511628211ull + 3ull; h |= h >> 13ull;"
        "r[0] = h % 1000ull; r[1] = (h >> 11) * (1.0f / (1ull << 53)) * 100; r[2] = x % 7ull + (x < 7ull) + ((x ^ 3ull) >> 1);"
        "r[3] = y / 2ll + (y % 3ll) * 10 + (y < 3ll); r[4] = ((y & 255ull) >> 2) + (float)7ull; if (x & 1ull) r[5] = 3;"
        "float f = 1.5f; f *= 3ull; r[6] = f * 2ll + (g ? 3ull : 4ull); float4 v = (float4)(7ull); r[7] = v.y;",
        [565, 68, 9, -21, 69, 3, 12, 7],
    ),
    "the right side of a compound assignment is computed first": (
        "int next(int* n) { return *n += 3; }",
        "int n = g, v = g; n += next(&n); r[0] = n; n -= next(&n) + 1; r[1] = n; n = g; n *= ({ n++; 2; }); r[2] = n;"
        "int t[2] = {1, g}; int* p = t; t[1] += next(p + 1); r[3] = t[1]; t[1] ^= next(&t[1]); r[4] = t[1];"
        "for (int i = 0; i < 3; i++) if (g & 1) v += next(&v); r[5] = v; uint u = 5; u <<= (u = g, 1); r[6] = u;",
        [12, -1, 8, 12, 0, 66, 6, 0],
    ),
    "names of types of pointers to arrays": (
        "int f(int (*)[3]); int f(int (*rows)[3]) { return rows[1][2]; } int h(const global int (*)[4], int);"
        "int h(const global int (*p)[4], int n) { return p[1][n]; }",
        "int p[6] = {1, 2, 3, 4, 5, g}; int (*w)[2] = (int (*)[2])p; r[0] = w[1][g & 1]; r[1] = ((int (*)[3])p)[1][1];"
        "r[2] = f((int (*)[3])p); r[3] = sizeof(int (*)[2]) + 10 * sizeof(*(int (*)[2])p); r[4] = h((global int (*)[4])a, 2);"
        "__typeof__(int (*)[3]) q = (int (*)[3])p; r[5] = (*(q + 1))[0]; r[6] = (int (*)[3])(p + 3) - q;",
        [4, 5, 3, 88, 6, 4, 1, 0],
    ),
    "which function a call means": (
        "",
        "r[0] = mul24((short)300, (short)g + (short)300); r[1] = sizeof(mul24((short)1, (char)2)) + 10 * sizeof(native_sin(0.5))"
        "    + 100 * sizeof(min((char)1, (char)2)) + 1000 * sizeof(clz((bool)1)) + 10000 * sizeof(hadd((short)1, 2.5f));"
        "r[2] = rhadd(1.5f, (uint)g); r[3] = any((uchar)200) + 10 * all((bool)g) + 100 * any(-g); r[4] = pow(2.0f, g);"
        "r[5] = min((int4)(g), 2u).x * 10 + fmax(2.5f, g); r[6] = upsample((uchar)g, 2.5f) + ldexp(1.0f, 2.7) * 1000;"
        "float w; r[7] = modf(2.75, &w) * 100 + w * 1000 + select(1.5f, 2.5f, (uint)g) * 2;",
        [90900, 24144, 2, 100, 8, 23, 4770, 2080],
    ),
    "cases in loops": (
        "int f(int g, int* r) { switch (g & 3) { case 0: while (1) { r[6]++; case 3: r[6] += 2; if (r[6] > 4) return 5; }"
        "case 2: return 6; default: ; } return 7; }",
        "int n = 0, c = (g + 7) & 3; switch (c) { case 0: do { n += 1; case 1: n += 10; case 2: n += 100; case 3: n += 1000; }"
        "while (--c > 0); } r[0] = n;"
        "for (int i = 0; i < 6; i++) switch ((g + i) & 3) { case 0: do { r[1]++; if (r[1] > 9) break; case 1: r[2] += i;"
        "if (r[2] & 1) continue; case 2: r[3]++; if (r[3] > 5) break; } while (r[3] & 3); r[4]++; case 3: if (r[5] > 1) break;"
        "r[5]++; continue; } r[7] = f(g, r);",
        [2211, 7, 23, 4, 4, 2, 5, 5],
    ),
    "cases in branches and braces": (
        "#define STEP(n) case n: r[6] += n; do { case n + 4: r[6] += 10; } while (0)\n",
        "for (int i = 0; i < 6; i++) switch (i) { r[7] = 9; case 0: if (g > 2) { r[0]++; case 1: r[1]++; }"
        "else { case 3: r[2]++; } { case 4: r[3]++; } break; default: r[4]++; }"
        "switch (g) while (r[5] < 4) { r[5]++; case 2: r[5]++; case 3: r[5]++; }"
        "switch (g & 1) { STEP(0); STEP(1); STEP(2); STEP(3); } switch (g); switch (g) case 3: case 4: r[7]++;"
        "switch (g + 1) for (;;) { case 4: r[7]++; break; }",
        [1, 2, 1, 4, 2, 4, 36, 2],
    ),
    "cases with jumps and declarations": (
        "",
        "for (int i = 0; i < 5; i++) switch (i) { int z = 7; case 0: r[0]++; if (r[0] < 3) goto again; break; case 1: r[1]++;"
        "again: r[2]++; if (r[2] < 3) goto again; case 2: r[3]++; if (r[3] < 3) { goto again; } do { r[4]++; case 4: r[5]++;"
        "if (r[5] == 4) goto out; if (r[5] == 3) goto again; } while (r[5] < 4); z = 2; r[6] += z; } out:"
        "switch (g & 3) { case 0: for (int k = 0; k < 3; k++) { int t[2] = {1, 2}; case 3: t[1] = 7; k = 2;"
        "r[7] += t[1] * k; } }",
        [1, 0, 6, 4, 4, 4, 0, 14],
    ),
    "enumerations with a type of their own": (
        "enum e : uchar; enum e : uchar { A = 200, S = sizeof(A), B = A + 1, D }; enum f : short { C = -1 }; enum : long { L };"
        "enum b : bool { NO, YES }; typedef unsigned short number; enum n : number { N = 65535 }; enum later : char;",
        "enum e x = 300; enum b y = 5; enum : long { M = 1 } z = M; enum later w = 200; r[0] = sizeof(enum e) + 10 * S + 100 * D;"
        "r[1] = x + 1000 * y; r[2] = C; r[3] = sizeof(C) + sizeof(L) * 10 + sizeof(z) * 100 + sizeof(A + B) * 1000; r[4] = A + B;"
        "r[5] = N + sizeof(enum n); r[6] = w; switch (g + 197) { case A: r[7] = YES; }",
        [20211, 1044, -1, 4882, 401, 65537, -56, 1],
    ),
    "brackets of parameters": (
        "int f(int t[static 2]) { return t[1]; } int h(int t[const restrict 3], int u[restrict]) { t[0]++; return u[0] + t[0]; }"
        "int k(int t[static const 2], int u[const static 2], int v[volatile]) { return t[1] + u[0] + v[0]; }"
        "int l(int t[static 2][3]) { return t[1][2]; } int m(const int[static 2]); int m(const int t[2]) { return t[0]; }",
        "int x[3] = {1, 2}, w[1] = {7}, y[2][3] = {{1, 2, 3}, {4, 5, 6}}; r[0] = f(x); r[1] = h(x, w); r[2] = k(x, x, x);"
        "r[3] = l(y); r[4] = m(x);",
        [2, 9, 6, 6, 2, 0, 0, 0],
    ),
    "offsets of members": (
        "struct s { char c; int i[3]; struct { short x; } y; union { char q; double d; }; int m[2][3]; };",
        "r[0] = __builtin_offsetof(struct s, i[2]) + 100 * __builtin_offsetof(struct s, y.x);"
        "r[1] = __builtin_offsetof(struct s, i[g]); r[2] = __builtin_offsetof(struct s, d);"
        "int t[__builtin_offsetof(struct s, y)]; r[3] = sizeof(t);"
        "r[4] = sizeof(__builtin_offsetof(struct s, c)); r[5] = __builtin_offsetof(struct s, m[1][2]);"
        "switch (g + 1) { case __builtin_offsetof(struct s, i): r[6] = 1; }",
        [1612, 16, 24, 64, 8, 52, 1, 0],
    ),
    "values before ?: are computed once": (
        "int next(int* n) { return ++*n; }",
        "int n = g - 5, m = 0; r[0] = next(&n) ?: 9; r[1] = n; r[2] = m++ ?: 7; r[3] = m++ ?: 7; r[4] = m; int* p = r + 4;"
        "r[5] = *p++ ?: 1; r[6] = p - r; r[7] = (next(&n) ?: next(&n)) ?: next(&n);",
        [-1, -1, 7, 1, 2, 2, 5, 1],
    ),
    "functions that differ by volatile": (
        "#define MANY __attribute__((overloadable))\n#define ALL(word) int MANY f(word int* p) { return 2; }"
        "int MANY f(const word int* p) { return 3; } int MANY f(volatile word int* p) { return 4; }"
        "int MANY f(const volatile word int* p) { return 5; }\n"
        "ALL(global) int MANY f(local int* p); int MANY f(local int* p) { return 6; }"
        "int MANY f(volatile local int* p) { return 7; }"
        "int MANY f(volatile int* p) { return 8; } int MANY f(int* p) { return 9; } int MANY h(volatile int p[2]) { return 1; }"
        "int MANY h(int p[2]) { return 2; } int MANY k(volatile int** p) { return 1; } int MANY k(int** p) { return 2; }"
        "int MANY m(volatile global int* p) { return 1; } int MANY m(volatile local int* p) { return 2; }"
        "struct s { int a; volatile int b; int c[2]; };",
        "volatile global int* v = a; const global int* c = a; const volatile global int* w = a; r[0] = f(a) + 10 * f(v)"
        "+ 100 * f(c) + 1000 * f(w); r[1] = f(v + 1) + 10 * f(&v[2]) + 100 * f(&a[1]) + 1000 * f((volatile global int*)a);"
        "volatile local int lv[4]; local int ln[4]; r[2] = f(lv) + 10 * f(ln) + 100 * f(&lv[1]) + 1000 * m(ln) + 10000 * m(a);"
        "volatile int pv[4]; int pn[4], one; volatile int two; r[3] = f(pv) + 10 * f(pn) + 100 * f(&one) + 1000 * f(&two);"
        "volatile struct s sv; struct s sn; volatile struct s* p = &sn; r[4] = f(&sv.a) + 10 * f(sv.c) + 100 * f(&sn.a)"
        "+ 1000 * f(&p->a) + 10000 * f(&sn.b); r[5] = h(pv) + 10 * h(pn); int* q = &one; volatile int* z = &one;"
        "r[6] = k(&q) + 10 * k(&z);",
        [5342, 4244, 12767, 8998, 88988, 21, 12, 0],
    ),
    "a loop that is entered in its middle": (
        "void send(global int* to, const global int* from, int count) { int n = (count + 7) / 8; switch (count % 8) {"
        "case 0: do { *to++ = *from++; case 7: *to++ = *from++; case 6: *to++ = *from++; case 5: *to++ = *from++;"
        "case 4: *to++ = *from++; case 3: *to++ = *from++; case 2: *to++ = *from++;"
        "case 1: *to++ = *from++; } while (--n > 0); } }",
        "if (g) send(out + g * 8, a, g); for (int i = 0; i < 8; i++) r[i] = i < g ? out[g * 8 + i] : -1;",
        [0, 1, 2, -1, -1, -1, -1, -1],
    ),
}  # fmt: skip


def corner_source(name: str) -> str:
    prelude, body, _ = CORNERS[name]
    return (
        f"{prelude}\n__kernel void values(__global int* out, __global int* a) {{ int g = get_global_id(0);\n"
        f"int r[{EACH}] = {{0}};\n{body}\nfor (int n = 0; n < {EACH}; n++) out[g * {EACH} + n] = r[n]; }}"
    )
