"""What all tests share: the devices they run on, markers by folder, caches of their own."""

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import separate
from faulty import MakeKernel
from hypothesis import settings
from paths import TESTS
from places import KINDS, Place, place_on
from shapes import NAIVE

from tilewright import health
from tilewright.api import planning
from tilewright.core import language
from tilewright.core.custom import custom_kernel
from tilewright.core.kernel import Kernel
from tilewright.dispatch import numpys_own
from tilewright.errors import NoDevice
from tilewright.kernels.product.wgmma.kernels import REQUIRES
from tilewright.library import engine, multiply, numpy_first
from tilewright.library.streamed import planning as streamed_planning
from tilewright.runtime import children, home
from tilewright.runtime.cuda.device import Device as CudaDevice
from tilewright.runtime.cuda.opening import open_device as open_cuda_device
from tilewright.runtime.environment import blas_settings
from tilewright.runtime.icd.preference import NEVER_BY_DEFAULT, preference
from tilewright.runtime.opencl.device import Device, list_devices, open_device
from tilewright.runtime.opencl.staging import Limits

pytest_plugins = ("cuda_fixtures", "dask_fixtures")  # fixtures of a pretended GPU, and of what a device holds for Dask

NO_DEVICE = "no working device"
# NumPy's tests are imported by test_numpy_suite.py, and are marked with these.
MARKERS_OF_NUMPY = ("slow", "slow_pypy", "leaks_references", "valgrind_error", "thread_unsafe", "parallel_threads")

settings.register_profile("tilewright", deadline=None)  # a busy machine is no failure
settings.load_profile("tilewright")


def pytest_configure(config: pytest.Config) -> None:
    """Keep the user's caches out of the tests, and the tests' out of the user's."""
    cache = getattr(config, "cache", None)  # absent if pytest was told to do without
    folder = cache.mkdir("kernels") if cache is not None else Path(".pytest_cache") / "kernels"
    os.environ["XDG_CACHE_HOME"] = str(folder.resolve())
    os.environ["LANGUAGE"] = language.ENGLISH  # whatever the developer speaks
    for name in blas_settings():  # whatever the machine's shell sets: commands tell of them
        del os.environ[name]
    for name in MARKERS_OF_NUMPY:
        config.addinivalue_line("markers", f"{name}: NumPy's own tests have it")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The folder is the marker: `-m device`, `-m "not gpu"`."""
    for item in items:
        tier = item.path.relative_to(TESTS).parts[0]
        if tier in ("compilers", "device", "gpu"):
            item.add_marker(tier)


@pytest.fixture(autouse=True)
def own_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that chooses a language chooses it for itself."""
    monkeypatch.setattr(language, "_chosen", [])


@pytest.fixture(autouse=True)
def own_troubles(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test does to a cache is not told by the commands of the next one."""
    monkeypatch.setattr(home, "_troubles", {})


@pytest.fixture(autouse=True)
def own_plans_of_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that changes what plans depend on plans for itself."""
    monkeypatch.setattr(streamed_planning, "_kept", {})


@pytest.fixture(autouse=True)
def kernels_multiply(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small products on CPUs are for kernels, which most tests are about; those that ask for `numpys` leave them to NumPy."""
    if "numpys" not in request.fixturenames:
        for module in (multiply, planning):
            monkeypatch.setattr(module, "numpys_own", lambda asked, measured: "")


@pytest.fixture
def numpys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """NumPy's own product wherever NumPy can do what is asked, on a default device that is a CPU. Nothing is measured."""
    monkeypatch.setattr(numpys_own, "ALWAYS", dict.fromkeys(numpys_own.WORDS, float("inf")))
    _forget_calls(engine.default_device())
    yield
    _forget_calls(engine.default_device())


@pytest.fixture
def cpu(device: Device) -> Device:
    """The device of this test if it is a CPU that the kernels for CPUs are for."""
    if "cpu" not in device.info.features:
        pytest.skip("a kernel for CPUs")
    return device


@pytest.fixture
def fresh_calls(cpu: Device) -> Iterator[None]:
    """For a test that changes what is chosen: no call is planned as it was before, nor a later one as in this test."""
    _forget_calls(cpu)
    yield
    _forget_calls(cpu)


def _forget_calls(device: Device) -> None:
    numpy_first.NUMPYS.clear()
    kept = engine.kept_on(device)
    kept.calls.clear()
    kept.ready.clear()


@cache
def trials() -> tuple[tuple[str, children.SmokeResult], ...]:
    """One device of each driver that is not only for special uses, and how it did in a child process of its own."""
    listed = [each for each in children.list_devices().records() if each["stage"] == "device"]
    listed.sort(key=lambda each: preference(each["platform"], each["version"], each["kind"]))
    found: dict[tuple[str, str], tuple[str, children.SmokeResult]] = {}
    for number, each in enumerate(listed):
        driver = (each["platform"], each["version"])
        usual = preference(each["platform"], each["version"], each["kind"]) < NEVER_BY_DEFAULT
        if usual and driver not in found:
            trial = children.probe_device(each["platform"], each["place"], version=each["version"])
            found[driver] = (str(number), trial)
    return tuple(found.values())


def working() -> list[str]:
    """The numbers, as `open_device` takes them, of the devices that passed their trial."""
    return [number for number, trial in trials() if trial.passed]


@cache
def advice() -> str:
    """What is missing here and the commands that fix it, as `tilewright doctor` says."""
    faults = [each for each in health.doctor().findings if each.status is health.Status.FAIL]
    return "\n".join(f"  {each.topic}: {each.text}\n    -> {each.fix}" for each in faults)


@cache
def opened(number: str) -> Device:
    """The device of that number, opened once in a session. A suite that runs nothing must not pass."""
    if number == NO_DEVICE:
        pytest.fail(f"no OpenCL device works here; `tilewright doctor` tells more:\n{advice()}", pytrace=False)
    return open_device(number)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run every test that asks for `device` on one device of each working driver; without any it fails."""
    if "device" in metafunc.fixturenames:
        names = [re.sub(r"\W+", "-", trial.platform).strip("-").lower() for _, trial in trials() if trial.passed]
        numbers = working() or [NO_DEVICE]
        metafunc.parametrize("device", numbers, ids=names or ["none"], indirect=True, scope="session")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Which drivers were tested, and which were left out because they do not work."""
    if trials.cache_info().currsize:
        for _, trial in trials():
            verdict = "tested" if trial.passed else f"NOT TESTED, its trial failed: {trial.reason}"
            terminalreporter.write_line(f"driver {trial.platform}: {verdict}")


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> Device:
    """Each working driver's device in turn."""
    return opened(request.param)


@pytest.fixture(scope="session")
def one_device() -> Device:
    """The preferred device that works, for tests in which the driver makes no difference."""
    return opened(next(iter(working()), NO_DEVICE))


@pytest.fixture(scope="session")
def sharing_device() -> Device:
    """The preferred device that works in the host's memory, so that NumPy's addresses mean something to it."""
    found = next((each for each in map(opened, working()) if each.info.kind == "cpu"), None)
    return found or pytest.skip("no CPU device works here")


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, device: Device) -> Place:
    """Each kind of memory of each device."""
    return place_on(device, request.param)


@pytest.fixture(params=[1, 3], ids=["one-thread", "three-threads"])
def limits(request: pytest.FixtureRequest, device: Device, monkeypatch: pytest.MonkeyPatch) -> Iterator[Limits]:
    """Those of copies between the host and a device that pretends to have memory of its own."""
    yield separate.pretend(device, request.param, monkeypatch)
    separate.forget(device)


@pytest.fixture(scope="session")
def device_number() -> str:
    """What `--device` needs to name `one_device`."""
    opened(next(iter(working()), NO_DEVICE))
    return working()[0]


@pytest.fixture(scope="session")
def nvidia() -> Device:
    """An NVIDIA GPU; tests that ask for it are skipped where there is none."""
    for number, info in enumerate(list_devices()):
        if "nvidia" in info.features:
            return opened(str(number))
    pytest.skip("no NVIDIA GPU with an OpenCL driver is here")


@pytest.fixture(scope="session")
def hopper(nvidia: Device) -> Device:
    """The same if it is one of Hopper, with TMA and the instructions of sm_90a; else tests are skipped."""
    missing = [feature for feature, _ in REQUIRES if feature not in nvidia.info.features]
    if missing:
        pytest.skip(f"{nvidia.info.label} has no {', '.join(missing)}")
    return nvidia


@pytest.fixture(scope="session")
def cuda() -> CudaDevice:
    """The same GPU by CUDA; tests that ask for it are skipped where there is none, or no NVRTC."""
    try:
        return open_cuda_device()
    except NoDevice as missing:
        pytest.skip(str(missing))


@pytest.fixture
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A console so wide that tables are not cut."""
    from rich.console import Console

    from tilewright.cli import live_table

    monkeypatch.setattr(live_table, "console", Console(width=240))
    monkeypatch.setenv("COLUMNS", "240")


@pytest.fixture
def faulty(tmp_path: Path) -> MakeKernel:
    """Writes the product with `right` replaced by `fault` and makes a kernel of it."""

    def make(right: str, fault: str) -> Kernel:
        assert right in NAIVE
        path = tmp_path / "product.cl"
        path.write_text(NAIVE.replace(right, fault))
        return custom_kernel(path, ("M", "N"), ("8", "8"))

    return make
