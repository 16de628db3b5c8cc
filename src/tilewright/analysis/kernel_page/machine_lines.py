"""The machine code of each source line."""

from collections.abc import Iterable

from ..inspect import Inspection
from ..inspect.compile_and_count import listing_of
from ..inspect.machine_code import Instruction
from .lines import Place


def instructions_of(inspection: Inspection, files: Iterable[str]) -> dict[Place, list[Instruction]]:
    """The instructions that come from each line of these files, in their order. Listings name files by their last two
    folders; instructions of other files are left out."""
    listing = listing_of(inspection)
    known = list(files)
    found: dict[Place, list[Instruction]] = {}
    for each in listing.instructions if listing else ():
        name, line = each.place
        file = next((file for file in known if name and _same(file, name)), None)
        if file is not None:
            found.setdefault((file, line), []).append(each)
    return found


def _same(file: str, named: str) -> bool:
    """Whether a listing's name means this file."""
    parts, others = file.replace("\\", "/").split("/"), named.replace("\\", "/").split("/")
    both = min(len(parts), len(others))
    return parts[-both:] == others[-both:]
