"""Waits until the other threads of this process rest: those of a BLAS or a driver go on spinning after their work."""

import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

TASKS = Path("/proc/self/task")
POLL_S = 1e-3
# OpenBLAS spins for up to 2**28 ticks of a processor's counter, 104 ms at 2.6 GHz; others spin for up to 200 ms.
LIMIT_S = 0.5
REST_S = 0.25 if TASKS.is_dir() else 0.03  # for waits that are repeated; shorter where each would take all of it


def let_threads_rest(limit_s: float = LIMIT_S) -> float:
    """Return once no other thread of this process runs or wants to, and the seconds that took; at most `limit_s`.

    Where the system does not tell what threads do, it waits for `limit_s`.
    """
    begin = monotonic()
    while monotonic() - begin < limit_s:
        sleep(POLL_S)
        if TASKS.is_dir() and not any(state == "R" for state in _states_of_others()):
            break
    return monotonic() - begin


def _states_of_others() -> Iterator[str]:
    """R for a thread that runs or waits for a processor, S for one that sleeps; see proc_pid_stat(5)."""
    own = str(threading.get_native_id())
    for folder in TASKS.iterdir():
        if folder.name == own:
            continue
        try:
            # The name stands in brackets and may contain blanks.
            yield (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
        except OSError:  # it ended between the two calls
            continue
