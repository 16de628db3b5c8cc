"""The folder of the user's caches: whose it must be, what is refused, and what serves instead."""

import os
import stat
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest
from says import says

from tilewright.runtime import children, home
from tilewright.runtime.cache import BinaryCache, cache_folder
from tilewright.runtime.icd import registration
from tilewright.runtime.icd.drivers import Places

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes are Unix'")


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An XDG_CACHE_HOME of this test."""
    folder = tmp_path.resolve() / "caches"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_is_closed_to_others_whatever_the_mask(base: Path) -> None:
    before = os.umask(0)
    try:
        assert home.user_home() == home.Home(base / "tilewright")
        BinaryCache(cache_folder() / "programs").put("key", b"payload")
    finally:
        os.umask(before)
    assert {mode(each) for each in (base, base / "tilewright", base / "tilewright" / "programs")} == {0o700}
    assert BinaryCache(cache_folder() / "programs").get("key") == b"payload"


def test_a_folder_of_this_user_that_its_group_may_write_to_is_closed_and_used(base: Path) -> None:
    (base / "tilewright").mkdir(parents=True)
    (base / "tilewright").chmod(0o775)
    assert not home.user_home().problem
    assert mode(base / "tilewright") == 0o700


def refused(words: str) -> home.Home:
    """The home, which must be private and say `words`."""
    found = home.user_home()
    assert words in found.problem
    assert found.folder == home.private_folder()
    assert mode(found.folder) == 0o700
    assert not home.distrust(found.folder)
    return found


def test_a_folder_in_a_place_where_anybody_may_swap_it_is_refused(base: Path) -> None:
    base.mkdir()
    base.chmod(0o777)
    refused(f"anybody may write to {base} (mode 777)")


def test_a_sticky_place_like_tmp_will_do(base: Path) -> None:
    base.mkdir()
    base.chmod(0o1777)
    assert not home.user_home().problem


def test_a_folder_of_somebody_else_is_refused(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not home.user_home().problem
    other = os.geteuid() + 4321
    monkeypatch.setattr(home, "_user", lambda: other)
    assert f"belongs to user {os.geteuid()}, not to user {other}" in home.user_home().problem


def test_a_folder_within_that_of_somebody_else_is_refused(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    place = tmp_path.resolve() / "theirs" / "tilewright"
    home.make_own_folder(place)
    assert not home.distrust(place)
    os.chown(place.parent, 54321, 54321)
    assert says(home.distrust(place), 54321)


def test_a_link_of_somebody_else_is_not_followed(base: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a link away")
    base.mkdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (base / "tilewright").symlink_to(tmp_path / "elsewhere")
    assert home.user_home().folder == tmp_path.resolve() / "elsewhere", "one's own link is"
    home._home_for.cache_clear()
    os.lchown(base / "tilewright", 54321, 54321)
    refused(f"{base}/tilewright is a link")


@pytest.mark.parametrize("value", ["/dev/null", "{base}/file"])
def test_what_is_no_folder_is_named(base: Path, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    base.mkdir()
    (base / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", value.format(base=base))
    refused(f"{value.format(base=base)}/tilewright cannot be made: Not a directory")


def test_a_relative_cache_folder_counts_for_nothing(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "caches")
    found = home.user_home()
    assert found.folder == tmp_path.resolve() / ".cache" / "tilewright"
    assert found.misleading, "PyOpenCL and PoCL would go to the current folder"
    environ: dict[str, str] = {}
    registration.keep_apart(environ)
    assert environ == {"POCL_CACHE_DIR": str(found.folder / "pocl")}


def test_variables_that_lead_nowhere_keep_pocl_from_its_folder_in_tmp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(home, "_home_of_record", lambda: str(tmp_path))
    home._home_for.cache_clear()
    environ: dict[str, str] = {}
    registration.keep_apart(environ)
    assert environ == {"POCL_CACHE_DIR": str(tmp_path.resolve() / ".cache" / "tilewright" / "pocl")}
    monkeypatch.setenv("HOME", str(tmp_path))
    registration.keep_apart(environ := {})
    assert not environ


def test_a_user_without_a_home_gets_a_private_folder(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(home, "_home_of_record", lambda: "")
    home._home_for.cache_clear()
    refused(f"user {os.geteuid()} has no home")
    monkeypatch.setenv("HOME", str(base / "missing"))
    refused(f"the home {base}/missing is not a folder")
    assert not (base / "missing").exists(), "a home is nothing to be made by us"


def test_where_no_folder_can_be_made_nothing_is_kept(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/nothing")
    monkeypatch.setattr(home, "private_folder", refuse)
    monkeypatch.setattr(registration, "private_folder", refuse)
    found = home.user_home()
    assert says(found.problem, "No space left")
    BinaryCache(found.folder / "programs").put("key", b"payload")
    assert BinaryCache(found.folder / "programs").get("key") is None


FORKING = """
    import os, sys
    from tilewright.runtime.home import user_home
    folder = user_home().folder
    if os.fork() == 0:
        sys.exit(0)  # with all that is registered for the end
    os.wait()
    print(folder, folder.is_dir(), flush=True)
    raise SystemExit(1)
"""


def test_a_private_folder_is_gone_when_its_process_has_ended() -> None:
    command = [sys.executable, "-c", textwrap.dedent(FORKING)]
    child = children.run_child(command, 30, {"XDG_CACHE_HOME": "/dev/null"})
    folder, there = child.stdout.split()
    assert there == "True", "the end of a fork removes nothing"
    assert Path(folder).name != f"tilewright-{os.geteuid()}", "nobody can know its name before"
    assert not Path(folder).exists()


def test_only_files_that_nobody_else_can_write_to_are_read(tmp_path: Path) -> None:
    path = tmp_path / "entry"
    assert home.read_own(path) is None
    home.write_own(path, b"payload")
    assert home.read_own(path) == b"payload"
    (tmp_path / "link").symlink_to(path)
    assert home.read_own(tmp_path / "link") is None
    for bits in (0o620, 0o602):
        path.chmod(bits)
        assert home.read_own(path) is None
    assert home.read_own(tmp_path) is None
    os.mkfifo(tmp_path / "pipe", 0o600)
    assert home.read_own(tmp_path / "pipe") is None, "and it does not wait for a writer"


def test_a_program_that_somebody_else_wrote_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = BinaryCache(tmp_path.resolve() / "programs")
    cache.put("key", b"machine code")
    assert cache.get("key") == b"machine code"
    monkeypatch.setattr(home, "_user", lambda: os.geteuid() + 1)
    assert cache.get("key") is None


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """A machine with one driver that no .icd file names."""
    from tilewright.runtime.icd import drivers

    monkeypatch.setattr(drivers, "WHEELS", ())
    library = tmp_path / "libnvidia-opencl.so.1"
    library.write_bytes(Path(sys.executable).resolve().read_bytes()[:64])
    return Places((), (tmp_path,))


@pytest.mark.parametrize("attack", ["another file", "a link", "open to others"])
def test_a_folder_of_drivers_with_anything_else_is_written_anew(places: Places, tmp_path: Path, attack: str) -> None:
    cache = tmp_path.resolve() / "cache"
    first = registration.register(places, {}, cache)
    folder = Path(first.value)
    wanted = {each.name: each.read_bytes() for each in folder.iterdir()}
    if attack == "another file":
        (folder / "evil.icd").write_text("evil.so\n")
    elif attack == "a link":
        folder.rename(tmp_path / "moved")
        folder.symlink_to(tmp_path / "moved")
    else:
        folder.chmod(0o777)
    assert registration.register(places, {}, cache) == first
    assert {each.name: each.read_bytes() for each in folder.iterdir()} == wanted
    assert mode(folder) == 0o700
    assert not folder.is_symlink()
    assert [each.name for each in cache.iterdir()] == [folder.name]


def test_a_folder_that_another_process_has_just_written_is_not_moved_away(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a moment there would be none, and that process would find no driver."""
    cache = tmp_path.resolve() / "cache"
    make = tempfile.mkdtemp
    faster: list[tuple[str, int]] = []

    def made_after_another(prefix: str, dir: Path) -> str:
        monkeypatch.setattr(tempfile, "mkdtemp", make)
        value = registration.register(places, {}, cache).value
        faster.append((value, Path(value).stat().st_ino))
        return make(prefix=prefix, dir=dir)

    monkeypatch.setattr(tempfile, "mkdtemp", made_after_another)
    value = registration.register(places, {}, cache).value
    assert faster == [(value, Path(value).stat().st_ino)]
    assert [each.name for each in cache.iterdir()] == [Path(value).name]


def test_an_inherited_folder_of_a_relative_path_is_not_used(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path.resolve() / "cache"
    first = registration.register(places, {}, cache)
    monkeypatch.chdir(cache)
    environ = {"OCL_ICD_VENDORS": Path(first.value).name}
    assert registration.register(places, environ, tmp_path.resolve() / "own").value.startswith(f"{tmp_path}/own/")


def test_without_any_folder_the_drivers_stay_unseen_and_it_is_said(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(registration, "private_folder", refuse)
    environ = {"OCL_ICD_VENDORS": ""}
    done = registration.register(places, environ, Path("/dev/null/cache"))
    assert (done.status, environ) == ("failed", {})
    assert "NVIDIA cannot be made visible" in done.problem
    assert "No space left on device" in done.problem


def test_the_folder_above_all_is_found_without_pyopencl() -> None:
    code = "import sys; from tilewright.runtime.home import user_home; user_home(); sys.exit('pyopencl' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
