"""Walk through a ladder: for each rung the question, the code, your guess, the counts, a measurement here, the answer."""

from __future__ import annotations

import argparse
import sys
from shutil import get_terminal_size
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..api.learning import Tour
    from ..core.kernel import Kernel
    from ..learning.progress import Tours
    from ..learning.stops import Stop
    from ..runtime.device import Device

EXAMPLES = """\
  tilewright tour tiles
  tilewright tour tiles --from tiles/6
  tilewright tour rows --no-device
  tilewright tour transpose --all"""
QUIT = "q"


class Stopped(Exception):
    """The reader typed `q`, or ended the input."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from .shared_arguments import add_device

    parser.add_argument(
        "ladder", metavar="LADDER", nargs="?", default="tiles", help="the ladder (default: %(default)s)"
    )
    parser.add_argument(
        "--from",
        dest="start",
        metavar="RUNG",
        help="begin at a rung, such as tiles/6 (default: where the last tour ended)",
    )
    parser.add_argument(
        "--restart", action="store_true", help="begin at the first rung (default: where the last tour ended)"
    )
    parser.add_argument(
        "--all", action="store_true", help="print the whole tour without questions (default: ask, at a terminal)"
    )
    parser.add_argument(
        "--no-device", action="store_true", help="measure nothing (default: each rung and the one before)"
    )
    add_device(parser)


def execute(options: argparse.Namespace) -> int:
    from ..api.learning import Tour, tour
    from ..core.language import translated
    from ..errors import InvalidInput
    from ..learning.progress import Tours, load_tours
    from .printing import say

    found = tour(options.ladder)
    if not found.rungs:
        raise InvalidInput(str(found))
    if options.all or not (sys.stdin.isatty() and sys.stdout.isatty()):
        if options.device is not None:
            raise InvalidInput("--device: the whole text measures nothing; at a terminal, without --all, a tour does")
        begin = first_rung(found, options, Tours())  # the whole text does not depend on an earlier tour
        told = Tour(found.ladder, found.rungs[begin:])
        say(told.text(get_terminal_size().columns) if sys.stdout.isatty() else str(told))
        return 0
    tours = load_tours()
    begin = first_rung(found, options, tours)
    try:
        walk(found, begin, tours, None if options.no_device else device_here(options))
    except Stopped:
        say(translated("`tilewright tour {ladder}` goes on here", ladder=found.ladder.name))
    return 0


def walk(found: Tour, begin: int, tours: Tours, device: Device | None) -> None:
    """The tour at a terminal. After each rung it keeps how far the reader came."""
    from ..core.language import translated
    from ..learning.lesson import lesson_place
    from ..learning.progress import save_tours
    from .printing import say

    rungs = list(found.rungs)
    for rung in rungs[begin:]:
        place, following = lesson_place(rung), rungs[(rungs.index(rung) + 1) % len(rungs)]
        tours.next[found.ladder.name] = place
        save_tours(tours)
        right = visit(found.stop(rung), device)
        if right is not None:
            tours.guesses[place] = right
        tours.next[found.ladder.name] = lesson_place(following)
        save_tours(tours)
        if rung is not rungs[-1]:
            asked(translated("Enter: the next rung, q: stop here"))
    count, all_of_them = tours.right_of(found.ladder.name)
    say(
        translated(
            "the end of {ladder}: {right} of {all} guesses were right",
            ladder=found.ladder.name,
            right=count,
            all=all_of_them,
        )
    )


def first_rung(found: Tour, options: argparse.Namespace, tours: Tours) -> int:
    """The place of the rung at which the tour begins."""
    from ..errors import InvalidInput
    from ..kernels import find_kernel
    from ..learning.lesson import lesson_place

    places = [lesson_place(each) for each in found.rungs]
    if options.start is not None:
        ladder, _, number = options.start.rpartition("/")
        wanted = f"{ladder or found.ladder.name}/{number.zfill(2) if number.isdigit() else number}"
        place = wanted if wanted in places else lesson_place(find_kernel(wanted))
        if place not in places:
            raise InvalidInput(
                f"--from {options.start}: the tour of {found.ladder.name} has {places[0]} to {places[-1]}"
            )
        return places.index(place)
    next_place = tours.next.get(found.ladder.name, places[0])
    return 0 if options.restart or next_place not in places else places.index(next_place)


def visit(stop: Stop, device: Device | None) -> bool | None:
    """One rung. Whether the guess was right; None if nobody guessed."""
    from ..core.language import translated
    from ..learning.tour_text import answer_lines, before_guess, device_lines, guess_lines
    from .coloured import print_lines
    from .live_table import console
    from .printing import say

    width = console.width
    print_lines([*before_guess(stop, width), *guess_lines(stop, width)])
    guess = guessed(len(stop.options))
    print_lines(answer_lines(stop, width))
    right = None if guess is None or stop.right is None else guess == stop.right + 1
    if right is not None and guess is not None:
        own = stop.options[guess - 1]
        say(translated("Your guess was right.") if right else translated("Your guess was {guess}.", guess=own))
    print_lines(device_lines(stop, width))
    if device is not None:
        measure(stop.kernel, device)
    return right


def measure(kernel: Kernel, device: Device) -> None:
    """Measure a rung here, and say how fast it was."""
    from ..errors import TilewrightError
    from ..learning.here import measured_here
    from .live_table import console
    from .printing import say

    try:
        with console.status(f"{kernel.name} ..."):
            here = str(measured_here(kernel, device))
    except TilewrightError as error:
        here = str(error)
    say(f"\n{here}")


def guessed(options: int) -> int | None:
    """The number that the reader chose; None for Enter alone."""
    from ..core.language import translated

    while True:
        answer = asked(translated("Your guess, 1 to {options} (Enter: show the answer)", options=options))
        if not answer:
            return None
        if answer.isdecimal() and 1 <= int(answer) <= options:
            return int(answer)


def asked(question: str) -> str:
    """What the reader types, without blanks, in small letters. Stopped for `q`, and at the end of the input."""
    try:
        answer = input(f"\n{question}: ").strip().lower()
    except EOFError:
        print()
        raise Stopped from None
    if answer == QUIT:
        raise Stopped
    return answer


def device_here(options: argparse.Namespace) -> Device | None:
    """The device to measure on; None where there is none and none was asked for."""
    from ..errors import NoDevice
    from ..runtime.opencl.device import open_device

    try:
        return open_device(options.device)
    except NoDevice:
        if options.device is not None:
            raise
        return None
