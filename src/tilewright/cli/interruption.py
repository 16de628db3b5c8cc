"""What SIGINT and SIGTERM do to the command line: an interrupt that it can clean up after, or else an end."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

from ..runtime.children import kill_all
from ..runtime.home import remove_private_folder

PATIENCE_S = 2.0  # for the main thread to get out of the driver: single launches of a sound kernel are over before
TOGETHER_S = 0.5  # as much later than the main thread this one may hear of a signal
POLL_S = 0.05


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Within this SIGTERM, as `timeout` sends it, does what Ctrl-C does: a benchmark then keeps what it measured.

    A thread that waits in a driver runs no Python and so no handler. If the main thread does not get to it within some
    seconds after either signal, another thread says so, kills our child processes and ends the process. On Windows
    nothing is changed: SIGTERM ends a process there at once.
    """
    main = threading.current_thread() is threading.main_thread()
    if sys.platform == "win32" or not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    numbers = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        numbers.append(signal.SIGINT)
    watch = Watch()
    before = {number: signal.signal(number, watch.interrupt) for number in numbers}
    watch.start()
    try:
        yield
    finally:
        watch.stop()
        for number, handler in before.items():
            signal.signal(number, handler)


class Watch:
    """Hears of signals as soon as they arrive, by the pipe that the interpreter's own handler writes to."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)
        self._over = threading.Event()
        self._heeded = float("-inf")  # when the main thread last got to a signal
        self._thread = threading.Thread(target=self._listen, name="tilewright signals", daemon=True)
        self._fd_before = -1

    def start(self) -> None:
        self._fd_before = signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        self._thread.start()

    def stop(self) -> None:
        signal.set_wakeup_fd(self._fd_before)
        self._over.set()
        os.close(self._writing)
        self._thread.join()
        os.close(self._reading)

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """The handler, which runs when the main thread gets back to Python."""
        self._heeded = monotonic()
        raise KeyboardInterrupt

    def _listen(self) -> None:
        while data := os.read(self._reading, 1):
            if data[0] in (signal.SIGINT, signal.SIGTERM) and not self._is_heeded(monotonic()):
                name = signal.Signals(data[0]).name
                words = f"{name}: the device has not answered for {PATIENCE_S:g} s, so what it runs is left behind\n"
                os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, words.encode())
                kill_all()
                remove_private_folder()
                os._exit(128 + data[0])

    def _is_heeded(self, arrived: float) -> bool:
        """Wait until the main thread has got to a signal; two that arrive together are heeded together."""
        while monotonic() < arrived + PATIENCE_S:
            if self._heeded > arrived - TOGETHER_S or self._over.wait(POLL_S):
                return True
        return False
