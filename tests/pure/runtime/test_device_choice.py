"""Which device a name means, and what TILEWRIGHT_DEVICE does where no name is given."""

import pytest
from says import says

from tilewright.core.device import DeviceInfo
from tilewright.errors import NoDevice, UnknownName
from tilewright.runtime.device import place_of
from tilewright.runtime.opencl.device import choose, default_index

INFOS = (
    DeviceInfo("RTX 4090", "NVIDIA CUDA", kind="gpu"),
    DeviceInfo("Xeon @ 2.50GHz", "Intel(R) OpenCL", kind="cpu"),
)


@pytest.mark.parametrize(
    ("wanted", "place"),
    [
        ("0", 0),
        ("1", 1),
        ("2", None),
        ("50", None),
        ("4090", 0),
        ("CPU", 1),
        ("intel", 1),
        ("gpu", 0),
        ("amd", None),
        ("\N{SUPERSCRIPT TWO}", None),
        ("9" * 5000, None),
    ],
)
def test_a_device_is_named_by_index_kind_or_part_of_its_label(wanted: str, place: int | None) -> None:
    assert place_of(wanted, [(info.kind, info.label) for info in INFOS]) == place


def test_the_variable_is_the_default_and_an_argument_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILEWRIGHT_DEVICE", raising=False)
    assert (choose(INFOS, None), default_index(INFOS)) == (0, 0)
    monkeypatch.setenv("TILEWRIGHT_DEVICE", "cpu")
    assert (choose(INFOS, None), choose(INFOS, "gpu"), default_index(INFOS)) == (1, 0, 1)
    monkeypatch.setenv("TILEWRIGHT_DEVICE", "")
    assert choose(INFOS, None) == 0


def test_a_wrong_value_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_DEVICE", "zz")
    with pytest.raises(UnknownName) as told:
        choose(INFOS, None)
    assert says(str(told.value), "TILEWRIGHT_DEVICE", "'zz'", "RTX 4090")
    assert default_index(INFOS) is None


def test_without_a_device_the_commands_that_need_none_are_named() -> None:
    with pytest.raises(NoDevice) as told:
        choose((), None)
    assert says(str(told.value), "explain", "list", "show", "inspect --arch")
