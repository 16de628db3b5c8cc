"""The probing of instructions, on whatever device is here: each probe gets an answer, and only proven ones become features."""

from dataclasses import replace
from pathlib import Path

import pytest

from tilewright.runtime.opencl import instructions
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.opencl.instructions import (
    FEATURES,
    STATIC_LOCAL,
    WORKS,
    answers_for,
    static_local,
    with_instructions,
)

pytestmark = pytest.mark.device


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(instructions, "cache_folder", lambda: tmp_path)
    return tmp_path


def test_every_probe_is_answered_once_and_kept(
    device: Device, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = answers_for(device.info)
    assert set(answers) == {*FEATURES, *map(static_local, STATIC_LOCAL)}
    if device.info.kind == "cpu":
        assert all(answers[feature] != WORKS for feature in FEATURES)
    monkeypatch.setattr(instructions, "run_child", None)
    assert answers_for(device.info) == answers


def test_only_what_a_run_proved_becomes_a_feature(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    info = replace(device.info, features=frozenset({"gpu", "nvidia"}))
    answers = {"nvidia": WORKS, "mma": "refused: no such instruction", "tma": WORKS, "static_local:101376": WORKS}
    monkeypatch.setattr(instructions, "answers_for", lambda info: answers)
    proven = with_instructions(info)
    assert proven.features == {"gpu", "nvidia", "tma"}
    assert proven.static_local_bytes == 101376


def test_a_device_of_another_maker_is_not_asked(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instructions, "answers_for", None)
    info = replace(device.info, features=frozenset({"cpu"}))
    assert with_instructions(info) == info
