"""Rewrites what stands between marks in Markdown pages: tables made from records, inspections and rooflines.

<!-- record: FILE -->              the table of a record, FILE beside the page
<!-- record: FILE beside -->       a ladder's table of sizes, OpenCL and CUDA side by side
<!-- record: FILE accuracy -->     a record of accuracy
<!-- inspect: ... -->              see inspections.py
<!-- roofline: FILE PICTURE -->    a saved roofline; PICTURE.svg, which may be left out, is drawn again
<!-- regret: FILE ... -->          records of `tools.regret`
<!-- processor: FOLDER FILE ... -->  records of one kind of processor, see processors.py
<!-- end NAME -->                  ends each of them
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tilewright.core.language import in_english
from tilewright.core.markdown import fenced, harmless, read_page, write_page
from tilewright.core.records import load_record
from tilewright.errors import RecordError
from tilewright.measurement.accuracy import load_accuracy
from tilewright.reports.beside import markdown as beside_table
from tilewright.reports.errors_table import markdown as errors_table
from tilewright.reports.forms import own_table, shortened
from tilewright.reports.picture_files import write_picture
from tilewright.reports.roofline import draw_roofline, load_roofline

from ..regret.table import regret_table
from .inspections import inspected
from .processors import processor_tables

# The text for a mark, from the words in it and the page's folder.
Maker = Callable[[Sequence[str], Path], str]


@in_english()
def refresh(page: Path, makers: Mapping[str, Maker] | None = None) -> int:
    """Rewrite what stands between `<!-- NAME: WORDS -->` and `<!-- end NAME -->` for each name in `makers` (MARKS if left
    out): the number of marks. RecordError if the page has none."""
    makers = MARKS if makers is None else makers
    names = "|".join(makers)
    mark = re.compile(
        rf"(?P<begin><!-- (?P<name>{names})(?:: (?P<words>[^>]+?))? -->\n).*?(?P<end><!-- end (?P=name) -->)", re.S
    )

    def made(match: re.Match[str]) -> str:
        text = makers[match["name"]]((match["words"] or "").split(), page.parent)
        return f"{match['begin']}{text}\n{match['end']}"

    fresh, count = mark.subn(made, read_page(page))
    if not count:
        raise RecordError(f"{page} has none of the marks {', '.join(f'<!-- {name} -->' for name in makers)}")
    write_page(page, fresh)
    return count


def record_table(words: Sequence[str], folder: Path) -> str:
    """The table of a record: its file, then "beside" or "accuracy" where its form is not a record's own."""
    file, form = folder / words[0], "".join(words[1:])
    if form == "accuracy":
        return errors_table(harmless(load_accuracy(file)))
    record = harmless(shortened(load_record(file)))
    if form == "beside":
        return beside_table(record)
    if form:
        raise RecordError(f"the mark of {words[0]} asks for {form!r}; the forms are 'beside' and 'accuracy'")
    return own_table(record)


def roofline_block(words: Sequence[str], folder: Path) -> str:
    """The text of a saved roofline for a page. A second word names its picture, which is drawn again."""
    if len(words) not in (1, 2):
        raise RecordError(f"the mark roofline has {len(words)} words; it takes a record and an optional picture")
    found = load_roofline(folder / words[0])
    if len(words) == 2:
        write_picture(draw_roofline(found), folder / words[1])
    return fenced(str(found))


MARKS: Mapping[str, Maker] = {
    "record": record_table,
    "inspect": inspected,
    "roofline": roofline_block,
    "regret": regret_table,
    "processor": processor_tables,
}
