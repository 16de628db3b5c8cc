"""Commands that measure baselines say once that variables make NumPy in this process another library than the baseline."""

import pytest

from tilewright.cli.main import main
from tilewright.core.problem import Gemm
from tilewright.measurement import sets
from tilewright.runtime.device import Device

QUICK = ["--seconds", "0.01"]
RUN = ["run", "tiles/2", "--size", "16", *QUICK]
LADDER = ["ladder", "tiles", "--rung", "tiles/2", "--size", "16", *QUICK]
BENCH = ["bench", "--sets", "tiny", *QUICK]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, one_device: Device, wide_terminal: None) -> None:
    if one_device.info.kind != "cpu":
        pytest.skip("on a GPU the library calls no NumPy")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setitem(sets.SETS, "tiny", lambda dtype: [Gemm(8, 8, 8, dtype)])


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize("command", [RUN, LADDER, BENCH], ids=lambda command: command[0])
def test_a_command_with_baselines_says_it_once(
    command: list[str], device_number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--device", device_number]) == 0
    assert capsys.readouterr().err.count("unset OMP_NUM_THREADS: ") == 1


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize("command", [RUN, LADDER], ids=lambda command: command[0])
def test_a_command_without_baselines_says_nothing(
    command: list[str], device_number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--no-baselines", "--device", device_number]) == 0
    assert "OMP_NUM_THREADS" not in capsys.readouterr().err
