"""The doctor here: a working device, both CPU drivers in one process, and its word on broken set-ups."""

import json
import sys
from pathlib import Path

import pytest
from says import says

from tilewright import health
from tilewright.core.install import pip_install
from tilewright.health import Examination, Finding, Status, devices
from tilewright.runtime import children
from tilewright.runtime.icd import drivers
from tilewright.runtime.opencl import smoke


@pytest.fixture(scope="module")
def examination() -> Examination:
    return health.doctor()


def about(examination: Examination, topic: str) -> list[Finding]:
    return [finding for finding in examination.findings if finding.topic == topic]


def test_a_device_works_and_is_chosen(examination: Examination) -> None:
    assert examination.healthy
    assert any(finding.status is Status.OK for finding in about(examination, "trial"))
    assert examination.findings[-1].topic == "choice"
    assert examination.chosen
    assert examination.chosen in examination.findings[-1].text


def test_every_fault_has_a_fix(examination: Examination) -> None:
    faults = [finding for finding in examination.findings if finding.status in (Status.WARN, Status.FAIL)]
    assert all(finding.fix for finding in faults)


def test_all_topics_are_there_and_are_printed(examination: Examination) -> None:
    topics = {finding.topic for finding in examination.findings}
    assert topics >= {
        "python",
        "loader",
        "driver",
        "wheel",
        "device",
        "trial",
        "cache",
        "machine",
        "optional",
    }
    text = "\n".join(examination.lines())
    assert all(finding.text in text and finding.fix in text for finding in examination.findings)
    assert "healthy" in text.splitlines()


def test_the_examination_goes_to_json(examination: Examination) -> None:
    record = json.loads(examination.to_json())
    assert record["healthy"] is True
    assert record["chosen"] == examination.chosen
    assert len(record["findings"]) == len(examination.findings)
    assert record["findings"][0].keys() == {"status", "topic", "text", "fix"}


def test_the_wheel_and_the_system_driver_are_visible_in_one_process() -> None:
    libraries = " ".join(driver.library for driver in drivers.discover())
    if "libintelocl" not in libraries or "libpocl" not in libraries:
        pytest.skip("needs Intel's runtime and PoCL, whichever way they are installed")
    listing = children.list_devices()
    assert listing.ending == ""
    platforms = [record["platform"] for record in listing.records()]
    assert "Intel(R) OpenCL" in platforms
    assert "Portable Computing Language" in platforms
    versions = [(record["platform"], record["version"], record["place"]) for record in listing.records()]
    assert len(set(versions)) == len(versions), "a driver is listed twice"


def test_a_device_that_is_not_there_fails() -> None:
    result = children.probe_device("No such platform", 0)
    assert not result.passed
    assert "No such platform" in result.reason


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("sum += tileA[y][k] * tileB[k][x]", "sum += tileA[y][k] * tileB[x][k]"),  # B transposed
        ("start < SIZE", "start < SIZE - TILE"),  # the last tile left out
        ("C[row * SIZE + column] = sum", "if (row + column) C[row * SIZE + column] = sum"),  # one hole
    ],
)
def test_the_trial_rejects_a_wrong_kernel(right: str, wrong: str) -> None:
    assert smoke.source_of("smoke_gemm").count(right) == 1
    code = (
        "import pyopencl, sys\n"
        "from tilewright.runtime import children\n"
        "from tilewright.runtime.icd import registration\n"
        "from tilewright.runtime.opencl import smoke\n"
        "registration.register()\n"
        "device = pyopencl.get_platforms()[0].get_devices()[0]\n"
        "children.tell('gemm', **smoke.try_gemm(device, sys.argv[1]))\n"
        "children.tell('loop', rounds=1, expected=1)\n"
    )
    for source, passes in (
        (smoke.source_of("smoke_gemm"), True),
        (smoke.source_of("smoke_gemm").replace(right, wrong), False),
    ):
        result = children.probe_device("", 0, command=[sys.executable, "-c", code, source])
        assert result.passed is passes, result
        assert passes or result.reason.startswith("wrong result")


def test_a_missing_folder_in_the_users_variable_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", "/no/such/folder")
    sick = health.doctor()
    assert not sick.healthy
    assert sick.chosen == ""
    fault = next(finding for finding in about(sick, "loader") if finding.status is Status.FAIL)
    assert "/no/such/folder" in fault.text
    assert fault.fix == "unset OCL_ICD_VENDORS"
    advice = sick.advice()
    assert advice[0] != "healthy"
    assert advice[1] == "  unset OCL_ICD_VENDORS"


def test_without_any_driver_the_doctor_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    sick = health.doctor()
    faults = [finding for finding in sick.findings if finding.status is Status.FAIL]
    assert {finding.topic for finding in faults} == {"device"}
    assert {finding.fix for finding in faults} == {"unset OCL_ICD_VENDORS"}
    monkeypatch.setattr(drivers, "discover", lambda places=None: ())
    faults = [finding for finding in health.doctor().findings if finding.status is Status.FAIL]
    assert faults
    assert all("pocl" in finding.fix for finding in faults)


def test_without_pyopencl_the_doctor_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pyopencl.py").write_text("raise ImportError('no pyopencl in this test')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    sick = health.doctor()
    assert not sick.healthy
    fault = next(finding for finding in about(sick, "python") if finding.status is Status.FAIL)
    assert "no pyopencl in this test" in fault.text
    fixes = {finding.fix for finding in sick.findings if finding.status is Status.FAIL}
    assert fixes == {pip_install("pyopencl")}


def test_an_inherited_variable_is_named_with_its_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    monkeypatch.setenv("OCL_ICD_VENDORS", "/no/such/folder")  # no device to try: the examination is short
    warnings = [finding.text for finding in about(health.doctor(), "environment")]
    assert any(text.startswith("OPENBLAS_CORETYPE=Prescott: changes OpenBLAS") for text in warnings)


def test_a_driver_that_does_not_open_is_named_with_its_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "libbroken.so"
    broken.write_text("not a library")
    driver = drivers.Driver("broken", str(broken), "system", "named by /etc/OpenCL/vendors/broken.icd")
    monkeypatch.setattr(drivers, "discover", lambda places=None: (driver,))
    fault = next(finding for finding in about(health.doctor(), "driver"))
    assert fault.status is Status.WARN
    assert "does not open" in fault.text
    assert "broken.icd" in fault.fix


def test_a_preferred_device_that_fails_is_a_warning_with_the_way_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    devices = [record for record in children.list_devices().records() if record["stage"] == "device"]
    if len(devices) < 2:
        pytest.skip("needs two devices")
    answers = iter([False, True, *[True] * len(devices)])

    def probe(platform: str, device: int, **options: object) -> children.SmokeResult:
        passed = next(answers)
        reason = "" if passed else "killed by SIGSEGV"
        return children.SmokeResult(platform, device, passed, reason, 0.1, 1.0, 1e-6, "works", "works")

    monkeypatch.setattr(children, "probe_device", probe)
    examination = health.doctor()
    assert examination.healthy
    assert examination.findings[-1].fix == "--device 1"
    assert says(about(examination, "trial")[0].text, "SIGSEGV")


def test_a_type_that_is_advertised_and_crashes_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def probe(platform: str, device: int, **options: object) -> children.SmokeResult:
        return children.SmokeResult(platform, device, True, "", 0.1, 1.0, 1e-6, "killed by SIGABRT", "refused")

    monkeypatch.setattr(children, "probe_device", probe)
    advertised = [record for record in children.list_devices().records() if record["stage"] == "device"]
    for record, finding in zip(advertised, about(health.doctor(), "trial"), strict=True):
        assert ("claims to have" in finding.text) is (record["fp64"] or record["fp16"])
        assert says(finding.text, "fp64", "SIGABRT")


def test_the_call_runs_a_kernel_wherever_small_products_are_numpys_own() -> None:
    broken = "from tilewright.runtime.opencl.device import Device\ndef _build(*given): raise OSError('no kernel')\n"
    child = children.run_child([sys.executable, "-c", f"{broken}Device.build = _build\n{devices.FIRST_CALL}"], 60)
    assert "call" not in child.stages()
    assert "no kernel" in child.telling_line()
