"""The .po file of each language, brought up to date, and the .mo file compiled from it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from tilewright import __version__
from tilewright.core.files import write_atomically
from tilewright.core.language import ENGLISH, LANGUAGES, LOCALE

WIDTH = 120
TRANSLATED = [code for code in LANGUAGES if code != ENGLISH]


def po_file(code: str) -> Path:
    return LOCALE / code / "LC_MESSAGES" / "tilewright.po"


def catalogue(code: str) -> Catalog:
    """A language's catalogue as it is; an empty one for a new language."""
    path = po_file(code)
    if not path.exists():
        return Catalog(
            locale=code, project="tilewright", version=__version__, charset="utf-8", fuzzy=False,
            header_comment=f"# Sentences of tilewright in {LANGUAGES[code]}. MIT licence.", language_team=LANGUAGES[code],
            last_translator="the tilewright authors", msgid_bugs_address="the tilewright authors",
        )  # fmt: skip
    with path.open("rb") as file:
        return read_po(file, locale=code)


def update(code: str, template: Catalog) -> Catalog:
    """A language's catalogue with the messages of the template: translations are kept, what nobody says any more is dropped,
    nothing is guessed. The file is written if anything changed."""
    found, before = catalogue(code), _content(catalogue(code))
    found.update(template, no_fuzzy_matching=True)
    found.obsolete.clear()
    path = po_file(code)
    if _content(found) != before or not path.exists():
        found.revision_date = datetime.now(UTC)
        content = BytesIO()
        write_po(content, found, width=WIDTH, include_lineno=False, sort_by_file=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content.getvalue())
    return found


def _content(found: Catalog) -> list[Any]:
    """What of a catalogue is not its date."""
    return sorted((str(each.id), str(each.string), sorted(each.locations), each.fuzzy) for each in found if each.id)


def compiled(code: str) -> bytes:
    """The .mo file of a language's .po file, with what is translated whole."""
    content, found = BytesIO(), catalogue(code)
    for each in found:
        each.string = each.string if _is_whole(each.string) else ""
    write_mo(content, found)
    return content.getvalue()


def compile_file(code: str) -> Path:
    """Write the .mo file beside the .po file."""
    path = po_file(code).with_suffix(".mo")
    write_atomically(path, compiled(code))
    return path


def missing(found: Catalog) -> list[str]:
    """The English of each message without a translation."""
    return [str(each.id) for each in found if each.id and not _is_whole(each.string)]


def _is_whole(string: str | Sequence[str] | None) -> bool:
    """Whether there is a translation; of counts, for each plural form."""
    return bool(string) and all(string or ())
