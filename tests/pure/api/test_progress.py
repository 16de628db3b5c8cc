"""Progress in a notebook, and silence elsewhere."""

import sys
from types import SimpleNamespace

import pytest

from tilewright.api.progress import progress_line
from tilewright.measurement.progress import Phase


class Notebook:
    """Stands for IPython: keeps what the one line showed."""

    def __init__(self, kernel: object) -> None:
        self.lines: list[str] = []
        self.get_ipython = lambda: SimpleNamespace(kernel=kernel)
        self.display = SimpleNamespace(Pretty=str, display=self.show)

    def show(self, text: str, display_id: bool) -> "Notebook":
        assert display_id
        self.update(text)
        return self

    def update(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    made = Notebook(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", made)
    return made


def test_a_notebook_shows_one_line_that_disappears(notebook: Notebook) -> None:
    with progress_line("ladder tiles") as announce:
        announce(Phase("building tiles/01_naive", 1, 9, 75.0))
        announce(Phase("measuring"))
    first, *middle, last = notebook.lines
    assert first.startswith("ladder tiles")
    assert last == ""
    assert "ladder tiles: building tiles/01_naive 2 of 9" in middle[0]
    assert "1 min 15 s" in middle[0]
    assert "measuring" in middle[1]


def test_it_disappears_after_an_error_too(notebook: Notebook) -> None:
    with pytest.raises(KeyError), progress_line("run"):
        raise KeyError
    assert notebook.lines[-1] == ""


@pytest.mark.parametrize("shell", ["none", "terminal"])
def test_nothing_is_printed_elsewhere(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Notebook(kernel=None)
    if shell == "terminal":
        monkeypatch.setitem(sys.modules, "IPython", terminal)
    else:
        monkeypatch.delitem(sys.modules, "IPython", raising=False)
    with progress_line("run") as announce:
        announce(Phase("measuring"))
    assert not terminal.lines
    assert not capsys.readouterr().out
