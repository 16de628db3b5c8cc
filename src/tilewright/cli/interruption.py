"""SIGINT and SIGTERM on the command line: a KeyboardInterrupt, or the end of the process if the driver hangs."""

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

PATIENCE_S = 2.0  # for the main thread to return from the driver: a launch of a sound kernel is shorter
TOGETHER_S = 0.5  # the listening thread may notice a signal this much later than the main thread
POLL_S = 0.05


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """A context in which SIGTERM acts as Ctrl-C: a benchmark keeps what it measured, also under `timeout`.

    A thread that waits in a driver runs no Python, and so no signal handler. If the main thread has not handled a signal after
    PATIENCE_S, another thread prints a message, kills the child processes and ends the process. On Windows nothing
    changes: SIGTERM ends a process at once.
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
    except ImportError:
        if watch.number:  # extension modules turn an interrupt of their imports into this error
            raise KeyboardInterrupt(watch.number) from None
        raise
    finally:
        watch.stop()
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def left_to_the_program() -> Iterator[None]:
    """A context in which another program runs: SIGINT and SIGTERM act as Python sets them up, and nobody waits for an answer."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    descriptor = signal.set_wakeup_fd(-1)
    interrupt = signal.signal(signal.SIGINT, signal.default_int_handler)
    terminate = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, interrupt)
        signal.signal(signal.SIGTERM, terminate)
        signal.set_wakeup_fd(descriptor)


def status_of_interrupt(interrupt: KeyboardInterrupt) -> int:
    """The exit status: 143 after SIGTERM, 130 after Ctrl-C.

    What the interrupted calls hold is dropped here without a word: destructors of objects that were half made, such as a
    library's cache, fail and would print tracebacks.
    """
    number = interrupt.args[0] if interrupt.args else signal.SIGINT
    hook = sys.unraisablehook
    sys.unraisablehook = lambda failed: None
    try:
        interrupt.__traceback__ = interrupt.__context__ = None
    finally:
        sys.unraisablehook = hook
    return 128 + int(number)


class Watch:
    """Notices signals at once, by the pipe that the interpreter's own handler writes to."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)
        self._over = threading.Event()
        self._handled = float("-inf")  # when the main thread last handled a signal
        self.number = 0  # of that signal
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
        """The handler, which runs when the main thread returns to Python. Its interrupt holds the signal's number."""
        self._handled = monotonic()
        self.number = number
        raise KeyboardInterrupt(number)

    def _listen(self) -> None:
        while data := os.read(self._reading, 1):
            if data[0] in (signal.SIGINT, signal.SIGTERM) and not self._is_handled(monotonic()):
                name = signal.Signals(data[0]).name
                words = f"{name}: the device has not answered for {PATIENCE_S:g} s; its work is abandoned\n"
                os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, words.encode())
                kill_all()
                remove_private_folder()
                os._exit(128 + data[0])

    def _is_handled(self, arrived: float) -> bool:
        """Wait until the main thread has handled a signal. Two that arrive together are handled together."""
        while monotonic() < arrived + PATIENCE_S:
            if self._handled > arrived - TOGETHER_S or self._over.wait(POLL_S):
                return True
        return False
