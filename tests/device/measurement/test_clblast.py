"""CLBlast as a baseline: right on every driver, refused by a sentence, and a row of its own in a ladder."""

import pytest

from tilewright.core.kernel import Ladder
from tilewright.core.problem import Copy, Gemm, Problem, Transpose, random_arrays
from tilewright.errors import Unsupported
from tilewright.kernels import find_kernel
from tilewright.measurement.baselines.clblast import CLBlastBaseline, clblast_present, places, prepare
from tilewright.measurement.ladders import run_ladder
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.verify import Reference

PROBLEMS: tuple[Problem, ...] = (
    Gemm(70, 50, 30),
    Gemm(70, 50, 30, "float32", "column", "column"),
    Transpose(40, 60, "float32", 7),
    Copy(40, 60),
)


@pytest.fixture(autouse=True)
def _installed() -> None:
    if not clblast_present():
        pytest.skip("CLBlast is not installed")


def test_it_is_right_whatever_the_operands_order(one_device: Device) -> None:
    for problem in PROBLEMS:
        reference = Reference(problem, random_arrays(problem))
        baseline = CLBlastBaseline(problem, reference.arrays, one_device)
        times = baseline.run()
        verdict = reference.judge(baseline.result())
        baseline.close()
        assert verdict.passed, f"{problem.title} on {one_device.info.label}: {verdict}"
        assert times.wall_s > 0


def test_what_it_has_no_routine_for_is_refused_by_a_sentence() -> None:
    for problem, words in (
        (Gemm(4, 4, 4, "float16"), "float16"),
        (Gemm(4, 4, 4, c_order="column"), r"\bC\b"),
    ):
        with pytest.raises(Unsupported, match=words):
            prepare(problem)


def test_it_has_a_row_in_a_ladder_right_or_refused(one_device: Device) -> None:
    copy = Ladder("copies", "One rung", "nowhere", (find_kernel("transpose/01_copy"),))
    for dtype, status in (("float32", "ok"), ("int32", "refused")):
        record = run_ladder(copy, one_device, [(64,)], dtype, seconds=0.2)
        row = next(each for each in record.rows if each.name.startswith("CLBlast"))
        assert row.status == status, row
        assert bool(row.samples.times) == (status == "ok")


def test_it_is_sought_on_the_loaders_path_first() -> None:
    assert next(places()) == "libclblast.so.1"


def test_sustained_calls_are_counted_once(one_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    baseline = CLBlastBaseline(PROBLEMS[0], random_arrays(PROBLEMS[0]), one_device)
    made, enqueue = [0], baseline._enqueue

    def counted() -> None:
        made[0] += 1
        enqueue()

    monkeypatch.setattr(baseline, "_enqueue", counted)
    work = baseline.sustain(0.05)
    baseline.close()
    assert 0 < work.calls <= made[0] <= work.calls + 2  # but for the trial that tells how long a call takes
    assert work.seconds >= 0.05
