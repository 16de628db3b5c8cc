"""What a compiler made of a kernel: registers, occupancy and instructions, also for architectures that are not here."""

from .compile_and_count import ARCHITECTURES, DEVICE, inspect
from .counts import Loop, Mix, Resources
from .record import Inspection

__all__ = ["ARCHITECTURES", "DEVICE", "Inspection", "Loop", "Mix", "Resources", "inspect"]
