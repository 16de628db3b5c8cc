"""Programs that compilers refuse, and valid ones that look like them."""

MANY = "__attribute__((overloadable))"
S_OF_INT = "struct s { int a; };"
UNION = "enum e { A, B }; struct s { int a; }; union u { float f; uint4 v; global int* p; struct s s; enum e e; char c[64]; };"
ENUMERATIONS = "enum e { A, B }; enum f { C }; enum h : uchar { D };"


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
    (ENUMERATIONS, "enum e x = B; int* p = &x;"): (
        "3:24: private enum e * cannot become private int *: they point to different types; a cast says that it is meant"
    ),
    (ENUMERATIONS, "enum e x = B; enum f* p = &x;"): "3:27: private enum e * cannot become private enum f *",
    (ENUMERATIONS, "enum h x = 1; char* p = &x;"): "3:25: private enum h * cannot become private char *",
    (f"{ENUMERATIONS} int f(enum e* p) {{ return *p; }}", "int x; f(&x);"): "private int * cannot become private enum e *",
    ("", "local atomic_int x; local int* p = &x;"): "3:36: local atomic_int * cannot become local int *",
    ("", "local atomic_int x; local atomic_uint* p = &x;"): "3:44: local atomic_int * cannot become local atomic_uint *",
    ("", "volatile global atomic_int* p = o;"): "3:33: global int * cannot become global volatile atomic_int *",
    ("", "local atomic_int x; atomic_add(&x, 1);"): "3:21: atomic_add does not take local atomic_int *",
    ("", "o[0] = atomic_load(o);"): "3:8: atomic_load takes a pointer to an atomic type, not global int *",
    ("", "o[0] = clamp(o[0], 1u, 3u);"): (
        "3:8: clamp(int, uint, uint) is ambiguous: there is none of these types, and several are as near; cast the arguments to"
    ),
    ("", "o[0] = clamp(1.0f, 0, 1);"): "3:8: clamp(float, int, int) is ambiguous",
    ("", "o[0] = min((char)1, 2);"): "3:8: min(char, int) is ambiguous",
    ("", "o[0] = hadd(1, 2u);"): "3:8: hadd(int, uint) is ambiguous",
    ("", "o[0] = abs(7ll);"): "3:8: abs(long long) is ambiguous",
    ("", "o[0] = sqrt(2);"): "3:8: sqrt(int) is ambiguous",
    ("", "o[0] = fmax(1.0f, 2.0);"): "3:8: fmax(float, double) is ambiguous",
    ("", "o[0] = isless(1, 2);"): "3:8: isless(int, int) is ambiguous",
    ("", "o[0] = dot(1, 2);"): "3:8: dot(int, int) is ambiguous",
    ("", "o[0] = pown(2, 3);"): "3:8: pown(int, int) is ambiguous",
    ("", "float w; o[0] = frexp(2, o);"): "3:17: frexp(int) is ambiguous",
    ("", "o[0] = nan(1) > 0;"): "3:8: nan(int) is ambiguous",
    ("", "o[0] = any(1u);"): "3:8: any(uint) is ambiguous",
    ("", "o[0] = mul24(1, 2u);"): "3:8: mul24(int, uint) is ambiguous",
    ("", "o[0] = upsample(1l, 2l);"): "3:8: upsample(long, long) is ambiguous",
    ("", "o[0] = select(1.0f, 2.0f, 1.0f);"): "3:8: select(float, float, float) is ambiguous",
    ("", "o[0] = select(v, v, 1).x;"): "3:8: select of int4 and int4 does not take a condition of type int",
    ("", "o[0] = select(v, v, (short4)(1)).x;"): "3:8: select of int4 and int4 does not take a condition of type short4",
    ("", "o[0] = mul24((short4)(1), (short4)(2)).x;"): "3:8: mul24 takes int and uint, not short4",
    ("", "o[0] = all((uint4)(1));"): "3:8: all takes signed integers, not uint4",
    ("", "int true = 3;"): "3:5: expected a name, found the keyword 'true'",
    ("int f(int x) { return x; }", "o[0] = (f)(1);"): (
        "3:9: 'f' stands in parentheses before its arguments, and OpenCL C takes no address of a function: write f(...)"
    ),
    (f"int {MANY} f(int x) {{ return x; }}", "o[0] = (f)(1);"): "3:9: 'f' stands in parentheses before its arguments",
    ("", "o[0] = (get_global_id)(0);"): "3:9: 'get_global_id' stands in parentheses before its arguments",
    ("", "(barrier)(CLK_LOCAL_MEM_FENCE);"): "3:2: 'barrier' stands in parentheses before its arguments",
    (f"{S_OF_INT} struct s f(int x) {{ struct s y = {{x}}; return y; }}", "o[0] = (&f(1))->a;"): "3:9: this has no address",
    (f"{S_OF_INT} struct s f(int x) {{ struct s y = {{x}}; return y; }}", "int* p = &f(1).a;"): "3:10: this has no address",
    (S_OF_INT, "struct s x = {1}; o[0] = (&(struct s)x)->a;"): "3:27: this has no address",
    (S_OF_INT, "struct s x = {1}, y = x; o[0] = (&(o[0] ? x : y))->a;"): "3:34: this has no address",
    (S_OF_INT, "struct s x = {1}; ((struct s)x).a = 2;"): "3:32: this is const and cannot be written",
    (f"{S_OF_INT} struct t {{ int a; }};", "struct s x = {1}; o[0] = ((struct t)x).a;"): "struct s cannot be cast to struct t",
    ("union u { int a; };", "union u x = {1}; o[0] = (int)x;"): "3:25: union u cannot be cast to int",
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
    ("", "float f = 1; o[0] = f ? 2 : 3;"): "3:21: what stands before ? is an integer or a pointer, not float: compare it with 0",
    ("", "float f = 1; o[0] = sizeof(f ? 2 : 3);"): "3:28: what stands before ? is an integer or a pointer, not float",
    ("", "float f = 1; o[0] = f ?: 2;"): "3:21: what stands before ? is an integer or a pointer, not float",
    ("", "o[0] = (double)v.x ? 2 : 3;"): "3:8: what stands before ? is an integer or a pointer, not double",
    ("", "int x[1.5f ? 2 : 3];"): "3:7: what stands before ? is an integer or a pointer, not float",
    ("", "int4 x = {1};"): "3:10: int4 takes 4 elements, not 1",
    ("", "int4 x[2] = {{1, 2, 3, 4}, {0}};"): "3:28: int4 takes 4 elements, not 1",
    ("", "int4 x = (int4){1};"): "3:16: int4 takes 4 elements, not 1",
    ("constant float4 c = {0};", "o[0] = c.x;"): "1:21: float4 takes 4 elements, not 1",
    ("", "int x[2] = {1, 2, nothing};"): "3:19: 'nothing' is not declared",
    ("", "int x = 1; global int* p = &x;"): "3:28: private int * cannot become global int *: they point to different address",
    ("", "local int x; global int* p = &x;"): "3:30: local int * cannot become global int *",
    ("", "int* p = o; global int* q = p;"): "3:29: private int * cannot become global int *",
    ("", "void* p = o; global int* q = p;"): "3:30: private void * cannot become global int *",
    ("", "constant int* p = o;"): "3:19: global int * cannot become constant int *",
    ("", "global int* p = (int*)0;"): "3:17: private int * cannot become global int *",
    ("", "local int x; o[0] = *(o[0] ? o : &x);"): "3:28: global int * and local int * have no type in common",
    ("", "int x; float y; o[0] = *(o[0] ? &x : &y);"): "3:24: a pointer to void points to nothing that has a value",
    ("", "int x; float y; o[0] = &x - &y;"): "3:27: private int * and private float * are not subtracted",
    ("", "int x; uint y; o[0] = &x - &y;"): "3:26: private int * and private uint * are not subtracted",
    ("struct s { int a; };", "struct s x = {1}; o[0] = (int)x;"): "3:26: struct s cannot be cast to int",
    ("struct s { int a; };", "struct s x = {1}; o[0] = *(int*)x;"): "3:27: struct s cannot be cast to private int *",
    ("", "o[0] = (float)o;"): "3:8: global int * cannot be cast to float",
    ("", "o[0] = *(global int*)1.5f;"): "3:9: float cannot be cast to global int *",
    ("", "o[0] = (int)(void)3;"): "3:8: void cannot be cast to int",
    ("", "event_t e = 0; o[0] = (int)e;"): "3:23: event_t cannot be cast to int",
    ("", "if (v.x) long;"): "3:10: a declaration alone is no branch and no body",
    ("", "x: o[0] = 1; { x: o[0] = 2; }"): "3:16: there are two labels 'x'",
    (f"int {MANY} f(volatile int* p) {{ return 1; }} int {MANY} f(int volatile* p) {{ return 2; }}", ""): "two functions 'f'",
    ("", "case 1: o[0] = 1;"): "3:1: case stands in no switch",
    ("", "switch (v.x) { case 0: o[0] = ({ int x = 1; case 1: x; }); }"): "3:45: case stands in no switch",
    ("", "switch (v.x) { case 1: ; while (0) { case 1: ; } }"): "3:38: there are two cases for 1",
    ("", "switch (v.x) { default: ; if (v.y) default: ; }"): "3:36: there are two defaults",
    ("", "switch (v.x) int y = 1;"): "3:14: a declaration alone is no branch and no body: put it in braces",
    ("enum e : uchar { A = 255, B };", ""): "1:27: enumerator 'B' is 256, which uchar does not hold",
    ("enum e : uchar { A = -129 };", ""): "1:18: enumerator 'A' is -129, which uchar does not hold",
    ("enum e : float { A };", ""): "1:8: the type of an enumeration is an integer, not float",
    ("enum e : uchar; enum e : ushort { A };", ""): "1:17: there are two definitions of enum e",
    ("enum e : uchar { A }; enum e : uchar { B };", ""): "1:23: there are two definitions of enum e",
    ("int f(int t[const 2]) { t = 0; return 1; }", "int x[2]; o[0] = f(x);"): "1:25: this is const and cannot be written",
    ("", "int x[static 3];"): "3:7: static stands in the first brackets of a parameter only",
    ("int f(int t[static]) { return 1; }", ""): "1:12: static needs the length that a parameter has at least",
    ("int f(int t[2][static 3]) { return 1; }", ""): "1:16: static stands in the first brackets of a parameter only",
    ("struct s { int a; };", "o[0] = __builtin_offsetof(struct s, b);"): "3:37: 'b' is no member of struct s",
    ("struct s { int4 a; };", "o[0] = __builtin_offsetof(struct s, a.y);"): "3:39: 'y' is no member of int4",
    ("struct s { int* a; };", "o[0] = __builtin_offsetof(struct s, a[1]);"): "3:39: private int * is no array",
    ("struct s { int a[2]; };", "o[0] = __builtin_offsetof(struct s, a[1.5f]);"): "3:39: a subscript must be an integer",
    ("struct s;", "o[0] = __builtin_offsetof(struct s, a);"): "3:37: struct s is not defined",
    ("", "ulong4 w = 1; w = w * 3ull;"): "3:21: a constant with ll is of higher rank than the elements of ulong4: write ul",
    ("", "\n#if 1\n#else\n#else\n#endif\n"): "6:1: #else after #else",
    ("", "\n#if 0\n#if 1\n#else\n#elif 1\n#endif\n#endif\n"): "7:1: #elif after #else",
}  # fmt: skip

# What recent versions of Clang refuse, and older ones warn of.
LATELY_INVALID = {
    ("", "float f = 1; int* p = &f;"): "3:23: private float * cannot become private int *: they point to different types",
    ("", "float f; int* p; p = &f;"): "3:20: private float * cannot become private int *",
    ("int f(int* p) { return *p; }", "float x = 1; o[0] = f(&x);"): "3:23: private float * cannot become private int *",
    ("int* f(float* p) { return p; }", "float x; o[0] = *f(&x);"): "1:20: private float * cannot become private int *",
    ("", "global char* p = o;"): "3:18: global int * cannot become global char *",
    ("", "bool b = 1; uchar* p = &b;"): "3:24: private bool * cannot become private uchar *",
    ("", "uint4* p = &v;"): "3:12: private int4 * cannot become private uint4 *",
    ("", "int* p = &v;"): "3:10: private int4 * cannot become private int *",
    ("", "int x[2][3]; int* p = x;"): "3:23: private int[3] * cannot become private int *",
    ("", "int x[3]; int (*p)[4] = &x;"): "3:25: private int[3] * cannot become private int[4] *",
    ("", "int x; int* p = &x; uint** q = &p;"): "3:32: private private int * * cannot become private private uint * *",
    ("", "int x; int* p = &x; void** q = &p;"): "3:32: private private int * * cannot become private private void * *",
    ("struct s { int a; }; struct t { int a; };", "struct s x; struct t* p = &x;"): "struct s * cannot become private struct t *",
    ("", "{ local int t; t = 1; }"): (
        "3:13: 't' is in local memory, which is declared in the outermost braces of a kernel alone: declare it there"
    ),
    ("", "for (int i = 0; i < 1; i++) { local int t[2]; }"): "3:41: 't' is in local memory, which is declared in the outermost",
    ("", "for (local int i; ;) ;"): "3:16: 'i' is in local memory, which is declared in the outermost",
    ("", "o[0] = ({ local int t; 1; });"): "3:21: 't' is in local memory, which is declared in the outermost",
    ("", "{ local int* local t; }"): "3:20: 't' is in local memory, which is declared in the outermost",
    ("", "if (o[0]) { constant int t = 1; }"): "3:26: 't' is in constant memory, which is declared in the outermost",
    ("void f() { local int t; }", "f();"): (
        "1:22: 't' is in local memory, which is declared in kernels alone: declare it in the kernel, and give this function a"
    ),
    ("void f() { constant int t = 1; }", "f();"): (
        "1:25: 't' is in constant memory, which is declared in kernels alone: declare it before the functions"
    ),
    ("", "static local int t;"): "3:18: 't' is static, and in local memory: leave out static, which it cannot be",
    ("", "global int t;"): (
        "3:12: 't' is in global memory, which only static variables of a function are: make it static, or a parameter"
    ),
    ("void f(local int t) { }", ""): (
        "1:18: parameter 't' is passed by value, and cannot be in local memory: leave out local, or pass a pointer to local"
    ),
    ("void f(global int);", ""): "1:18: a parameter is passed by value, and cannot be in global memory: leave out global",
    ("kernel void f(constant int t) { }", ""): "1:28: parameter 't' is passed by value, and cannot be in constant memory",
    ("kernel void f(global int* local t) { }", ""): "1:33: parameter 't' is passed by value, and cannot be in local memory",
    ("typedef local int t; void f(t x) { }", ""): "1:31: parameter 'x' is passed by value, and cannot be in local memory",
    ("kernel void f(int* t) { }", ""): (
        "1:20: parameter 't' of a kernel points to no address space that a host program can pass: make it a pointer to global"
    ),
    ("typedef local int t;", "if (o[0]) { t x; }"): "3:15: 'x' is in local memory, which is declared in the outermost braces",
    ("typedef local int t; void f(global t* x) { }", ""): (
        "1:36: a type has one address space, and this one would have two: global and local"
    ),
    ("void f(global local int* x) { }", ""): "1:15: a type has one address space, and this one would have two: global and",
    ("", "int* local global x;"): "3:19: a type has one address space, and this one would have two: local and global",
    ("typedef const int t;", "t x = 1; x = 2;"): "3:10: this is const and cannot be written",
    ("struct s { local int t; };", ""): "1:22: member 't' lies where its struct or union lies: leave out local",
    ("typedef private int t; struct s { t x; };", ""): "1:37: member 'x' lies where its struct or union lies: leave out private",
    ("local int f() { return 1; }", ""): "1:11: function 'f' gives a value, which has no address space: leave out local",
    ("constant int t;", ""): "1:14: 't' is in constant memory, which nothing can write: give it an initialiser",
    ("static constant float t[4];", ""): "1:23: 't' is in constant memory, which nothing can write: give it an initialiser",
    ("", "constant int t;"): "3:14: 't' is in constant memory, which nothing can write: give it an initialiser",
    ("local int t;", ""): "1:11: local memory belongs to a kernel: declare 't' inside of one",
    ("private int t = 3;", ""): "1:13: 't' cannot be private here: it belongs to no work-item",
    (UNION, "union u x = (union u)(short)3;"): (
        "3:13: short cannot be cast to union u, which has no member of that type: name the members in braces, as in {.f = ...}"
    ),
    (UNION, "union u x = (union u)3.0;"): "3:13: double cannot be cast to union u, which has no member of that type",
    (UNION, "union u x = (union u)A;"): "3:13: int cannot be cast to union u",
    (UNION, "typedef union { int4 v; } w; w x = (w)3;"): "3:36: int cannot be cast to union, which has no member of that",
    (UNION, "union w x = (union w)3; union w { int a; };"): "3:9: union w is not defined",
    (UNION, "((union u)3.0f).p = 0;"): "3:16: this is const and cannot be written",
    (UNION, "union u* x = &((union u)3.0f);"): "3:14: this has no address",
    (S_OF_INT, "struct s x = (struct s)3;"): "3:14: int cannot be cast to struct s: name the members in braces, as in {.a = ...}",
    ("", "long e; float x = frexp(3.0f, &e);"): "3:19: frexp stores int there, and was given private long *",
    ("", "uint4 e; float4 x = frexp((float4)(3), &e);"): "3:21: frexp stores int4 there, and was given private uint4 *",
    ("", "float x; x = remquo(3.0f, 2.0f, &x);"): "3:14: remquo stores int there, and was given private float *",
    ("", "int e; float x = modf(3.0f, &e);"): "3:18: modf stores float there, and was given private int *",
    (ENUMERATIONS, "enum e x; float y = frexp(3.0f, &x);"): "3:21: frexp stores int there, and was given private enum e *",
    ("", "local atomic_int e; float x = frexp(3.0f, &e);"): "3:31: frexp stores int there, and was given local atomic_int *",
}  # fmt: skip

VALID = {
    "typedefs with an address space": (
        "typedef local int shared; typedef global int stored; typedef constant int fixed; typedef shared row[4];"
        "typedef const int c; fixed four = 4; extern constant int five; constant int five = 5;"
        "int f(stored* p, c x) { return p[0] - p[0] + x; }",
        "shared t; row r; local shared u; fixed six = 6; t = 1; r[2] = 2; u = 3; shared* p = &t; local int* q = r;"
        "o[0] = p[0] + q[2] + u == 6 && four + five + six == 15 && f(o, 7) == 7;",
    ),
    "variables of local and of constant memory": (
        "int f(void) { static constant int t = 3; return t; }",
        "goto here; here: ; local int t[2]; constant int c = 2; { local int* p = t; p[0] = 1; static constant int d = 4;"
        "const int b = 5; o[0] = t[0] + c + f() + d + b == 15; }",
    ),
    "casts to unions": (
        f"{UNION} typedef union {{ int i; float f; float g; }} w; constant w one = (w)1.0f;"
        "union u g(float x) { return (union u)x; }",
        "struct s y = {5}; enum e z = B; uint4 n = 9; const float m = 4; union u x = (union u)m, t; t = (union u)n;"
        "global int* q = ((union u)o).p; w h = (w)3.5f;"
        "o[0] = x.f == 4 && t.v.w == 9 && q == o && ((union u)y).s.a == 5 && ((union u)z).e == B && g(2).f == 2 && h.g == 3.5f"
        "    && one.f == 1 && ((w)2.0f).i == 0x40000000 && sizeof((union u)n) == 64 && ((union u)x).f == 4;",
    ),
    "second results of another sign and of no type": (
        "",
        "uint e, s; int r; float a = frexp(0.75f / 8, &e), b = frexp(48.0f, (void*)&r); double d = frexp(8.0, &e);"
        "float c = lgamma_r(-0.5f, &s), f = remquo(7.0f, 2.0f, (uint*)&r); local float w; f = modf(2.5f, (local void*)&w);"
        "e -= 4; o[0] = a == 0.75f && b == 0.75f && d == 0.5 && e == 0 && s == 0xffffffff && f == 0.5f && w == 2;",
    ),
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
    "other pointers": (
        "int f(const uint* p) { return *p; } enum e { A = -1, B };",
        "uint u = 1; int* p = &u; const int c = 1; p = &c; void* w = p; uint* q = w; const int* const* t = &p; enum e b = B;"
        "int* n = &b; const int (*x)[2]; int y[2][2]; x = y; global int* z = NULL; local float* l = 0;"
        "constant int* k = (void*)0; global void* m = o; z = m; p = o[0] ? &c : 0; p = o[0] ? w : &c; char r; uchar* s = &r;"
        "int* h = p ?: &c; o[0] = f(&c) == 1 && (&y[0][1] - y[0]) == 1 && *q == 1 && **t == 1 && *n == 0 && p == h;",
    ),
    "casts": (
        "struct s { int a; };",
        "struct s x = {1}; (void)x; (void)v; event_t e = (event_t)0; int4 w = (int4)(bool)v.z; int n = (char)o ? 1 : 1;"
        "uint: n++; if (n < 3) goto uint; o[0] = w.y == 1 && ((int4)(int4)(3)).z == 3 && n == 3 && (bool)o"
        "    && ((struct s)x).a == 1 && (&(struct s){5})->a == 5 && *&(struct s){6}.a == 6;",
    ),
    "pointers to enumerations and to atomic types": (
        ENUMERATIONS,
        "enum e b = B; uint* p = &b; enum e* q = p; enum h d = D; uchar* s = &d; __typeof__(b + 0) w = 5; int* n = &w; uint c;"
        "volatile global atomic_int* x = (volatile global atomic_int*)o; volatile global void* y = x; x = y; enum e* k = 0;"
        "atomic_intptr_t* i; atomic_long* j = i; __typeof__(d ? d : d) g = 2; int* t = &g; int z = &b == &c;"
        "o[0] = *p == 1 && *q == 1 && *s == 0 && *n == 5 && *t == 2 && !z && atomic_load(x) == 0 && atomic_add(o, 0) == 0;",
    ),
    "names in parentheses": (
        f"int {MANY} f(int x) {{ return x; }} int {MANY} f(float x) {{ return 3; }}",
        "o[0] = (f)(1) == 1 && ((f))(1.0f) == 3 && (min)(v.x, -2) == -2 && (vload4)(0, o).x == 0;",
    ),
    "truth values": (
        "#if true && !false\n#define YES true\n#endif\n#ifdef true\n#undef YES\n#endif\nconstant bool c = true;",
        "char x[true + true]; switch (true) { case false: o[0] = 9; }"
        "o[0] = sizeof(true) == 1 && sizeof(false) == 1 && sizeof(-true) == 4 && -true == -1 && ~false == -1 && YES + c == 2"
        "    && sizeof(x) == 2 && true << 3 == 8 && sizeof(o[0] ? true : false) == 4;",
    ),
    "constants too large for long": (
        "",
        "ulong u = 18446744073709551615; double d = 9223372036854775808; long m = -9223372036854775808;"
        "o[0] = u + 1 == 0 && d == 0x1p63 && m >> 62 == -2 && sizeof(9223372036854775808) == 16"
        "    && 9223372036854775808l / 3 == 3074457345618258602 && u == 18446744073709551615ll;",
    ),
    "conditions": (
        "",
        "float f = 2; int n = 0; if (f) n++; while (f) { f = 0; n++; } n += !f ? 1 : 5; n += f || 0 ? 7 : 1; global int* p = o;"
        "o[0] = (p ? n : 0) == 4 && (n ?: 2.5f) == 4;",
    ),
    "more initial values than there is room for": (
        "constant int c[2] = {1, 2, 3}; constant char s[2] = \"abc\"; struct p { int a, b; };",
        "int n = 0, x[2] = {1, 2, n++, {3}, \"text\", [0] = 9}; struct p y = {1, 2, 3}, z[1] = {1, 2, 3}, w = {{{4}}, {5, 6}};"
        "int a = {{7, 8}, 9}; char t[] = {\"ab\", 1}; union { int i; float f; } u = {1, 2}; int2 k[2] = {1, 2, 3, 4};"
        "int4 q = {{1}, v.yz, 4}; int3 e = (int3){};"
        "o[0] = n == 0 && x[0] == 1 && y.b == 2 && z[0].b == 2 && w.a == 4 && w.b == 5 && a == 7 && sizeof(t) == 3 && u.i == 1"
        "    && k[1].y == 2 && q.y == 1 && q.z == 2 && e.z == 0 && c[1] == 2 && s[1] == 98;",
    ),
    "branches": ("", "\n#if 0\n#if 1\n#else\n#endif\n#elif 1\n#elif 1\n#else\n#endif\no[0] = 1;"),
}  # fmt: skip
