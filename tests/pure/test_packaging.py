"""What is packed: metadata, the text for a package index, and who gets which tools."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tilewright.core.version import VERSION

ROOT = Path(__file__).parents[2]
DEVELOPERS = ("pytest", "ruff", "mypy", "hypothesis", "matplotlib", "nvidia", "cuda")


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def requirements(project: dict[str, Any], group: str) -> list[str]:
    """A group's requirements, with those of the extras that it names."""
    found = []
    for each in project["dependency-groups"][group]:
        extras = re.fullmatch(r"tilewright\[(.*)\]", each)
        names = extras[1].split(",") if extras else []
        found += [inner for name in names for inner in project["project"]["optional-dependencies"][name]] or [each]
    return found


def test_a_user_gets_no_developers_tools(project: dict[str, Any]) -> None:
    """`uv run tilewright` in a fresh clone installs the default groups."""
    default = [each for group in project["tool"]["uv"]["default-groups"] for each in requirements(project, group)]
    assert any(each.startswith("intel-opencl-rt") for each in default)
    assert not [each for each in (*default, *project["project"]["dependencies"]) if each.startswith(DEVELOPERS)]
    assert {"ruff", "mypy"} <= {re.split(r"[><=\[ ]", each)[0] for each in requirements(project, "dev")}


def test_developers_commands_ask_for_the_developers_group() -> None:
    for name in ("Makefile", ".ci/run"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "uv run --group dev" in text, name
        assert not re.search(r"uv run (?!--group dev)\w", text), name


def test_ci_tests_the_lowest_versions_of_every_extra(project: dict[str, Any]) -> None:
    (named,) = re.findall(r"--editable '\.\[(.*)\]'", (ROOT / ".ci" / "lowest").read_text(encoding="utf-8"))
    left_out = {"torch", "cublas", "mpi"}  # the script says why
    assert {*named.split(","), *left_out} == project["project"]["optional-dependencies"].keys()
    assert "\n.ci/lowest " in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_ci_runs_the_readmes_test_command() -> None:
    readme, ci = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", ".ci/run"))
    (command,) = re.findall(r"^pip install uv && (uv run .*pytest)$", readme, re.M)
    assert f"    {command} " in ci


def test_the_readme_of_an_index_has_no_link_to_a_file(project: dict[str, Any]) -> None:
    hook = project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = "\n".join((ROOT / each["path"]).read_text(encoding="utf-8") for each in hook["fragments"])
    assert re.search(r"\]\((?!https?://)", text)
    for each in hook["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    assert not re.search(r"\]\((?!https?://|#)", text)
    assert "<!--" not in text
    assert "benchmarks/results.md" in text


def test_the_citation_is_of_this_version(project: dict[str, Any]) -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {VERSION}\n" in citation
    assert f"\nlicense: {project['project']['license']}\n" in citation
    assert f"name: {project['project']['authors'][0]['name']}\n" in citation


def test_the_metadata_say_who_what_and_for_which_python(project: dict[str, Any]) -> None:
    classifiers = project["project"]["classifiers"]
    assert sorted(classifiers) == classifiers
    assert "Typing :: Typed" in classifiers
    assert "License" not in " ".join(classifiers)  # the expression in `license` says it; indexes refuse both
    lowest = project["project"]["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {lowest}" in classifiers


def test_the_source_archive_leaves_records_and_pictures_out(project: dict[str, Any]) -> None:
    left_out = project["tool"]["hatch"]["build"]["targets"]["sdist"]["exclude"]
    assert {"/benchmarks", "/docs/*.svg", "/docs/*.png", "/playground"} <= set(left_out)
