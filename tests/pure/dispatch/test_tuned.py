"""Tuned tables: how problems are named, which table holds for a device, and how one is made and gone on with."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import devices
import pytest
from says import says

from tilewright.core.kernel import render
from tilewright.core.operands import Layout
from tilewright.core.plan import violations
from tilewright.core.problem import Gemm, StridedGemm
from tilewright.dispatch import table_files
from tilewright.dispatch.choice import plan_product, product_candidates
from tilewright.dispatch.table_files import FOLDER, file_name, load_table, load_tables
from tilewright.dispatch.tuned import Entry, Table, Tables, key_of, tuned_for
from tilewright.errors import RecordError
from tilewright.health.machine import examine_tables
from tilewright.measurement import tuning
from tilewright.measurement.sets import problems_of
from tilewright.measurement.tuning import (
    MOST_DEATHS,
    Effort,
    Outcome,
    build_in_children,
    measure_in_children,
    save_table,
    tune,
    with_outcomes,
)
from tilewright.measurement.tuning.candidates import name_of, tuning_candidates
from tilewright.runtime.children import ChildRun

GPU = replace(devices.GPU, name="A GPU", platform="A driver", compute_capability=(9, 0))
PROBLEM = Gemm(64, 4096, 4096)


def last_candidate() -> tuple[str, dict[str, bool | int | str]]:
    """One that the cost model would never take."""
    kernel = [
        each for each in product_candidates(PROBLEM, GPU) if not any(violations(each, each.config, PROBLEM, GPU))
    ][-1]
    return kernel.name, kernel.config.key


def table_of(device: str, capability: tuple[int, int] | None, vendor: str, problem: str = "") -> Table:
    kernel, config = last_candidate()
    entry = Entry(problem or key_of(PROBLEM), kernel, config, 1e-6, 2e-6, 0.5)
    return Table(device, vendor, capability, "1", "2026-01-02T03:04:05+00:00", (entry,))


def test_problems_are_named_by_sizes_types_and_layout() -> None:
    assert key_of(Gemm(1, 2, 3)) == "1 of 1x2x3 float32 NN"
    assert key_of(Gemm(4, 2, 3, "float16", "column", "column", out_dtype="float32", batch=7)) == (
        "7 of 4x2x3 float16>float32 TT"
    )
    assert key_of(Gemm(4, 5, 6, precision="tf32")) == "1 of 4x5x6 float32 NN tf32"


def test_a_c_in_columns_is_named_as_its_transpose() -> None:
    assert key_of(Gemm(4, 5, 6, c_order="column")) == key_of(Gemm(5, 4, 6, a_order="column", b_order="column"))


def test_views_are_named_like_dense_operands_and_others_by_an_s() -> None:
    padded = StridedGemm(4, 5, 6, views=(Layout(8, 100, 1), Layout(0, 1, 100), Layout(0, 5, 1)))
    assert key_of(padded) == "1 of 4x5x6 float32 NT"
    spread = replace(padded, views=(Layout(0, 100, 2), Layout(0, 1, 100), Layout(0, 5, 1)))
    assert key_of(spread) == "1 of 4x5x6 float32 ST"


def test_the_nearest_table_holds() -> None:
    """Of other devices those with the same instructions and as many SMs: what they are called, and their vendor, say nothing."""
    own, sister = table_of("A GPU", (9, 0), "A maker"), replace(table_of("Its sister", (9, 0), ""), compute_units=100)
    smaller, older = replace(sister, compute_units=99), replace(sister, compute_capability=(8, 0))
    unknown, stranger = replace(sister, compute_units=None), replace(sister, compute_capability=None)
    others = (smaller, older, unknown, stranger)
    assert [each.note.split(",")[1].strip() for each in tuned_for(PROBLEM, GPU, Tables((*others, sister, own)))] == [
        "this device",
        "a device of the same compute capability with as many SMs",
    ]
    assert not list(tuned_for(PROBLEM, GPU, Tables(others)))
    no_capability = replace(GPU, name="Another", compute_capability=None)
    assert not list(tuned_for(PROBLEM, no_capability, Tables((*others, own)))), "nothing is known to be the same"
    settled = replace(own, entries=(), settled=(key_of(PROBLEM),))
    assert not list(tuned_for(PROBLEM, GPU, Tables((sister, settled)))), "the device's own table has settled it"
    assert not list(tuned_for(Gemm(65, 4096, 4096), GPU, Tables((sister, own))))


def test_a_cpu_has_no_table() -> None:
    cpu = replace(devices.CPU, name="A CPU", vendor="A maker")
    assert not list(tuned_for(PROBLEM, cpu, Tables((table_of("A CPU", None, "A maker"),))))


def test_the_plan_takes_what_the_table_names_and_says_so() -> None:
    table = table_of("A GPU", (9, 0), "A maker")
    found = plan_product(PROBLEM, GPU, Tables((table,)))
    kernel, config = last_candidate()
    assert (kernel, config) in [(step.kernel.name, step.config.key) for step in found.steps]
    assert says(" ".join(found.notes), "A GPU", "2026-01-02", "2.00x")
    assert not any("tuned table" in note for note in plan_product(Gemm(65, 4096, 4096), GPU, Tables((table,))).notes)
    assert not plan_product(PROBLEM, GPU).notes, "without tables the cost model decides"


def test_a_candidate_that_is_no_more_is_left_to_the_cost_model() -> None:
    table = table_of("A GPU", (9, 0), "A maker")
    gone = replace(table, entries=(replace(table.entries[0], config={"BM": 7}),))
    found = plan_product(PROBLEM, GPU, Tables((gone,)))
    assert found.steps
    assert not any("tuned table" in note for note in found.notes)


def test_the_tables_of_the_package_can_be_read_and_name_what_there_is() -> None:
    paths = list(FOLDER.glob("*.json"))
    assert paths
    for path in paths:
        table = load_table(path)
        assert table.entries
        assert path.name == file_name(table.device)
        assert len({entry.problem for entry in table.entries}) == len(table.entries)
        for entry in table.entries:
            assert 0 < entry.seconds <= entry.untuned_seconds * 1.001
            assert 0 <= entry.worst_ratio <= 1


H200 = replace(
    GPU, name="NVIDIA H200", vendor="NVIDIA Corporation", compute_units=132, features=frozenset({"gpu", "nvidia"}),
    static_local_bytes=232448,
)  # fmt: skip


HOPPER = replace(H200, features=devices.HOPPER_FEATURES)


@pytest.mark.parametrize("name", ["batched", "squares", "layouts"])
def test_the_table_of_an_h200_knows_whole_sets(name: str) -> None:
    table = load_table(FOLDER / file_name("NVIDIA H200"))
    known = {*table.settled, *(entry.problem for entry in table.entries)}
    for problem in problems_of(name, "float32"):
        assert key_of(problem) in known


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_every_entry_of_a_table_is_what_a_plan_takes(path: Path) -> None:
    table = load_table(path)
    assert table.compute_units == HOPPER.compute_units
    assert not {entry.problem for entry in table.entries} & set(table.settled)
    sets = ("llm-decode", "batched", "squares", "layouts", "calls")
    problems = {
        key_of(problem): problem
        for dtype in ("float32", "float16", "bfloat16", "float64")
        for name in sets
        for problem in problems_of(name, dtype)
    }
    for entry in table.entries:
        found = plan_product(problems[entry.problem], replace(HOPPER, name=table.device), load_tables())
        assert any(says(note, table.device, "this device") for note in found.notes), entry.problem
        assert (entry.kernel, entry.config) in [(step.kernel.name, step.config.key) for step in found.steps]


def test_an_h100_takes_the_table_of_an_h200_and_a_smaller_one_does_not() -> None:
    (problem,) = (each for each in problems_of("squares", "float32") if each.title == "gemm 512x512x512 float32")
    sister = replace(H200, name="NVIDIA H100 80GB HBM3")
    notes = plan_product(problem, sister, load_tables()).notes
    assert any("NVIDIA H200, a device of the same compute capability with as many SMs" in note for note in notes)
    for other in (replace(sister, compute_units=114), replace(sister, compute_capability=(8, 0))):
        assert not plan_product(problem, other, load_tables()).notes


def test_a_file_that_is_no_table_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text("{}")
    with pytest.raises(RecordError, match=r"broken\.json"):
        load_table(path)
    save_table(replace(table_of("A GPU", None, ""), format=99), path)
    with pytest.raises(RecordError, match=r"\b99\b"):
        load_table(path)


def lines(*stages: Mapping[str, object]) -> str:
    return "\n".join(json.dumps(each) for each in stages)


def won(key: str) -> dict[str, object]:
    entry = {
        "problem": key,
        "kernel": "k",
        "config": {"BM": 1},
        "seconds": 1.0,
        "untuned_seconds": 2.0,
        "worst_ratio": 0.1,
    }
    return {"stage": "won", "problem": key, "entry": entry}


def test_a_child_that_dies_is_told_with_its_launch_and_another_goes_on() -> None:
    first, second = Gemm(1, 2, 3), Gemm(4, 5, 6)
    asked: list[tuple[int, list[list[str]]]] = []

    def run(command: list[str], limit: float) -> ChildRun:
        task = json.loads(command[-1])
        asked.append((len(task["problems"]), task["skip"]))
        key = key_of(second)
        trying = [{"stage": "trying", "problem": key, "candidate": name} for name in ("good (A=1)", "bad (A=2)")]
        failed = {"stage": "failed", "problem": key, "complaint": "slow (A=3): too much"}
        if len(asked) == 1:
            return ChildRun(lines(won(key_of(first)), failed, *trying), "", "killed by SIGSEGV")
        return ChildRun(lines(trying[0], won(key)), "", "")

    outcomes = measure_in_children([first, second], None, Effort(1.0, 5), run)
    assert asked == [(2, [[], []]), (1, [["bad (A=2)"]])]
    assert [outcome.problem for outcome in outcomes] == [first.title, second.title]
    assert outcomes[0].complaints == ()
    assert outcomes[1].entry == Entry(key_of(second), "k", {"BM": 1}, 1.0, 2.0, 0.1)
    assert outcomes[1].complaints == ("slow (A=3): too much", "the child died at bad (A=2): killed by SIGSEGV")


def test_a_child_that_dies_before_it_tries_anything_ends_the_problem() -> None:
    def run(command: list[str], limit: float) -> ChildRun:
        return ChildRun("", "error: no device", "exit code 1")

    (outcome,) = measure_in_children([PROBLEM], None, Effort(1.0, 5), run)
    assert outcome.entry is None
    assert outcome.complaints == ("exit code 1",)


def test_a_problem_at_which_children_go_on_dying_is_given_up() -> None:
    count = 0

    def run(command: list[str], limit: float) -> ChildRun:
        nonlocal count
        count += 1
        return ChildRun(
            lines({"stage": "trying", "problem": key_of(PROBLEM), "candidate": f"bad (A={count})"}), "", "it hung"
        )

    (outcome,) = measure_in_children([PROBLEM], None, Effort(1.0, 5), run)
    assert outcome.entry is None
    assert len(outcome.complaints) == count == MOST_DEATHS


def test_tuning_goes_on_where_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[list[str]] = []

    def fake(problems: list[Gemm], *rest: object) -> list[Outcome]:
        measured.append([key_of(problem) for problem in problems])
        if len(measured) == 2:
            raise KeyboardInterrupt
        entries = [Entry(key_of(problem), "k", {"BM": 1}, 1.0, 2.0, 0.0) for problem in problems]
        return [Outcome(problem.title, entry) for problem, entry in zip(problems, entries, strict=True)]

    monkeypatch.setattr(tuning, "measure_in_children", fake)
    monkeypatch.setattr(tuning, "build_in_children", lambda *rest: None)
    monkeypatch.setattr(tuning, "TOGETHER", 2)
    path, problems = tmp_path / "a" / "table.json", [Gemm(1, 2, 3), Gemm(4, 5, 6), Gemm(7, 8, 9)]
    keys = [key_of(problem) for problem in problems]
    with pytest.raises(KeyboardInterrupt):
        tune(problems, GPU, None, path)
    assert [entry.problem for entry in load_table(path).entries] == keys[:2]
    table = tune(problems, GPU, None, path)
    assert measured == [keys[:2], keys[2:], keys[2:]]
    assert load_table(path) == table
    assert len(table.entries) == 3
    assert table.device == "A GPU"


def test_a_winner_that_gains_nothing_is_settled_and_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    even, better = (
        Entry(key_of(Gemm(1, 2, 3)), "k", {"BM": 1}, 1.0, 1.01, 0.0),
        Entry(key_of(PROBLEM), "k", {"BM": 1}, 1.0, 1.05, 0.0),
    )
    outcomes = [Outcome("even", even), Outcome("better", better), Outcome("nothing", None)]
    table = with_outcomes(Table("A GPU", "", None, "", ""), outcomes)
    assert table.entries == (better,)
    assert table.settled == (even.problem,)
    path = tmp_path / "table.json"
    save_table(table, path)
    assert load_table(path) == table
    monkeypatch.setattr(tuning, "measure_in_children", lambda *rest: pytest.fail("both are known"))
    assert tune([Gemm(1, 2, 3), PROBLEM], GPU, None, path) == table


def test_nothing_is_measured_when_the_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], limit: float) -> ChildRun:
        return ChildRun(lines(won(key_of(Gemm(1, 2, 3))), {"stage": "over"}), "", "")

    outcomes = measure_in_children([Gemm(1, 2, 3), PROBLEM], None, Effort(1.0, 5), run)
    assert [outcome.problem for outcome in outcomes] == [Gemm(1, 2, 3).title]
    monkeypatch.setattr(tuning, "build_in_children", lambda *rest: pytest.fail("there is no time left"))
    assert tune([PROBLEM], GPU, None, tmp_path / "table.json", Effort(time_budget=0.0)).entries == ()


def test_each_program_is_built_by_one_of_the_children() -> None:
    tasks: list[dict[str, Any]] = []

    def run(command: list[str], limit: float) -> ChildRun:
        tasks.append(json.loads(command[-1]))
        return ChildRun("", "", "killed by SIGABRT")  # which the race will meet again

    problems = [PROBLEM, replace(PROBLEM, n=2048), Gemm(512, 512, 512)]
    build_in_children(problems, GPU, "0", Effort(candidates=6), run, workers=4)
    assert 1 < len(tasks) <= 4
    built = [(index, name) for task in tasks for index, name in task["builds"]]
    wanted = {name_of(kernel) for problem in problems for kernel in islice(tuning_candidates(problem, GPU), 6)}
    assert len(built) == len({name for _, name in built})
    assert {name for _, name in built} <= wanted
    sources = {render(k, k.config, problem) for problem in problems for k in islice(tuning_candidates(problem, GPU), 6)}
    assert len(built) == len(sources)
    assert max(len(task["builds"]) for task in tasks) <= -(-len(built) // 4)


def test_tuning_candidates_are_the_models_choice_and_the_best_of_every_family() -> None:
    for problem in (PROBLEM, Gemm(2048, 2048, 2048), Gemm(64, 64, 64, batch=512)):
        found = list(islice(tuning_candidates(problem, HOPPER), 12))
        names = [name_of(kernel) for kernel in found]
        ranked = (k for k in product_candidates(problem, HOPPER) if not any(violations(k, k.config, problem, HOPPER)))
        assert names[0] == name_of(next(ranked))
        assert len(set(names)) == len(names) == 12
        assert {kernel.source.parent.name for kernel in found} <= {"portable", "gemv", "cuda_cores_tma"}
        assert names[0] not in map(name_of, tuning_candidates(problem, HOPPER, [names[0]]))


def test_the_plan_takes_what_only_a_measurement_could_find() -> None:
    small = Gemm(128, 128, 128)
    hopeless = next(
        kernel for kernel in product_candidates(small, HOPPER) if kernel.source.parent.name == "cuda_cores_tma"
    )
    entry = Entry(key_of(small), hopeless.name, hopeless.config.key, 1.0, 2.0, 0.5)
    table = Table(HOPPER.name, HOPPER.vendor, (9, 0), "", "2026-01-02T03:04:05+00:00", (entry,))
    found = plan_product(small, HOPPER, Tables((table,)))
    assert [step.kernel.name for step in found.steps] == ["cuda_cores_tma/main_loop"]


BROKEN = {
    "damaged.json": "{",
    "newer.json": json.dumps(
        {"device": "A GPU", "vendor": "", "compute_capability": None, "driver": "", "date": "", "format": 99}
    ),
    "foreign.json": "[1, 2]",
    "bits.json": "\\xff",
    "deep.json": '{"device": ' + "[" * 100_000,
}


@pytest.fixture
def own_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own folder of tables, with one that can be used."""
    folder = tmp_path / "tuned"
    folder.mkdir()
    monkeypatch.setattr(table_files, "own_folder", lambda: folder)
    save_table(table_of("A GPU", (9, 0), "A maker"), folder / "good.json")
    return folder


@pytest.mark.parametrize("name", [*BROKEN, "folder.json", "pipe.json", "no-time.json"])
def test_a_file_that_cannot_be_used_is_left_out_and_told(name: str, own_tables: Path) -> None:
    path = own_tables / name
    if name in BROKEN:
        path.write_text(BROKEN[name])
    elif name == "pipe.json" and sys.platform == "win32":
        pytest.skip("Windows has no such files")
    elif name == "folder.json":
        path.mkdir()
    elif name == "pipe.json":
        os.mkfifo(path)  # which would be waited for
    else:
        good = table_of("Another GPU", None, "")
        save_table(replace(good, entries=(replace(good.entries[0], seconds=0.0),)), path)
    (reason,) = load_tables().unusable
    assert name in reason
    found = plan_product(PROBLEM, GPU, load_tables())
    assert f"a tuned table is not used: {reason}" in found.notes
    assert any(says(note, "A GPU") for note in found.notes)
    cpu = devices.CPU
    assert reason not in str(plan_product(Gemm(20, 30, 40), cpu, load_tables())), "CPUs have no tables"
    (finding,) = examine_tables()
    assert reason in finding.text
    assert str(path) in finding.text


def test_planning_reads_no_table_by_itself(own_tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = load_tables()
    assert any(says(note, "2026-01-02") for note in plan_product(PROBLEM, GPU, tables).notes)

    def read(path: Path) -> Table:
        raise AssertionError(f"a plan has read {path}")

    monkeypatch.setattr(table_files, "load_table", read)
    monkeypatch.setattr(table_files, "own_folder", lambda: own_tables / "elsewhere")
    assert not plan_product(PROBLEM, GPU).notes
    assert any(says(note, "2026-01-02") for note in plan_product(PROBLEM, GPU, tables).notes)
