"""What OpenCL C can say beyond its everyday part: the interpreter of `explain` gives the drivers' bits."""

import numpy as np
import pytest

from tilewright.analysis.explain import explain_source
from tilewright.core.kernel import NDRange
from tilewright.core.source import parse_signature
from tilewright.errors import BuildFailed
from tilewright.runtime.opencl.device import Device

LANES, GROUP, EACH = 64, 32, 8  # work-items, those of a group, outputs of each
# name -> (what stands before the kernel, its body). `g` is the global id, `a` has LANES ints, `r[0]` to `r[7]` are stored.
KERNELS = {
    "typed constants": (
        "enum { F = 1 << 31, N = F >> 31 }; enum { Z = ~0u }; enum { A = 0x7fffffff, B, C = B > 0, D = sizeof(A) };\n"
        "#if -1 > 0u && (2 ? -1 : 0u) > 0 && '\\377' < 0\n#define YES 1\n#else\n#define YES 0\n#endif\n",
        "const uchar U = 300; int x[U], y[-1 > 0u ? 8 : 4], z[(bool)4]; char s[sizeof(x) / sizeof(x[0])];"
        "r[0] = (F < 0) + 2 * (Z > 0) + 4 * YES + 8 * C + 16 * D; r[1] = N; r[2] = sizeof(x) + sizeof(y); r[3] = sizeof(z);"
        "switch ((g - 9) >> 31) { case ~0u: r[4] = 1; break; case sizeof(z) - 4: r[4] = 2; } r[5] = '\\x80' + 'ab';"
        "r[6] = as_int(16777217.0000000001f); r[7] = sizeof(s);",
    ),
    "enumerations": (
        "enum { BIG = 0xd76aa478u, NEXT };  enum E { MINUS = -3, ZERO = 3 - 3 };  enum F { HUGE_ONE = 0x123456789aL };",
        "enum E e = MINUS; enum F f = HUGE_ONE; r[0] = BIG; r[1] = NEXT > 0; r[2] = e < 0; r[3] = sizeof(f) + sizeof(BIG);"
        "r[4] = HUGE_ONE; r[5] = (BIG >> 4) + g; { int NEXT = 4; r[6] = NEXT; } r[7] = -ZERO + (MINUS < 1u);",
    ),
    "constants made of constants": (
        "__constant int one = 3; __constant int two = one * 2 + 1; __constant float tenth = 1.0f / 10;"
        "__constant int table[4] = {two, one, [3] = one + two}; __constant int* place = &table[1];",
        "r[0] = two; r[1] = table[g & 3]; r[2] = as_int(tenth); r[3] = place[2]; r[4] = *place;",
    ),
    "program scope": (
        "global int counts[4] = {1, 2, 3}; int zeros[2]; static uchar bytes[] = {7, 8, 250}; const int three = 3;"
        "typedef struct { short s; int i; } pair; global pair pairs[2] = {{1, 2}, {.i = 9}}; global int* gp = &counts[2];",
        "r[0] = counts[g & 3]; r[1] = zeros[1]; r[2] = bytes[2] + three; r[3] = pairs[1].i + pairs[0].s; r[4] = *gp;"
        "r[5] = sizeof(pairs) + sizeof(bytes);",
    ),
    "stores to program scope": (
        "global int kept[128]; int twice(int x) { static int factor = 2; return x * factor; }",
        "kept[g] = twice(g); r[0] = kept[g] + 1;",
    ),
    "structs that point to themselves": (
        "struct node { int v; struct node* next; }; typedef struct tree tree; struct tree { tree* sides[2]; int v; };"
        "struct other; typedef struct { struct other* o; int v; } one; typedef struct other { one* o; int v; } other;"
        "union u { union u* u; int v; }; int sum(const struct node* p, int n) { int s = 0; "
        "while (n--) { s += p->v; p = p->next; } return s; }"
        "struct late* pass(struct late* p) { return p; } struct late { char c[3]; struct late* p; };",
        "struct node l[3] = {{1, l + 1}, {2, &l[2]}, {g, l}}; r[0] = sum(l, 7) + l[0].next->next->v + l[1].next[-1].v;"
        "tree t = {{&t, 0}, 3}, s = {{&t, &s}, g}; r[1] = s.sides[g & 1]->v + s.sides[1]->sides[0]->sides[0]->v;"
        "one x; other y = {&x, g}; x.o = &y; x.v = 4; r[2] = x.o->o->v * 100 + y.o->o->v; union u w, z = {&w}; z.u->v = g;"
        "r[3] = w.v + sizeof(*z.u) + sizeof(l->next[0]); struct late e[2]; e[0].p = pass(e + 1); e[1].c[2] = 5;"
        "r[4] = e->p->c[2] + (e->p - e) + sizeof(*e->p); struct node copy = *l[0].next; r[5] = copy.v;"
        "{ struct node; struct up { struct node* n; }; struct node { char c; int w; }; struct node n = {1, g}; "
        "struct up u = {&n}; r[6] = u.n->w + sizeof(struct node); } r[7] = sizeof(struct node);",
    ),
    "initialisers that name their own variable": (
        "struct ring { struct ring *before, *after; int v; };",
        "struct ring head = {&head, &head, g}; r[0] = head.after->before->v;"
        "int b[3] = {7, sizeof(b), 9}; r[1] = b[1] + b[g % 3];"
        "{ int b[2] = {g, sizeof(b)}; r[2] = b[0] + b[1]; struct ring* p[2] = {&head, (struct ring*)&p};"
        "r[3] = p[0]->v + (p[1] == (struct ring*)p); }",
    ),
    "anonymous members": (
        "typedef union { struct { float x, y; }; struct { float re, im; }; float2 v; } complex_t;"
        "typedef struct { int a; union { int b; float c; }; struct { int d[2]; int e; }; } nested_t;",
        "complex_t z; z.re = g; z.y = 2; nested_t s = {1, {2}, {{3, 4}, 5}}, t = {.e = 9, .b = 7};"
        "r[0] = z.x + z.im + z.v.y; r[1] = s.e * 100 + s.d[1] * 10 + s.b; r[2] = t.a + t.b + t.e; t.c = 1.0f; r[3] = t.b;"
        "r[4] = sizeof(nested_t); nested_t* p = &t; p->d[1] = g; r[5] = t.d[1];",
    ),
    "packed members": (
        "struct s { long a __attribute__((packed)); int b; }; struct t { char c; int4 v __attribute__((packed)); struct s s; };"
        "struct u { short c; __attribute__((packed)) struct s s[2]; double d; };",
        "struct s x[3] = {{1, 2}, {3, 4}, {g, 5}}; struct t y = {1, (int4)(g), {7, 8}}; struct u z = {.s = {{1, g}, {2, 9}}};"
        "r[0] = sizeof(x) + 1000 * sizeof(y) + 100000 * sizeof(z); y.v.yz += 3; r[1] = x[g % 3].a; r[2] = y.v.y + y.v.w;"
        "r[3] = y.s.b + z.s[g & 1].b; struct u* p = &z; p->s[1].a = g; r[4] = p->s[1].a; r[5] = ((int*)x)[g % 9];",
    ),
    "unions": (
        "union u { uint i; float f; uchar c[4]; };",
        "union u x = {0x01020304u}; union u y = {.f = 1.5f}; r[0] = x.c[0] + 10 * x.c[3]; r[1] = y.i; y.c[1] = g; "
        "r[2] = y.i;"
        "r[3] = sizeof(union u);",
    ),
    "statement expressions": (
        "#define MAX(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })\n",
        "int s = ({ int t = 0; for (int i = 0; i < g; i++) { if (i == 7) break; t += i; } t; }); r[0] = s; r[1] = MAX(g, 5);"
        "r[2] = MAX(MAX(g, 3), MAX(a[g] + 0, 1)); r[3] = MAX(2.5f, 1.0f) * 2; if (g & 1) r[4] = ({ g * 3; "
        "}) + ({ int g = 2; g; });",
    ),
    "typeof": (
        "typedef struct { int x; char y; } odd_t;",
        "odd_t q = {g, 3}; __typeof__(q) w = q; __typeof__(q.y) c = 300; __typeof__(&a[0]) p = a; "
        "__typeof__(int[3]) v = {1, 2, 3};"
        "r[0] = w.x; r[1] = c; r[2] = p[g]; r[3] = sizeof(__typeof__(v)); __typeof__((char)1 + (char)1) n = 300; r[4] = n;",
    ),
    "components by number": (
        "struct holder { uint4 v[2]; };",
        "int4 v = (int4)(1, 2, 3, 4); int i = g & 3; v[i] += 10; v[1] = 7; r[0] = v[i]; r[1] = (v + v)[i]; r[2] = v[3];"
        "struct holder h = {{(uint4)(1), (uint4)(2)}}; h.v[1][i] = g; r[3] = h.v[1][2]; int4 l[3]; for (int k = 0; "
        "k < 3; k++) l[k] = v;"
        "l[i % 3][i] = 50; r[4] = l[2].z + l[1].y; float3 f = (float3)(1, 2, 3); r[5] = f[g % 3]; r[6] = l[0][0];",
    ),
    "generic pointers": (
        "int read(generic int* p) { return *p; } int plain(int* p, int n) { return p[n]; }"
        "void put(generic int* p, int x) { *p = x; }",
        "local int l[32]; int own = g * 2; l[get_local_id(0)] = g; barrier(CLK_LOCAL_MEM_FENCE); r[0] = read(&own);"
        "r[1] = plain(l, 31 - get_local_id(0)); r[2] = read((generic int*)l); "
        "generic int* p = g & 1 ? (generic int*)&own : l + get_local_id(0);"
        "r[3] = *p; put(&own, 5); r[4] = own;",
    ),
    "dimensions that are not constant": (
        "",
        "for (uint d = 0; d < 3; d++) r[d] = get_global_id(d) + 10 * get_local_size(d); uint d = g % 3; "
        "r[4] = get_num_groups(d);"
        "r[5] = get_global_size(d) + get_local_id(d) + get_group_id(d);",
    ),
    "goto forwards": (
        "",
        "int x = 0; if (g & 1) goto odd; x = 1; if (g & 2) goto end; x += 2; odd: x += 10; end: r[0] = x;"
        "for (int i = 0; i < 9; i++) for (int j = 0; j < 9; j++) { r[1] += 1; if (i * j == g) goto found; "
        "} r[2] = -1; found: r[3] = x;",
    ),
    "goto backwards": (
        "",
        "int x = g, n = 0; again: n++; if (x > 1) { x = x & 1 ? 3 * x + 1 : x / 2; goto again; } r[0] = n;"
        "int i = 0; outer: i++; int j = 0; inner: if (++j < (g & 3)) goto inner; r[1] += j; if (i < 3) goto outer; "
        "r[2] = i;",
    ),
    "goto between states": (
        "",
        "int s = g & 7, n = 0; zero: if (n++ > 20) goto out; if (s == 0) goto two; if (s & 1) goto one; s /= 2; goto zero;"
        "one: s = s - 1; goto zero; two: r[0] = n; if (g > 5) { s = 3; n += 9; goto one; } out: r[1] = n; r[2] = s;",
    ),
    "goto and barriers": (
        "",
        "local int l[32]; int n = 0; more: n++; if (n < (g & 7)) goto more; l[get_local_id(0)] = n; "
        "barrier(CLK_LOCAL_MEM_FENCE);"
        "r[0] = l[31 - get_local_id(0)];",
    ),
    "goto in a switch": (
        "",
        "int n = 0; switch (g & 3) { case 0: n = 1; goto done; case 1: n += 2; case 2: again: n += 4; "
        "if (n < 20) goto again; break;"
        "default: { n = 9; goto done; } } n += 100; done: r[0] = n;",
    ),
    "compound literals": (
        "struct p { int x, y; }; int sum(struct p p) { return p.x * 10 + p.y; } int second(struct p* p) { return p->y; }",
        "r[0] = sum((struct p){1, g}); r[1] = second(&(struct p){.y = 5}); r[2] = ((int[]){1, 2, 3, g})[g & 3]; "
        "r[3] = (int){7};"
        "struct p q; q = (struct p){g, 2}; r[4] = sum(q); r[5] = ((struct p){3, 4}).y; int* t = (int[2]){g}; "
        "t[1] += 4; r[6] = t[0] + t[1];",
    ),
    "initialisers": (
        "struct p { int x, y; }; struct q { struct p p[2]; int z; char t[4]; };",
        "struct q q = {1, 2, 3, 4, 5, \"ab\"}; struct p c = {8, g}; struct q w = {.p[1].y = 6, .z = 1, .p[0] = c}; "
        "struct p l[] = {1, 2, 3, 4, 5};"
        "int t[] = {[1 ... 3] = 4, [5] = 1, 2}; int m[2][3] = {1, 2, 3, 4}; struct p b[2] = {c, {1}}; "
        "r[0] = q.p[1].x * 100 + q.z;"
        "r[1] = w.p[1].y + w.p[0].y + w.p[0].x + w.p[1].x; r[2] = sizeof(l) + sizeof(t); r[3] = t[g % 7]; "
        "r[4] = m[1][0] + m[1][2];"
        "r[5] = b[0].y + b[1].x; r[6] = q.t[1] + q.t[3]; struct q e = {}; r[7] = e.z;",
    ),
    "what follows a designator": (
        "struct p { int x, y; }; struct q { struct p p[2]; int z; char t[4]; };"
        "struct n { int a; union { int b; float c; }; struct { int d[2]; int e; }; };",
        "struct q q = {.p[0].y = g, 7, 8, 9, {1}}; r[0] = q.p[1].x * 100 + q.p[1].y * 10 + q.z + q.t[0]; int c[2][2][3] = "
        "{[0][1][1] = g, 5, 6, [0] = {{1}}, [0][0][2] = 3, 4}; r[1] = c[0][1][0] + 10 * c[1][0][0] + 100 * c[0][0][2] + "
        "c[0][1][1];"
        "struct n n = {.b = g, 5, 6, 7}, m[2] = {[0].c = 1.0f, 5, 6, 7, 8, 9}; r[2] = n.d[1] * 100 + n.e * 10 + n.b;"
        "r[3] = m[0].e + m[1].b + m[1].a * 10; struct q s[3] = {[0 ... 1].p[0 ... 1].y = g, 5, 6}; r[4] = s[0].p[1].y + s[0].z;"
        "r[5] = s[1].z * 10 + s[1].t[0] + s[1].p[0].y; struct p w[4] = {[0 ... 2] = g, 9, 8}; r[6] = w[0].y + w[1].x + w[3].x;"
        "int b[3][4] = {[0 ... 2] = {[1 ... 2] = g}, [1][1 ... 3] = 7}; r[7] = b[0][1] + b[1][2] * 10 + b[2][2] + b[1][3];",
    ),
    "braces after designators": (
        "struct p { int x, y; };",
        "struct p b[2][2] = {[1][1].y = 78, [0][0] = {1, g}, [0] = {{.y = 5}, {g}}, {{.x = 64}, {9}}};"
        "r[0] = b[0][0].x + b[0][0].y;"
        "r[1] = b[0][1].x; r[2] = b[1][0].x + b[1][1].y; struct p c[3] = {[1].y = 4, [2] = {1, 2}, [0].x = 3, {5}, {.y = g}};"
        "r[3] = c[1].y + c[1].x * 10; r[4] = c[2].x + c[2].y; int d[3][2] = {[0 ... 2] = {1, 2}, [1] = {g}, {[1] = 7}};"
        "r[5] = d[1][0] + d[1][1]; r[6] = d[2][0] * 10 + d[2][1];",
    ),
    "unions whose member changes": (
        "union u { short m[3]; int i; char c[8]; }; struct s { int a; union { int i; short h; char c[2]; }; int b; };",
        "union u x = {.c[0] = 5, .m = {1, 2, 3}, .c = {[1] = g}}; r[0] = x.c[0] + x.c[1] * 10; r[1] = x.m[1]; union u y = "
        "{.c[0] = 5, .c[1] = 6}, z = {.m[1] = 4, .c[5] = 7, .m[0] = 3};"
        "r[2] = y.c[0] + y.c[1] * 10; r[3] = z.m[0] + z.m[1] + z.m[2];"
        "struct s v = {.i = -1, .h = 3, .b = 2}, w = {1, {-1}, 3, .h = 5};"
        "r[4] = v.i + v.b * 10; r[5] = w.i + w.a * 100 + w.b * 10;"
        "struct s t[2] = {{.i = -1}, [1].i = -1, [0].h = 4, [1].c[1] = g}; r[6] = t[0].i; r[7] = t[1].i;",
    ),
    "lengths that initialisers give": (
        "struct p { int x, y; }; struct q { struct p p[2]; int z; char t[4]; }; struct m { char n[3]; int v; };",
        "struct p c[] = {g, 1, 2, a[g], -g}, d[] = {[2].y = g, 1, 2, 3}, e[][2] = {c[0], c[1], c[2], [1][1] = c[0], c[1]};"
        "r[0] = sizeof(c) + 100 * sizeof(d) + 10000 * sizeof(e); r[1] = c[1].y + d[3].x + e[1][1].x + e[2][0].y;"
        "struct q f[] = {[1].p[1] = {1, 2}, 3, {4}, 5}; r[2] = sizeof(f) + f[1].z + f[2].p[0].x; "
        "int h[][3] = {[1][1] = g, 1, 2, 3};"
        "char i[][2][4] = {\"ab\", \"cd\", \"e\"}; struct m j[] = {\"ab\", 1, \"cd\", 2, \"e\"}; "
        "r[3] = sizeof(h) + 100 * sizeof(i);"
        "r[4] = sizeof(j) + j[1].v + i[1][0][0] + h[2][0]; float4 k[] = {(float4)(1), (float4)(g), 3}; r[5] = sizeof(k) + k[2].y;"
        "int z = {}; int4 v = {}; r[6] = z + v.w;",
    ),
    "arrays of pointers": (
        "struct s { int x[3]; };",
        "global int* t[3] = {a, a + 1, a + 2}; r[0] = t[g % 3][g & 7]; t[1]++; r[1] = t[1][0];"
        "struct s s[2] = {{{1, 2, 3}}, {{4, 5, g}}};"
        "local int w[4]; w[g & 3] = g & 3; barrier(CLK_LOCAL_MEM_FENCE); local int* u[2][2] = {{w, w + 1}, {w + 2, w}};"
        "r[2] = u[g & 1][1][1]; struct s* p[2] = {s, s + 1}; r[3] = p[1]->x[2] + p[g & 1][0].x[1]; int* m[2] = {s[0].x, s[1].x};"
        "m[0][1] = 77; r[4] = s[0].x[1] + m[g & 1][2]; int4 v[2] = {(int4)(g), (int4)(1, 2, 3, 4)}; int4* q[2] = {v, v + 1};"
        "r[5] = q[1][0][2] + q[g & 1][0].x;",
    ),
    "overloaded functions": (
        "#define MANY __attribute__((overloadable))\n"
        "int MANY f(int x) { return 1; } int MANY f(float x) { return 2; } int MANY f(float4 x) { return 3; }"
        "int MANY f(global int* x) { return 4; } MANY int f(local int* x) { return 5; } int MANY f(int* x) { return 6; }"
        "int before(float x) { return f((double)x > 1 ? x : x); } int MANY f(uint x) { return 7; } int h(int x) { return 8; }"
        "int MANY h(int x, int y) { return 9 + f(y); } int h(int x); struct s { int x; }; int MANY h(struct s s) { return s.x; }"
        "float MANY min(float x, int y) { return 50; } float MANY sum(float x) { return x; } float2 MANY sum(float2 x);"
        "float2 MANY sum(float2 x) { return (float2)(sum(x.x) + 1, sum(x.y)); } float4 MANY sum(float4 x) {"
        " return (float4)(sum(x.lo), sum(x.hi)); } int MANY late(double x); int MANY late(int x) { return 1; }"
        "int MANY late(double x) { return 2; } "
        "int MANY p(global void* x) { return 1; } int MANY p(global const void* x) { return 2; }"
        "int MANY e(event_t x) { return 1; } int MANY e(bool x) { return 2; } int MANY e(global int* x) { return 3; }"
        "int MANY q(short x) { return 1; } int MANY q(long x) { return 2; } int MANY q(int x) { return 3; }",
        "local int w[2]; int x[2];"
        "r[0] = f(1) + 10 * f(1.0f) + 100 * f((float4)(1)) + 1000 * f(a) + 10000 * f(w) + 100000 * f(x);"
        "r[1] = f(1u) + 10 * f((char)1) + 100 * f((ushort)1) + 1000 * f(g > 1) + 10000 * f('a') + 100000 * before(g);"
        "struct s s = {g}; r[2] = h(1) + 10 * h(1, 2u) + 1000 * h(s) + 100000 * h((char)1, 1);"
        "r[3] = min(1.0f, 2) + 100 * min(g, 3) + 1000 * min(2.0f, 1.0f); r[4] = sum((float4)(g, 1, 2, 3)).x;"
        "r[5] = late(1.0f) + 10 * late((short)1) + 100 * p(a) + 1000 * p((global const int*)a) + 10000 * f((global int*)NULL);"
        "r[6] = q((short)1) + 10 * q((char)1) + 100 * q((uchar)1) + 1000 * q(1l) + 10000 * q(true);"
        "r[7] = e(0);",
    ),
    "ranges of cases": (
        "",
        "switch (g) { case 3 ... 9: r[0] = 1; break; case 20 ... 30: r[0] = 2; case -5 ... -1: r[0] += 3; break;"
        " default: r[0] = 4; }"
        "switch ((uchar)(g + 240)) { case 0 ... 5: r[1] = 1; case 6 ... 60: r[1] += 2; } switch (g - 10u) {"
        " case 0xfffffff0u ... 0xffffffffu: r[2] = 1; break; case 3: r[2] = 7; } switch (-(ulong)g) {"
        " case 0: r[3] = 9; break; default: r[3] = 1; break; case 0xfffffffffffffff0ul ... 0xfffffffffffffffful: r[3] = 2; }"
        "int x = g - 3, y = x ?: 9; r[4] = y + (x > 4 ?: 8); r[5] = *((g ? a : 0) ?: a + 1);",
    ),
    "steps of vectors": (
        "int h(int x) { return x + 1; }",
        "r[0] = vec_step(int3) + 10 * vec_step(float16) + 1000 * vec_step(char); float3 v = 0; uint2 t[3]; int q[vec_step(int8)];"
        "r[1] = vec_step(v) + 10 * vec_step(t[0]) + 100 * vec_step(v.xy) + 1000 * vec_step(v * 2.0f); r[2] = sizeof(q);"
        "int h(int), i; i = h(g); r[3] = i; ulong x = 14695981039346656037ULL; x ^= (a[g] >> 3) & 0xffULL; x *= 1099511628211ULL;"
        "r[4] = x >> 32; r[5] = x % 1000ULL; r[6] = x > 0x7fffffffffffffffULL; ulong y = x * 5ull - (1ULL << g); "
        "r[7] = (y >> 32) + (x > (1ULL << g)) + (x % (3ULL * 5 + 2)) + ((1ull << 40) >> 38);",
    ),
    "attributes and qualifiers": (
        "typedef struct __attribute__((packed)) { char c; int i __attribute__((aligned(1))); } tight; "
        "struct __attribute__((aligned(32))) wide { int i; };"
        "struct mixed { char c; int i __attribute__((aligned(16))); } __attribute__((packed)); "
        "enum __attribute__((unused)) e { A __attribute__((unused)) = 2 };"
        "static inline __attribute__((always_inline)) int id(const int x __attribute__((unused)), "
        "volatile __global const int* restrict const p) { return x + p[0]; }",
        "r[0] = sizeof(tight) + 100 * sizeof(struct wide) + 10000 * sizeof(struct mixed); "
        "__attribute__((opencl_unroll_hint(2)))"
        "for (int i = 0; i < 2; i++) r[1] += id(g, a); int k __attribute__((aligned(8))) = A; r[2] = k; "
        "const volatile int y = 4; r[3] = y;",
    ),
    "preprocessor": (
        "#define CAT(a, b) a##b\n#define XCAT(a, b) CAT(a, b)\n#define LIST(first, "
        "rest...) (first + SUM(rest))\n#define SUM(x, ...) (x)\n"
        "#if defined(__has_include)\n#if __has_include(\"surely_not_there.h\")\n#error found\n#endif\n#endif\n#if "
        "0\nlook /* at\n#else */ this\n#elif NOTHING > 2\n"
        "#elif !defined(A) && __OPENCL_C_VERSION__ >= 300 && defined(__opencl_c_int64)\n#define A "
        "5\\\n+1\n#endif\n_Pragma(\"nothing\")\n",
        "int XCAT(x, __LINE__) = A; int value1 = 3;\n#pragma unroll 3\nfor (int i = 0; i < 3; i++) value1 += i; "
        "r[0] = LIST(1, 2, 3); r[1] = CAT(value, 1); r[2] = A * 2; r[3] = __OPENCL_C_VERSION__;"
        "r[4] = CL_VERSION_2_0 + CL_VERSION_1_0; "
        "r[5] = sizeof(__FILE__) > 1;\n# 100 \"other.cl\"\nr[6] = __LINE__;\n#line 7\nr[7] = __LINE__;",
    ),
    "static assertions and function names": (
        '_Static_assert(sizeof(int) == 4, "four bytes"); int first(void) { return __func__[0] + "text\\n"[4]; }',
        '_Static_assert(1 + 1 == 2, "sums"); r[0] = __func__[0]; r[1] = first() + sizeof("a\\tb");',
    ),
    "variables of a function in other spaces": (
        "int next(int i) { __constant static const int table[3] = {5, 6, 7}; return table[i]; }",
        "__constant int w[3] = {1, 2, 3}; r[0] = w[g % 3] + next(g % 3);",
    ),
    "switches that pass declarations": (
        "",
        "switch (g & 1) { case 0: ; int y = 3; r[0] = y; break; case 1: y = g; r[0] = y; }",
    ),
}  # fmt: skip
# Its front end is of LLVM 15: what OpenCL 3.0 leaves to the device is not there, and literals have no address.
REFUSED_BY_POCL = {
    "constants made of constants", "program scope", "stores to program scope", "generic pointers", "compound literals",
}  # fmt: skip


def source_of(name: str) -> str:
    prelude, body = KERNELS[name]
    return (
        f"{prelude}\n__kernel void values(__global int* o, __global int* a) {{ int g = get_global_id(0);\n"
        f"int r[{EACH}] = {{0}};\n{body}\nfor (int n = 0; n < {EACH}; n++) o[g * {EACH} + n] = r[n]; }}"
    )


def by_driver(device: Device, source: str, arrays: dict[str, np.ndarray]) -> np.ndarray:
    signature = parse_signature(source, "values")
    kernel = device.build(source, "values", signature, "float32", ("-cl-std=CL3.0",)).new_kernel()
    buffers = [device.allocate(array.nbytes) for array in arrays.values()]
    for index, (buffer, array) in enumerate(zip(buffers, arrays.values(), strict=True)):
        device.write(buffer, array)
        kernel.set_arg(index, buffer)
    device.launch(kernel, NDRange((LANES,), (GROUP,)), "values")
    device.finish("values")
    return device.read(buffers[0], LANES * EACH, np.dtype(np.int32))


@pytest.mark.parametrize("name", KERNELS)
def test_values_are_the_drivers(device: Device, name: str) -> None:
    source = source_of(name)
    generator = np.random.default_rng(5)
    arrays = {"o": np.zeros(LANES * EACH, np.int32), "a": generator.integers(-50, 50, LANES, dtype=np.int32)}
    found = explain_source(
        source, entry="values", global_size=(LANES,), local_size=(GROUP,), arguments=dict(arrays), groups="all",
        standard="CL3.0",
    )  # fmt: skip
    assert found.faults == ()
    try:
        expected = by_driver(device, source, arrays).reshape(LANES, EACH)
    except BuildFailed:
        if "portable" in device.info.platform.lower() and name in REFUSED_BY_POCL:
            pytest.skip("older versions of PoCL refuse it")
        raise
    values = found.outputs["o"].reshape(LANES, EACH)
    wrong = np.argwhere(values != expected)
    assert not len(wrong), (
        f"work-item {wrong[0][0]}, r[{wrong[0][1]}]: {values[tuple(wrong[0])]}, driver {expected[tuple(wrong[0])]}"
    )
