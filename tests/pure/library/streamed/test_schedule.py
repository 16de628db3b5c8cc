"""Who gets which tile: simulated devices of different speeds, in simulated time and in threads."""

import threading
from collections.abc import Callable
from itertools import pairwise

import pytest

from tilewright.library.streamed import schedule as module
from tilewright.library.streamed.rates import Sizes
from tilewright.library.streamed.schedule import Schedule, Stopped
from tilewright.library.streamed.tiles import Tile, TilePlan


def plan(rows: int, columns: int) -> TilePlan:
    return TilePlan(Sizes(64 * rows, 64 * columns, 64, 1, 4, 4, 4, 4), 64, 64, 64, "A")


class Clock:
    """Time that tests set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1.0
        monkeypatch.setattr(module, "perf_counter", lambda: self.now)


def simulated(tiles: TilePlan, speeds: dict[str, float], clock: Clock) -> tuple[dict[str, list[Tile]], float]:
    """Each device's tiles, and when the last one ended, if a tile takes its device so many seconds."""
    schedule = Schedule(tiles.strips())
    found: dict[str, list[Tile]] = {name: [] for name in speeds}
    busy: dict[str, tuple[float, Tile]] = {}
    for name in speeds:
        schedule.join(name)
    while schedule.left:
        for name in speeds:
            own = schedule._workers[name]
            if name not in busy and (tile := schedule._next(name, own)) is not None:
                own.since = own.since or clock.now
                own.claimed[tile.number] = tile
                busy[name] = (clock.now + speeds[name], tile)
        name = min(busy, key=lambda each: busy[each][0])
        clock.now, tile = busy.pop(name)
        schedule.stored(name, tile)
        found[name].append(tile)
    return found, clock.now - 1


@pytest.mark.parametrize(
    "speeds", [{"one": 1.0}, {"one": 1.0, "two": 1.0}, {"fast": 1.0, "slow": 7.5}, {"a": 1, "b": 2, "c": 30}]
)
def test_every_tile_once_and_an_end_near_the_best(speeds: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> None:
    tiles = plan(9, 11)
    found, seconds = simulated(tiles, speeds, Clock(monkeypatch))
    assert sorted(tile.number for own in found.values() for tile in own) == list(range(99))
    best = 99 / sum(1 / each for each in speeds.values())
    assert seconds <= best + max(each for each in speeds.values() if each < 8) + 1


def test_a_device_that_would_end_last_gets_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    found, seconds = simulated(plan(4, 5), {"fast": 1.0, "slow": 100.0}, Clock(monkeypatch))
    assert len(found["slow"]) <= 1
    assert seconds <= 101


def test_no_device_claims_what_others_could_do() -> None:
    """Half of its share of what is left, and three tiles at the end: a device alone may have all on their way."""
    schedule = Schedule(plan(6, 10).strips())
    schedule.join("one")
    schedule.join("two")
    own = [schedule.claim("one") for _ in range(15)]
    assert schedule._next("one", schedule._workers["one"]) is None
    assert schedule.claim("two") is not None
    for tile in own[:13]:
        assert tile is not None
        schedule.stored("one", tile)
    assert len([schedule.claim("one") for _ in range(10)]) == 10
    assert schedule._next("one", schedule._workers["one"]) is None
    alone = Schedule(plan(6, 10).strips())
    alone.join("one")
    assert len({alone.claim("one") for _ in range(60)}) == 60


def test_neighbours_share_the_panel_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = simulated(plan(8, 10), {"one": 1.0, "two": 1.3}, Clock(monkeypatch))
    for own in found.values():
        changes = sum(tile.row != other.row for tile, other in pairwise(own))
        assert changes <= 8


def test_tiles_that_are_done_are_not_handed_out() -> None:
    tiles = plan(3, 3)
    schedule = Schedule(tiles.strips(), done=[0, 4, 8])
    schedule.join("one")
    numbers = []
    while (tile := schedule.claim("one")) is not None:
        numbers.append(tile.number)
        schedule.stored("one", tile)
    assert sorted(numbers) == [1, 2, 3, 5, 6, 7]


def in_thread(call: Callable[[], object]) -> tuple[threading.Thread, list[object]]:
    found: list[object] = []

    def run() -> None:
        try:
            found.append(call())
        except Stopped:
            found.append(Stopped)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, found


def test_the_tiles_of_a_device_that_leaves_go_to_one_that_waits() -> None:
    schedule = Schedule(plan(1, 2).strips())
    schedule.join("one")
    schedule.join("two")
    first, second = schedule.claim("one"), schedule.claim("one")
    assert first is not None
    assert second is not None
    thread, found = in_thread(lambda: schedule.claim("two"))
    schedule.dismiss("one")
    with pytest.raises(Stopped):
        schedule.claim("one")
    schedule.leave("one")
    thread.join(5)
    assert found[0] in (first, second)
    assert schedule.left == 2


def test_who_waits_is_told_of_the_end() -> None:
    schedule = Schedule(plan(1, 1).strips())
    schedule.join("one")
    schedule.join("two")
    tile = schedule.claim("one")
    assert tile is not None
    thread, found = in_thread(lambda: schedule.claim("two"))
    schedule.stored("one", tile)
    thread.join(5)
    assert found == [None]
    schedule = Schedule(plan(1, 1).strips())
    schedule.join("one")
    schedule.join("two")
    schedule.claim("one")
    thread, found = in_thread(lambda: schedule.claim("two"))
    schedule.stop()
    thread.join(5)
    assert found == [Stopped]
