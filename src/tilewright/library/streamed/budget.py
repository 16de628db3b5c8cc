"""How much memory a call may take: parsed limits, and ledgers that refuse what exceeds them."""

import re
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from threading import Lock

from ...core.device import DeviceInfo
from ...core.problems import host_bytes
from ...errors import InvalidInput, quoted

DECIMAL = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
# Python converts texts of up to 4300 digits.
WRITTEN = re.compile(r"(\d{1,2000}(?:\.\d{1,2000})?)\s*([KMGT]?)(I?)(B?)", re.IGNORECASE)
FORMS = '"8GB" (10^9 bytes each), "8GiB" (2^30 each) or a number of bytes'

# Of a GPU's memory, the share that a call takes without a limit: other programs and the driver have the rest.
USUAL_DEVICE_SHARE = 0.85
# The same of the host's memory, for what a call allocates there besides a result: arrays of the caller's lie there, too.
USUAL_HOST_SHARE = 0.25
UNKNOWN_HOST = 8 * 2**30  # bytes, where the system does not say


def as_bytes(limit: int | str | None, name: str) -> int | None:
    """A limit as the caller writes it, in bytes; None for no limit. InvalidInput for anything that is no size above 0."""
    if limit is None:
        return None
    if isinstance(limit, Integral) and not isinstance(limit, bool):
        nbytes = int(limit)
    elif isinstance(limit, str) and (found := WRITTEN.fullmatch(limit.strip())) and not (found[3] and not found[2]):
        factor = BINARY[found[2].upper()] if found[3] else DECIMAL[found[2].upper()]
        nbytes = int(Fraction(found[1]) * factor)  # of any size, where a float would overflow
    else:
        raise InvalidInput(f"{name}={quoted(limit)} is no number of bytes: write {FORMS}")
    if nbytes <= 0:
        raise InvalidInput(f"{name}={quoted(limit)} leaves no memory at all: write {FORMS}, above 0")
    return nbytes


@dataclass(frozen=True)
class Budget:
    """The most bytes of buffers that a call has on each device, and in the host's memory, at any time. What was `asked` for are
    the caller's own limits."""

    device_bytes: int
    host_bytes: int
    asked_host_bytes: int | None = None  # a result of the call's counts then, too
    asked_device_bytes: int | None = None


def budget_for(
    infos: tuple[DeviceInfo, ...], max_device_bytes: int | str | None, max_host_bytes: int | str | None
) -> Budget:
    """The caller's limits, or shares of what there is. No limit exceeds the smallest device's memory."""
    device, host = as_bytes(max_device_bytes, "max_device_bytes"), as_bytes(max_host_bytes, "max_host_bytes")
    usual = min(
        int(info.global_bytes * (USUAL_HOST_SHARE if info.kind == "cpu" else USUAL_DEVICE_SHARE)) for info in infos
    )
    most = min((info.global_bytes for info in infos if info.kind != "cpu"), default=device or usual)
    chosen = usual if device is None else min(device, most)
    return Budget(
        chosen, int((host_bytes() or UNKNOWN_HOST) * USUAL_HOST_SHARE) if host is None else host, host, device
    )


class Ledger:
    """Bytes that are taken for a whole call, by several threads. What would exceed the limit is refused before it is taken."""

    def __init__(self, limit: int, place: str) -> None:
        self.limit, self.place = limit, place
        self.used = 0
        self._lock = Lock()

    def take(self, nbytes: int, what: str) -> None:
        with self._lock:
            if self.used + nbytes > self.limit:
                raise InvalidInput(
                    f"{what} needs {nbytes:,} bytes of {self.place}, where {self.used:,} of {self.limit:,} are taken: "
                    "raise the limit"
                )
            self.used += nbytes
