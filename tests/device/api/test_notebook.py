"""The notebook of the examples runs from its first cell to its last, and is kept without outputs.

Its cells are executed by a plain loop: this tests tilewright's calls. Jupyter itself would add thirty packages to the tests.
"""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[3] / "examples" / "first_steps.ipynb"
CELLS: list[dict[str, Any]] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


def shown(source: str, names: dict[str, Any]) -> Any:
    """Run a cell and return the value of its last line, which a notebook shows."""
    *statements, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        statements, last_value = [*statements, last], None
    else:
        last_value = last.value
    exec(compile(ast.Module(statements, []), str(NOTEBOOK), "exec"), names)
    return None if last_value is None else eval(compile(ast.Expression(last_value), str(NOTEBOOK), "eval"), names)


@pytest.mark.usefixtures("device_number")
def test_the_notebook_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    values = [shown("".join(cell["source"]), names) for cell in CELLS if cell["cell_type"] == "code"]
    tables = [each._repr_html_() for each in values if hasattr(each, "_repr_html_")]
    assert len(tables) == 2
    assert "faults" in repr(names["padded"])
    assert "cpu/02" in tables[1]
    assert values[-2] < 1e-3, "the product"
    assert "fewer" in capsys.readouterr().out


def test_the_notebook_is_kept_without_outputs() -> None:
    assert not [cell for cell in CELLS if cell.get("outputs") or cell.get("execution_count")]
