"""The pictures of docs: drawn from records, without this machine's folders, small."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from paths import DOCS, ROOT

from tools.screenshots import (
    CHARTS,
    LARGEST,
    LARGEST_PAGE,
    MOST_LINES,
    PAGES,
    SITES,
    TERMINALS,
    main,
    private,
    shortened,
)


@pytest.mark.parametrize("name", [*CHARTS, "terminal-ladder.svg", "terminal-bench.svg"])
def test_a_picture_is_drawn_from_a_record(name: str, tmp_path: Path) -> None:
    main([name, "--folder", str(tmp_path)])
    picture = tmp_path / name
    assert picture.stat().st_size < LARGEST
    ElementTree.parse(picture)
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_a_terminal_shows_each_rung_once(tmp_path: Path) -> None:
    main(["terminal-ladder.svg", "--folder", str(tmp_path)])
    text = "".join(ElementTree.parse(tmp_path / "terminal-ladder.svg").getroot().itertext()).replace("\xa0", " ")
    rows = [line for line in text.splitlines() if line.startswith("tiles/06_register_tile") and " ok " in line]
    assert len(rows) == 1


@pytest.mark.parametrize("name", [*CHARTS, *TERMINALS, *PAGES, *SITES])
def test_docs_has_each_picture(name: str) -> None:
    content = (DOCS / name).read_bytes()
    assert str(ROOT).encode() not in content
    assert str(Path.home()).encode() + b"/" not in content
    assert len(content) < (LARGEST_PAGE if name.endswith(".png") else LARGEST)


def test_folders_of_this_machine_are_hidden_and_long_output_is_cut() -> None:
    assert private(f"{ROOT}/a and {Path.home()}/b") == "./a and ~/b"
    lines = shortened("\n".join(map(str, range(200)))).splitlines()
    assert len(lines) == MOST_LINES
    assert lines[-1] == "..."


def test_an_unknown_picture_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["nosuch.svg"])
    assert "nosuch.svg" in capsys.readouterr().err
