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
        "r[4] = n.a.x * 10 + n.a.y; struct p o[3] = {[0 ... 2] = l, [1] = 5, 6, 9};"
        "r[5] = o[0].x * 1000 + o[1].x * 100 + o[1].y * 10 + o[2].x; r[6] = o[2].y;",
        [1, -1, -946, 18, 50, 7569, 0, 0],
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
}  # fmt: skip


def corner_source(name: str) -> str:
    prelude, body, _ = CORNERS[name]
    return (
        f"{prelude}\n__kernel void values(__global int* out, __global int* a) {{ int g = get_global_id(0);\n"
        f"int r[{EACH}] = {{0}};\n{body}\nfor (int n = 0; n < {EACH}; n++) out[g * {EACH} + n] = r[n]; }}"
    )
