"""`--json [FILE]`: one meaning in every command that has it."""

import argparse
import gzip
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from example_records import DEVICE, RECORD, row

from tilewright.cli.json_output import STDOUT
from tilewright.cli.main import COMMANDS, main
from tilewright.cli.outputs import write_outputs
from tilewright.core.records import Role, load_record, save_record
from tilewright.health.findings import Examination, Finding, Status
from tilewright.measurement.accuracy import AccuracyRecord
from tilewright.runtime.children import SmokeResult

Captured = pytest.CaptureFixture[str]
WITH_JSON = {"accuracy", "bench", "compare", "devices", "doctor", "explain", "inspect", "ladder", "roofline", "run"}


def json_action(name: str) -> argparse.Action | None:
    parser = argparse.ArgumentParser()
    COMMANDS[name].add_arguments(parser)
    return next((each for each in parser._actions if "--json" in each.option_strings), None)


def test_the_option_is_the_same_in_all_commands() -> None:
    found = {name: action for name in COMMANDS if (action := json_action(name)) is not None}
    assert found.keys() >= WITH_JSON
    assert {(each.nargs, each.const, each.default, each.metavar) for each in found.values()} == {
        ("?", STDOUT, None, "FILE")
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    save_record(RECORD, tmp_path / "ok.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


EXPLAIN, COMPARE = ["explain", "rows/2", "--size", "16"], ["compare", "ok.json", "ok.json"]


@pytest.mark.parametrize("command", [EXPLAIN, COMPARE], ids=lambda words: words[0])
@pytest.mark.parametrize("option", [["--json"], ["--json", "-"]], ids=" ".join)
def test_standard_output_is_json_alone(command: list[str], option: list[str], folder: Path, capsys: Captured) -> None:
    assert main([*command, *option]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)
    assert captured.err
    assert not (folder / "-").exists()


def test_it_stays_json_beside_a_picture(folder: Path, capsys: Captured) -> None:
    assert main([*EXPLAIN, "--json", "--picture", "a.svg"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)[0]["name"] == "rows/02_coalesced"
    assert "wrote a.svg" in captured.err
    assert (folder / "a.svg").exists()


@pytest.mark.parametrize("command", [EXPLAIN, COMPARE], ids=lambda words: words[0])
def test_a_file_gets_what_standard_output_would(command: list[str], folder: Path, capsys: Captured) -> None:
    assert main([*command, "--json"]) == 0
    printed = capsys.readouterr()
    assert main([*command, "--json", "a.json"]) == 0
    captured = capsys.readouterr()
    assert json.loads((folder / "a.json").read_text()) == json.loads(printed.out)
    assert captured.err == "wrote a.json\n"
    assert captured.out == printed.err, "the text is the same, on the other stream"
    assert {path.name for path in folder.iterdir()} == {"a.json", "ok.json"}


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_plain_data_is_compressed_where_the_name_says_so(name: str, folder: Path, capsys: Captured) -> None:
    source = "__kernel void k(__global float* a) { a[get_global_id(0)] = 1; }\n"
    (folder / "k.cl").write_text(f"// tilewright: --arg a=f32[64] --global 64 --local 32\n{source}")
    assert main(["check", "k.cl", "--json", name]) == 0
    content = (folder / name).read_bytes()
    found = json.loads(gzip.decompress(content) if name.endswith(".gz") else content)
    assert found["kernels"]
    assert f"wrote {name}" in capsys.readouterr().err


def test_records_of_several_ladders_are_one_list(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def two(options: argparse.Namespace) -> int:
        print("a table")
        for name in ("one", "two"):
            write_outputs(options, RECORD, name)
        return 0

    monkeypatch.setattr(COMMANDS["ladder"], "execute", two)
    assert main(["ladder", "--json"]) == 0
    captured = capsys.readouterr()
    assert [each["title"] for each in json.loads(captured.out)] == [RECORD.title] * 2
    assert captured.err == "a table\n"


def test_an_interrupted_command_prints_what_it_has(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(options: argparse.Namespace) -> int:
        write_outputs(options, RECORD, "one")
        raise KeyboardInterrupt

    monkeypatch.setattr(COMMANDS["ladder"], "execute", interrupted)
    assert main(["ladder", "--json"]) == 130
    assert len(json.loads(capsys.readouterr().out)) == 1


def test_a_printed_record_can_be_read_again(folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def one(options: argparse.Namespace) -> int:
        write_outputs(options, RECORD)
        return 0

    monkeypatch.setattr(COMMANDS["run"], "execute", one)
    assert main(["run", "tiles/2", "--json"]) == 0
    (folder / "again.json").write_text(capsys.readouterr().out)
    assert load_record(folder / "again.json") == RECORD


def test_devices_gives_the_fields_of_device_info(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    trial = SmokeResult("Platform", 0, True, "", fp64="works", fp16="refused")
    monkeypatch.setattr("tilewright.runtime.opencl.device.list_devices", lambda: (DEVICE,))
    monkeypatch.setattr("tilewright.api.machine.probe_device", lambda *_, **__: trial)
    assert main(["devices", "--json"]) == 0
    captured = capsys.readouterr()
    (found,) = json.loads(captured.out)
    assert {name: found[name] for name in DEVICE.__dataclass_fields__} == json.loads(
        json.dumps({**vars(DEVICE), "features": sorted(DEVICE.features)})
    )
    assert (found["index"], found["default"], found["trial"]["fp16"]) == (0, True, "refused")
    assert "0 MHz" not in captured.err


def test_accuracy_bench_and_doctor_print_json_alone(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = AccuracyRecord((4, 4, 4), RECORD.environment, ())
    rows = (row("NumPy", 0.02, role=Role.BASELINE), row("tilewright", 0.01))
    benchmark = replace(RECORD, rows=rows)
    faults = Examination((Finding(Status.FAIL, "device", "none", "install it"),), "")
    monkeypatch.setattr("tilewright.api.measurements.measure_accuracy", lambda *_, **__: measured)
    monkeypatch.setattr("tilewright.api.measurements.run_benchmark", lambda *_, **__: benchmark)
    monkeypatch.setattr("tilewright.runtime.opencl.device.open_device", lambda *_: SimpleNamespace(info=DEVICE))
    monkeypatch.setattr("tilewright.health.doctor", lambda: faults)
    for name, status, key in (("accuracy", 0, "size"), ("bench", 0, "rows"), ("doctor", 1, "findings")):
        assert main([name, "--json"]) == status
        assert key in json.loads(capsys.readouterr().out), name


def test_devices_without_a_device_is_an_empty_list(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.runtime.opencl.device.list_devices", tuple)
    assert main(["devices", "--json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out) == []
    assert "inspect --arch" in captured.err
