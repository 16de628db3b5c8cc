"""The time of a kernel on a device that is not here: counts, caches and machine code against a table of the device's facts."""

from ...core.device import PREDICTED as DEVICES
from .answer import Ranking, predict
from .devices import find_device
from .facts import DeviceFacts, Figure
from .prediction import Prediction, Term

__all__ = ["DEVICES", "DeviceFacts", "Figure", "Prediction", "Ranking", "Term", "find_device", "predict"]
