"""Which measurements can be trusted: not those of a busy machine, nor times that vary widely."""

from collections.abc import Sequence

from ..core.language import Sentence, shown, translated
from ..core.numbers import figure
from ..core.records import Environment, Row

BUSY_PER_CORE = 0.4  # so that one program that keeps one of two cores busy counts
UNSTEADY = 0.3  # the spread from which on a row gets a mark
WORTHLESS = 0.5  # the spread from which on a row is not divided by
MARK = "?"  # stands after the spread of an unsteady row
SINGLE = "a single run has no known spread"


def is_busy(environment: Environment) -> bool:
    """Whether other programs slowed the measurement down. A GPU is timed by its own clock and does not notice them."""
    if environment.device.kind != "cpu" or environment.others is None:
        return False
    return environment.others > BUSY_PER_CORE * environment.cores


def is_unsteady(row: Row) -> bool:
    """Whether the row's times vary so much that it gets a mark."""
    return row.measured and row.samples.spread > UNSTEADY


def spread_of(row: Row) -> str:
    """The row's spread in percent, with its mark; "" if it ran only once."""
    return f"{row.samples.spread * 100:.0f}{MARK if is_unsteady(row) else ''}" if row.samples.has_spread else ""


def can_divide(row: Row, busy: bool) -> bool:
    """Whether rates may be given as multiples of a baseline's row. On a busy machine a library on the host is held up by its
    own threads, by ten times and more."""
    return row.measured and row.samples.spread <= WORTHLESS and not (busy and row.backend == "host")


def warning(rows: Sequence[Row], environment: Environment | None) -> str:
    """One line for above and below a table; "" if there is nothing to warn of."""
    words = []
    if environment is not None and is_busy(environment):
        words.append(shown(busy_words(environment.others or 0.0, environment.cores)))
    unsteady = [row for row in rows if is_unsteady(row)]
    measured = [row for row in rows if row.measured]
    if unsteady:
        words.append(
            translated(
                "times of {unsteady} of {measured} rows vary by more than ±{spread} ({mark})",
                unsteady=len(unsteady), measured=len(measured), spread=f"{UNSTEADY:.0%}", mark=MARK,
            )
        )  # fmt: skip
    return translated("; ").join(words)


def busy_words(others: float, cores: int) -> Sentence:
    """What a busy machine means for the numbers beside it."""
    return Sentence(
        "busy machine: other programs use {others} of {cores} cores, so rates are too low and ratios to libraries on the host "
        "are left out",
        others=figure(others), cores=cores,
    )  # fmt: skip
