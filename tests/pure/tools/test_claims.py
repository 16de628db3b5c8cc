"""The table of what the source systems claim about memory, and the page that holds it."""

from pathlib import Path

import pytest
from paths import DOCS

from tilewright.errors import RecordError
from tilewright.kernels import find_kernel
from tools.claims.page import refresh_claims
from tools.claims.table import CLAIMS, table


def test_the_judging_page_counts_every_claim() -> None:
    text = table()
    rows = [line for line in text.splitlines() if line.startswith("| ") and "`" in line]
    assert len(rows) == len(CLAIMS)
    judged = {(claim.kernel, claim.says): row.split("|")[4:6] for claim, row in zip(CLAIMS, rows, strict=True)}
    then, today = judged["transpose/05", "with a pitch of 17 columns meet no bank conflict"]
    assert "**true** on `gt200`" in then
    assert "**false**" in today
    then, today = judged["tiles/06[published]", "two elements of padding are against bank conflicts"]
    assert "**in part** on `kepler4`" in then
    assert "**true** on `kepler8`" in then
    assert "**in part**" in today
    for kernel, says, holds in (
        ("transpose/05", "through a tile both sides are coalesced", "true"),
        ("tiles/03[published]", "local reads for each multiply-add fall from 2 to 9/8", "in part"),
        ("tiles/07[published]", "with wide loads the tiles need no padding", "in part"),
        ("tiles/02[CSDN]", "tiles of 16 x 16 in local memory gain nothing", "false"),
        ("rows/06", "the published kernel computes the product", "false"),
        ("rows/08[published]", "float4 takes four elements of the first matrix at a time", "false"),
    ):
        assert f"**{holds}**" in judged[kernel, says][1], kernel


def test_every_claim_names_a_kernel_that_is_there() -> None:
    for claim in CLAIMS:
        assert find_kernel(claim.kernel).source.exists()


def test_the_page_holds_the_claims_as_they_are_counted_now(tmp_path: Path) -> None:
    page = DOCS / "explanation" / "memory.md"
    copy = tmp_path / "memory.md"
    copy.write_text(page.read_text())
    assert refresh_claims(copy) == 1
    assert copy.read_text() == page.read_text(), "run python -m tools.claims"
    copy.write_text("no mark")
    with pytest.raises(RecordError, match="claims"):
        refresh_claims(copy)
