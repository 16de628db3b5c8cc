"""How many programs random products build on an H200's facts: no more than now, on the way to LIMIT for every type."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from paths import BENCHMARKS
from says import says

from tilewright.core.problem import Gemm
from tilewright.core.records import load_record
from tilewright.dispatch.choice import plan_product
from tilewright.dispatch.table_files import FOLDER, file_name, load_table
from tilewright.dispatch.tuned import NO_TABLES, Tables, is_settled, key_of
from tools.programs_built import (
    FACTS,
    LIMIT,
    TYPES,
    lines,
    main,
    program_of,
    programs_of,
    random_product,
    random_products,
)

H200 = load_record(FACTS).environment.device
TABLES = Tables((load_table(FOLDER / file_name(H200.name)),))
# What 200 products build: the kernels of tensor cores still have a program for each layout, tile and way to store.
MOST = {"float32": 27, "float64": 65, "float16": 84, "bfloat16": 84, "int8": 58, "complex64": 33}


@pytest.mark.parametrize("dtype", TYPES)
def test_few_programs_are_built(dtype: str) -> None:
    found = programs_of(random_products(dtype, 200, 1), H200, TABLES)
    assert LIMIT <= len(found) <= MOST[dtype]
    assert (
        sum(name.startswith(("portable/any_layout", "gemv/rows[any", "gemv/columns[any")) for name, _ in found.values())
        <= LIMIT
    )


def test_a_plan_depends_on_no_other() -> None:
    products = random_products("float32", 20, 3)
    forwards = [program_of(plan_product(each, H200, TABLES).steps[-1]) for each in products]
    backwards = [program_of(plan_product(each, H200, TABLES).steps[-1]) for each in reversed(products)]
    assert forwards == backwards[::-1]


def test_what_a_table_has_settled_is_chosen_by_the_models_alone() -> None:
    problem = Gemm(1, 4096, 4096)
    assert is_settled(problem, H200, TABLES)
    assert not is_settled(problem, H200, NO_TABLES)
    settled, few = (plan_product(problem, H200, tables).steps[-1].kernel.name for tables in (TABLES, NO_TABLES))
    assert settled == "gemv/columns"
    assert few == "gemv/columns[any layout]"
    assert key_of(problem) in TABLES.known[0].settled


def test_other_vendors_build_what_they_built() -> None:
    other = replace(H200, name="another", vendor="another", features=frozenset(), compute_capability=None)
    assert plan_product(Gemm(40, 50, 60), other).steps[-1].kernel.name == "portable/main_loop"


def test_the_record_has_every_type_and_its_table_names_those_with_many() -> None:
    record = json.loads((BENCHMARKS / "h200-programs.json").read_text())
    assert set(record["types"]) == set(TYPES)
    *rows, verdict = lines(record)
    assert len(rows) == 1 + len(TYPES)
    assert says(verdict, LIMIT, *(dtype for dtype, row in record["types"].items() if row["programs"] > LIMIT))


def test_a_seed_gives_the_same_products() -> None:
    one, same, other = ([random_product(random.Random(seed), "float32") for _ in "ab"] for seed in (1, 1, 2))
    assert one == same != other


def test_wrong_options_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, named in ((["--count", "0"], "0 products"), (["--json", str(tmp_path / "none" / "x.json")], "none")):
        with pytest.raises(SystemExit):
            main(words)
        assert named in capsys.readouterr().err
