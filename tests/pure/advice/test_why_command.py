"""`tilewright why` without a device: its files, its refusals, and the page of the documentation that shows it."""

import json
import re
from pathlib import Path

import pytest
from paths import DOCS, ROOT
from says import says

import tilewright
from tilewright.cli.main import main
from tilewright.errors import InvalidInput, NoDevice

PAGE = DOCS / "howto" / "why-is-it-slow.md"
SHOWN = re.findall(r"```\n\$ tilewright ([^\n]*)\n(.*?)\n```", PAGE.read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize(("command", "printed"), SHOWN, ids=[command for command, _ in SHOWN])
def test_the_page_shows_what_the_command_prints(
    command: str, printed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(command.split()) == 0
    assert capsys.readouterr().out.rstrip() == printed


def test_the_page_has_examples() -> None:
    assert len(SHOWN) >= 2


def test_a_page_and_json_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, record = tmp_path / "why.html", tmp_path / "why.json"
    command = [
        "why",
        "tiles/1",
        "--size",
        "256",
        "--device-model",
        "nvidia",
        "--html",
        str(page),
        "--json",
        str(record),
    ]
    assert main(command) == 0
    assert page.read_text().startswith("<!doctype html>")
    assert json.loads(record.read_text())["causes"][0]["kind"] == "data fetched many times"
    assert says(capsys.readouterr().err, "why.html", "why.json")


def test_json_alone_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "transpose/4", "--size", "256", "--device-model", "nvidia", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["causes"][0]["kind"] == "strided access"
    assert "strided access" in printed.err


def test_a_kernel_with_faults_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own.cl"
    path.write_text(
        "// tilewright: --global N,M --local 16,16\n__kernel void own(const int M, const int N, const int K, "
        "const __global REAL* A, const __global REAL* B, __global REAL* C)\n{\n"
        "    C[get_global_id(1) * N + get_global_id(0) + 1] = A[get_global_id(1) * K];\n}\n"
    )
    assert main(["why", str(path), "--size", "64", "--device-model", "nvidia"]) == 1
    printed = capsys.readouterr().out
    assert says(printed, "fault", "C", 4)
    assert "at most" not in printed.splitlines()[1]


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["tiles/1", "--html", "/nonexistent/x.html"], ["/nonexistent"]),
        (["tiles/1", "--html", "x.txt"], ["x.txt", "html"]),
        (["tiles/1", "--device-model", "h100", "--device", "0"], ["--device", "h100"]),
        (["tiles/1", "--device-model", "h100", "--seconds", "3"], ["--seconds", "h100"]),
        (["tiles/1", "--device-model", "nosuch"], ["nosuch"]),
        (["tiles/1", "--device-model", "nvidia", "--size", "0"], ["0x0x0"]),
        (["tiles", "--device-model", "nvidia"], ["tiles", "ladder"]),
        (["nosuch/1"], ["nosuch/1"]),
    ],
    ids=lambda value: " ".join(map(str, value)),
)  # fmt: skip
def test_what_cannot_be_answered_is_said(
    words: list[str], values: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", *words]) == 2
    assert says(capsys.readouterr().err, *values)


def test_without_a_device_the_way_out_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(wanted: str | None = None) -> None:
        raise NoDevice("no OpenCL device is here")

    monkeypatch.setattr("tilewright.advice.ask.open_device", missing)
    assert main(["why", "tiles/1"]) == 1
    assert says(capsys.readouterr().err, "--device-model")


def test_the_call_of_python_takes_files_and_sizes_as_they_are_written(tmp_path: Path) -> None:
    page = tmp_path / "why.html"
    found = tilewright.why(
        ROOT / "examples" / "my_gemm.cl", "256", global_size="N,M/ROWS", local_size="32,4", settings={"ROWS": 1},
        device_model="nvidia", html=page,
    )  # fmt: skip
    assert found.causes[0].kind == "data fetched many times"
    assert page.exists()
    assert found.to_csv().count("\n") == len(found.causes) + 1
    with pytest.raises(InvalidInput):
        tilewright.why("tiles/1", "12ab", device_model="nvidia")
