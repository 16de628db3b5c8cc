"""When a call in tiles frees what others keep on its device."""

from types import SimpleNamespace
from typing import Any

import pytest

from tilewright.library.streamed.budget import Budget
from tilewright.library.streamed.running import ROOM_SHARE, _release_what_is_kept

ROOM = 1000


@pytest.mark.parametrize(
    ("own", "nbytes", "asked", "released"),
    [
        (False, ROOM, {}, False),
        (False, ROOM + 1, {}, True),
        (True, 1, {}, True),
        (False, 1, {"asked_device_bytes": 5}, True),
        (False, 1, {"asked_host_bytes": 5}, True),
    ],
)
def test_what_is_kept_is_released(own: bool, nbytes: int, asked: dict[str, int], released: bool) -> None:
    found: list[bool] = []
    info = SimpleNamespace(global_bytes=ROOM * ROOM_SHARE)
    device: Any = SimpleNamespace(info=info, pool=SimpleNamespace(release=lambda: found.append(True)))
    _release_what_is_kept(device, own, nbytes, Budget(10**6, 10**6, **asked))
    assert bool(found) is released
