"""Constant memory, atomic functions and private arrays: each counted by its own rule, and said only where it costs."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from says import says

from tilewright.analysis.explain import Argument, Explanation, Image, explain_source, find_model
from tilewright.analysis.explain.annotate import report
from tilewright.analysis.explain.drawing.flow import legs
from tilewright.analysis.explain.drawing.picture import parts, svg
from tilewright.analysis.explain.drawing.source import BAR, source_lines
from tilewright.analysis.explain.models import NVIDIA
from tilewright.analysis.explain.profile import ADDRESSES, SECTORS
from tilewright.analysis.explain.serialise import to_dict
from tilewright.analysis.explain.totals import totals
from tilewright.analysis.explain.verdict import findings_and_costs, verdict
from tilewright.analysis.explain.what_if import best_answers, sweep, table

ITEMS, GROUP = 128, 64


def explain(
    body: str, parameters: str = "", arguments: dict[str, Any] | None = None, head: str = "", **how: Any
) -> Explanation:
    """A kernel with `o` (an int for each work-item), the global id i and the local id l."""
    source = (
        f"{head}\n__kernel void k(__global int* o{', ' * bool(parameters)}{parameters}) {{\n"
        f"int i = get_global_id(0), l = get_local_id(0);\n{body}\n}}"
    )
    given: dict[str, Argument] = {"o": np.zeros(ITEMS, np.int32), **(arguments or {})}
    how = {"global_size": (ITEMS,), "local_size": (GROUP,), "groups": "all", **how}
    return explain_source(source, arguments=given, **how)


def random_indices(below: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, below, ITEMS).astype(np.int32)


def costs(found: Explanation) -> list[str]:
    return [each.text for each in findings_and_costs(found) if each.mark == "cost"]


CONSTANT = ("__constant int* c, __global const int* at", {"c": np.arange(ITEMS, dtype=np.int32)})


@pytest.mark.parametrize("below", [1, 2, 7, 128])
@pytest.mark.parametrize("group", [64, 32, 16])
def test_a_constant_cache_serves_one_address_after_the_other(below: int, group: int) -> None:
    parameters, arguments = CONSTANT
    at = random_indices(below)
    found = explain("o[i] = c[at[i]];", parameters, {**arguments, "at": at}, local_size=(group,))
    (access,) = (each for each in found.accesses if each.space == "constant")
    width = min(32, group)
    requests = [set(at[first : first + width].tolist()) for first in range(0, ITEMS, width)]
    assert (access.unit, access.requests, access.cost, access.ideal) == (
        ADDRESSES, len(requests), sum(map(len, requests)), len(requests)
    )  # fmt: skip
    assert totals(found).constant_cost == access.cost
    assert any(says(line, "line 4", "addresses") for line in costs(found)) == (below > 1)


def test_bytes_of_one_constant_word_are_several_addresses() -> None:
    found = explain("o[i] = c[l];", "__constant uchar* c", {"c": np.zeros(64, np.uint8)})
    (access,) = (each for each in found.accesses if each.space == "constant")
    assert access.per_request == 32


def test_constant_memory_is_not_among_global_memory() -> None:
    parameters, arguments = CONSTANT
    found = explain("o[i] = c[at[i]];", parameters, {**arguments, "at": random_indices(9)})
    sums = totals(found)
    assert (sums.global_load_sectors, sums.global_store_sectors) == (16, 16)
    text = "\n".join(line.text for line in report(found))
    assert "constant memory:" in text
    assert to_dict(found)["totals"]["constant_cost"] == sums.constant_cost


@pytest.mark.parametrize("model", ["amd64", "intel16", "cpu"])
def test_other_devices_count_constants_as_global_memory(model: str) -> None:
    parameters, arguments = CONSTANT
    given = {**arguments, "at": random_indices(100)}
    constant = explain("o[i] = c[at[i]];", parameters, given, model=find_model(model))
    ordinary = explain(
        "o[i] = c[at[i]];", parameters.replace("__constant", "__global const"), given, model=find_model(model)
    )
    (one,), (other,) = ([each for each in found.accesses if each.buffer == "c"] for found in (constant, ordinary))
    assert (one.unit, one.cost, one.ideal, one.lines) == (SECTORS, other.cost, other.ideal, other.lines)


@pytest.mark.parametrize("below", [1, 3, 64])
@pytest.mark.parametrize("local", [False, True])
def test_contention_is_the_most_lanes_on_one_place(below: int, local: bool) -> None:
    at = random_indices(below, seed=below)
    body = "if (l % 3) atomic_add(&o[at[i]], l);"
    if local:
        body = f"__local int h[64]; h[l] = 0; barrier(1); {body.replace('o[', 'h[')} barrier(1); o[i] = h[l];"
    found = explain(body, "__global const int* at", {"at": at})
    (access,) = (each for each in found.accesses if each.is_atomic)
    warps = [Counter(int(at[i]) for i in range(first, first + 32) if i % GROUP % 3) for first in range(0, ITEMS, 32)]
    assert (access.requests, access.contention) == (4, max(max(each.values()) for each in warps))
    assert access.turns == sum(max(each.values()) for each in warps)
    together = [warps[0] + warps[1], warps[2] + warps[3]] if local else [sum(warps, Counter())]
    assert access.hottest == max(max(each.values()) for each in together)
    assert access.updates == sum(sum(each.values()) for each in warps)
    if local:  # a bank makes one update a pass
        assert access.cost == sum(max(Counter(word % 32 for word in each.elements()).values()) for each in warps)
    assert any(says(line, "atomically", "turns") for line in costs(found)) == (below < 64 or local or access.turns > 5)


def test_scattered_updates_and_single_lanes_are_not_complained_about() -> None:
    assert costs(explain("atomic_inc(&o[i]);")) == []
    assert costs(explain("if (l == 0) atomic_inc(&o[0]);")) == []


def private_costs(at: np.ndarray, item_bytes: int, active: np.ndarray) -> tuple[int, int]:
    """Requests and sectors of `a[at[i]]`: the words of a warp's lanes stand side by side."""
    requests = sectors = 0
    for first in range(0, ITEMS, 32):
        touched = set()
        for lane in range(32):
            if active[first + lane]:
                begin = int(at[first + lane]) * item_bytes
                for byte in range(begin, begin + item_bytes):
                    touched.add((byte // 4 * 128 + lane * 4 + byte % 4) // 32)
        requests, sectors = requests + bool(touched), sectors + len(touched)
    return requests, sectors


@pytest.mark.parametrize(("kind", "size"), [("int", 4), ("char", 1), ("short", 2), ("double", 8), ("float4", 16)])
@pytest.mark.parametrize("below", [1, 5, 16])
def test_private_arrays_indexed_by_data_lie_off_chip(kind: str, size: int, below: int) -> None:
    at = random_indices(below, seed=size)
    body = f"{kind} a[16];\nfor (int j = 0; j < 16; j++) a[j] = ({kind})(j);\nif (l % 5 != 2)\no[i] = ((int*)&a[at[i]])[0];"
    used = "a[at[i]]" + (".x" if kind == "float4" else "")
    body = body.replace("((int*)&a[at[i]])[0]", f"(int){used}")
    found = explain(body, "__global const int* at", {"at": at})
    stores = [each for each in found.private_accesses if each.operation == "store"]
    (load,) = (each for each in found.private_accesses if each.operation == "load")
    everyone = np.ones(ITEMS, bool)
    wanted = [private_costs(np.full(ITEMS, j), size, everyone) for j in range(16)]
    assert (sum(each.requests for each in stores), sum(each.cost for each in stores)) == (
        sum(each[0] for each in wanted), sum(each[1] for each in wanted)
    )  # fmt: skip
    assert (load.requests, load.cost) == private_costs(at, size, np.arange(ITEMS) % GROUP % 5 != 2)
    assert any(says(line, "private array a", "line 7", "off-chip") for line in costs(found))
    assert all(each.space != "private" for each in found.accesses)


REGISTERS = {
    "an unrolled loop": "int a[8]; for (int j = 0; j < 8; j++) a[j] = l; for (int j = 7; j >= 0; j--) o[i] += a[j];",
    "nested loops": "int a[4][4]; for (int j = 0; j < 4; ++j) for (int m = j; m < 4; m += 1) { a[j][m] = l; o[i] += a[j][m]; }",
    "an index made of counters": "int a[16]; for (int j = 0; j < 4; j++) { int at = 4 * j + 1; a[at] = j; o[i] += a[at]; }",
    "one of two bounds": "int a[8]; for (int j = 0; j < 8; j++) a[j] = l;"
    "for (int j = 0; j + l < 20 && j < 8; j++) o[i] += a[j];",
    "a constant": "const int n = 3; int a[8]; a[n] = i; o[i] = a[n];",
    "a function": "int a[8]; fill(a, 8); o[i] = a[2];",
    "vload": "float a[8]; vstore4((float4)(1), 0, a); o[i] = (int)vload4(0, a).x;",
    "halving": "int a[32]; for (int j = 16; j > 0; j >>= 1) { a[j] = j; o[i] += a[j]; }",
}  # fmt: skip
OFF_CHIP = {
    "an unknown count": "int a[8]; for (int j = 0; j < o[0] % 8; j++) a[j] = l; a[1] = 0; o[i] = a[1];",
    "data": "int a[8]; for (int j = 0; j < 8; j++) a[j] = l; o[i] = a[(o[i] + l) & 7];",
    "data through a function": "int a[8]; for (int j = 0; j < 8; j++) a[j] = l; o[i] = pick(a, l & 7);",
    "a counter that the body changes": "int a[64]; for (int j = 0; j < 8; j++) { a[j] = l; j += o[i]; } o[i] = a[0];",
    "many iterations": "int a[64]; for (int j = 0; j < 64; j++) a[j] = 1;\nfor (int j = 0; j < 64; j++) "
    "for (int m = 0; m < 64; m++) o[i] += a[(j * m) % 64];",
    "a struct's array": "struct s { int n; int a[8]; } v; for (int j = 0; j < 8; j++) v.a[j] = l; o[i] = v.a[l & 7];",
}  # fmt: skip
HEAD = "void fill(int* p, int n) { for (int j = 0; j < 8; j++) p[j] = j; }\nint pick(int* p, int at) { return p[at]; }"


@pytest.mark.parametrize("name", REGISTERS)
def test_constant_subscripts_stay_in_registers(name: str) -> None:
    found = explain(REGISTERS[name], head=HEAD)
    assert found.private_accesses == ()
    assert not any("off-chip" in line for line in verdict(found))


@pytest.mark.parametrize("name", OFF_CHIP)
def test_other_subscripts_do_not(name: str) -> None:
    found = explain(OFF_CHIP[name], head=HEAD)
    assert found.private_accesses != ()
    assert all(each.space == "private" for each in found.private_accesses)


def test_a_cpu_keeps_private_arrays_in_its_cache() -> None:
    assert explain(OFF_CHIP["data"], model=find_model("cpu")).private_accesses == ()


def test_summing_loops_count_private_arrays() -> None:
    """A loop that only adds up is run many iterations at once."""
    body = "int a[40]; for (int j = 0; j < n; j++) a[j] = j; int sum = 0;\n"
    body += "for (int j = 0; j < n; j++) sum += a[j] * 2;\no[i] = sum;"
    found = explain(body, "int n", {"n": 40})
    loads = [each for each in found.private_accesses if each.operation == "load"]
    assert [(each.position.line, each.requests, each.cost) for each in loads] == [(5, 40 * 4, 40 * 16)]


@pytest.mark.parametrize("body", ["if (l == 0) o[i / 64] = 1;", "o[i] = g[3];", "o[i] = g[i / 64] + g[i & ~63];"])
@pytest.mark.parametrize("model", ["nvidia", "amd64", "intel16", "gt200"])
def test_what_cannot_be_cheaper_is_not_complained_about(body: str, model: str) -> None:
    found = explain(body, "__global const int* g", {"g": np.zeros(4096, np.int32)}, model=find_model(model))
    assert costs(found) == []


def test_the_models_say_what_their_rules_are() -> None:
    assert NVIDIA.serial_constants
    found = explain("o[i] = c[l];", "__constant int* c", {"c": np.zeros(64, np.int32)})
    assert any("constant cache" in line.text for line in report(found))


@pytest.mark.parametrize("body", ["o[i] = (int)g[i];", "o[i] = convert_int(g[i]);", "int x = (int)g[i]; o[i] = x;"])
def test_a_converted_value_is_read_once(body: str) -> None:
    found = explain(body, "__global const float* g", {"g": np.full(ITEMS, 3.5, np.float32)})
    (load,) = (each for each in found.accesses if each.buffer == "g")
    assert load.requests == 4


def test_a_converted_value_has_its_side_effects_once() -> None:
    found = explain("float x = 1; long n = 5; int y = (int)x++ + (int)n++; o[i] = y * 100 + (int)x * 10 + (int)n;")
    assert set(found.outputs["o"].tolist()) == {626}


@pytest.mark.parametrize(
    ("index", "words"),
    [
        ("l", "one warp asks for 32 addresses, which the constant cache serves one after the other"),
        ("0", "one warp asks for 1 address: one pass serves all lanes"),
    ],
)
def test_a_picture_of_constant_memory_has_addresses(index: str, words: str) -> None:
    found = explain(f"o[i] = c[{index}];", "__constant int* c", {"c": np.zeros(64, np.int32)})
    (drawn,) = (drawing.svg() for title, drawing in parts(found) if title.startswith("Constant"))
    assert words in drawn
    assert "sector" not in drawn
    assert (("constant", "c"), "registers") in [(leg.source, leg.target[0]) for leg in legs(found)]


def test_a_picture_of_constants_on_other_devices_has_their_pieces() -> None:
    found = explain("o[i] = c[l];", "__constant int* c", {"c": np.zeros(64, np.int32)}, model=find_model("cpu"))
    (drawn,) = (drawing.svg() for title, drawing in parts(found) if title.startswith("Constant"))
    assert "addresses" not in drawn


def test_a_path_from_an_image_has_its_texels() -> None:
    image = Image(np.zeros((1, 128, 4), np.float32), "RGBA", "FLOAT")
    found = explain("o[i] = read_imagef(m, (int2)(i, 0)).x;", "read_only image2d_t m", {"m": image})
    (leg,) = (leg for leg in legs(found) if leg.source == ("image", "m"))
    assert leg.label == "line 4: 4 requests, 2,048 bytes of texels"
    assert "2,048 bytes of texels" in svg(found)


def test_bars_of_addresses_and_of_sectors_have_scales_of_their_own() -> None:
    found = explain("o[i] = c[l];", "__constant int* c", {"c": np.zeros(64, np.int32)})
    lengths = {line.text.split()[2]: line.least + line.excess for line in source_lines(found) if line.kind == "cost"}
    assert lengths == {"const": BAR, "global": BAR}


def test_what_if_counts_constants_private_arrays_and_atomics() -> None:
    def ask(**how: Any) -> Explanation:
        return explain(
            "int a[8]; for (int k = 0; k < 8; k++) a[(k + i) % 8] = c[l * STEP]; o[i] = a[i % 7]; atomic_add(n + l * STEP, 1);",
            "__constant int* c, __global int* n", {"c": np.zeros(64, np.int32), "n": np.zeros(64, np.int32)}, **how,
        )  # fmt: skip

    answers = sweep(ask, [{"macros": {"STEP": 0}}, {"macros": {"STEP": 1}}])
    heading, first, second = table(answers)
    for title in ("addresses of constants", "sectors of private arrays", "turns of atomics"):
        assert title in heading
    sums = [totals(ask(macros={"STEP": step})) for step in (0, 1)]
    assert sums[0].private_sectors == sums[1].private_sectors > 0
    assert [each.split()[5:9] for each in (first, second)] == [
        [str(each.conflicts), f"{each.constant_cost:,}", f"{each.private_sectors:,}", f"{each.atomic_turns:,}"]
        for each in sums
    ]
    assert (sums[0].constant_cost, sums[0].atomic_turns) == (8 * 4, 128)
    assert any(each.is_private for each in answers[0].accesses)


def test_fewest_sectors_alone_are_not_best() -> None:
    """Equal sectors and passes, but one variation asks a constant cache for fewer addresses."""

    def ask(**how: Any) -> Explanation:
        return explain("o[i] = c[l * STEP];", "__constant int* c", {"c": np.zeros(64, np.int32)}, **how)

    answers = sweep(ask, [{"macros": {"STEP": 1}}, {"macros": {"STEP": 0}}])
    assert best_answers(answers) == [answers[1]]


def test_ordinary_kernels_have_no_further_columns() -> None:
    answers = sweep(lambda **how: explain("o[i] = i;", **how), [{"macros": {"A": 1}}])
    assert "constants" not in table(answers)[0]
    assert "atomics" not in table(answers)[0]
