"""The table of what the source systems claim about memory, and the page that holds it."""

from pathlib import Path

import pytest
from paths import DOCS

from tilewright.errors import RecordError
from tools.claims.page import refresh_claims
from tools.claims.table import CLAIMS, table


def test_the_judging_page_counts_every_claim() -> None:
    text = table()
    rows = [line for line in text.splitlines() if line.startswith("| ") and "`" in line]
    assert len(rows) == len(CLAIMS)
    judged = {(claim.rung, claim.says): row.split("**")[1] for claim, row in zip(CLAIMS, rows, strict=True)}
    assert judged["transpose/05", "with a pitch of 17 columns meet no bank conflict"] == "false"
    assert judged["transpose/05", "through a tile both sides are coalesced"] == "true"
    assert judged["tiles/03", "local reads for each multiply-add fall from 2 to 9/8"] == "true"
    assert judged["rows/06", "the published kernel computes the product"] == "false"


def test_the_page_holds_the_claims_as_they_are_counted_now(tmp_path: Path) -> None:
    page = DOCS / "explanation" / "memory.md"
    copy = tmp_path / "memory.md"
    copy.write_text(page.read_text())
    assert refresh_claims(copy) == 1
    assert copy.read_text() == page.read_text(), "run python -m tools.claims"
    copy.write_text("no mark")
    with pytest.raises(RecordError, match="claims"):
        refresh_claims(copy)
