"""Advice to install a package fits the Python that runs and the way in which tilewright came to it."""

import json
import re
import shlex
import sys
import tomllib
from importlib import metadata

import pytest
from paths import ROOT

from tilewright.core import install

FOLDER = {"url": "file:///home/me/a%20clone", "dir_info": {}}


@pytest.mark.parametrize(
    ("origin", "wanted"),
    [
        ({}, ["tilewright[cpu]"]),
        (FOLDER, ["/home/me/a clone[cpu]"]),
        ({**FOLDER, "dir_info": {"editable": True}}, ["-e", "/home/me/a clone[cpu]"]),
        ({"url": "https://host/t.git", "vcs_info": {"vcs": "git"}}, ["tilewright[cpu] @ git+https://host/t.git"]),
        ({"url": "file:///t.whl", "archive_info": {}}, ["tilewright[cpu] @ file:///t.whl"]),
    ],
    ids=["index", "folder", "editable", "git", "wheel"],
)
def test_an_extra_is_installed_from_where_tilewright_came(origin: dict[str, object], wanted: list[str]) -> None:
    assert install.requirement("cpu", json.dumps(origin) if origin else "") == wanted


def test_an_extra_of_a_source_tree_that_is_not_installed_comes_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    install._origin.cache_clear()
    command = install.install_extra("cuda")
    install._origin.cache_clear()
    assert shlex.split(command)[-2:] == ["-e", f"{ROOT}[cuda]"]


def test_the_command_is_quoted_for_every_shell() -> None:
    command = install.install_extra("cuda")
    assert any(word.endswith("[cuda]") for word in shlex.split(command))
    assert "[cuda]'" in command


def test_the_installer_is_that_of_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setattr("importlib.machinery.PathFinder.find_spec", lambda name: object())
    assert install.pip_install("a", "b") == "pip install a b"
    monkeypatch.delenv("VIRTUAL_ENV")
    assert install.pip_install("a") == f"{sys.executable} -m pip install a"
    monkeypatch.setattr("importlib.machinery.PathFinder.find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/uv")
    assert install.pip_install("a") == f"uv pip install --python {sys.executable} a"


def test_looking_for_pip_asks_no_finder_of_setuptools(monkeypatch: pytest.MonkeyPatch) -> None:
    """setuptools withdraws its distutils when it is asked for pip."""
    asked = []

    class Finder:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> None:
            asked.append(name)

    monkeypatch.setattr(sys, "meta_path", [Finder, *sys.meta_path])
    install.pip_install("a")
    assert "pip" not in asked


def test_no_other_place_says_how_an_extra_is_installed() -> None:
    """Only this module knows whether tilewright is on an index; the extras that are named exist."""
    sources = [path for path in (ROOT / "src").rglob("*.py") if path.name != "install.py"]
    assert [path.name for path in sources if "tilewright[" in path.read_text(encoding="utf-8")] == []
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = {name for path in sources for name in re.findall(r"install_extra\(['\"]([\w-]+)", path.read_text("utf-8"))}
    assert named
    assert named <= extras.keys()
