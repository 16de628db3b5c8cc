"""The kernels: one folder per subject, the `.cl` files are the library. `LADDERS` is the list of all ladders."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..core.kernel import Kernel, Ladder
from ..core.language import translated
from ..errors import InvalidInput, UnknownName
from .known_bad import KNOWN_BAD
from .ladders.cpu import LADDER as CPU
from .ladders.rows import LADDER as ROWS
from .ladders.tensor import LADDER as TENSOR
from .ladders.tiles import LADDER as TILES
from .ladders.transpose import LADDER as TRANSPOSE

NAMES = 32  # characters of a rung's name in the list of ladders, or more


class Ladders(Mapping[str, Ladder]):
    """Ladders by name, such as `LADDERS["tiles"]`. `print` shows each rung's name and what it changes.

    >>> list(LADDERS)
    ['rows', 'tiles', 'transpose', 'cpu', 'tensor']
    >>> LADDERS["tiles"].kernels[1].name
    'tiles/02_tiled'
    """

    def __init__(self, ladders: Sequence[Ladder]) -> None:
        self._ladders = {ladder.name: ladder for ladder in ladders}

    def __getitem__(self, name: str) -> Ladder:
        return self._ladders[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ladders)

    def __len__(self) -> int:
        return len(self._ladders)

    def __str__(self) -> str:
        lines = []
        for ladder in self._ladders.values():
            lines.append(f"{ladder.name}  {translated(ladder.title)}")
            kernels = ladder.with_originals
            width = names_width(kernels)
            lines += [f"  {kernel.name:{width}} {translated(kernel.lesson)}" for kernel in kernels]
        return "\n".join(lines)

    def __repr__(self) -> str:
        counts = (f"{name} ({len(ladder.kernels)} rungs)" for name, ladder in self._ladders.items())
        return f"<Ladders: {', '.join(counts)}>"


def names_width(kernels: Iterable[Kernel]) -> int:
    """The width of the names in the list of a ladder."""
    return max(NAMES, *(len(kernel.name) for kernel in kernels))


LADDERS = Ladders((ROWS, TILES, TRANSPOSE, CPU, TENSOR))


def find_ladder(name: str) -> Ladder:
    """The ladder of that name, in any case of letters; UnknownName with the near matches otherwise.

    InvalidInput for the name of a rung.
    """
    if not isinstance(name, str):
        raise UnknownName("ladder", name, LADDERS)
    if name.lower() in LADDERS:
        return LADDERS[name.lower()]
    rungs = [kernel.name for ladder in LADDERS.values() for kernel in ladder.kernels if matches_rung(kernel.name, name)]
    if rungs:
        places = ", ".join(rungs[:3]) + (" ..." if len(rungs) > 3 else "")
        raise InvalidInput(
            f"{name!r} is not a ladder but a rung ({places}): name the ladder, and the rung by --rung, such as "
            f"`tilewright ladder {rungs[0].split('/')[0]} --rung {rungs[0]}`"
        )
    raise UnknownName("ladder", name, LADDERS)


def all_kernels() -> dict[str, Kernel]:
    """Every rung, its variants and every known-bad kernel by its full name, such as "tiles/02_tiled"."""
    rungs = [kernel for ladder in LADDERS.values() for kernel in ladder.with_originals]
    return {kernel.name: kernel for kernel in (*rungs, *KNOWN_BAD)}


def originals() -> tuple[Kernel, ...]:
    """The sources' kernels as they were published, of all ladders."""
    return tuple(kernel for ladder in LADDERS.values() for kernel in ladder.originals)


def find_kernel(name: str) -> Kernel:
    """A kernel by its full name, or by enough of it: "tiles/2", "tiles/02", "tiles/tiled" and "02_tiled" all do, and
    "tiles/7[published]" for a variant. Without brackets the name never means a kernel as it was published.

    Capital letters make no difference. UnknownName for a name that fits none; InvalidInput, with what it fits, for one that
    fits several.
    """
    known = all_kernels()
    if not isinstance(name, str):
        raise UnknownName("rung", name, known)
    if name in known:
        return known[name]
    matches = [kernel for full, kernel in known.items() if matches_rung(full, name)]
    if "[" not in name:
        matches = [kernel for kernel in matches if kernel not in originals()]
    if name.lower() in LADDERS:
        rungs = LADDERS[name.lower()].kernels
        raise InvalidInput(f"{name!r} is a ladder; name one of its rungs, {rungs[0].name} to {rungs[-1].name}")
    if not matches:
        raise UnknownName("rung", name, known)
    if len(matches) > 1:
        names = ", ".join(kernel.name for kernel in matches)
        raise InvalidInput(f"{name!r} fits {len(matches)} kernels: {names}; name one of them")
    return matches[0]


def matches_rung(full: str, wanted: str) -> bool:
    """Whether `wanted` names the rung `full`: by number, by words, or by both, with or without the ladder and the variant."""
    name, _, variant = full.lower().partition("[")
    wanted_name, bracket, wanted_variant = wanted.lower().partition("[")
    if bracket and wanted_variant != variant:
        return False
    folder, _, stem = name.partition("/")
    wanted_folder, slash, rest = wanted_name.rpartition("/")
    if slash and wanted_folder != folder:
        return False
    number, _, words = stem.partition("_")
    return (rest[:1].isdigit() and _plain(rest) == _plain(number)) or rest in (stem, words)


def _plain(number: str) -> str:
    """A rung's number as people write it: "7" of "07", "7a" of "07a", which stands between "07" and "08"."""
    return number.lstrip("0") or "0"


def rung_before(kernel: Kernel | str) -> Kernel | None:
    """The last rung of the same ladder with another source before this one's; None for a first rung or a kernel that is not
    a rung. Before a kernel as it was published stands the rung that it is a variant of."""
    chosen = kernel if isinstance(kernel, Kernel) else find_kernel(kernel)
    source = chosen.source
    for ladder in LADDERS.values():
        if any(source == each.source for each in ladder.originals) and chosen.rung:
            return next(each for each in ladder.kernels if each.name.partition("[")[0] == chosen.rung)
        sources = [each.source for each in ladder.kernels]
        if source in sources:
            place = sources.index(source)
            return ladder.kernels[place - 1] if place else None
    return None


def select(ladder: Ladder, wanted: tuple[str, ...], published: bool = False) -> tuple[Kernel, ...]:
    """The rungs of a ladder that `wanted` names, all of them if it is empty; UnknownName for a name that fits none.

    The kernels as they were published are among them if `published` says so, or if a name has their brackets.
    """
    if not wanted:
        return ladder.with_originals if published else ladder.kernels
    chosen: list[Kernel] = []
    for name in wanted:
        among = ladder.with_originals if published or "[" in name else ladder.kernels
        matches = [kernel for kernel in among if kernel.name == name or matches_rung(kernel.name, name)]
        if not matches:
            raise UnknownName("rung", name, [kernel.name for kernel in ladder.with_originals])
        chosen += [kernel for kernel in matches if kernel not in chosen]
    return tuple(chosen)
