"""The page of what the front end refuses says what the front end says."""

import re
from pathlib import Path

import pytest

from tilewright.analysis.explain import explain_source
from tilewright.analysis.explain.clc import refused
from tilewright.errors import SourceError

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "opencl-c.md"
ROWS = re.findall(r"^\| `(.*)` \| (.*) \|$", PAGE.read_text(encoding="utf-8").partition("## What is refused")[2], re.M)


@pytest.mark.parametrize(("source", "sentence"), ROWS, ids=[source[-40:] for source, _ in ROWS])
def test_each_row_is_what_the_front_end_says(source: str, sentence: str) -> None:
    with pytest.raises(SourceError) as caught:
        explain_source(source, global_size=(1,), local_size=(1,), arguments={})
    assert re.fullmatch(r"kernel\.cl:1:\d+: " + re.escape(sentence), str(caught.value))


def test_every_refusal_is_on_the_page() -> None:
    sentences = {*refused.REFUSED_WORDS.values()}
    sentences |= {value for name, value in vars(refused).items() if name.isupper() and isinstance(value, str)}
    said = " ".join(sentence for _, sentence in ROWS)
    assert [each for each in sentences if each.replace("{word}", "return") not in said] == []
