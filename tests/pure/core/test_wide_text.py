"""Text in columns: wide characters take two, and lines break between them, but not before closing punctuation."""

import pytest
from rich.cells import cell_len

from tilewright.core.wide_text import padded, width_of, wrapped

CHINESE = "第 24 行：A 的每个字节被取 8 遍（0.131 MB 的数据搬运了 1.05 MB），放进局部内存共享；其余 5 个访问的请求已是最低开销。"


@pytest.mark.parametrize("text", ["", "abc", CHINESE, "é", "e\u0301", "шаг"])
def test_a_width_is_that_of_rich(text: str) -> None:
    assert width_of(text) == cell_len(text)
    assert width_of(padded(text, 200)) == 200


@pytest.mark.parametrize("width", [20, 33, 40, 80])
def test_lines_are_no_wider_and_lose_nothing(width: int) -> None:
    lines = wrapped(CHINESE, width, "  ")
    assert all(width_of(line) <= width + 2 for line in lines), "closing punctuation may stand beyond the edge"
    assert "".join("".join(lines).split()) == "".join(CHINESE.split())
    assert all(line.startswith("  ") for line in lines[1:])
    assert not any(line.strip()[0] in "，。；：）" for line in lines)
    assert not any(line[-1] in "（" for line in lines)


def test_words_stay_whole() -> None:
    assert wrapped("a tile of C in local memory", 12) == ["a tile of C", "in local", "memory"]
    assert wrapped("x" * 30 + " y", 10) == ["x" * 30, "y"]
