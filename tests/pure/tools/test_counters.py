"""What an H200's counters said, line by line: predictions must go on equalling it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from paths import BENCHMARKS

from tilewright.errors import InvalidInput
from tools.counters.cases import all_cases, known_bad_cases, ladder_cases
from tools.counters.code import CodeLine, code_lines, normalised, number_of
from tools.counters.compare import (
    EQUAL,
    FEWER,
    MERGED,
    MOVED,
    UNEXPLAINED,
    Line,
    Traffic,
    compare,
    judged,
    predicted_traffic,
)
from tools.counters.counterparts import compile_counterpart, counterparts_of, memory_instruction, read_listing
from tools.counters.launches import Case, predict
from tools.counters.page import lines_of, page
from tools.counters.patterns import PATTERNS, case_of_pattern
from tools.counters.record import edited, located, merged, stale, uncounted

RECORD: dict[str, Any] = json.loads((BENCHMARKS / "h200-counters.json").read_text())
SPECIAL: list[dict[str, Any]] = json.loads((BENCHMARKS / "h200-special-counters.json").read_text())
CASES: list[Case] = [*ladder_cases(), *known_bad_cases(), *map(case_of_pattern, PATTERNS)]
EVERY = all_cases()
EDITED = edited(EVERY, RECORD)
LOCATED = located(EVERY, RECORD)
RECORDED = {case["name"]: case["launches"] for case in LOCATED["cases"] if case["name"] not in EDITED}


def test_the_record_explains_everything() -> None:
    verdicts = [line[7] for case in RECORD["cases"] for launch in case["launches"] for line in launch["lines"]]
    assert len(verdicts) > 500
    assert verdicts.count(UNEXPLAINED) == 0
    assert verdicts.count(EQUAL) > 0.9 * len(verdicts)
    assert {case["result"] for case in RECORD["cases"]} == {"right", "not checked"}


def test_predictions_equal_what_was_counted() -> None:
    """Of kernels that were edited since there is no count; most must not have been."""
    recorded = [case for case in CASES if case.name in RECORDED]
    for case in recorded:
        differing = differences(case, narrow=False)  # most counts are of wide accesses, which are predicted alone then
        assert not differing or not differing & differences(case, narrow=True)
    compared = sum(len(launch["lines"]) for case in recorded for launch in RECORDED[case.name])
    assert compared > 300, "most kernels were edited since the counters were read: read them again"


def differences(case: Case, narrow: bool) -> set[tuple[object, ...]]:
    """The counts of a case that are not what is predicted now: of each line the one for it, and the one for its verdict."""
    found: set[tuple[object, ...]] = set()
    for number, (launch, predicted) in enumerate(zip(RECORDED[case.name], predict(case, narrow=narrow), strict=True)):
        traffic = predicted_traffic(predicted)
        for file, line, operation, space, expected, counted, _, verdict, *_ in launch["lines"]:
            now = traffic.get((file, line, operation, space), Traffic())
            if expected != [now.requests, now.cost, now.nbytes]:
                found.add((number, file, line, operation, space, "expected"))
            if verdict == EQUAL and counted[1:] != [now.cost, now.nbytes]:
                found.add((number, file, line, operation, space, "counted"))
    return found


def line(expected: Traffic, got: Traffic, number: int = 1) -> Line:
    return Line(("k.cl", number, "load", "local"), expected, got, False, UNEXPLAINED)


def test_a_difference_is_explained_only_by_what_the_counts_prove() -> None:
    four = Traffic(8, 8, 1024, 4)
    wide, less, worse = Traffic(2, 4, 1024, 16), Traffic(4, 4, 512, 4), Traffic(8, 16, 1024, 4)
    for got, verdict in ((wide, MERGED), (less, FEWER), (worse, UNEXPLAINED), (Traffic(16, 16, 2048, 4), UNEXPLAINED)):
        assert judged(line(four, got), [line(four, got)]).verdict == verdict
    pair = [line(four, Traffic()), line(Traffic(), four, 2)]
    assert {judged(each, pair).verdict for each in pair} == {MOVED}


def test_a_prediction_that_is_wrong_is_noticed() -> None:
    case = next(each for each in CASES if each.name == "pattern: strides")
    (wide,), (narrow,) = predict(case, narrow=False), predict(case, narrow=True)
    counted = predicted_traffic(wide)
    assert {each.verdict for each in compare(wide, narrow, counted)} == {EQUAL}
    place = next(iter(counted))
    counted[place] = Traffic(counted[place].requests, counted[place].cost + 1, counted[place].nbytes, 4)
    assert UNEXPLAINED in {each.verdict for each in compare(wide, narrow, counted)}


LISTING = """
	//## File "/x/counterpart7.cu", line 155 inlined at "/x/rows/08.cl", line 14
	//## File "/x/rows/08.cl", line 14
        /*01f0*/              @!P0 LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ;
        /*0200*/                   IADD3 R2, R17, R3, RZ ;
	//## File "/x/rows/08.cl", line 20
        /*0210*/                   STS.U16 [R7], R4 ;
"""


def test_listings_are_read() -> None:
    load, store = read_listing(LISTING, "counterpart7.cu")
    assert (load.offset, load.operation, load.space, load.size) == (0x1F0, "load", "global", 16)
    assert load.opcode == "LDG.E.128.CONSTANT"
    assert load.places == (("rows/08.cl", 14),)
    assert (store.operation, store.space, store.size, store.places) == ("store", "local", 2, (("rows/08.cl", 20),))
    assert memory_instruction(0, "LDL R1, [R2]", ()) is None


def test_a_changed_prelude_is_noticed(tmp_path: Path) -> None:
    ((counterpart,),) = counterparts_of(tmp_path, CASES[:1], "volatile")
    with pytest.raises(InvalidInput, match="#define nothing"):
        compile_counterpart(counterpart, (("#define nothing", ""),), "nvdisasm")


def test_the_page_is_the_records_and_names_what_was_edited_since() -> None:
    assert (BENCHMARKS / "counters.md").read_text(encoding="utf-8") == page(LOCATED, SPECIAL, EDITED)
    assert all(name in page(RECORD, SPECIAL, ["one", "another"]) for name in ("one; another.", "older texts"))


def test_only_what_was_edited_is_counted_again() -> None:
    current = [case for case in CASES if case.name in {each["name"] for each in RECORD["cases"]}]
    first, second, *_ = [case for case in current if not stale([case], RECORD)]
    changed = replace(first, launches=tuple(replace(each, opencl=each.opencl + ";") for each in first.launches))
    added = replace(second, name="a new one")
    cases = [changed, second, added]
    assert stale(cases, RECORD) == [changed, added]
    assert (edited(cases, RECORD), uncounted(cases, RECORD)) == ([changed.name], ["a new one"])


def test_a_record_outlives_its_comments() -> None:
    """Other comments, blank lines and indents: the same digest, and every line is found where it is then."""
    case = next(each for each in CASES if each.name.startswith("tiles/02_tiled"))
    (launch,) = case.launches
    source = launch.opencl.replace("    ", "\t").replace("//", "// reworded")
    before, after = source.split("__kernel", 1)
    text = f"{before}/* one\nmore */  // word\n\n__kernel{after}"
    reworded = replace(case, launches=(replace(launch, opencl=text),))
    assert not stale([reworded], RECORD)
    old, new = (
        [line for each in located([cases], RECORD)["cases"] if each["name"] == case.name for line in lines_of(each)]
        for cases in (case, reworded)
    )
    assert old
    assert [[line[0], line[1] + 3, *line[2:]] for line in old] == new
    other = replace(case, launches=(replace(launch, opencl=text.replace("+=", "-=")),))
    assert stale([other], RECORD) == [other]


def test_the_code_of_a_text() -> None:
    text = '#line 7 "a/b.cl"\nint  x; // one\n// two\n#define F(x) \\\n    (x)\n#line 3 "c.cl"\n/* 3\n*/ y = "//";\n'
    found = code_lines(text)
    assert found == [
        CodeLine("a/b.cl", 7, "int x;"),
        CodeLine("a/b.cl", 9, "#define F(x) \\"),
        CodeLine("a/b.cl", 10, "(x)"),
        CodeLine("c.cl", 4, 'y = "//";'),
    ]
    assert normalised(text) == normalised(text.replace("two", "three").replace("  x", " x").replace("b.cl", "d.cl"))
    assert normalised(text) != normalised(text.replace("int", "long"))
    assert [number_of(found, "a/b.cl", 10), number_of(found, "a/b.cl", 8)] == [2, None]


def test_a_recount_replaces_its_cases_and_keeps_the_others() -> None:
    first, second, *_ = RECORD["cases"]
    counted = RECORD | {"date": "later", "cases": [first | {"result": "new"}]}
    both = merged(RECORD, counted, [second["name"], first["name"]])
    assert both["date"] == "later"
    assert both["cases"] == [second, first | {"result": "new"}]
    with pytest.raises(InvalidInput, match="a new one"):
        merged(RECORD, counted, ["a new one"])
    with pytest.raises(InvalidInput, match=r"device: 'NVIDIA H200'.*'another'"):
        merged(RECORD, counted | {"device": "another"}, [first["name"]])
