"""Gathers what the page shows: counts, counts of variations, and machine code."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.kernel import Kernel
from ...errors import TilewrightError
from ..explain.explanation import Explanation
from ..explanations import explain
from ..inspect import Inspection, inspect
from .page import Page
from .variations import counted, own_pitches, usual_pitches

# The architecture whose machine code stands beside the counts of a model, unless another is asked for.
ARCHITECTURES = {"nvidia": "sm_90", "amd64": "gfx90a", "amd32": "gfx1100", "intel8": "dg2", "intel16": "dg2"}


def make_page(
    kernel: Kernel,
    found: Explanation,
    asked: Mapping[str, Any],
    *,
    settings: Mapping[str, str] | None = None,
    sweep: Mapping[str, Sequence[str]] | None = None,
    pitches: Mapping[str, Sequence[int]] | None = None,
    arch: str | None = None,
) -> Page:
    """The page about `found`, which `explain(kernel, settings=settings, **asked)` gave.

    `sweep` and `pitches` are what the sliders vary, as in `what_if`; without both, the row pitches of local arrays are varied if
    that is quick. `arch` is an architecture of `inspect`, or the usual one of the model. A toolchain that is missing or refuses
    is a note on the page. InvalidInput for too many combinations.
    """
    base, notes = dict(settings or {}), []
    tried = dict(pitches or {}) if sweep or pitches else usual_pitches(found)

    def ask(settings: Mapping[str, str], pitches: Mapping[str, int]) -> Explanation:
        return explain(kernel, settings={**base, **settings}, pitches=pitches, **asked)

    variations = counted(ask, sweep or {}, tried)
    code, note = machine_code(kernel, base, asked, arch or ARCHITECTURES.get(found.model.name))
    notes += [note] if note else []
    return Page(found, variations, own_values(kernel, found, {**base}, [*(sweep or {})]), code, notes)


def own_values(kernel: Kernel, found: Explanation, base: Mapping[str, str], swept: Sequence[str]) -> dict[str, str]:
    """The kernel's own value of everything that the sliders vary."""
    given = {**{name: str(value) for name, value in vars(kernel.config).items()}, **base}
    given |= {name: str(value) for name, value in found.macros.items()}
    own = {name: given[name] for name in swept if name in given}
    return own | {f"pitch of {name}": str(pitch) for name, pitch in own_pitches(found).items()}


def machine_code(
    kernel: Kernel, settings: Mapping[str, str], asked: Mapping[str, Any], arch: str | None
) -> tuple[Inspection | None, str]:
    """The machine code for an architecture, and what keeps it from the page."""
    if arch is None:
        return None, ""
    size = {"size": asked["size"]} if asked.get("size") else {}
    try:
        found = inspect(kernel, arch, dtype=asked.get("dtype"), settings=settings, **size)
    except TilewrightError as reason:
        return None, f"no machine code: {str(reason).splitlines()[0]}"
    return found, " ".join(found.missing)
