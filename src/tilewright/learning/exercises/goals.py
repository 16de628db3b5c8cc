"""Goals of an exercise: counts in which the learner's kernel may not be worse than the solution."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...analysis.explain import Explanation
from ...analysis.explain.totals import totals
from ...core.language import Sentence
from ..counted import MEASURES

# What each goal demands.
SENTENCES = {
    "sectors_loaded": "at most {limit:,} sectors loaded from global memory",
    "sectors_stored": "at most {limit:,} sectors stored to global memory",
    "load_requests": "at most {limit:,} load requests to global memory",
    "store_requests": "at most {limit:,} store requests to global memory",
    "local_loads": "at most {limit:,} wavefronts of loads from local memory",
    "local_stores": "at most {limit:,} wavefronts of stores to local memory",
    "conflicts": "at most {limit:,} wavefronts lost to bank conflicts",
    "private_sectors": "at most {limit:,} sectors of private arrays that lie off-chip",
    "barriers": "at most {limit:,} barriers of a work-group",
    "work_items": "at most {limit:,} work-items",
    "worst_conflict": "no request to local memory takes more than {limit:,} times the fewest wavefronts",
    "worst_sectors": "no request to global memory takes more than {limit:,} sectors",
    "new_lines": "at most {limit:,} steps of a work-item to another cache line of global memory",
    "faults": "at most {limit:,} faults",
}


@dataclass(frozen=True)
class Goal:
    """A measure, the most that it may be, and what it is in the learner's kernel (None before it is graded)."""

    measure: str
    limit: int
    value: int | None = None

    @property
    def reached(self) -> bool:
        return self.value is not None and self.value <= self.limit

    @property
    def sentence(self) -> Sentence:
        """What is demanded, in English; it is translated where it is shown."""
        return Sentence(SENTENCES[self.measure], limit=self.limit)


def goals_of(measures: Sequence[str], solution: Explanation) -> tuple[Goal, ...]:
    """The goals that a solution sets."""
    sums = totals(solution)
    return tuple(Goal(each, MEASURES[each](solution, sums)) for each in measures)


def measured(goals: Sequence[Goal], found: Explanation) -> tuple[Goal, ...]:
    """The goals with what an explained kernel has."""
    sums = totals(found)
    return tuple(Goal(each.measure, each.limit, MEASURES[each.measure](found, sums)) for each in goals)
