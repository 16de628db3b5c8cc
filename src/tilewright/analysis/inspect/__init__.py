"""What a compiler made of a kernel: registers, occupancy and instructions, for architectures that are here and others."""

from .counts import Loop, Mix, Resources
from .examine import ARCHITECTURES, DEVICE, SIZE, inspect_kernel
from .record import Inspection

__all__ = ["ARCHITECTURES", "DEVICE", "SIZE", "Inspection", "Loop", "Mix", "Resources", "inspect_kernel"]
