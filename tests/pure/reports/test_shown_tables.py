"""A page's table as text for a terminal, and as HTML for a notebook."""

from tilewright.reports.shown import LONGEST_CELL, as_html, as_text

LONG = "word " * LONGEST_CELL
PAGE = f"""**the title · float32**

| rung | ms | a\\|b | what |
| --- | --- | --- | --- |
| x/1 | 1.5 |  | {LONG}|
| longer | 20 | <i> | short |

below the table"""


def test_text_has_aligned_columns_and_sentences_below() -> None:
    assert as_text(PAGE).splitlines() == [
        "the title · float32",
        "",
        "rung     ms  a|b",
        "x/1     1.5",
        "longer   20  <i>",
        "",
        f"x/1: {LONG.strip()}",
        "longer: short",
        "",
        "below the table",
    ]


def test_html_is_a_table_with_every_string_escaped() -> None:
    page = as_html(PAGE)
    assert "<p>the title · float32</p>" in page
    assert "<thead><tr><th>rung</th><th>ms</th><th>a|b</th><th>what</th></tr></thead>" in page
    assert "<td>&lt;i&gt;</td>" in page
    assert "<i>" not in page
    assert page.count("<tr>") == 3


def test_text_without_a_table_stays() -> None:
    assert as_text("one\n\ntwo") == "one\n\ntwo"
