"""What the copies of a matrix to other devices must offer, whatever kind its arrays are of."""

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

from .panels import Panel


class Copies(Protocol):
    """One matrix on its way to the devices `places`, panel by panel.

    Nothing goes to them before `begin`. What has neither rows nor columns as lines is made dense before, where it lies.
    """

    @property
    def places(self) -> Sequence[Hashable]: ...

    def whole(self, place: Hashable) -> Any:
        """The memory that the copy on a device gets, as an array of the whole matrix."""

    def begin(self) -> None:
        """Note what the caller has enqueued until now: copies wait for that."""

    def send(self, panel: Panel) -> None:
        """Enqueue the copies of a panel to all devices."""

    def taken(self, panel: Panel, memory: Any) -> Any:
        """A panel as an array for work on the queue of a call's `memory`, which waits until it is there."""

    def finish(self, memories: Sequence[Any]) -> None:
        """Let no memory be used for anything else before all that was enqueued has ended. `memories` are those of all calls."""
