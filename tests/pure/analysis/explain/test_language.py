"""What random programs found: each was computed, accepted or refused in another way than compilers do it."""

import numpy as np
import pytest

from tilewright.analysis.explain import Argument, Explanation, explain_source
from tilewright.errors import SourceError


def run(body: str, prelude: str = "") -> Explanation:
    source = f"{prelude}__kernel void k(__global ulong* o, __global int* a) {{ int l = get_local_id(0);\n{body}\n}}"
    arguments: dict[str, Argument] = {"o": np.zeros(32, np.uint64), "a": np.arange(64, dtype=np.int32)}
    return explain_source(source, global_size=(32,), local_size=(32,), arguments=arguments)


VALUES = {
    "saturation of one value for all lanes": ("o[l] = add_sat((ulong)3, (ulong)127);", 130),
    "saturation beyond 64 bits": ("o[l] = add_sat((ulong)-1, (ulong)7);", 2**64 - 1),
    "saturation below 0": ("o[l] = sub_sat((ulong)3, (ulong)127);", 0),
    "saturation of long": ("o[l] = as_ulong(add_sat((long)0x7fffffffffffffff, (long)1));", 2**63 - 1),
    "a product beyond 63 bits": ("o[l] = mad_sat(0xffffffffu, 0xffffffffu, 3u);", 2**32 - 1),
    "a function's name in brackets": ("o[l] = (max)(21, (int)l);", 21),
    "a name in its own initialiser": ("long w = sizeof(w); o[0] = w;", 8),
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name: str) -> None:
    body, expected = VALUES[name]
    found = run(body, "int twice(int x) { return 2 * x; }\n")
    assert found.outputs["o"][0] == expected
    assert found.faults == ()


REFUSED = {
    "keywords are no names": ("int case = 1;", "'case'"),
    "two types at once": ("int int x = 1;", "'int'"),
    "two cases for one value": ("switch (l) { case 1: break; case 1: break; }", r"\b1\b"),
    "default": ("switch (l) { default: break; default: break; }", "default"),
    "integers are no pointers": ("__global int* p = l;", r"\bint\b.*global int"),
    "nor as arguments": ("o[l] = first(l);", r"\bint\b.*global int"),
    "nor are pointers integers": ("int x = a;", "global int.*int"),
    "vectors are no subscripts": ("o[l] = a[(uint4)(1)];", "uint4"),
    "vectors have no scalar value": ("o[l] = (int)(int4)(1);", r"int4.*\bint\b"),
    "scalars of higher rank than elements": (
        "uchar4 v = (uchar4)(1) + 1;",
        r"\bint\b.*uchar4",
    ),
    "doubles with float vectors": ("float4 v = (float4)(1) * 2.0;", "double.*float4"),
    "unsigned with signed elements": ("int4 v = (int4)(1) * 2u;", "uint.*int4"),
    "floats with integer vectors": ("int4 v = (int4)(1) * 2.0f;", "float.*int4"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    body, reason = REFUSED[name]
    with pytest.raises(SourceError, match=reason):
        run(body, "int first(__global int* p) { return p[0]; }\n")


ACCEPTED = (
    "__global int* p = 0; if (p) o[0] = 1;",
    "float4 v = (float4)(1) * 2; v = v / l; o[l] = v.x > 1;",
    "long int x = 3; short int y = 4; unsigned int z = 5; o[l] = x + y + z;",
    "uchar4 v = (uchar4)(1) << (uchar)2; v += (uchar)1; o[l] = v.x;",
    "switch (l) { case 1: o[l] = 1; break; default: o[l] = 2; }",
    "if (a) o[l] = 1; bool b = a; o[l] += b;",
)


@pytest.mark.parametrize("body", ACCEPTED)
def test_accepted(body: str) -> None:
    assert run(body).faults == ()


def test_a_value_that_is_used_in_its_own_initialiser_is_unset() -> None:
    (finding,) = run("int x = x + 1; o[l] = x;").faults
    assert finding.kind == "uninitialised read"
