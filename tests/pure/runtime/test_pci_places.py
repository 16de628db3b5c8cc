"""An NVIDIA GPU is found by its whole place: virtual machines have several on one bus, or in one slot of many domains."""

from types import SimpleNamespace

import pyopencl as cl
import pytest

from tilewright.errors import NoDevice
from tilewright.runtime.cuda import opening
from tilewright.runtime.opencl.information import pci_place
from tilewright.runtime.pci import PciPlace

PLACES = [PciPlace(0, 0, 5), PciPlace(0, 0, 6), PciPlace(1, 0, 5), PciPlace(0, 9, 5)]


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_the_counterpart_is_the_gpu_at_the_same_place(place: PciPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "count_devices", lambda: len(PLACES))
    monkeypatch.setattr(opening, "pci_place_of", PLACES.__getitem__)
    monkeypatch.setattr(opening, "opened", lambda ordinal: ordinal)
    assert opening.open_counterpart(place) == PLACES.index(place)  # type: ignore[comparison-overlap]
    with pytest.raises(NoDevice, match="PCI 0002:41:00"):
        opening.open_counterpart(PciPlace(2, 0x41, 0))


def test_a_driver_that_does_not_tell_the_domain_has_one() -> None:
    class Old:
        pci_bus_id_nv, pci_slot_id_nv = 3, 4

        @property
        def pci_domain_id_nv(self) -> int:
            raise cl.LogicError("clGetDeviceInfo failed: INVALID_VALUE")

    assert pci_place(Old()) == PciPlace(0, 3, 4)
    assert pci_place(SimpleNamespace(pci_domain_id_nv=7, pci_bus_id_nv=3, pci_slot_id_nv=4)) == PciPlace(7, 3, 4)
