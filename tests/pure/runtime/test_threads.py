"""PoCL's threads are bound to processors, but never against the user's word or another binding of the process."""

import os
import sys

import pytest

from tilewright.health.machine import examine_baselines
from tilewright.runtime.children import ChildRun
from tilewright.runtime.icd.registration import PINNED, bind_threads

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processors are bound on Linux only")
EVERYWHERE = set(range(os.cpu_count() or 0))


@pytest.mark.parametrize(
    ("allowed", "before", "after"),
    [(EVERYWHERE, {}, "1"), (EVERYWHERE, {"POCL_AFFINITY": "0"}, "0"), (EVERYWHERE | {10**6}, {}, None)],
)
def test_threads_are_bound_where_nothing_speaks_against_it(
    allowed: set[int], before: dict[str, str], after: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: allowed)
    environ = dict(before)
    bind_threads(environ)
    assert environ.get(PINNED[0]) == after


def test_the_doctor_minds_only_what_others_set() -> None:
    own, foreign = dict([PINNED]), {"POCL_MAX_PTHREAD_COUNT": "1"}
    assert examine_baselines(ChildRun("", "", ""), own) == []
    assert len(examine_baselines(ChildRun("", "", ""), foreign)) == 1
