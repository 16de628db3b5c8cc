"""Things that take long to make, such as programs: each is made once, and only who wants it waits."""

from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")


class MadeOnce(Generic[Key, Made]):
    """What was made, by its key, for all threads. If making it fails, all who wait get the error; the next one tries again."""

    def __init__(self) -> None:
        self._known: dict[Key, Future[Made]] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: Key, make: Callable[[], Made]) -> Made:
        """The thing with this key, made by `make` if it is the first time. Other keys are not held up meanwhile."""
        with self._lock:
            known = self._known.get(key)
            if known is None:
                own = self._known[key] = Future[Made]()
        if known is not None:
            return known.result()
        try:
            own.set_result(make())
        except BaseException as error:
            with self._lock:
                del self._known[key]
            own.set_exception(error)
            raise
        return own.result()
