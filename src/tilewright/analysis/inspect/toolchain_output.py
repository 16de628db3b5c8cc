"""What a toolchain hands over before anything is counted, kept on disk by content: compiling again would give the same."""

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from ...runtime.cache import BinaryCache, cache_folder, content_key
from .counts import Resources

FORMAT = "inspection 2"  # of the cached record: raise it when a toolchain's options or what it stores change


@dataclass(frozen=True)
class Compiled:
    """Listings by form, richest first ("SASS" before "PTX"), the resources the compiler reported, and who made them."""

    origin: str
    entry: str
    texts: dict[str, str] = field(default_factory=dict)
    resources: Resources | None = None
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def remembered(make: Callable[[], Compiled], *key: str) -> Compiled:
    """`make()`, or what it gave before for the same key: source, architecture, options and the tools' versions.

    What a missing tool left out is not kept: the tool may be there next time.
    """
    cache = BinaryCache(cache_folder() / "inspections")
    name = content_key(FORMAT, *key)
    stored = cache.get(name)
    if stored is not None:
        try:
            return msgspec.json.decode(stored, type=Compiled)
        except msgspec.DecodeError:  # written by another version under the same key: made anew
            pass
    compiled = make()
    if not compiled.missing:
        cache.put(name, msgspec.json.encode(compiled))
    return compiled
