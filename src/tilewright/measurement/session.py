"""One run on a device: its peaks, what other programs did meanwhile, and the record of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..core.device import Peaks
from ..core.records import Record, Row
from ..core.types import element_type
from ..kernels.peaks import CHAINS
from ..runtime.device import Device
from ..runtime.environment import read_environment
from ..runtime.load import OtherLoad
from .peaks import kept_peaks, measured_peaks
from .progress import Announce, Phase, silent


def peak_dtype(dtype: str) -> str:
    """The type whose peak limits `dtype`: its own, or that of its accumulator."""
    return dtype if dtype in CHAINS.dtypes else element_type(dtype).accumulator


class Session:
    """One run on a device: its peaks, measured before and after unless they are kept already, and what others did meanwhile."""

    def __init__(
        self, title: str, device: Device, dtype: str, counterparts: Sequence[Device] = (), announce: Announce = silent
    ) -> None:
        self._title, self._device, self._dtype, self._counterparts = title, device, dtype, counterparts
        self._announce = announce
        self._peaks: Peaks | None = None
        self._load = OtherLoad()

    def __enter__(self) -> "Session":
        # Once now and once at the end. The higher counts, because other load can only lower a peak.
        self._peaks = kept_peaks(self._device, peak_dtype(self._dtype))
        if self._peaks is None:
            self._announce(Phase("measuring the device's peaks"))
            self._peaks = measured_peaks(self._device, peak_dtype(self._dtype))
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to release."""

    def record(self, rows: Sequence[Row]) -> Record:
        """The record, with peaks measured once more."""
        others = self._load.cores()
        self._announce(Phase("measuring the device's peaks"))
        peaks = measured_peaks(self._device, peak_dtype(self._dtype), self._peaks)
        return self._made(self._title, rows, peaks, others)

    def keep(self, rows: Sequence[Row], keep: Callable[[Record], None]) -> None:
        """Give `keep` the record of what was measured so far, under the name of a run that ended early, if there is anything."""
        if any(row.measured for row in rows):
            keep(self._made(f"{self._title}, ended early", rows, self._peaks, self._load.cores()))

    def _made(self, title: str, rows: Sequence[Row], peaks: Peaks | None, others: float | None) -> Record:
        environment = read_environment(self._device.info, others)
        versions = {each.info.platform: f"{each.info.driver}, {each.info.version}" for each in self._counterparts}
        environment = replace(environment, versions=environment.versions | versions)
        return Record(title, self._dtype, environment, peaks, tuple(rows))
