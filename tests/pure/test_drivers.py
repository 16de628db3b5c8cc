"""Driver discovery, registration and ranking on faked folders."""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tilewright.runtime import children
from tilewright.runtime.icd import drivers, preference, registration
from tilewright.runtime.icd.drivers import Places

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the fakes are ELF files and folders of .icd files")
pytestmark = ON_LINUX

HEADER = Path(sys.executable).resolve().read_bytes()[:64] if sys.platform == "linux" else b""


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """A machine with one registered driver, libsystem.so, and a second folder as a prefix would have."""
    machine = Places((tmp_path / "vendors", tmp_path / "prefix"), (tmp_path / "lib",))
    for folder in (*machine.vendors, *machine.libraries):
        folder.mkdir()
    library(machine, "libsystem.so.1.2")
    (machine.vendors[0] / "system.icd").write_text("libsystem.so.1.2\n")
    return machine


@pytest.fixture(autouse=True)
def without_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the wheels that happen to be installed where the tests run."""
    monkeypatch.setattr(drivers, "WHEELS", ())


def library(places: Places, name: str, header: bytes = HEADER) -> Path:
    path = places.libraries[0] / name
    path.write_bytes(header)
    return path


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Makes an installed distribution that brought one library, and lists it in WHEELS."""

    def install(title: str, name: str, place: str) -> Path:
        site = tmp_path / "env" / "lib" / "python" / "site-packages"
        information = site / f"{name.replace('-', '_')}-1.0.dist-info"
        information.mkdir(parents=True)
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (information / "RECORD").write_text(f"{place},,\n")
        path = (site / place).resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(HEADER)
        monkeypatch.syspath_prepend(str(site))
        monkeypatch.setattr(drivers, "WHEELS", (*drivers.WHEELS, (title, name, (path.name,))))
        return path

    return install


def test_a_registered_driver_is_found_with_its_library(places: Places) -> None:
    (driver,) = drivers.discover(places)
    assert (driver.name, driver.origin) == ("system", "system")
    assert Path(driver.library) == places.libraries[0] / "libsystem.so.1.2"


def test_an_icd_whose_library_is_missing_is_listed_and_says_so(places: Places) -> None:
    (places.vendors[0] / "gone.icd").write_text("/nowhere/libgone.so\n")
    gone = next(driver for driver in drivers.discover(places) if driver.name == "gone")
    assert gone.library == "/nowhere/libgone.so"
    assert "no library" in gone.note


def test_a_library_that_no_icd_names_is_found(places: Places) -> None:
    path = library(places, "libnvidia-opencl.so.1")
    found = {driver.name: driver for driver in drivers.discover(places)}
    assert found["NVIDIA"].origin == "unregistered"
    assert found["NVIDIA"].library == str(path)


def test_a_library_for_another_processor_is_not_a_driver(places: Places) -> None:
    library(places, "libnvidia-opencl.so.1", HEADER[:18] + b"\xff\xff" + HEADER[20:])
    assert [driver.name for driver in drivers.discover(places)] == ["system"]


def test_a_driver_found_twice_is_listed_once(places: Places) -> None:
    real = library(places, "libpocl.so.2.10.0")
    (places.libraries[0] / "libpocl.so.2").symlink_to(real)
    (places.vendors[0] / "pocl.icd").write_text("libpocl.so.2.10.0\n")
    (places.vendors[0] / "again.icd").write_text(f"{places.libraries[0]}/libpocl.so.2\n")
    (places.vendors[1] / "third.icd").write_text(f"{real}\n")
    names = [driver.name for driver in drivers.discover(places)]
    assert names == ["again", "system"]


def test_a_second_copy_of_a_registered_library_is_not_added(places: Places, wheel: Callable[..., Path]) -> None:
    wheel("Intel CPU runtime", "intel-fake", "../../libintelocl.so")
    assert [driver.name for driver in drivers.discover(places)] == ["system", "Intel CPU runtime"]
    library(places, "libintelocl.so")
    (places.vendors[0] / "intel.icd").write_text("libintelocl.so\n")
    assert [driver.name for driver in drivers.discover(places)] == ["intel", "system"]


def test_a_prefix_counts_only_with_a_library_that_exists(places: Places) -> None:
    (places.vendors[1] / "intel-cpu.icd").write_text("/opt/build-machine/libintelocl.so\n")
    assert [file.name for file in drivers.icd_files(places)] == ["system.icd"]
    path = library(places, "libconda.so")
    (places.vendors[1] / "conda.icd").write_text(f"{path}\n")
    assert [file.name for file in drivers.icd_files(places)] == ["system.icd", "conda.icd"]


def test_a_wheel_is_found_through_its_files(places: Places, wheel: Callable[..., Path]) -> None:
    path = wheel("Intel CPU runtime", "intel-fake", "../../libintelocl.so")
    driver = drivers.discover(places)[-1]
    assert (driver.origin, driver.library, driver.note) == ("wheel", str(path), "from intel-fake 1.0")


def test_registration_keeps_the_system_drivers(places: Places, wheel: Callable[..., Path], tmp_path: Path) -> None:
    path = wheel("Intel CPU runtime", "intel-fake", "../../libintelocl.so")
    nvidia = library(places, "libnvidia-opencl.so.1")
    environ: dict[str, str] = {}
    done = registration.register(places, environ, tmp_path / "cache")
    folder = Path(environ["OCL_ICD_VENDORS"])
    assert done.status == "registered"
    assert [driver.name for driver in done.added] == ["NVIDIA", "Intel CPU runtime"]
    assert {file.name: file.read_text().strip() for file in folder.iterdir()} == {
        "system.icd": "libsystem.so.1.2",
        "tilewright-nvidia.icd": str(nvidia),
        "tilewright-intel-cpu-runtime.icd": str(path),
    }


def test_registration_twice_changes_nothing_and_leaves_no_litter(places: Places, tmp_path: Path) -> None:
    library(places, "libnvidia-opencl.so.1")
    environ: dict[str, str] = {}
    first = registration.register(places, environ, tmp_path / "cache")
    assert registration.register(places, environ, tmp_path / "cache") == first
    assert [each.name for each in (tmp_path / "cache").iterdir()] == [Path(first.value).name]


def test_a_damaged_folder_is_written_again(places: Places, tmp_path: Path) -> None:
    library(places, "libnvidia-opencl.so.1")
    first = registration.register(places, {}, tmp_path / "cache")
    damaged = Path(first.value) / "tilewright-nvidia.icd"
    damaged.write_text("")
    assert registration.register(places, {}, tmp_path / "cache") == first
    assert damaged.read_text().strip().endswith("libnvidia-opencl.so.1")
    assert not (Path(first.value) / "damaged").exists()
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_a_cache_that_cannot_be_written_does_not_prevent_registration(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    library(places, "libnvidia-opencl.so.1")
    (tmp_path / "file").write_text("not a folder")
    environ: dict[str, str] = {}
    done = registration.register(places, environ, tmp_path / "file" / "cache")
    assert (Path(done.value) / "system.icd").is_file()
    assert registration.register(places, environ, tmp_path / "file" / "cache") == done


def test_a_new_driver_replaces_an_inherited_folder(places: Places, tmp_path: Path) -> None:
    library(places, "libnvidia-opencl.so.1")
    environ: dict[str, str] = {}
    first = registration.register(places, environ, tmp_path / "cache")
    library(places, "libigdrcl.so")
    second = registration.register(places, environ, tmp_path / "cache")
    assert first.value != second.value == environ["OCL_ICD_VENDORS"]
    assert len(second.added) == 2


def test_with_nothing_to_add_the_environment_stays_as_it_is(places: Places, tmp_path: Path) -> None:
    environ = {"HOME": "/root"}
    assert registration.register(places, environ, tmp_path / "cache").status == "nothing to add"
    assert environ == {"HOME": "/root"}
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("name", ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"])
def test_a_variable_of_the_user_is_never_touched(places: Places, tmp_path: Path, name: str) -> None:
    library(places, "libnvidia-opencl.so.1")
    environ = {name: str(places.vendors[0])}
    done = registration.register(places, environ, tmp_path / "cache")
    assert environ == {name: str(places.vendors[0])}
    assert (done.status, done.added, done.problem) == ("left to the user", (), "")


@pytest.mark.skipif(sys.platform == "win32", reason="there the loader reads it")
def test_a_variable_of_another_loader_hides_no_driver(places: Places, tmp_path: Path) -> None:
    library(places, "libnvidia-opencl.so.1")
    environ = {"OCL_ICD_FILENAMES": "/somewhere/libother.so"}
    assert registration.register(places, environ, tmp_path / "cache").status == "registered"
    assert environ["OCL_ICD_FILENAMES"] == "/somewhere/libother.so"


def test_a_missing_folder_of_the_user_is_named(places: Places, tmp_path: Path) -> None:
    done = registration.register(places, {"OCL_ICD_VENDORS": "/no/such/folder"}, tmp_path / "cache")
    assert "/no/such/folder" in done.problem


def test_a_driver_that_pyopencl_reads_by_itself_is_not_added(
    places: Places, wheel: Callable[..., Path], tmp_path: Path
) -> None:
    path = wheel("PoCL", "pocl-fake", "pyopencl/.libs/libpocl-1234.so")
    assert registration.register(places, {}, tmp_path / "cache").status == "registered"
    (path.parent / "libOpenCL-5678.so.1").write_bytes(HEADER)
    (path.parent / "pocl.icd").write_text("libpocl-1234.so")
    assert registration.register(places, {}, tmp_path / "cache").status == "nothing to add"


POCL = "Portable Computing Language"
INTEL = ("Intel(R) OpenCL", "OpenCL 3.1 LINUX", "cpu")


def test_the_order_of_preference() -> None:
    order = [
        ("NVIDIA CUDA", "OpenCL 3.0 CUDA 13.0", "gpu"),
        (POCL, "OpenCL 3.0 PoCL 6.0  Linux, Release", "gpu"),
        INTEL,
        (POCL, "OpenCL 3.0 PoCL 5.0  Linux, Release", "cpu"),
        (POCL, "OpenCL 3.0 PoCL 3.1+debian  Linux, None+Asserts, RELOC, SPIR, LLVM 15.0.6", "cpu"),
        ("Some other platform", "OpenCL 1.2", "cpu"),
        ("Oclgrind", "OpenCL 1.2 (Oclgrind 21.10)", "gpu"),
        (POCL, preference.POCL_WHEEL_VERSION, "cpu"),
    ]
    ranks = [preference.preference(*each) for each in order]
    assert ranks == sorted(set(ranks))


def test_a_newer_pocl_of_two_digits_is_new() -> None:
    assert preference.preference(POCL, "OpenCL 3.0 PoCL 10.0  Linux", "cpu") == 11


@pytest.mark.parametrize("name", ["Oclgrind", "Intel(R) FPGA Emulation Platform for OpenCL(TM)"])
def test_an_interpreter_or_an_emulator_must_be_asked_for(name: str) -> None:
    assert preference.preference(name, "OpenCL 1.2", "gpu") >= preference.NEVER_BY_DEFAULT
    assert preference.preference(*INTEL) < preference.NEVER_BY_DEFAULT


def test_the_pocl_of_the_wheel_must_be_asked_for_and_says_what_to_install_instead() -> None:
    own = preference.standing(POCL, preference.POCL_WHEEL_VERSION, "cpu")
    assert own.rank >= preference.NEVER_BY_DEFAULT
    assert "intel-opencl-rt" in own.reason
    assert preference.standing(POCL, "OpenCL 3.0 PoCL 3.1+debian  Linux", "cpu").rank < preference.NEVER_BY_DEFAULT


def test_importing_loads_no_driver_and_no_pyopencl() -> None:
    modules = ", ".join(
        f"tilewright.runtime.{name}" for name in ("icd.drivers", "icd.registration", "icd.preference", "children")
    )
    code = f"import sys, {modules}; sys.exit('pyopencl' in sys.modules)"
    assert children.run_child([sys.executable, "-c", code], 30).ending == ""
