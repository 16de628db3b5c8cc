"""What people see of `explain`: annotated source, verdicts, pictures, what-if tables, JSON, changes."""

import doctest
import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paths import DOCS
from says import says
from svg_layout import layout_of

from tilewright import explain
from tilewright.analysis import explanations
from tilewright.analysis.explain import (
    NVIDIA,
    Argument,
    Explanation,
    LocalMemory,
    explain_kernel,
    explain_source,
    find_model,
)
from tilewright.analysis.explain.address_patterns import shape_of
from tilewright.analysis.explain.annotate import annotated_source, heading, report, summary
from tilewright.analysis.explain.drawing.flow import folded, legs
from tilewright.analysis.explain.drawing.picture import save_picture, svg
from tilewright.analysis.explain.drawing.requests import lane_names, passes_of, stretches
from tilewright.analysis.explain.drawing.source import GRADES, grade, source_lines
from tilewright.analysis.explain.group_choice import choose_groups
from tilewright.analysis.explain.profile import LineAccess, Phase
from tilewright.analysis.explain.reuse import LARGER, PRIVATE, SHARE, reuses
from tilewright.analysis.explain.serialise import to_dict
from tilewright.analysis.explain.totals import changes, totals
from tilewright.analysis.explain.verdict import verdict
from tilewright.analysis.explain.what_if import best_answers, pitch_variations, sweep, table
from tilewright.analysis.marked_lines import Mark
from tilewright.core.problem import Gemm, Transpose
from tilewright.core.problems import make_problem
from tilewright.errors import InvalidInput, UnknownName
from tilewright.kernels import find_kernel

TRANSPOSE = """// A transpose through a tile.
__kernel void transpose(__global const float* in, __global float* out, int n) {
    __local float tile[SIDE][SIDE + PAD];
    int lx = get_local_id(0), ly = get_local_id(1);
    tile[ly][lx] = in[(get_group_id(1) * SIDE + ly) * n + get_group_id(0) * SIDE + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(get_group_id(0) * SIDE + ly) * n + get_group_id(1) * SIDE + lx] = tile[lx][ly];
}
"""


BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"


def transposed(side: int = 32, pad: int = 0, n: int = 128, barrier: str = BARRIER, **options: Any) -> Explanation:
    matrix = np.zeros((n, n), np.float32)
    settings: dict[str, Any] = {
        "macros": {"SIDE": side, "PAD": pad},
        "global_size": (n, n),
        "local_size": (side, side),
        "arguments": {"in": matrix, "out": matrix.copy(), "n": n},
        "filename": "tile.cl",
    }
    return explain_source(TRANSPOSE.replace(BARRIER, barrier), **{**settings, **options})


def rung(name: str, n: int = 256) -> Explanation:
    kernel = find_kernel(name)
    problem = Gemm(n, n, 64, "float32", *kernel.orders) if kernel.operation == "gemm" else Transpose(n, n)
    return explain_kernel(kernel, problem)[-1]


def load_of_line_7(explanation: Explanation) -> LineAccess:
    (load,) = (each for each in explanation.accesses if each.position.line == 7 and each.operation == "load")
    return load


def test_the_verdict_names_the_line_the_cost_and_the_cure() -> None:
    assert verdict(transposed())[0] == (
        "line 7 reads tile column-wise: 32 wavefronts where 1 is enough; a pitch of 33 would give 1 "
        "(rows of tile are 32 elements apart now)"
    )
    assert says(verdict(transposed(pad=1))[0], "all", 4, 5, 7)


def test_the_cure_is_one() -> None:
    for pitch, wavefronts in ((32, 32), (33, 1), (34, 2), (36, 4)):
        load = load_of_line_7(transposed(pitches={"tile": pitch}))
        assert load.per_request == wavefronts


def test_a_tile_of_16_has_no_cure_for_both_sides() -> None:
    lines = verdict(transposed(16, 1))
    cure = "no pitch frees all accesses of tile: 18 would be best for them together (rows of tile are 17 elements apart now)"
    assert lines[0] == f"line 5 writes tile row-wise: 2 wavefronts where 1 is enough; {cure}"
    assert lines[1] == f"line 7 reads tile column-wise: 2 wavefronts where 1 is enough; {cure}"


def test_an_array_whose_rows_are_one_element_has_neither_rows_nor_columns() -> None:
    source = "__kernel void k(__global int* o) { __local int t[64][1]; int l = get_local_id(0);\nt[l * 2][0] = l; o[l] = 0; }"
    found = explain_source(source, global_size=(32,), local_size=(32,), arguments={"o": np.zeros(32, np.int32)})
    assert verdict(found)[0] == "line 2 writes t with a stride of 8 bytes: 2 wavefronts where 1 is enough"


def test_a_pitch_at_which_rows_overlap_is_no_answer() -> None:
    answers = sweep(lambda **variation: transposed(16, 0, **variation), pitch_variations("tile", [1, 15, 16, 17]))
    assert [answer.totals is None for answer in answers] == [True, True, False, False]
    assert answers[0].reason == "rows this short overlap: out of bounds at line 5"
    assert "overlap" in table(answers)[1]


def texts(explanation: Explanation, whole_source: bool = False) -> list[str]:
    """The lines of the report."""
    return [line.text for line in report(explanation, whole_source)]


def test_the_report_says_how_to_read_it() -> None:
    lines = texts(transposed())
    assert any(says(line, "req", 32) for line in lines)
    some = texts(transposed(groups=[(0, 0, 0), (3, 3, 0)]))
    assert any(says(line, "req", 2, 16) for line in some)
    assert any("2 of 16 work-groups were run: (0,0), (3,3)" in line for line in some)
    assert any(says(line, "sectors", 32) for line in lines)
    assert any(says(line, "banks", 32) for line in lines)
    assert "in all 16 work-groups together:" in lines
    assert str(transposed()).split("\n") == lines


def test_the_verdict_stands_before_the_source() -> None:
    found = rung("tiles/02")
    lines = texts(found)
    sentence = lines.index(f"- {verdict(found)[0]}")
    assert (
        sentence < lines.index(summary(found)[0]) < min(i for i, line in enumerate(lines) if line[:4].strip().isdigit())
    )


def test_source_without_traffic_is_folded_unless_asked_for() -> None:
    found = rung("tiles/06")
    folded, whole = texts(found), texts(found, whole_source=True)
    numbers = [int(line[:4]) for line in whole if line[:4].strip().isdigit()]
    assert numbers == list(range(1, max(numbers) + 1))
    kept = {int(line[:4]) for line in folded if line[:4].strip().isdigit()}
    assert kept < set(numbers)
    assert {each.position.line for each in found.accesses} <= kept
    for line in folded:
        if span := re.match(r"\s+\.\.\. lines (\d+) to (\d+) ", line):
            kept |= set(range(int(span[1]), int(span[2]) + 1))
    assert kept == set(numbers), "what is folded is named"


def test_a_launch_before_the_kernel_is_one_line() -> None:
    lines = texts(explain("tiles/06"))
    assert [says(line, "transpose/07_rows_per_item", "2,048") for line in lines].count(True) == 1
    assert lines[0].startswith("tiles/06_register_tile")


def test_lines_say_what_they_are() -> None:
    marks = {line.text: line.mark for line in report(rung("transpose/04"))}
    assert [mark for text, mark in marks.items() if text.startswith("- line 10 writes output")] == [Mark.COST]
    assert [mark for text, mark in marks.items() if text.startswith("     > store")] == [Mark.COST]
    assert [mark for text, mark in marks.items() if text.startswith("     > load")] == [Mark.PLAIN]


def test_the_examples_give_what_they_say(tmp_path: Path) -> None:
    page = DOCS / "reference" / "explain.md"
    for failed, tried in (
        doctest.testfile(str(page), module_relative=False, globs={"folder": tmp_path}),
        doctest.testmod(explanations),
    ):
        assert tried
        assert not failed


def test_one_call_explains_a_rung() -> None:
    found = explain("transpose/05", pitches={"tile": 18}, groups="all")
    assert (totals(found).conflicts, len(found.groups)) == (2048, 256)
    assert explain(find_kernel("tiles/02"), 64).global_size == (64, 64)
    assert explain("rows/01", (32, 32, 16), model="amd64").model.name == "amd64"
    with pytest.raises(UnknownName, match="nvidia"):
        explain("rows/01", model="voodoo")


def test_strides_and_shares_are_told() -> None:
    lines = verdict(rung("transpose/04"))
    assert lines[0] == (
        "line 10 writes output with a stride of 1024 bytes from one work-item to the next: "
        "16 sectors a request where 4 are enough; 25% of the bytes moved are used"
    )
    assert not any("work-groups were run" in line for line in lines)


def told_of(lines: list[str], line: int, buffer: str) -> list[str]:
    """The sentences about the reads of a buffer on one line."""
    return [each for each in lines if each.startswith(f"line {line} reads {buffer} ")]


def test_a_word_for_all_lanes_costs_one_sector_which_is_enough() -> None:
    found = rung("tiles/01", 64)
    (access,) = [each for each in found.accesses if each.buffer == "B"]
    assert (access.per_request, access.efficiency) == (1, 1 / 8)
    assert told_of(verdict(found), access.position.line, "B") == []


def test_two_addresses_are_not_told_as_one() -> None:
    found = rung("rows/02", 64)
    (access,) = [each for each in found.accesses if each.buffer == "B"]
    (sentence,) = told_of(verdict(found), access.position.line, "B")
    assert "at 2 addresses" in sentence
    assert "one address" not in sentence


def test_a_row_of_a_narrow_group_is_named_as_the_cause() -> None:
    found = rung("rows/02", 64)
    (access,) = [each for each in found.accesses if each.buffer == "B"]
    (sentence,) = told_of(verdict(found), access.position.line, "B")
    assert "16-wide" in sentence


def test_what_is_fetched_often_leads_with_its_number() -> None:
    found = rung("tiles/01")
    a, b = reuses(found)
    assert (a.buffer, a.times, b.buffer, b.times) == ("A", 256, "B", 64)
    assert (a.data, a.fetched, a.remedy) == (256 * 64 * 4, 524_288 * 32, SHARE)
    assert says(verdict(found)[0], "A", 256, "B", 64, "line 18")


def test_a_sum_in_memory_is_kept_in_a_private_variable() -> None:
    assert {each.buffer: each.remedy for each in reuses(rung("rows/02"))}["C"] == PRIVATE


def test_what_tiles_fetch_again_needs_larger_tiles() -> None:
    assert {(each.buffer, each.times, each.remedy) for each in reuses(rung("tiles/02"))} == {
        ("A", 8, LARGER),
        ("B", 8, LARGER),
    }


@pytest.mark.parametrize("name", ["transpose/04", "transpose/05", "transpose/01", "tiles/06"])
def test_what_is_fetched_once_is_no_complaint(name: str) -> None:
    """The stride of a naive transpose wastes sectors, which its own sentence says."""
    assert reuses(rung(name)) == []


def test_costs_are_ranked_by_what_they_waste() -> None:
    found = rung("rows/01")
    numbers = [float(each) for line in verdict(found) for each in re.findall(r"\((\d\S*) MB for", line)]
    assert numbers == sorted(numbers, reverse=True)
    strided = [line for line in verdict(found) if "stride" in line]
    assert [line.split()[1] for line in strided[-1:]] == ["12"], "the store outside of the loop is last"


def test_a_launch_of_one_group_is_told_as_one() -> None:
    text = str(rung("rows/01", 16))
    assert "in the only work-group:" in text
    assert "1 work-groups" not in text
    assert "all its work-groups" not in text


def test_a_wavefront_of_amd_is_the_lanes_alone() -> None:
    for model in ("amd64", "amd32"):
        found = explain("transpose/05", 64, model=model)
        told = "\n".join(
            (
                *texts(found),
                *changes(found, found),
                svg(found),
                *table(sweep(partial(explain, "transpose/05", 64, model=model), [{}])),
            )
        )
        assert "passes" in told
        assert not re.search(
            r"wavefronts? (takes|where|lost|in|out|1)|\d wavefronts|wavefronts of (loads|stores)", told
        )
    told = "\n".join(texts(explain("transpose/05", 64)))
    assert "wavefronts of loads" in told
    assert "a wavefront takes one 4-byte word" in told


def test_a_private_array_longer_than_the_registers_is_told() -> None:
    kernel = find_kernel("rows/05")

    def notes(depth: int, model: str) -> list[str]:
        found = explain_kernel(kernel, Gemm(8, 8, depth, "float32", *kernel.orders), model=find_model(model))[-1]
        assert [(each.name, each.nbytes) for each in found.private_arrays] == [("own_row", 4 * depth)]
        return [line for line in verdict(found) if "own_row" in line and "private" in line]

    (short,), (long,), (fits,) = notes(255, "nvidia"), notes(256, "nvidia"), notes(256, "amd64")
    assert says(short, "own_row", "line 18", "no constant")
    assert "1,024 bytes" in long
    assert "1,024 bytes" not in fits


def test_faults_come_first() -> None:
    source = "__kernel void k(__global int* o) { __local int t[32];\nt[get_local_id(0)] = 1;\no[0] = t[31 - get_local_id(0)]; }"
    arguments = {"o": np.zeros(4, np.int32)}
    found = explain_source(source, global_size=(32,), local_size=(32,), arguments=arguments)
    assert verdict(found)[0].startswith("data race at line 3: read of local 't'")
    assert any(line.startswith("benign race at line 3") for line in verdict(found))
    assert any(line.startswith("     ! data race") for line in annotated_source(found))
    assert any(line.startswith("     ~ benign race") for line in annotated_source(found))


def test_annotated_source_keeps_every_line_and_puts_traffic_below() -> None:
    lines = annotated_source(transposed())
    assert [line[7:] for line in lines if line[:4].strip()] == TRANSPOSE.rstrip("\n").split("\n")
    at = lines.index(next(line for line in lines if line.startswith("   7")))
    assert lines[at + 1] == "     > store global out              512 req      4 sectors (ideal 4)  100% used"
    assert lines[at + 2] == "     > load  local  tile             512 req     32 wavefronts (least 1)  32-way conflict"
    assert (
        heading(transposed())
        == "tile.cl: transpose, 128x128 by 32x32 work-items, NVIDIA, compute capability 7.0 and later"
    )
    assert texts(transposed())[0] == heading(transposed())


def test_totals_are_those_of_the_whole_ndrange() -> None:
    some, every = totals(transposed(groups=[(0, 0, 0), (3, 3, 0)])), totals(transposed(groups="all"))
    assert some == every
    assert some.exact
    assert (every.global_load_sectors, every.local_load_wavefronts, every.conflicts) == (2048, 16384, 15872)
    assert "15,872 of them lost to bank conflicts" in summary(transposed())[2]


def test_what_changed_against_the_rung_before() -> None:
    lines = changes(rung("transpose/05"), rung("transpose/06"))
    assert lines[0] == "against transpose/05_tiled, in all work-groups together:"
    assert "  wavefronts lost to bank conflicts: none, before 4,096" in lines
    lines = changes(rung("transpose/04"), rung("transpose/05"))
    assert "  sectors stored to global memory: 8,192, before 32,768 (4 times fewer)" in lines
    assert changes(rung("transpose/04"), rung("transpose/04"))[1:] == []


def test_a_sweep_answers_with_counts_or_reasons() -> None:
    def ask(**variation: Any) -> Explanation:
        return transposed(16, 0, **variation)

    pads = [{"macros": {"SIDE": 16, "PAD": pad}} for pad in (0, 1, 2)]
    answers = sweep(ask, [*pads, *pitch_variations("tile", [18]), {"local_size": (16, 17)}])
    conflicts = [answer.totals.conflicts if answer.totals else None for answer in answers]
    assert conflicts == [3584, 1024, 512, 512, None]
    assert "multiple" in answers[-1].reason
    lines = table(answers)
    assert lines[0].split()[:2] == ["SIDE", "PAD"]
    assert lines[0].endswith("lost to bank conflicts  faults")
    assert lines[1].split() == ["16", "0", "2,048", "2,048", "512", "4,096", "3,584", "0"]
    assert [line.endswith("best") for line in lines] == [False, False, False, True, True, False]
    assert len({len(line.removesuffix("  <- best")) for line in lines[:5]}) == 1


def test_no_row_is_best_where_all_cost_the_same_or_sides_disagree() -> None:
    answers = sweep(lambda **variation: transposed(16, 1, **variation), [{}, {}])
    assert best_answers(answers) == []
    few, many = (answers[0].totals, answers[1].totals)
    assert few is not None
    assert many is not None
    mixed = [
        replace(answers[0], totals=replace(few, global_load_sectors=1)),
        replace(answers[1], totals=replace(many, local_load_wavefronts=1)),
    ]
    assert best_answers(mixed) == []
    assert best_answers([replace(mixed[0], faults=1), mixed[1]]) == []


def test_rungs_take_what_if_questions() -> None:
    kernel, problem = find_kernel("transpose/05"), Transpose(256, 256)
    assert totals(explain_kernel(kernel, problem, macros={"PAD": 0})[-1]).conflicts == 14336
    assert totals(explain_kernel(kernel, problem, pitches={"tile": 18})[-1]).conflicts == 2048
    with pytest.raises(UnknownName, match="PAD"):
        explain_kernel(kernel, problem, macros={"PAT": 0})
    with pytest.raises(UnknownName, match="tile"):
        explain_kernel(kernel, problem, pitches={"tiles": 18})


def test_pictures_are_valid_and_hold_their_parts(tmp_path: Path) -> None:
    found = transposed(16, 1)
    tree = ElementTree.fromstring(svg(found))
    words = "".join(tree.itertext())
    for part in (
        "From global memory to registers",
        "Between the barriers",
        "bank",
        "wavefront 2",
        "one warp moves 4 sectors",
    ):
        assert part in words
    assert save_picture(found, tmp_path / "a.svg").read_text() == svg(found)
    with pytest.raises(InvalidInput, match=r"\.svg"):
        save_picture(found, tmp_path / "a.png")


@pytest.mark.parametrize(("name", "kind"), [("tiles/02", "fine"), ("transpose/04", "costly"), ("no barrier", "fault")])
def test_the_verdict_is_a_box_whose_colour_and_words_say_the_same(name: str, kind: str) -> None:
    found = transposed(barrier="") if name == "no barrier" else rung(name)
    assert grade(found) == kind
    assert f'class="{kind}"' in svg(found)
    assert GRADES[kind] in "".join(ElementTree.fromstring(svg(found)).itertext())
    assert layout_of(svg(found)).complaints() == []


def test_each_access_has_a_bar_of_its_cost_and_words_under_the_pointer() -> None:
    found = transposed(16, 0)
    lines = [line for line in source_lines(found) if line.kind == "cost"]
    assert len(lines) == len(found.accesses)
    for access in found.accesses:
        (line,) = [each for each in lines if f"{access.cost:,} " in each.hover and access.operation in each.text
                   and f" {access.buffer} " in each.text]  # fmt: skip
        assert line.least / (line.least + line.excess) == pytest.approx(access.ideal / access.cost)
    assert any(line.excess > 1 for line in lines)
    assert svg(found).count('class="late"') >= 1
    assert "<title>" in svg(found)


def test_pictures_of_every_model_and_of_wide_and_broadcast_accesses() -> None:
    for name in ("amd64", "intel8", "gt200"):
        ElementTree.fromstring(svg(transposed(model=find_model(name))))
    assert "+" in svg(rung("tiles/06"))
    assert "wavefront 4" in svg(rung("tiles/07"))


def test_drawn_wavefronts_are_as_many_as_counted() -> None:
    for found in (transposed(16, 0), transposed(16, 1), transposed(32, 0), rung("tiles/06"), rung("tiles/05")):
        for access in found.accesses:
            if access.is_local:
                drawn = passes_of(access.worst, NVIDIA, access.operation, access.size)
                assert len(drawn) == access.degree * access.ideal_per_request


def test_the_path_and_the_timeline() -> None:
    found = transposed()
    assert [(leg.source, leg.target) for leg in legs(found)] == [
        (("global", "in"), ("local", "tile")),
        (("registers", ""), ("global", "out")),
        (("local", "tile"), ("registers", "")),
    ]
    one, two, end = Phase((), 1), Phase(((1, "load", "global", "A", 1),), 2), Phase((), 0)
    assert folded((one, two, one, two, one, two, end)) == [((one, two), 3), ((end,), 1)]
    assert folded((one, one, one)) == [((one,), 3)]


def test_small_words() -> None:
    assert lane_names([0, 1, 2, 3, 16, 18, 19]) == "0-3,16,18-19"
    assert stretches([4, 5, 6, 9]) == [(4, 3), (9, 1)]
    load = load_of_line_7(transposed())
    assert shape_of(load.worst, load.row).along == "column"


def test_json_holds_everything() -> None:
    data = json.loads(json.dumps(to_dict(transposed(16, 1))))
    assert data["model"]["verified"] is True
    load = next(each for each in data["accesses"] if each["operation"] == "load" and each["space"] == "local")
    assert (load["line"], load["requests"], load["wavefronts"], load["ideal_wavefronts"]) == (
        7,
        load["requests"],
        2 * load["requests"],
        load["requests"],
    )
    assert load["worst_request"]["addresses"][1] == 17 * 4
    assert data["totals"]["conflicts"] == 1024
    assert data["verdict"]


def test_groups_are_chosen_at_the_ends_and_in_the_middle() -> None:
    assert choose_groups((64,), (32,)) == [(0, 0, 0), (1, 0, 0)]
    chosen = choose_groups((2048, 2048), (16, 16))
    ends = {(0, 0, 0), (1, 0, 0), (0, 1, 0), (63, 63, 0), (127, 127, 0), (127, 0, 0), (0, 127, 0)}
    assert ends <= set(chosen)
    assert len(chosen) == len(set(chosen)) == 16
    assert chosen == choose_groups((2048, 2048), (16, 16))
    assert len(choose_groups((4096, 4096), (32, 32))) == 8
    assert (4, 4, 4) in choose_groups((20, 20, 20), (4, 4, 4))


STEPS = """__kernel void k(__global int* o, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s ^= i;
    o[get_global_id(0)] = s;
}"""


@pytest.mark.parametrize(("groups", "steps", "run"), [(320, 10, 320), (320, 200, 16), (2000, 10, 2000), (9000, 0, 16)])
def test_all_groups_are_run_where_that_takes_little_time(groups: int, steps: int, run: int) -> None:
    output = np.zeros(64 * groups, np.int32)
    found = explain_source(STEPS, global_size=output.shape, local_size=(64,), arguments={"o": output, "n": steps})
    assert (len(found.groups), found.group_count) == (run, groups)


def test_faults_of_groups_in_the_middle_are_found() -> None:
    source = """__kernel void k(__global int* o) {
        int g = get_global_id(0);
        if (get_group_id(0) == 177) g += 100000;
        o[g] = 1;
        __local int t[64];
        if (get_group_id(0) == 178) t[0] = g;
    }"""
    arguments = {"o": np.zeros(320 * 64, np.int32)}
    found = explain_source(source, global_size=(320 * 64,), local_size=(64,), arguments=arguments)
    assert {(each.kind, each.position.line) for each in found.faults} == {("out of bounds", 4), ("data race", 6)}


def test_a_local_size_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"\b0\b"):
        explain_source(STEPS, global_size=(64,), local_size=(0,), arguments={"o": np.zeros(64, np.int32), "n": 1})


def test_local_arguments_and_models() -> None:
    source = "__kernel void k(__local float* t, __global float* o) { int l = get_local_id(0); t[l * 2] = l; o[l] = t[l * 2]; }"
    arguments: dict[str, Argument] = {"t": LocalMemory(512), "o": np.zeros(64, np.float32)}
    counts = {}
    for name in ("nvidia", "amd64", "amd32", "intel16", "gt200", "kepler4", "kepler8", "hd4870"):
        found = explain_source(source, global_size=(64,), local_size=(64,), arguments=arguments, model=find_model(name))
        (store,) = (each for each in found.accesses if each.buffer == "t" and each.operation == "store")
        counts[name] = (store.requests, store.per_request)
    assert counts == {
        "nvidia": (2, 2), "amd64": (1, 4), "amd32": (2, 2), "intel16": (4, 2), "gt200": (4, 2),
        "kepler4": (2, 1), "kepler8": (2, 1), "hd4870": (1, 8),
    }  # fmt: skip


def test_local_memory_that_is_global_memory_is_told_in_sectors() -> None:
    body = "__local float t[2048]; int l = get_local_id(0); t[l * 32] = l; o[l] = t[l * 32];"
    source = f"__kernel void k(__global float* o) {{ {body} }}"
    arguments: dict[str, Argument] = {"o": np.zeros(64, np.float32)}
    found = explain_source(source, global_size=(64,), local_size=(64,), arguments=arguments, model=find_model("hd4870"))
    text = str(found)
    assert says(text, "Local memory: sectors", "it lies in global memory on this device", 64)
    assert "conflict" not in text
    assert "pitch" not in text


@pytest.mark.parametrize("name", ["kepler4", "kepler8"])
def test_the_passes_that_are_drawn_are_those_that_are_counted_with_wide_banks(name: str) -> None:
    model, kernel = find_model(name), find_kernel("tiles/05[64x64x32]")
    found = explain_kernel(kernel, make_problem(kernel, (64, 64, 32), "float32"), model=model)[-1]
    local = [each for each in found.accesses if each.is_local]
    assert len(local) >= 4
    for access in local:
        drawn = passes_of(access.worst, model, access.operation, access.size)
        assert len(drawn) == access.degree * access.ideal_per_request
