"""Things that are made once, for several threads."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from tilewright.runtime.once import MadeOnce

SECONDS = 10  # in which a thread that nothing holds up is done


def test_what_was_made_is_kept() -> None:
    made: MadeOnce[str, object] = MadeOnce()
    first = made.get("a", object)
    assert made.get("a", object) is first
    assert made.get("b", object) is not first


def test_only_who_wants_it_waits() -> None:
    made: MadeOnce[str, int] = MadeOnce()
    begun, go_on, calls = Event(), Event(), list[str]()

    def slow() -> int:
        calls.append("slow")
        begun.set()
        assert go_on.wait(SECONDS)
        return 1

    with ThreadPoolExecutor(3) as threads:
        slow_ones = [threads.submit(made.get, "slow", slow) for _ in range(2)]
        assert begun.wait(SECONDS)
        assert threads.submit(made.get, "quick", lambda: 2).result(SECONDS) == 2
        assert not any(each.done() for each in slow_ones)
        go_on.set()
        assert [each.result(SECONDS) for each in slow_ones] == [1, 1]
    assert calls == ["slow"]


def test_after_a_failure_the_next_one_tries_again() -> None:
    made: MadeOnce[str, int] = MadeOnce()
    with pytest.raises(ZeroDivisionError):
        made.get("a", lambda: 1 // 0)
    assert made.get("a", lambda: 3) == 3


def test_an_interrupt_ends_only_who_gets_it() -> None:
    """Ctrl-C in the thread that builds a program was raised in all threads that waited for it, too."""
    made: MadeOnce[str, int] = MadeOnce()
    begun, go_on = Event(), Event()

    def interrupted() -> int:
        begun.set()
        assert go_on.wait(SECONDS)
        raise KeyboardInterrupt

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(made.get, "a", interrupted)
        assert begun.wait(SECONDS)
        second = threads.submit(made.get, "a", lambda: 2)
        go_on.set()
        assert isinstance(first.exception(SECONDS), KeyboardInterrupt)
        assert second.result(SECONDS) == 2


def test_what_is_made_may_be_wanted_meanwhile() -> None:
    """By a destructor that runs in the thread that makes it, for example."""
    made: MadeOnce[str, int] = MadeOnce()
    assert made.get("a", lambda: made.get("a", lambda: 1) + 1) == 2
