"""The output of a toolchain before anything is counted. It is cached on disk by content."""

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from ...runtime.cache import BinaryCache, cache_folder, content_key
from .counts import Resources

FORMAT = "inspection 4"  # of the cached record: raise it when a toolchain's options or what it stores change


@dataclass(frozen=True)
class Compiled:
    """Listings by form, the most detailed first ("SASS" before "PTX"), the reported resources, and the tools that made them."""

    origin: str
    entry: str
    texts: dict[str, str] = field(default_factory=dict)
    resources: Resources | None = None
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def remembered(make: Callable[[], Compiled], *key: str) -> Compiled:
    """`make()`, or its cached result for the same key: source, architecture, options and the tools' versions.

    A result that lacks a tool is not cached: the tool may be installed later.
    """
    cache = BinaryCache(cache_folder() / "inspections")
    name = content_key(FORMAT, *key)
    stored = cache.get(name)
    if stored is not None:
        try:
            return msgspec.json.decode(stored, type=Compiled)
        except msgspec.DecodeError:  # written by another version under the same key: compile again
            pass
    compiled = make()
    if not compiled.missing:
        cache.put(name, msgspec.json.encode(compiled))
    return compiled
