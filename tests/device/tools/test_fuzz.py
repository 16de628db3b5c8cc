"""Cases of the fuzzer on every driver: some thousands on the preferred one, some hundreds on the others."""

from pathlib import Path

from tilewright.runtime.opencl.device import Device, list_devices
from tools.fuzz.child import Task
from tools.fuzz.record import Record
from tools.fuzz.run import Loop

CASES, FEWER = 2000, 300
SEED = 20_000
# Every program takes an Intel compiler a second and more: few types and few epilogues, so that programs repeat.
TYPES = ("float32", "float16", "int32", "complex64", "int8")
MOST_WORK = 2**20


def test_public_calls_on_cases_of_the_fuzzer(device: Device, tmp_path: Path) -> None:
    number = list_devices().index(device.info)
    cases = FEWER if number else CASES
    task = Task(str(number), few=True, types=TYPES, most_work=MOST_WORK)
    record = Loop(Record(SEED, SEED), task, jobs=2, path=tmp_path / "fuzz.json").run(cases, None)
    print(record.table())
    found = "\n".join(f"seed {each.seed}: {each.reason}\n  {each.case!r}" for each in record.failures)
    assert not record.failures, f"of {record.cases} cases from seed {SEED} on {len(record.failures)} failed:\n{found}"
    assert record.cases == cases
