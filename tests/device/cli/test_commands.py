"""The command line on a device: exit status, main output and files of every command."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT
from rich.console import Console
from says import says
from shapes import NAIVE

from tilewright import devices
from tilewright.cli import live_table
from tilewright.cli.main import main
from tilewright.core.device import DeviceInfo, Peaks
from tilewright.core.records import Row, load_record
from tilewright.kernels import LADDERS
from tilewright.measurement.progress import Phase
from tilewright.runtime.opencl.device import Device

QUICK = ["--seconds", "0.2"]
CapturedOutput = pytest.CaptureFixture[str]
EXAMPLES = ROOT / "examples"


@pytest.fixture
def quick(device_number: str, wide_terminal: None) -> list[str]:
    """Arguments that choose the device and keep measuring short."""
    return ["--device", device_number, *QUICK]


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.cl"
    path.write_text(NAIVE)
    return path


def test_ladder_shows_every_rung_and_writes_record_table_and_plot(
    quick: list[str], tmp_path: Path, capsys: CapturedOutput
) -> None:
    files = {suffix: tmp_path / f"tiles.{suffix}" for suffix in ("json", "csv", "svg")}
    outputs = ["--json", str(files["json"]), "--csv", str(files["csv"]), "--plot", str(files["svg"])]
    assert main(["ladder", "tiles", "--size", "64", "--published", "--why", *quick, *outputs]) == 0
    captured = capsys.readouterr()
    output = captured.out
    names = [kernel.name for kernel in LADDERS["tiles"].with_originals]
    for name in names:
        assert name in output
    for path in files.values():
        assert f"wrote {path}" in captured.err
    assert "measured peaks: float32" in output
    assert says(
        output, "https://cnugteren.github.io/tutorial/pages/page1.html", "Tesla K40m", 139, "64x64x64", "4096x4096x4096"
    )
    assert output.count("  predicted") >= 5
    record = load_record(files["json"])
    assert [row.name for row in record.rows if "/" in row.name] == names
    with files["csv"].open(encoding="utf-8", newline="") as file:
        assert [line["rung"] for line in csv.DictReader(file)] == [row.name for row in record.rows]
    assert files["svg"].read_text(encoding="utf-8").count("<svg") == 1


def test_all_ladders_are_written_to_files_of_their_own(
    quick: list[str], one_device: Device, tmp_path: Path, capsys: CapturedOutput
) -> None:
    """On a CPU the ladder for CPUs comes first, and tensor cores are one line."""
    path = tmp_path / "all.json"
    assert main(["ladder", "--size", "32", "--no-baselines", *quick, "--json", str(path)]) == 0
    output = capsys.readouterr().out
    for name, ladder in LADDERS.items():
        assert ladder.title in output
        if f"`tilewright ladder {name}`" not in output:  # not for this device
            assert load_record(tmp_path / f"all-{name}.json").title == f"ladder {name}"
    if one_device.info.kind == "cpu":
        places = [output.index(LADDERS[name].title) for name in ("cpu", "rows", "tiles", "transpose", "tensor")]
        assert places == sorted(places)
        (line,) = (line for line in output.splitlines() if "tensor" in line)
        assert says(line, 8, 9, "tilewright ladder tensor")


@pytest.mark.parametrize("size", ["64x32x16", "100000", "0"])
def test_what_any_ladder_refuses_is_refused_before_the_first_is_measured(
    size: str, device_number: str, capsys: CapturedOutput
) -> None:
    assert main(["ladder", "--size", size, "--device", device_number]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "the ladder" in printed.err


def test_an_interrupted_ladder_says_where_its_record_lies(
    quick: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: CapturedOutput
) -> None:
    def interrupted(table: live_table.LiveTable, index: int, row: Row) -> None:
        if row.measured:
            raise KeyboardInterrupt

    monkeypatch.setattr(live_table.LiveTable, "watch", interrupted)
    path = tmp_path / "record.json"
    for command in (["ladder", "tiles", "--rung", "2"], ["run", "tiles/2"]):
        assert main([*command, "--size", "32", *quick, "--json", str(path)]) == 130
        assert says(capsys.readouterr().err, str(path))
        assert load_record(path).title.endswith("ended early")
        path.unlink()
    assert main(["ladder", "tiles", "--rung", "2", "--size", "32", *quick]) == 130
    (where,) = re.findall(r"\S+\.json", capsys.readouterr().err)
    assert load_record(Path(where)).title == "ladder tiles, ended early"
    Path(where).unlink()


def test_ladder_sweeps_over_sizes(quick: list[str], tmp_path: Path, capsys: CapturedOutput) -> None:
    path = tmp_path / "sweep.json"
    arguments = ["--sizes", "16:64", "--rung", "1", "--rung", "tiled", "--dtype", "int32", "--no-baselines"]
    assert main(["ladder", "tiles", *arguments, *quick, "--json", str(path)]) == 0
    rows = load_record(path).rows
    assert [(row.name, row.size[0]) for row in rows] == [
        (name, size) for size in (16, 32, 64) for name in ("tiles/01_naive", "tiles/02_tiled")
    ]
    assert "tiles/02_tiled 64x64x64" in capsys.readouterr().out


def test_a_size_that_rungs_refuse_is_shown_with_their_sentence(quick: list[str], capsys: CapturedOutput) -> None:
    assert main(["ladder", "rows", "--size", "7x5x3", "--rung", "8", "--rung", "4", "--no-baselines", *quick]) == 0
    output = capsys.readouterr().out
    assert says(" ".join(output.split()), "K=3", 4)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--dtype", "flaot32"], "no dtype is called 'flaot32'; did you mean float32"),
        (["--rung", "2_tield"], "did you mean tiles/02_tiled"),
        (["--size", "big"], "512x256x128"),
        (["--size", "3x4"], "3x4"),
        (["--size", "-5"], "=-5"),
    ],
)
def test_unusable_arguments_of_ladder_are_told_with_status_2(
    arguments: list[str], complaint: str, device_number: str, capsys: CapturedOutput
) -> None:
    assert main(["ladder", "tiles", "--device", device_number, *arguments]) == 2
    assert complaint in capsys.readouterr().err


def test_an_unknown_device_is_told_with_status_2(capsys: CapturedOutput) -> None:
    assert main(["ladder", "--device", "no such device"]) == 2
    assert says(capsys.readouterr().err, "'no such device'")


def test_run_verifies_and_measures_a_rung(quick: list[str], capsys: CapturedOutput) -> None:
    assert main(["run", "tiles/2", "--size", "48x40x56", "--show-samples", *quick]) == 0
    output = capsys.readouterr().out
    assert says(output, "1,920")
    assert "NumPy" in output
    assert len(re.findall(r"^  \[\d+, \d+\] = .*, host ", output, re.M)) == 10


def test_a_narrow_terminal_gets_the_lessons_below_the_table(
    quick: list[str], capsys: CapturedOutput, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_table, "console", Console(width=80))
    assert main(["ladder", "rows", "--rung", "3", "--size", "16", "--no-baselines", *quick]) == 0
    output = capsys.readouterr().out
    assert max(map(len, output.splitlines())) <= 80
    assert says(output, "rows/03_private_sum")


def test_run_takes_a_kernel_of_ones_own(mine: Path, quick: list[str], tmp_path: Path, capsys: CapturedOutput) -> None:
    record = tmp_path / "mine.json"
    geometry = ["--global", "M,N", "--local", "TS,TS", "-D", "TS=8"]
    assert main(["run", str(mine), *geometry, "--size", "33x20x17", *quick, "--json", str(record)]) == 0
    assert "right: 660 elements" in capsys.readouterr().out
    rows = load_record(record).rows
    assert (rows[0].name, rows[-1].name) == ("NumPy", f"{tmp_path.name}/mine")
    assert rows[-1].lesson == "One work-item per element of C, written for the tests."


def test_run_obeys_the_settings_of_a_rung(quick: list[str], tmp_path: Path, capsys: CapturedOutput) -> None:
    record = tmp_path / "r.json"
    settings = ["-D", "BM=16", "-D", "BN=16", "-D", "BK=16", "--build-option=-cl-mad-enable"]
    assert main(["run", "tiles/2", *settings, "--size", "20", "--no-baselines", *quick, "--json", str(record)]) == 0
    assert "right: 400 elements" in capsys.readouterr().out
    assert load_record(record).rows[-1].name == "tiles/02_tiled[BM=16 BN=16 BK=16]"
    assert main(["roofline", "tiles/2", *settings, "--size", "20", *quick]) == 0
    assert "(BM=16 BN=16 BK=16 " in capsys.readouterr().out
    too_much = ["run", "tiles/2", "-D", "BM=512", "-D", "BN=512", "-D", "BK=512", "--size", "20", "--no-baselines"]
    assert main([*too_much, *quick]) == 1
    assert says(" ".join(capsys.readouterr().out.split()), "512x512", 262144)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_what_was_measured_is_kept_where_it_cannot_be_written(
    quick: list[str], tmp_path: Path, capsys: CapturedOutput, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["run", "tiles/2", "--size", "16", "--no-baselines", *quick, "--json", "/dev/full"]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("error: /dev/full cannot be written: No space left on device; the record is in ")
    assert load_record(Path(captured.err.split()[-1])).rows[-1].measured


@pytest.mark.skipif(not EXAMPLES.exists(), reason="the examples are not installed with the package")
def test_the_example_runs_as_its_page_says(quick: list[str], capsys: CapturedOutput) -> None:
    command = re.search(r"tilewright run examples/my_gemm\.cl(.*) --size", (EXAMPLES / "README.md").read_text())
    assert command is not None
    assert main(["run", str(EXAMPLES / "my_gemm.cl"), *command[1].split(), "--size", "50x70x30", *quick]) == 0
    assert "right: 3,500 elements" in capsys.readouterr().out


def test_a_wrong_kernel_has_status_1_its_worst_element_and_no_time(
    mine: Path, quick: list[str], tmp_path: Path, capsys: CapturedOutput
) -> None:
    mine.write_text(NAIVE.replace("B[k * N + column]", "B[column * K + k]"))
    record = tmp_path / "mine.json"
    assert (
        main(["run", str(mine), "--global", "M,N", "--local", "4,4", "--size", "16", *quick, "--json", str(record)])
        == 1
    )
    output = " ".join(capsys.readouterr().out.split())
    assert re.search(r"wrong: \d+ of 256 elements; the worst is \[\d+, \d+\] = .*, host .*; the bound is ", output)
    assert load_record(record).rows[-1].samples.times == ()


def test_constants_hide_a_transposed_index(mine: Path, quick: list[str], capsys: CapturedOutput) -> None:
    mine.write_text(NAIVE.replace("B[k * N + column]", "B[column * K + k]"))
    command = ["run", str(mine), "--global", "M,N", "--local", "4,4", "--size", "16", *quick]
    assert main([*command, "--fill", "2,3"]) == 0
    output = capsys.readouterr().out
    assert "right: 256 elements" in output
    assert "a transposed index goes unnoticed" in output
    assert main(command) == 1
    assert main([*command, "--fill", "2"]) == 2


def test_a_kernel_that_does_not_compile_has_status_1_and_its_log(
    mine: Path, quick: list[str], capsys: CapturedOutput
) -> None:
    mine.write_text(NAIVE.replace("REAL sum = 0;", "REAL sum = nothing;"))
    assert main(["run", str(mine), "--global", "M,N", "--local", "4,4", "--size", "16", *quick]) == 1
    output = capsys.readouterr().out
    assert f"{mine.parent.name}/mine.cl:8:" in output
    assert "nothing" in output


def test_a_wrong_geometry_has_status_2(mine: Path, quick: list[str], capsys: CapturedOutput) -> None:
    assert main(["run", str(mine), "--global", "M,WIDTH", "--local", "4,4", "--size", "16", *quick]) == 2
    assert says(capsys.readouterr().err, "'WIDTH'")


def test_run_of_a_transpose_may_leave_out_columns(quick: list[str], capsys: CapturedOutput) -> None:
    assert main(["run", "transpose/5", "--size", "30x20", "--offset", "3", *quick]) == 0
    assert "right: 510 elements" in capsys.readouterr().out


def test_compare_plot_and_report_read_what_ladder_wrote(
    quick: list[str], tmp_path: Path, capsys: CapturedOutput, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # it would break lines
    paths = [tmp_path / name for name in ("first.json", "second.json")]
    for path in paths:
        arguments = ["ladder", "tiles", "--size", "32", "--rung", "2", "--no-baselines", *quick, "--json", str(path)]
        assert main(arguments) == 0
    capsys.readouterr()
    assert main(["compare", *map(str, paths)]) == 0
    assert re.search(r"^tiles/02_tiled +[\d.]+x  \[", capsys.readouterr().out, re.M)
    assert main(["plot", str(paths[0]), str(tmp_path / "plot.png")]) == 0
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert main(["report", *map(str, paths), "-o", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "second against first" in page
    assert 'id="tiles/02"' in page


def test_devices_lists_the_limits_that_explain_results(
    one_device: object, wide_terminal: None, capsys: CapturedOutput
) -> None:
    assert main(["devices"]) == 0
    output = capsys.readouterr().out
    for word in ("(default)", "local memory", "largest work-group", "vector widths", "float64, float16", "timer"):
        assert word in output
    assert main(["devices", "--json"]) == 0
    reports = json.loads(capsys.readouterr().out)
    assert reports
    fields = set(DeviceInfo.__dataclass_fields__)
    assert all(fields | {"index", "default", "trial", "peaks"} <= set(report) for report in reports)


def test_doctor_finds_a_device_and_says_so(quick: list[str], capsys: CapturedOutput) -> None:
    status = main(["doctor"])
    output = capsys.readouterr().out
    assert status == (0 if "healthy" in output.splitlines() else 1)
    assert "multiplies correctly" in output


def test_doctor_answers_in_json(quick: list[str], capsys: CapturedOutput) -> None:
    status = main(["doctor", "--json"])
    examination = json.loads(capsys.readouterr().out)
    assert examination["healthy"] is (status == 0)
    assert examination["findings"]


@pytest.mark.parametrize(
    "command",
    [
        ["ladder", "tiles", "--size", "32", "--rung", "2", "--no-baselines", "--seconds", "0.1", "--csv", "a.csv"],
        ["run", "tiles/2", "--size", "32", "--no-baselines", "--seconds", "0.1"],
        ["roofline", "tiles/2", "--size", "32", "--seconds", "0.1", "--plot", "a.svg"],
    ],
    ids=lambda command: command[0],
)
def test_with_json_standard_output_is_json_alone(
    command: list[str], device_number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: CapturedOutput
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*command, "--device", device_number, "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)
    assert captured.err, "the table stands on standard error"


def test_the_environment_names_the_default_device(monkeypatch: pytest.MonkeyPatch, capsys: CapturedOutput) -> None:
    monkeypatch.setenv("TILEWRIGHT_DEVICE", "no such device")
    assert main(["plan", "8"]) == 2
    assert says(capsys.readouterr().err, "TILEWRIGHT_DEVICE", "'no such device'")


def test_the_command_works_as_a_program(device_number: str, tmp_path: Path) -> None:
    """In a process of its own, without a terminal, in a folder of its own."""
    environment = dict(os.environ) | {"COLUMNS": "240"}
    command = [sys.executable, "-m", "tilewright", "ladder", "transpose", "--size", "64", "--device", device_number]
    done = subprocess.run(
        [*command, *QUICK], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for kernel in LADDERS["transpose"].kernels:
        assert done.stdout.count(f"{kernel.name} ") >= 1
    assert "GB/s" in done.stdout


def test_a_reader_that_stops_early_is_no_error() -> None:
    """`tilewright list | head -1` must not end in a traceback."""
    listing = subprocess.Popen(
        [sys.executable, "-m", "tilewright", "show", "tiles/10"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert listing.stdout is not None
    assert listing.stderr is not None
    listing.stdout.close()
    complaint = listing.stderr.read()
    listing.stderr.close()
    listing.wait(60)
    assert complaint == b""
    assert listing.returncode == 0


def test_devices_says_what_it_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.api.machine.measured_peaks", lambda device, dtype: Peaks({}, 1.0, 1.0))
    phases: list[Phase] = []
    found = devices(peaks=True, announce=phases.append)
    texts = [str(each) for each in phases]
    for report in found:
        assert f"trying device {report.index}" in texts
        for place, dtype in enumerate(report.peaks, 1):
            assert f"measuring the {dtype} peaks of device {report.index}, {place} of {len(report.peaks)}" in texts


def test_a_kernel_with_images_is_run_and_checked(tmp_path: Path, quick: list[str], capsys: CapturedOutput) -> None:
    path = tmp_path / "look.cl"
    path.write_text("__kernel void look(read_only image2d_t a, sampler_t s, __global float4 *y) {"
                    " y[get_global_id(0)] = read_imagef(a, s, (int2)(get_global_id(0), 0)); }")  # fmt: skip
    code = main(["run", str(path), "--global", "64", "--local", "16", *quick])
    text = " ".join(capsys.readouterr().out.split())
    if code:
        assert "has no images" in text  # the sentence of a device without them
    else:
        assert "checked against explain's interpreter" in text
