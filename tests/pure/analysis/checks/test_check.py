"""`check`: budgets in heads and TOML files, baselines, SARIF, annotations, JSON."""

import json
import os
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from paths import ROOT

from tilewright import check
from tilewright.analysis.checks.baseline import load_baseline
from tilewright.analysis.checks.checked import Problem
from tilewright.analysis.checks.sarif import github_annotation
from tilewright.cli.main import main
from tilewright.core.budgets import Budget, budgets_of_table, head_budgets, read_budgets
from tilewright.core.kernel_options import is_budget
from tilewright.errors import InvalidInput, RecordError, TilewrightError

HEAD = "// tilewright: --problem copy --global COLUMNS,ROWS --local 32,4\n"
COPY = """__kernel void same(__global const float *input, __global float *output, int ROWS, int COLUMNS)
{
    int x = get_global_id(0), y = get_global_id(1);
    output[y * COLUMNS + x] = input[y * COLUMNS + x];
}
"""
SLOW = COPY.replace("input[y * COLUMNS + x]", "input[x * COLUMNS + y]")
LOCAL = """__kernel void turned(__global const float *x, __global float *y, __local float *t, int step)
{
    int l = get_local_id(0);
    t[l * step % 1024] = x[l];
    BARRIER
    y[l] = t[(l + 1) % 32 * step % 1024];
}
"""
TOML = """[[kernel]]
file = "local.cl"
entry = "turned"
global = [32]
local = [32]
define = { BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);" }
arguments = { x = "f32[32]", y = "[32]", t = "local:4096", step = STEP }
budget = { conflicts = 1, sectors = { x = 4 }, faults = 0 }
"""
Write = Callable[[str, str], Path]
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)

    def put(name: str, text: str) -> Path:
        (tmp_path / name).write_text(text)
        return Path(name)

    return put


@pytest.fixture
def toml(write: Write) -> Callable[..., Path]:
    def put(step: int = 1, barrier: bool = True) -> Path:
        write("local.cl", LOCAL)
        text = TOML.replace("STEP", str(step))
        return write("tilewright.toml", text if barrier else text.replace("barrier(CLK_LOCAL_MEM_FENCE);", ""))

    return put


def rules(found: Any) -> list[str]:
    return [each.rule for each in found.problems]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max conflicts 1", [("conflicts", "", 1.0)]),
        ("max sectors A 4, no race,no conflicts", [("sectors", "A", 4.0), ("race", "", 0.0), ("conflicts", "", 1.0)]),
        ("max  moved_bytes  1e6", [("moved_bytes", "", 1e6)]),
    ],
)
def test_budgets_are_read(text: str, expected: list[tuple[str, str, float]]) -> None:
    assert is_budget(text)
    assert [(each.measure, each.buffer, each.limit) for each in read_budgets(text, "a.cl", 3)] == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max conflicts", "'max conflicts' is no budget"),
        ("max conflicts many", "is no budget"),
        ("max conflict 1", "did you mean|conflicts"),
        ("max faults A 1", "only conflicts and sectors are measured by buffer"),
        ("max sectors -1", "at least 0"),
        ("max sectors nan", "at least 0"),
        ("no race, ", "is no budget"),
        ("no rain", "race"),
    ],
)
def test_words_that_are_no_budget_are_told(text: str, words: str) -> None:
    with pytest.raises(TilewrightError, match=words) as error:
        read_budgets(text, "a.cl", 3)
    assert "a.cl:3" in str(error.value)


def test_budgets_of_a_table() -> None:
    found = budgets_of_table({"conflicts": 1, "sectors": {"A": 4, "B": 2.5}}, "a.toml", 7)
    assert found == (
        Budget("conflicts", 1.0, "", "a.toml", 7), Budget("sectors", 4.0, "A", "a.toml", 7),
        Budget("sectors", 2.5, "B", "a.toml", 7),
    )  # fmt: skip
    for wrong in ({"conflicts": True}, {"conflicts": "1"}, {"sectors": {"A": [1]}}):
        with pytest.raises(InvalidInput, match="a limit is a number"):
            budgets_of_table(wrong, "a.toml")


def test_a_head_has_options_and_budgets(write: Write, capsys: Captured) -> None:
    path = write(
        "same.cl", f"{HEAD}/* more\n * tilewright: max sectors 4, no race */\n{COPY}// tilewright: max sectors 0\n"
    )
    assert [(each.name, each.line) for each in head_budgets(path)] == [("sectors", 3), ("race", 3)]
    assert main(["check", str(path)]) == 0
    assert "same.cl:same 256x256 by 32x4: ok (faults 0, conflicts 1, sectors 4," in capsys.readouterr().out
    assert main(["explain", str(path)]) == 0


def test_a_budget_that_is_exceeded_fails(write: Write, capsys: Captured) -> None:
    path = write("same.cl", f"{HEAD}// tilewright: max sectors input 4, max sectors output 4\n{SLOW}")
    assert main(["check", str(path), "--github"]) == 1
    text = capsys.readouterr().out
    assert text.startswith(
        "::error file=same.cl,line=6,col=36,title=over-budget-sectors::sectors input is 32, and 4 is allowed"
    )
    assert "\nsame.cl:6:36: sectors input is 32, and 4 is allowed: line 6 reads input with a stride" in text
    assert "output" not in text.split("same.cl:same")[0].replace("max sectors output", "")


@pytest.mark.parametrize(
    ("step", "barrier", "expected"),
    [(1, True, []), (32, True, ["over-budget-conflicts"]), (1, False, ["data-race"])],
)
def test_a_toml_file_gives_arguments(toml: Callable[..., Path], step: int, barrier: bool, expected: list[str]) -> None:
    found = check(toml(step, barrier))
    assert rules(found) == expected
    assert found.kernels[0].values()["sectors x"] == 4


SEVERAL = """// tilewright: --global 64 --local 32 --arg x=f32[64]
// tilewright: no race

// tilewright: --arg y=f32[64]
// tilewright: max sectors 4
__kernel void near(__global const float *x, __global float *y) { y[get_global_id(0)] = x[get_global_id(0)]; }

// tilewright: --arg y=f32[2048]
// tilewright: max sectors x 4, max sectors y LIMIT
__kernel void far(__global const float *x, __global float *y) { y[32 * get_global_id(0)] = x[get_global_id(0)]; }

__kernel void plain(__global float *x) { x[get_global_id(0) + 1] = 0; }
"""


@pytest.mark.parametrize(("limit", "code"), [("32", 0), ("4", 1)])
def test_kernels_of_one_file_have_their_own_budgets(write: Write, capsys: Captured, limit: str, code: int) -> None:
    path = write("several.cl", SEVERAL.replace("LIMIT", limit))
    assert main(["check", str(path)]) == code
    text = capsys.readouterr().out
    assert "several.cl:near 64 by 32: ok" in text
    assert ("several.cl:far 64 by 32: ok" in text) == (not code)
    assert ("several.cl:10:66: sectors y is 32, and 4 is allowed" in text) == bool(code)
    assert "plain" not in text  # it has no lines of its own
    assert [each.name for each in head_budgets(path, "far")] == ["race", "sectors x", "sectors y"]
    assert main(["explain", str(path), "--entry", "far"]) == 0
    assert "assumed" not in capsys.readouterr().out


def test_a_table_names_one_of_several_kernels(write: Write) -> None:
    path = write("several.cl", SEVERAL.replace("LIMIT", "4"))
    toml = write(
        "other.toml", f'[[kernel]]\nfile = "{path.name}"\nentry = "far"\nbudget = {{ sectors = {{ y = 32 }} }}\n'
    )
    assert rules(check(toml)) == []


def test_the_entry_of_the_head_is_checked_alone(write: Write) -> None:
    path = write("several.cl", SEVERAL.replace("LIMIT", "4").replace("--global", "--entry near --global"))
    assert [each.entry for each in check(path).kernels] == ["near"]


def test_budgets_may_allow_faults(toml: Callable[..., Path]) -> None:
    path = toml(1, False)
    path.write_text(path.read_text().replace("faults = 0", "faults = 1, race = 1"))
    assert rules(check(path)) == []
    path.write_text(path.read_text().replace("faults = 1, race = 1", "bounds = 0"))
    assert rules(check(path)) == ["data-race"]


def test_a_toml_file_beside_a_kernel_is_used(toml: Callable[..., Path]) -> None:
    toml(32)
    assert rules(check(["local.cl", "tilewright.toml"])) == ["over-budget-conflicts"]


def test_arrays_come_from_files(toml: Callable[..., Path], tmp_path: Path) -> None:
    path = toml()
    np.save(tmp_path / "x.npy", np.zeros(31, np.float32))
    path.write_text(path.read_text().replace('"f32[32]"', '"x.npy"'))
    assert rules(check(path)) == ["out-of-bounds"]


def test_files_are_named_from_the_folder_of_the_toml_file(write: Write, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "folder").mkdir()
    np.arange(48, dtype=np.float32).tofile(tmp_path / "below" / "x.bin")
    np.save(tmp_path / "below" / "folder" / "y.npy", np.zeros(32, np.float32))
    write("below/folder/barrier.h", "#define BARRIER barrier(CLK_LOCAL_MEM_FENCE);\n")
    write("below/local.cl", '#include "barrier.h"\n' + LOCAL)
    text = TOML.replace("STEP", "1").replace('"f32[32]"', '"x.bin:f32"')
    text = re.sub("define = .*", 'include = ["folder"]\ninit = { y = "folder/y.npy" }', text)
    assert rules(check(write("below/local.toml", text))) == []


def test_options_of_the_head_and_of_the_table_are_joined(write: Write) -> None:
    """Without the offset or the smaller group at the edge, elements of y would not lie where x is read."""
    write(
        "moved.cl",
        """// tilewright: --arg y=f32[40] --local 32 --init x=1
// tilewright: max sectors x 2, max sectors y 2
__kernel void moved(__global const float *x, __global float *y, int step)
{
    y[get_global_id(0) - 64] = x[get_global_id(0) - WAY * step];
}
""",
    )
    text = """[[kernel]]
define = { WAY = 64 }
global = "step*40"
arguments = { x = "[40]", step = 1 }
ragged = true
global_offset = [64]
budget = { sectors = { x = 4 } }
"""
    found = check(write("moved.toml", text))
    assert [each.name for each in found.kernels] == ["moved.cl:moved 40 by 32"]
    assert [each.message.split(":")[0] for each in found.problems] == ["sectors y is 2.5, and 2 is allowed"]
    beyond = check(write("moved.toml", text.replace("ragged = true", "")))
    assert "out-of-bounds" in rules(beyond)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("turned", "turner", "turner"),
        ('"f32[32]"', '"f32(32)"', "x is a float .: give a buffer"),
        ('"f32[32]"', '"i32[32]"', "i32 does not fit"),
        ('"f32[32]"', '"none.npy"', "there is no file none.npy"),
        ("step = 1", "stop = 1", "step"),
        ("local.cl", "none.cl", "none.cl"),
        ("global = [32]", "global = 0", "the NDRange is empty"),
        ("global = [32]", "global = 1.5", "1.5 is no size in work-items"),
        ("global = [32]", "global = true", "True is no size in work-items"),
        ("global = [32]", 'global = "N"', "no size or macro is called 'N'; known: step"),
    ],
)
def test_what_cannot_be_explained_is_a_problem(toml: Callable[..., Path], old: str, new: str, words: str) -> None:
    path = toml()
    path.write_text(path.read_text().replace(old, new))
    (problem,) = check(path).problems
    assert problem.rule == "not-explained"
    assert re.search(words, problem.message)


def test_syntax_errors_have_their_line(write: Write) -> None:
    path = write("local.cl", LOCAL.replace("= x[l];", "= x[l;"))
    toml_path = write("local.toml", TOML.replace("STEP", "1"))
    (problem,) = check(toml_path).problems
    assert (problem.rule, problem.line, problem.file) == ("not-explained", 4, str(path))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[kernel]\n", "tilewright.toml"),
        ("x = 1\n", r"\[\[kernel\]\]"),
        ("[[kernel]]\nbudgets = {}\n", "budget"),
        ("[[kernel]]\nbudget = 3\n", "is no dict"),
        ("[[kernel]]\nbudget = { conflict = 1 }\n", "conflicts"),
    ],
)
def test_a_toml_file_that_is_not_understood_is_misuse(write: Write, text: str, words: str, capsys: Captured) -> None:
    assert main(["check", str(write("tilewright.toml", text))]) == 2
    assert re.search(words, " ".join(capsys.readouterr().err.split()))


def test_a_baseline_is_written_and_compared(toml: Callable[..., Path], capsys: Captured, tmp_path: Path) -> None:
    path, baseline = toml(), tmp_path / "kernels.json"
    path.write_text(path.read_text().replace("conflicts = 1", "conflicts = 99"))
    command = ["check", str(path), "--baseline", str(baseline)]
    assert main(command) == 0
    assert json.loads(baseline.read_text())["kernels"]["local.cl:turned 32 by 32"]["conflicts t"] == 1
    path.write_text(path.read_text().replace("step = 1", "step = 2"))
    assert main(command) == 1
    assert "conflicts t is 2, and was 1 in the baseline" in capsys.readouterr().out
    assert main([*command, "--update-baseline"]) == 0
    assert main(command) == 0
    path.write_text(path.read_text().replace("step = 2", "step = 1"))
    assert main(command) == 0  # better is no problem


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "tilewright baseline 1", "kernels": {"a": 3}}'])
def test_what_is_no_baseline_is_told(toml: Callable[..., Path], tmp_path: Path, text: str) -> None:
    (tmp_path / "kernels.json").write_text(text)
    with pytest.raises(RecordError, match=r"kernels\.json"):
        check(toml(), baseline="kernels.json")


def test_json_is_as_the_schema_says(toml: Callable[..., Path], tmp_path: Path) -> None:
    schema = json.loads(files("tilewright.analysis.checks").joinpath("check.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    toml(32, False)
    file = tmp_path / "found.json"
    assert main(["check", "tilewright.toml", "--json", str(file)]) == 1
    found = json.loads(file.read_text())
    validator.validate(found)
    assert len(found["kernels"][0]["problems"]) == 2
    Path("local.cl").write_text("__kernel void")
    validator.validate(check("tilewright.toml").to_dict())
    for wrong in ({}, {**found, "format": "else"}, {**found, "kernels": [{}]}):
        assert not validator.is_valid(wrong)


def test_sarif_has_what_the_standard_requires(toml: Callable[..., Path], tmp_path: Path) -> None:
    toml(32, False)
    file = tmp_path / "found.sarif"
    assert main(["check", "tilewright.toml", "--sarif", str(file)]) == 1
    log = json.loads(file.read_text())
    assert log["version"] == "2.1.0"  # 3.13.2
    (run,) = log["runs"]  # 3.13.4
    driver = run["tool"]["driver"]  # 3.14.6, 3.18.2
    assert driver["name"] == "tilewright"
    assert len({each["id"] for each in driver["rules"]}) == len(driver["rules"])  # 3.49.3
    assert run["results"]
    for each in run["results"]:
        assert each["message"]["text"]  # 3.27.11
        assert driver["rules"][each["ruleIndex"]]["id"] == each["ruleId"]  # 3.27.5, 3.27.6
        (location,) = each["locations"]
        place = location["physicalLocation"]
        assert not place["artifactLocation"]["uri"].startswith("/")  # 3.4.3
        assert place["region"]["startLine"] >= 1  # 3.30.5
        assert place["region"]["startColumn"] >= 1
    assert check("tilewright.toml").to_sarif() == log


def test_a_name_that_is_no_text_or_has_blanks_goes_to_json_and_sarif(tmp_path: Path, write: Write) -> None:
    name = os.fsdecode(b"a b\xff.cl")
    Path(name).write_text(f"{HEAD}// tilewright: max sectors input 4\n{SLOW}")
    assert main(["check", name, "--json", "found.json", "--sarif", "found.sarif"]) == 1
    (kernel,) = json.loads(Path("found.json").read_text())["kernels"]
    assert kernel["file"] == kernel["problems"][0]["file"] == "a b?.cl"
    (run,) = json.loads(Path("found.sarif").read_text())["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"] == "a%20b%3F.cl"


def test_annotations_are_escaped() -> None:
    problem = Problem("data-race", "50% of\nit", "a,b:c.cl", 3, 4)
    assert github_annotation(problem) == "::error file=a%2Cb%3Ac.cl,line=3,col=4,title=data-race::50%25 of%0Ait"


def test_the_hook_names_a_command() -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    assert "entry: tilewright check\n" in text
    assert r"files: \.cl$" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "none.cl"], "none.cl is not there"),
        (["check", "."], "is a folder"),
        (["check", "x.txt"], "takes .cl and .toml files"),
        (["check", "x.cl", "--update-baseline"], "needs --baseline FILE"),
    ],
)
def test_misuse_is_told(write: Write, arguments: list[str], words: str, capsys: Captured) -> None:
    write("x.txt", "")
    write("x.cl", COPY)
    assert main(arguments) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_a_budget_allows_faults_of_its_own_kind_only(write: Write) -> None:
    beyond = (
        "__kernel void both(__global int *o)\n{\n    o[get_local_id(0) / 2] = get_local_id(0);\n    o[99] = 1;\n}\n"
    )
    head = "// tilewright: --arg o=i32[32] --global 32 --local 32\n// tilewright: {}\n"
    for budget, expected in (
        ("max race 9", {"out-of-bounds"}),
        ("max bounds 9", {"data-race"}),
        ("max faults 9", set()),
        ("max race 9, max bounds 9", set()),
        ("max faults 9, no race", {"data-race"}),
    ):
        assert set(rules(check(write("both.cl", head.format(budget) + beyond)))) == expected, budget


TWICE = """[[kernel]]
file = "padded.cl"
global = [32]
local = [32]
define = { PAD = 0 }
budget = { conflicts = FIRST }

[[kernel]]
file = "padded.cl"
global = [32]
local = [32]
define = { PAD = 1 }
budget = { conflicts = 1 }
"""
PADDED = """__kernel void padded(__global float *x)
{
    __local float t[32][32 + PAD];
    int l = get_local_id(0);
    t[l][0] = x[l];
    x[l] = t[l][0];
}
"""


@pytest.mark.parametrize(("first", "failures"), [("1", 1), ("40", 0)])
def test_one_kernel_with_two_settings(first: str, failures: int, write: Write) -> None:
    """Tables that differed in settings alone were one: the last. With other budgets they shared a baseline's name."""
    write("padded.cl", PADDED)
    path = write("padded.toml", TWICE.replace("FIRST", first))
    found = check([path, path], baseline="base.json")
    assert [each.values()["conflicts"] for each in found.kernels] == [32, 1]
    assert [each.name for each in found.kernels] == [
        "padded.cl:padded 32 by 32", "padded.cl:padded 32 by 32 with define = {'PAD': 1}",
    ]  # fmt: skip
    assert len(found.problems) == failures
    again = check(path, baseline="base.json")
    assert len(again.problems) == failures, "nothing became worse"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--sarif", "same.cl", "other.cl"], "--sarif same.cl: the name must end in .sarif or .json"),
        (["--update-baseline", "other.cl", "--baseline", "same.cl"], "same.cl is no JSON"),
        (["--update-baseline", "other.cl", "--baseline", "data.json"], "data.json is no baseline of tilewright check"),
        (["other.cl", "--baseline", "/dev/zero"], "/dev/zero cannot be read: it is not a file"),
        (["other.cl", "--sarif", "/dev/full"], "/dev/full: No space left on device"),
    ],
)
def test_no_file_is_overwritten_by_a_forgotten_name(
    words: list[str], complaint: str, write: Write, capsys: Captured
) -> None:
    for name, text in (("same.cl", HEAD + COPY), ("other.cl", HEAD + COPY), ("data.json", "{}")):
        write(name, text)
    assert main(["check", *words])
    assert complaint in capsys.readouterr().err
    assert Path("same.cl").read_text() == HEAD + COPY
    assert Path("data.json").read_text() == "{}"


def test_a_baseline_that_nests_without_an_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    path.write_text("[" * 100_000)
    with pytest.raises(RecordError, match="is no JSON"):
        load_baseline(path)
