"""The devices whose facts are known: a JSON file for each, in `device_tables/`, the format that `tilewright peaks` writes."""

from functools import cache
from pathlib import Path

import msgspec

from ...core.device import PREDICTED as DEVICES
from ...core.records import DAMAGED
from ...core.sizes import FilePath
from ...errors import RecordError, UnknownName
from .facts import DeviceFacts

FOLDER = Path(__file__).parent / "device_tables"


@cache
def _known(name: str) -> DeviceFacts:
    return read_facts(FOLDER / f"{name}.json")


def find_device(name: str) -> DeviceFacts:
    """The facts of a device by its name, or from a file that `tilewright peaks` wrote."""
    if not isinstance(name, str):
        raise UnknownName("device", name, DEVICES)
    if name.endswith(".json"):
        return read_facts(name)
    if name.lower() not in DEVICES:
        raise UnknownName("device", name, DEVICES)
    return _known(name.lower())


def read_facts(path: FilePath) -> DeviceFacts:
    """Read a table; RecordError says what is wrong with the file."""
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=DeviceFacts)
    except (OSError, *DAMAGED) as error:
        raise RecordError(f"{path} is no table of a device's facts: {error}") from error
