"""Whatever the source is, `explain` ends soon: with a record, or with an error of the project that says what to do."""

import random
import re
from pathlib import Path

import numpy as np
import pytest

from tilewright.analysis.explain import Explanation, LocalMemory, explain_source
from tilewright.analysis.explain.clc import parse_program, preprocess
from tilewright.analysis.explain.clc.types import Pointer, Space
from tilewright.core.kernel import render
from tilewright.core.problems import make_problem
from tilewright.errors import InvalidInput, SourceError, TilewrightError
from tilewright.kernels import LADDERS


def explain(body: str, prelude: str = "", size: int = 32) -> Explanation:
    """A kernel of two groups on line 2 of the source, its body on line 3."""
    return explain_source(
        f"{prelude}\n__kernel void k(__global int* o, __local int* t) {{\n{body}\n}}",
        entry="k",
        global_size=(size,),
        local_size=(16,),
        arguments={"o": np.zeros(64, np.int32), "t": LocalMemory(64)},
        step_limit=10_000,
    )


def doubling(body: str, count: int = 30) -> str:
    """`#define M1 M0 M0`, `#define M2 M1 M1` ..., a line each."""
    return "\n".join(f"#define M{i + 1} {body.replace('M', f'M{i}')}" for i in range(count))


REFUSED = {
    "a large private array": ("float x[100000000]; x[0] = 1;", "", 3, "400,000,000 bytes for each of 32"),
    "a large local array": ("__local float x[100000000]; x[0] = 1;", "", 3, "400,000,000 bytes for each of 2"),
    "a large struct": ("struct S s; s.a[0] = 1;", "struct S { float a[100000000]; };", 3, "400,000,000 bytes"),
    "a large constant array": ("o[0] = c[0];", "__constant int c[] = {[100000000] = 1};", 1, "400,000,004 bytes"),
    "an array larger than any memory": ("float x[1L << 40]; x[0] = 1;", "", 3, "4,398,046,511,104 bytes"),
    "an array of such arrays": ("o[0] = sizeof(int[1L << 40][1L << 40]);", "", 3, "4,398,046,511,104 bytes"),
    "an array of structs": ("o[0] = 1;", "struct s { char a[1L << 30]; }; struct t { struct s b[1L << 32]; };", 1, "4,611,686,0"),
    "a struct of arrays": (
        "o[0] = 1;", "struct s { char a[1L << 38]; };\nunion u { char a[1L << 38]; };\nstruct t { struct s a, b; };", 3,
        "a struct of 549,755,813,888 bytes; 274,877,906,944 are the most",
    ),
    "macros that double": ("o[0] = M30;", "#define M0 1 +\n" + doubling("M M"), 33, "more than 100,000 tokens"),
    "macros that double nothing": ("M30 o[0] = 1;", "#define M0\n" + doubling("M M"), 33, "more than 100,000 tokens"),
    "a macro that doubles its argument": (f"o[0] = {'F(' * 20}1{')' * 20};", "#define F(x) x + x", 3, "100,000 tokens"),
    "a name that doubles": (
        "int M20;", "#define P(a, b) a##b\n#define Q(a, b) P(a, b)\n#define M0 xxxxxxxx\n" + doubling("Q(M, M)", 20), 25, "4,096",
    ),
    "a text that doubles": (f"{'T(' * 40}\"a\"{')' * 40};", "#define S(x) #x\n#define T(x) S(x)", 4, "100,000 tokens"),
    "macros within macros": (f"o[0] = {'F(' * 1500}1{')' * 1500};", "#define F(x) x", 2, "nested"),
    "parentheses": (f"o[0] = {'(' * 3000}1{')' * 3000};", "", 3, "nested"),
    "a condition's parentheses": ("o[0] = 1;", f"#if {'(' * 3000}1{')' * 3000}", 1, "nested"),
    "blocks": ("{" * 3000 + "o[0] = 1;" + "}" * 3000, "", 3, "nested"),
    "a long sum": (f"o[0] = {'+'.join(['o[1]'] * 4000)};", "", 2, "2:15: k "),
    "a chain of functions": (
        "o[0] = f900(1);",
        "int f0(int x) { return x; }" + "".join(f"int f{i + 1}(int x) {{ return f{i}(x); }}" for i in range(900)), 2, "2:15: k ",
    ),
    "calls that double": (
        "o[0] = f40(1);",
        "int f0(int x) { return x; }" + "".join(f"int f{i + 1}(int x) {{ return f{i}(x) + f{i}(x); }}" for i in range(40)),
        1, "10000",
    ),
    "an endless loop": ("while (1) ;", "", 3, "10000"),
    "a constant shifted too far": ("int x[1 << 100000000000];", "", 3, "100000000000"),
    "a constant shifted backwards": ("o[0] = A;", "enum { A = 1 << -1 };", 1, "-1"),
    "a condition that shifts": ("o[0] = 1;", "#if 1 << 99999999999\n#endif", 1, "99999999999"),
    "a number of 5000 digits": (f"o[0] = {'9' * 5000};", "", 3, "999"),
    "a hexadecimal float": ("float x = 0x1p99999f;", "", 3, "0x1p99999f"),
    "a character's number": (r"o[0] = '\xfffffffff';", "", 3, r"'\xfffffffff'"),
    "an octal character": (r"o[0] = '\9';", "", 3, r"'\9'"),
    "an infinite length": ("int x[(int)(1e308 * 10)];", "", 3, "constant"),
    "an attribute without its number": ("o[0] = 1;", "typedef int v __attribute__((ext_vector_type()));", 1, "ext_vector_type"),
    "a line that is no number": ("o[0] = 1;", "#line 1.5", 1, "#line"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_limits_are_sentences_with_their_line(name: str) -> None:
    body, prelude, line, words = REFUSED[name]
    with pytest.raises(SourceError, match=re.escape(words)) as caught:
        explain(body, prelude)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("body", "prelude"),
    [
        ("int x[1000000] = {[0 ... 999999] = l}; o[g] = x[0] + x[l * 31] - x[999999];", ""),
        (
            "o[g] = x[0][l] * l - x[999][0] + x[7][999] - 2;",
            "__constant int x[1000][1000] = {[0 ... 999][0 ... 999] = 1, [999][0] = -1};",
        ),
        (
            "o[g] = x[l].a * l - l + l * x[999999 - l].b;",
            "struct s { char a : 3, b : 5; } __constant x[1000000] = {[0 ... 999999] = {1, 1}};",
        ),
        ("o[g] = l * (sizeof(x) == 100000000);", "__constant char x[] = {[0 ... 99999999] = 1};"),
    ],
)
def test_ranges_of_initialisers_may_be_long(body: str, prelude: str) -> None:
    source = f"{prelude}\n__kernel void k(__global int* o) {{ int g = get_global_id(0), l = get_local_id(0); {body} }}"
    found = explain_source(source, global_size=(2,), local_size=(2,), arguments={"o": np.zeros(2, np.int32)})
    assert found.outputs["o"].tolist() == [0, 1]


def test_a_range_computes_its_value_once() -> None:
    found = explain("int g = get_global_id(0), n = g; int x[4] = {[0 ... 3] = n++}; o[g] = x[0] + x[3] - n;")
    assert found.outputs["o"][:32].tolist() == [each - 1 for each in range(32)]


def test_large_local_arguments_groups_and_launches_are_refused() -> None:
    source = "__kernel void k(__local int* t) { t[0] = 1; }"
    with pytest.raises(InvalidInput, match=r"'t'.*400,000,000.*\b2\b"):
        explain_source(source, global_size=(2,), local_size=(1,), arguments={"t": LocalMemory(400_000_000)})
    with pytest.raises(InvalidInput, match=r"\b10,000,000\b"):
        explain_source(source, global_size=(10**7,), local_size=(10**7,), arguments={"t": LocalMemory(4)})
    with pytest.raises(InvalidInput, match="10,000,000,000"):
        explain_source(source, global_size=(10**10,), local_size=(1,), arguments={"t": LocalMemory(4)}, groups="all")


def test_a_copy_of_too_many_elements_ends() -> None:
    found = explain("event_t e = async_work_group_copy(t, o, 1000000000, 0); wait_group_events(1, &e);")
    assert {(each.kind, each.position.line) for each in found.faults} == {("out of bounds", 3)}


def test_included_files_are_read_as_people_have_them_and_not_too_many(tmp_path: Path) -> None:
    (tmp_path / "latin.h").write_bytes(b"// caf\xe9\nfine\n")
    assert [each.text for each in preprocess('#include "latin.h"', "a.cl", {}, (tmp_path,)).tokens] == ["fine", ""]
    (tmp_path / "twice.h").write_text('#if __COUNTER__ < 1\n#include "twice.h"\n#include "twice.h"\n#endif\n')
    with pytest.raises(SourceError, match=r"\b64\b"):
        preprocess('#include "twice.h"', "a.cl", {}, (tmp_path,))
    for depth in range(12):
        (tmp_path / f"n{depth}.h").write_text(f'#include "n{depth + 1}.h"\n' * 2)
    (tmp_path / "n12.h").write_text("")
    with pytest.raises(SourceError, match="1,000"):
        preprocess('#include "n0.h"', "a.cl", {}, (tmp_path,))


SOURCES = [
    render(kernel, kernel.config, make_problem(kernel, (32, 32, 32) if kernel.operation == "gemm" else (32, 32), "float32"))
    for name in ("rows", "tiles", "transpose")
    for kernel in LADDERS[name].kernels
    if "sequential" not in kernel.name
]  # fmt: skip
PIECES = [
    "(", ")", "[", "]", "{", "}", "*", "&", "+", "-", "/", "%", "<<", "=", "?", ":", ",", ";", ".", "->", "0", "-1", "1e400",
    "0xffffffffffffffff", "1000000000", "1.5f", "int", "float4", "char", "void", "struct", "enum", "typedef", "__local", "const",
    "if", "else", "for", "do", "switch", "case", "break", "sizeof", "\n#define", "\n#if", "\n#endif", "#", "##", "'", '"', "é",
    "get_global_id", "barrier", "__attribute__", "asm", "unsigned", "double", "half", "event_t", "as_float", "convert_int4", ".x",
]  # fmt: skip


def damaged(chance: random.Random, text: str) -> str:
    """The source with one or two words lost, replaced, doubled or exchanged, or cut off somewhere."""
    words = re.findall(r"\w+|\s+|.", text)
    for _ in range(chance.randint(1, 2)):
        at, other = chance.randrange(len(words)), chance.randrange(len(words))
        match chance.randrange(6):
            case 0:
                words[at] = ""
            case 1 | 2:
                words[at] = chance.choice(PIECES)
            case 3:
                words[at] += " " + chance.choice(PIECES)
            case 4:
                words[at], words[other] = words[other], words[at]
            case _:
                words[at] += "".join(words[other : other + 9])
    return "".join(words[: chance.randrange(len(words))] if chance.random() < 0.05 else words)


@pytest.mark.parametrize("seed", range(150))
def test_damaged_kernels_raise_nothing_but_the_projects_errors(seed: int) -> None:
    chance = random.Random(seed)
    text = damaged(chance, chance.choice(SOURCES))
    try:
        program = parse_program(text)
        if not program.kernels:
            return
        function = program.functions[program.kernels[0]]
        local = function.work_group or (8, 8)
        arguments = {
            each.name: 32 if not isinstance(each.type, Pointer)
            else LocalMemory(1024) if each.type.space is Space.LOCAL else np.ones(1024, np.float32)
            for each in function.parameters
        }  # fmt: skip
        explain_source(
            text, entry=function.name, global_size=[2 * each for each in local], local_size=local, arguments=arguments,
            step_limit=400,
        )  # fmt: skip
    except TilewrightError:
        pass
