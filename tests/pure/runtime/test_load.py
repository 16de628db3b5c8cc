"""The work of other programs, as Linux counts it."""

import os
from pathlib import Path

import pytest

from tilewright.runtime import load
from tilewright.runtime.load import OtherLoad

OWN, CHILD, OTHER = os.getpid(), 900001, 900002
TICKS = os.sysconf("SC_CLK_TCK")


def write(root: Path, busy_s: float, processes: dict[int, tuple[int, float]]) -> None:
    """A /proc with that many seconds of work on processors 0 and 2, and (parent, seconds) of each process."""
    halves = [f"cpu{number} {int(busy_s * TICKS / 2)} 0 0 777777 888 0 0 0 99 0" for number in (0, 2)]
    (root / "stat").write_text(
        "\n".join(["cpu  999999 0 0 1 2 0 0 0 3 0", *halves, "cpu1 555555 0 0 6 7 0 0 0 8 0", "intr 1"])
    )
    for number, (parent, seconds) in processes.items():
        (root / str(number)).mkdir(exist_ok=True)
        fields = ["S", str(parent), *["0"] * 9, str(int(seconds * TICKS)), "0", "0", "0", "0"]
        (root / str(number) / "stat").write_text(f"{number} (a (very) strange name) {' '.join(fields)}")


def test_others_are_what_is_not_ours_nor_our_childrens_on_our_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter((100.0, 110.0))
    monkeypatch.setattr(load, "PROC", tmp_path)
    monkeypatch.setattr(load, "processor_numbers", lambda: {0, 2})
    monkeypatch.setattr(load, "monotonic", lambda: next(now))
    write(tmp_path, 50.0, {OWN: (1, 5.0), CHILD: (OWN, 1.0), OTHER: (1, 9.0)})
    watch = OtherLoad()
    write(tmp_path, 75.0, {OWN: (1, 12.0), CHILD: (OWN, 4.0), OTHER: (1, 24.0)})
    assert watch.cores() == pytest.approx((25 - 7 - 3) / 10)


def test_a_system_that_does_not_tell_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "PROC", tmp_path / "nothing")
    assert OtherLoad().cores() is None


def test_too_short_a_time_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "PROC", tmp_path)
    write(tmp_path, 50.0, {OWN: (1, 5.0)})
    assert OtherLoad().cores() is None
