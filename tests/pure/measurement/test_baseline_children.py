"""NumPy in its child process: right results, a clean environment, and a child that dies."""

import importlib
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from says import says

from tilewright.cli.printing import tell_blas_settings
from tilewright.core.problem import Copy, Gemm, Problem, Transpose, random_arrays
from tilewright.core.records import Row
from tilewright.core.types import numpy_dtype
from tilewright.errors import ProcessFailed, Unsupported
from tilewright.measurement.baselines import child
from tilewright.measurement.baselines.child import ChildBaseline, clean_environment, numpy_baseline
from tilewright.measurement.baselines.children.numpy_child import blas_facts, load
from tilewright.measurement.cases import Case, measure_cases, new_row
from tilewright.runtime.environment import blas_settings
from tilewright.runtime.verify import Reference

PROBLEMS = [Gemm(5, 7, 3), Gemm(4, 4, 4, "int32"), Transpose(3, 8, "float64", offset=2), Copy(4, 6), Gemm(3, 2, 0)]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.title)
def test_its_results_are_right(problem: Problem) -> None:
    arrays = random_arrays(problem)
    baseline = numpy_baseline(problem, arrays)
    try:
        times = baseline.run()
        verdict = Reference(problem, arrays).judge(baseline.result())
    finally:
        baseline.close()
    assert verdict.passed, verdict
    assert times.wall_s > 0
    assert times.device_s == 0
    assert np.__version__ in baseline.lesson


@pytest.mark.parametrize(("dtype", "out"), [("float8_e4m3fn", "float32"), ("float8_e5m2", "bfloat16")])
def test_it_multiplies_short_floats_as_float32(dtype: str, out: str) -> None:
    values = np.arange(256, dtype=np.uint8).view(numpy_dtype(dtype)).reshape(256, 1)
    arrays = {"A": values, "B": np.ones((1, 2), numpy_dtype(dtype))}
    baseline = numpy_baseline(Gemm(256, 2, 1, dtype, out_dtype=out), arrays)
    try:
        baseline.run()
        result = baseline.result()
    finally:
        baseline.close()
    wanted = np.repeat(values.astype(np.float32), 2, axis=1).astype(numpy_dtype(out)).astype(np.float32)
    assert np.array_equal(result.astype(np.float32), wanted, equal_nan=True)


def test_what_cublas_does_not_multiply_is_refused_by_a_sentence() -> None:
    fitting = Gemm(64, 64, 64, "float8_e4m3fn", out_dtype="bfloat16")
    assert not child.cublas_refusal(fitting)
    for change, words in (
        ({"dtype": "float8_e5m2"}, "float8_e5m2"),
        ({"batch": 3}, r"\b3\b"),
        ({"k": 100}, r"N=64.*K=100.*\b16\b"),
        ({"dtype": "int32", "out_dtype": "int32"}, "int32"),
    ):
        problem = replace(fitting, **change)
        with pytest.raises(Unsupported, match=words):
            child.cublas_baseline(problem, random_arrays(problem))


@pytest.mark.parametrize("orders", [("row", "column"), ("column", "row")])
def test_operands_lie_as_the_problem_says(orders: tuple[str, str], tmp_path: Path) -> None:
    problem = Gemm(6, 5, 4, "float32", *orders)
    arrays = random_arrays(problem)
    baseline = numpy_baseline(problem, arrays)
    try:
        _, inputs, _ = load(Path(baseline._folder.name))
    finally:
        baseline.close()
    for name, order in zip("AB", orders, strict=True):
        assert np.array_equal(inputs[name], arrays[name])
        assert inputs[name].flags.c_contiguous == (order == "row")
        assert inputs[name].flags.f_contiguous == (order == "column")


def test_blas_settings_do_not_reach_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"OPENBLAS_CORETYPE": "Haswell", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    kept = {"TILEWRIGHT_TEST": "kept", "KMP_DUPLICATE_LIB_OK": "True"}
    for name, value in kept.items():
        monkeypatch.setenv(name, value)
    assert not set(settings) & set(clean_environment())
    assert kept.items() <= clean_environment().items()


@pytest.mark.parametrize(("names", "them"), [(["OMP_NUM_THREADS"], "it"), (["MKL_X", "OMP_NUM_THREADS"], "them")])
def test_who_sets_them_is_told_on_a_cpu(
    names: list[str], them: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in blas_settings():
        monkeypatch.delenv(name)
    tell_blas_settings("cpu")
    assert capsys.readouterr().err == ""
    for name in names:
        monkeypatch.setenv(name, "1")
    tell_blas_settings("gpu")
    assert capsys.readouterr().err == ""
    tell_blas_settings("cpu")
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"note: unset {', '.join(names)}: NumPy obeys {them} ")
    assert told.err.count("\n") == 1


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads the states of threads from /proc")
def test_all_its_threads_have_stopped_when_its_turn_is_over() -> None:
    problem = Gemm(300, 300, 300)
    baseline = numpy_baseline(problem, random_arrays(problem))
    try:
        for _ in range(20):
            baseline.run()
            threads = Path(f"/proc/{baseline._process.pid}/task").glob("*/stat")
            assert {thread.read_text().rpartition(")")[2].split()[0] for thread in threads} == {"T"}
    finally:
        baseline.close()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads the states of threads from /proc")
def test_it_is_stopped_after_its_turn_and_not_between_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    signals = []
    problem = Gemm(30, 30, 30)
    baseline = numpy_baseline(problem, random_arrays(problem))
    send = baseline._process.send_signal

    def note(number: int) -> None:
        signals.append(number)
        send(number)

    monkeypatch.setattr(baseline._process, "send_signal", note)
    try:
        with baseline.turn():
            for _ in range(3):
                baseline.run()
            assert signals == [signal.SIGCONT]
        assert signals == [signal.SIGCONT, signal.SIGSTOP]
        baseline.run()
        assert signals == [signal.SIGCONT, signal.SIGSTOP] * 2
    finally:
        baseline.close()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads the child's environment from /proc")
def test_the_childs_own_environment_is_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    baseline = numpy_baseline(Gemm(2, 2, 2), random_arrays(Gemm(2, 2, 2)))
    try:
        environment = Path(f"/proc/{baseline._process.pid}/environ").read_bytes()
    finally:
        baseline.close()
    assert b"PATH=" in environment or not os.environ.get("PATH")
    assert b"OPENBLAS_CORETYPE" not in environment


def test_a_core_type_that_the_shell_asks_for_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    baseline = numpy_baseline(Gemm(2, 2, 2), random_arrays(Gemm(2, 2, 2)))
    baseline.close()
    assert baseline.facts["core"] != "Prescott"


def test_a_child_that_dies_is_told_with_its_status() -> None:
    baseline = numpy_baseline(Gemm(2, 2, 2), random_arrays(Gemm(2, 2, 2)))
    baseline._process.kill()
    baseline._process.wait()
    with pytest.raises(ProcessFailed, match=r"numpy_child\.py.*SIGKILL"):
        baseline.run()
    baseline.close()


def test_a_child_that_cannot_start_tells_its_own_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho 'no such interpreter today' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(ProcessFailed, match=r"(?s)\b3\b.*no such interpreter today"):
        numpy_baseline(Gemm(2, 2, 2), random_arrays(Gemm(2, 2, 2)))


def test_a_lasting_child_is_kept_for_the_next_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With a child that answers like cuBLAS's, since PyTorch may not be here."""
    script = tmp_path / "lasting.py"
    folder = Path(child.__file__).parent / "children"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(folder)!r})\n"
        "from pathlib import Path\nfrom numpy_child import *\nplace = Path(sys.argv[1])\n"
        "while place:\n"
        "    settings, inputs, output = load(place)\n"
        "    product = inputs['A'] @ inputs['B']\n"
        "    place = serve({}, lambda: 1.0, lambda: np.save(place / 'result.npy', product), None)\n"
    )
    monkeypatch.setattr(child, "LASTING", (str(script),))
    processes = []
    for problem in (Gemm(2, 3, 4), Gemm(5, 6, 7, "float64")):
        arrays = random_arrays(problem)
        baseline = ChildBaseline(str(script), problem, arrays)
        baseline.run()
        assert Reference(problem, arrays).judge(baseline.result()).passed
        processes.append(baseline._process)
        baseline.close()
    assert processes[0] is processes[1]
    assert processes[0].poll() is None
    child.end_idle_children()
    assert processes[0].returncode == 0


def test_a_child_that_is_killed_while_measured_becomes_a_row_and_the_others_go_on() -> None:
    problem = Gemm(2, 2, 2)
    arrays = random_arrays(problem)
    baselines = [numpy_baseline(problem, arrays) for _ in range(2)]
    cases = [Case(new_row(name, "", problem), baseline) for name, baseline in zip("ab", baselines, strict=True)]
    seen = []

    def watch(index: int, row: Row) -> None:
        seen.append(row.name)
        if seen == ["a"]:
            baselines[0]._process.kill()  # stopped, it has answered and does not run

    try:
        measure_cases(cases, 0.5, True, watch)
    finally:
        for baseline in baselines:
            baseline.close()
    killed, other = (case.row for case in cases)
    assert (killed.status, other.status) == ("launch failed", "ok")
    assert says(killed.reason, "SIGKILL")
    assert len(other.samples.wall) > 1


def test_a_child_that_dies_after_its_answer_is_found_at_the_next_question() -> None:
    baseline = numpy_baseline(Gemm(2, 2, 2), random_arrays(Gemm(2, 2, 2)))
    baseline._process.kill()
    baseline._process.wait()
    baseline._stop()
    with pytest.raises(ProcessFailed, match="SIGKILL"):
        baseline.run()
    baseline.close()


def test_processors_are_counted_where_processes_have_no_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.syspath_prepend(Path(child.__file__).parent / "children")
    assert importlib.import_module("blas_child").usable_processors() == (os.cpu_count() or 1)


def test_a_system_that_does_not_tell_the_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    def untold() -> list[dict[str, str]]:
        raise FileNotFoundError(2, "No such file or directory", "/proc/self/maps")

    monkeypatch.setattr("threadpoolctl.threadpool_info", untold)
    assert blas_facts()["blas"] == "unknown BLAS"
