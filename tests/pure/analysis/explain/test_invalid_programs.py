"""What a compiler refuses is refused, with a sentence at its place; what looks like it and is valid is not."""

import numpy as np
import pytest
from invalid_programs import INVALID, LATELY_INVALID, VALID, source_of

from tilewright.analysis.explain import Explanation, explain_source
from tilewright.errors import SourceError


def explain(body: str, prelude: str = "") -> Explanation:
    arguments = {"o": np.zeros(4, np.int32)}
    return explain_source(
        source_of(prelude, body), entry="k", global_size=(1,), local_size=(1,), arguments=arguments, step_limit=1000
    )


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


def test_a_statement_before_the_first_case_is_never_run() -> None:
    assert explain("switch (v.x) { o[0] = 1; case 0: o[1] = 2; }").outputs["o"].tolist() == [0, 2, 0, 0]


@pytest.mark.parametrize(("prelude", "body"), [*INVALID, *LATELY_INVALID])
def test_what_a_compiler_refuses_is_refused(prelude: str, body: str) -> None:
    with pytest.raises(SourceError) as caught:
        explain(body, prelude)
    assert f"{caught.value}".startswith("kernel.cl:")
    assert (INVALID | LATELY_INVALID)[prelude, body] in str(caught.value)


@pytest.mark.parametrize("name", VALID)
def test_what_looks_like_it_and_is_valid_is_run(name: str) -> None:
    prelude, body = VALID[name]
    assert explain(body, prelude).outputs["o"][0] == 1
