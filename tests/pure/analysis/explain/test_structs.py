"""Structs and unions: how they are laid out, and how they are filled."""

import numpy as np
import pytest

from tilewright.analysis.explain import explain_source


def stored(prelude: str, body: str, lanes: int = 4) -> list[int]:
    """What each of the work-items stores in its element of `o`, which holds 99 before; `g` is the global id."""
    found = explain_source(
        f"{prelude}\n__kernel void k(__global int* o) {{ int g = get_global_id(0);\n{body} }}",
        global_size=(lanes,), local_size=(lanes,), arguments={"o": np.full(lanes, 99, np.int32)},
    )  # fmt: skip
    assert found.faults == ()
    return [int(each) for each in found.outputs["o"]]


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize(
    ("initialiser", "value"), [("{5}", 50), ("{0}", 0), ("{}", 0), ("{5, 2}", 52), ("{.b = 1}", 1)]
)
def test_bit_fields_of_one_byte_are_initialised(initialiser: str, value: int, lanes: int) -> None:
    struct = "struct s { uchar a : 3, b : 2; };"
    assert stored(struct, f"struct s s = {initialiser}; o[g] = 10 * s.a + s.b;", lanes) == [value] * lanes


# members -> size, alignment: Clang's, which drivers are made of
PACKED_MEMBERS = {
    "long a __attribute__((packed)); int b;": (12, 4),
    "char c; __attribute__((packed)) long a, b; int d;": (24, 4),
    "char c; long a __attribute__((packed)), b;": (24, 8),
    "char c; long a __attribute__((packed, aligned(2)));": (10, 2),
    "char c; long a[2] __attribute__((packed)); float4 f __attribute__((packed));": (33, 1),
    "char c; struct { long x; } i __attribute__((packed));": (9, 1),
    "char c; union { char d; long a __attribute__((packed)); } u;": (9, 1),
    "char c; __global long* p __attribute__((packed)); __global long* __attribute__((packed)) q;": (17, 1),
}


@pytest.mark.parametrize("members", PACKED_MEMBERS)
def test_a_packed_member_lies_at_any_byte(members: str) -> None:
    size, alignment = PACKED_MEMBERS[members]
    found = stored(f"struct s {{ {members} }};", "o[g] = g ? sizeof(struct s) : __alignof__(struct s);")
    assert found == [alignment, size, size, size]


PACKED_USES = {  # members after a char, a use of the struct s, and what it stores
    "a packed member": ("long a PACKED; int b;", "s.a += g; t[g].a = s.a; t[g].b = s.b", "t[g].a + t[g].b"),
    "a member of a member": ("struct { int x; long y; } a PACKED;", "s.a.y += g; t[g] = s", "t[g].a.y + s.a.x"),
    "components": ("int4 a PACKED;", "s.a.y += g; t[g] = s; t[g].a.zw = s.a.xx", "t[g].a[g & 1] + t[g].a.w"),
    "an array": ("int a[3] PACKED;", "s.a[g & 1] += g; t[g] = s", "t[g].a[0] + s.a[1]"),
    "a pointer": ("__global int* a PACKED; int b;", "s.a = o; t[g] = s", "(t[g].a == o) + t[g].b"),
}  # fmt: skip


@pytest.mark.parametrize("name", PACKED_USES)
def test_packed_members_are_no_misaligned_accesses(name: str) -> None:
    members, use, value = PACKED_USES[name]
    prelude = f"#define PACKED __attribute__((packed))\nstruct s {{ char c; {members} }};"
    stored(prelude, f"struct s s = {{}}; struct s t[4]; {use}; o[g] = {value};")
    stored(prelude, f"__local struct s t[4]; struct s s = {{1}}; {use}; o[g] = {value};")


def test_a_pointer_that_is_misaligned_itself_is_still_found() -> None:
    with pytest.raises(AssertionError, match="misaligned"):
        stored("struct s { long a; int b; };", "char t[40] = {0}; o[g] = ((struct s*)(t + 1))->a;")


@pytest.mark.parametrize("size", [1, 2, 3])
def test_small_structs_are_arguments_and_results(size: int) -> None:
    source = f"""struct s {{ uchar c[{size}]; }}; struct s none(int x) {{ if (x) {{ struct s y = {{5}}; return y; }} }}
    __kernel void k(__global int* o, struct s s) {{ o[0] = s.c[{size - 1}]; struct s t = none(s.c[0]); o[1] = t.c[0]; }}"""
    for given, expected in ((bytes(range(7, 7 + size)), [6 + size, 5]), (np.full(size, 9, np.uint8), [9, 5])):
        arguments = {"o": np.zeros(2, np.int32), "s": given}
        found = explain_source(source, global_size=(1,), local_size=(1,), arguments=arguments)
        assert found.outputs["o"].tolist() == expected
    found = explain_source(
        source, global_size=(1,), local_size=(1,), arguments={"o": np.zeros(2, np.int32), "s": bytes(size)}
    )
    assert {each.kind for each in found.faults} == {"uninitialised read"}
