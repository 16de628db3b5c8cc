"""Where a GPU is plugged in: by this OpenCL and CUDA know that they speak of the same one."""

from typing import NamedTuple


class PciPlace(NamedTuple):
    """Domain, bus and slot."""

    domain: int
    bus: int
    slot: int

    def __str__(self) -> str:
        return f"PCI {self.domain:04x}:{self.bus:02x}:{self.slot:02x}"
