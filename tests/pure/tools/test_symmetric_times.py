"""`tools.symmetric_times` before it measures."""

import pytest

from tools.symmetric_times import main


def test_settings_of_a_blas_are_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """NumPy would obey them."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr("sys.argv", ["symmetric_times"])
    with pytest.raises(SystemExit):
        main()
    assert "unset" in (told := capsys.readouterr().err)
    assert "OMP_NUM_THREADS" in told
