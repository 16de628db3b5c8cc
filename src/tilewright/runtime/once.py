"""Things that take long to make, such as programs: each is made once, and only who wants it waits."""

from collections.abc import Callable, Hashable
from threading import RLock
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")


class MadeOnce(Generic[Key, Made]):
    """What was made, by its key, for all threads. If making it fails, or Ctrl-C ends it, the next thread that waits tries."""

    def __init__(self) -> None:
        self._made: dict[Key, Made] = {}
        self._makers: dict[Key, Any] = {}  # a destructor that runs meanwhile may want the same thing

    def __len__(self) -> int:
        return len(self._made)

    def get(self, key: Key, make: Callable[[], Made]) -> Made:
        """The thing with this key, made by `make` if it is the first time. Other keys are not held up meanwhile."""
        try:
            return self._made[key]
        except KeyError:
            pass
        with self._makers.setdefault(key, RLock()):
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]
