"""How far a reader came in the tours of the ladders, kept in the user's folder."""

import os
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from ..core.files import write_atomically
from ..core.records import DAMAGED
from ..runtime.home import note_trouble, read_own, user_home

FILE = "tours.json"


@dataclass
class Tours:
    """For each ladder, the rung at which its tour goes on; and for each rung seen, whether the reader's guess was right."""

    next: dict[str, str] = field(default_factory=dict)
    guesses: dict[str, bool] = field(default_factory=dict)

    def right_of(self, ladder: str) -> tuple[int, int]:
        """How many guesses of a ladder were right, of how many."""
        own = [right for place, right in self.guesses.items() if place.startswith(f"{ladder}/")]
        return sum(own), len(own)


def tours_file() -> Path:
    return user_home().folder / FILE


def load_tours() -> Tours:
    """What was kept; nothing if there is no file, or one that cannot be read."""
    try:
        content = read_own(tours_file())
        return msgspec.json.decode(content, type=Tours) if content else Tours()
    except (OSError, *DAMAGED):
        return Tours()


def save_tours(tours: Tours) -> None:
    """Keep how far the reader came. If it cannot be kept, the command says so at its end."""
    path = tours_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, msgspec.json.encode(tours))
        if os.name != "nt":
            path.chmod(0o600)
    except OSError as error:
        note_trouble(f"{path} cannot be written ({error.strerror}), so the tour does not go on where it ended")
