"""The page of `explain --html`: its counts, its sliders, its machine code, and that it needs nothing else."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.analysis.explain import Image, explain_source
from tilewright.analysis.explain.what_if import Answer
from tilewright.analysis.explanations import explain
from tilewright.analysis.inspect import Inspection
from tilewright.analysis.kernel_page.lines import Cost, costs_of
from tilewright.analysis.kernel_page.machine_lines import instructions_of
from tilewright.analysis.kernel_page.make import make_page
from tilewright.analysis.kernel_page.page import Page, data_of, html, save_page
from tilewright.analysis.kernel_page.variations import MOST, check_number, usual_pitches, variation_of
from tilewright.errors import InvalidInput
from tilewright.kernels import find_kernel

PTX = """
.file 1 "/somewhere/transpose/05_tiled.cl"
.file 2 "/somewhere/rendered.cu"
.visible .entry transpose(
)
{
\t.loc\t1 23 5
\tld.global.f32 %f1, [%rd1];
\t.loc\t2 46 15, function_name $L__info_string1, inlined_at 1 23 9
\tst.shared.f32 [%r1], %f1;
\t.loc\t2 50 1
\tmov.u32 %r1, %r2;
\t.loc\t1 30 9
\tst.global.f32 [%rd2], %f2;
\tret;
}
"""


def page_of(rung: str, **varied: Any) -> Page:
    """A page without machine code, of a count that was quick, however busy this machine is."""
    found = replace(explain(rung), seconds=0.1)
    return make_page(find_kernel(rung), found, {}, arch="no such architecture", **varied)


def embedded(text: str) -> dict[str, Any]:
    """What the script of a page reads."""
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert match is not None
    data: dict[str, Any] = json.loads(match[1])
    return data


@pytest.mark.parametrize("rung", ["transpose/05", "tiles/02", "tiles/11", "rows/02"])
def test_the_first_variation_is_the_kernel_as_it_is(rung: str) -> None:
    page = page_of(rung)
    found, lines = page.explanation, embedded(html(page))["variations"][0]["lines"]
    factor = found.group_count / len(found.groups)
    for memory in {each.space for each in found.accesses}:
        accesses = [each for each in found.accesses if each.space == memory]
        sums = [sum(line.get(memory, (0, 0, 0))[number] for line in lines.values()) for number in range(3)]
        for total, name in zip(sums, ("requests", "cost", "ideal"), strict=True):
            assert total == pytest.approx(factor * sum(getattr(each, name) for each in accesses), abs=len(lines))


def test_every_line_with_traffic_has_its_requests_and_a_place_in_the_table() -> None:
    page = page_of("transpose/05")
    text = html(page)
    for access in page.explanation.accesses:
        key = page.key((access.position.file, access.position.line))
        assert f'<template id="line-{key}">' in text
        assert f'<tr data-line="{key}" class="told"' in text
    templates = "".join(re.findall("<template.*?</template>", text, re.DOTALL))
    assert templates.count("<svg ") == len(page.explanation.accesses)


def test_a_slider_begins_at_the_kernels_own_value_and_shows_what_others_cost() -> None:
    page = page_of("transpose/05")
    data = data_of(page)
    assert data["values"] == {"pitch of tile": ["16", "17", "18", "19", "21", "25"]}
    assert "type=range" in html(page)
    assert "max=5 step=1 value=1>" in html(page)
    by_pitch = {each["settings"].get("pitch of tile"): each["lines"] for each in data["variations"]}
    costs = {pitch: sum(line.get("local", (0, 0, 0))[1] for line in by_pitch[pitch].values()) for pitch in by_pitch}
    assert costs["16"] == 2 * costs["17"] + costs["16"] // 9
    assert costs[None] == costs["17"]


def test_settings_are_varied_if_they_are_given() -> None:
    page = page_of("transpose/05", sweep={"PAD": ["0", "1"]})
    assert data_of(page)["values"] == {"PAD": ["0", "1"]}
    assert "max=1 step=1 value=1>" in html(page)


def test_a_variation_that_cannot_be_counted_says_why() -> None:
    refused = variation_of(Answer((("TILE", "7"),), None, reason="7 is odd"))
    page = replace(page_of("transpose/05"), variations=[refused])
    assert embedded(html(page))["variations"][1] == {
        "settings": {"TILE": "7"}, "lines": {}, "faults": 0, "reason": "7 is odd",
    }  # fmt: skip


def test_too_many_combinations_are_refused() -> None:
    check_number({"A": ["1"] * 8}, {"tile": list(range(8))})
    with pytest.raises(InvalidInput, match=f"72 combinations of A, tile.* {MOST}"):
        check_number({"A": ["1"] * 8}, {"tile": list(range(9))})


def test_nothing_is_varied_where_counting_is_slow() -> None:
    assert usual_pitches(replace(explain("transpose/05"), seconds=1.0)) == {}


def test_machine_code_stands_with_its_line() -> None:
    page = page_of("transpose/05")
    inspection = Inspection(
        "transpose/05", "", "float32", "sm_90", "Hopper", 256, "", "PTX", texts={"PTX": PTX}, entry="transpose"
    )
    code = instructions_of(inspection, page.files)
    opcodes = {line: [each.opcode for each in instructions] for (_, line), instructions in code.items()}
    assert opcodes == {23: ["ld.global.f32", "st.shared.f32"], 30: ["st.global.f32", "ret"]}
    text = html(replace(page, inspection=inspection))
    assert "ld.global.f32 %f1, [%rd1]" in text
    assert "2 instructions of PTX for sm_90" in text


def test_a_missing_architecture_is_a_note() -> None:
    assert any("no such architecture" in note for note in page_of("transpose/05").notes)


def test_the_page_needs_nothing_else_and_escapes_the_source(tmp_path: Path) -> None:
    save_page(page_of("transpose/04"), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert text.startswith("<!doctype html>")
    assert not re.search(r'\b(src|href)="(?!#)|url\((?!#)|@import', text)
    assert "if (x &lt; width &amp;&amp; y &lt; ROWS)" in text
    assert text.count("</script>") == 2


def test_costs_are_those_of_all_work_groups() -> None:
    found = explain("tiles/02")
    (access,) = [each for each in found.accesses if each.operation == "store" and not each.is_local]
    place = access.position.file, access.position.line
    assert costs_of([access, access], 8.0)[place]["global"] == Cost(
        16 * access.requests, 16 * access.cost, 16 * access.ideal
    )


def test_images_and_private_arrays_have_no_picture_but_their_counts() -> None:
    source = """__kernel void k(read_only image2d_t m, __global float4* v, __global int* b) {
    int i = get_global_id(0), a[64];
    v[i] = read_imagef(m, (int2)(i, 0));
    a[b[i] % 64] = i;
}"""
    arguments: dict[str, Any] = {
        "m": Image(np.zeros((2, 32, 4), np.float32)),
        "v": np.zeros((32, 4), np.float32),
        "b": np.zeros(32, np.int32),
    }
    page = Page(explain_source(source, global_size=(32,), local_size=(32,), arguments=arguments))
    third, fourth = re.findall(r"<template.*?</template>", html(page), re.DOTALL)
    assert re.findall("<h3>(\\w+ \\w+)", third) == ["store global", "load image"]
    assert re.findall("<h3>(\\w+ \\w+)", fourth) == ["load global", "store private"]
    assert third.count("<figure>") == fourth.count("<figure>") == 1
    assert {each.key: each.unit for each in page.memories}["image"] == "not counted"
