"""The language of sentences: how it is chosen, what is translated, and what stays English."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from tilewright.analysis.explain.serialise import to_dict
from tilewright.analysis.explanations import explain
from tilewright.core.language import (
    Sentence,
    in_english,
    language,
    shown,
    translated,
    translated_count,
    use_language,
)
from tilewright.core.records import to_json
from tilewright.errors import UnknownName
from tilewright.kernels import LADDERS

TITLE = LADDERS["tiles"].title


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "ru_RU"}, "ru"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_GB.UTF-8"}, "en"),
        ({"LANGUAGE": "fr:ru:en", "LANG": "zh_CN"}, "ru"),
    ],
)
def test_the_environment_chooses(variables: dict[str, str], expected: str) -> None:
    code = "from tilewright.core.language import language; print(language())"
    kept = {
        name: value for name, value in os.environ.items() if name not in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
    }
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=kept | variables
    )
    assert done.stdout.strip() == expected


def test_a_language_that_there_is_not_is_refused() -> None:
    with pytest.raises(UnknownName, match="fr"):
        use_language("fr")


def test_sentences_are_said_in_the_chosen_language() -> None:
    assert translated(TITLE) == TITLE
    use_language("zh")
    assert translated(TITLE) != TITLE
    assert translated("a {sentence} that nobody translated", sentence=1) == "a 1 that nobody translated"
    with in_english():
        assert language() == "en"
        assert translated(TITLE) == TITLE
    assert language() == "zh"


def test_counts_have_the_forms_of_their_language() -> None:
    one, several = "{count} turn", "{count} turns"
    assert [translated_count(one, several, count, count=count) for count in (1, 2)] == ["1 turn", "2 turns"]
    use_language("zh")
    assert translated_count(one, several, 1, count=1) == translated_count(one, several, 2, count=2).replace("2", "1")


@pytest.mark.parametrize(
    ("count", "form"),
    [
        ("1", 0),
        ("1,021", 0),
        ("1.6", 1),
        ("3", 1),
        ("22", 1),
        ("8", 2),
        ("11", 2),
        ("12", 2),
        ("1,000", 2),
        (4, 1),
        (20, 2),
    ],
)
def test_counts_as_they_are_read_have_their_russian_form(count: int | str, form: int) -> None:
    one, several = "{ratio} time fewer", "{ratio} times fewer"
    forms = (f"в {count} раз меньше", f"в {count} раза меньше", f"в {count} раз меньше")
    use_language("ru")
    assert translated_count(one, several, count, ratio=count) == forms[form]
    use_language("en")
    assert translated_count(one, several, count, ratio=count) == (several if count != "1" else one).format(ratio=count)


def test_explain_counts_turns_in_russian_forms(tmp_path: Path) -> None:
    """Of 32 lanes six update the busiest of six places."""
    file = tmp_path / "count.cl"
    file.write_text(
        "// tilewright: --global 32 --local 32 --arg bins=u32[6]\n"
        "__kernel void count(__global uint* bins) { atomic_inc(&bins[get_global_id(0) % 6]); }\n"
    )
    use_language("ru")
    assert "6 очередей" in str(explain(file))


def test_a_list_of_21_lines_has_a_plural(tmp_path: Path) -> None:
    """Russian has the singular after 21, but not before a list of 21."""
    file = tmp_path / "many.cl"
    loads = "".join(f"    sum += x[i + {32 * each}];\n" for each in range(20))
    file.write_text(
        "// tilewright: --global 32 --local 32 --arg x=f32[640] --arg y=f32[32]\n"
        "__kernel void many(__global const float* x, __global float* y)\n{\n    const int i = get_global_id(0);\n"
        f"    float sum = 0;\n{loads}    y[i] = sum;\n}}\n"
    )
    use_language("ru")
    assert "числом 21 (строки 6, 7, 8" in str(explain(file))


def test_a_sentence_is_english_until_it_is_shown() -> None:
    inner = Sentence("data race")
    outer = Sentence("{kind}: {text}", kind=inner, text="as it is")
    assert outer == "data race: as it is"
    assert pickle.loads(pickle.dumps(outer)).values == outer.values
    assert json.loads(to_json({"text": outer})) == {"text": "data race: as it is"}
    use_language("zh")
    assert str(outer) == "data race: as it is"
    assert "data race" not in shown(outer)
    assert "as it is" in shown(outer)
    assert shown("as it is") == "as it is"


@pytest.mark.parametrize("rung", ["tiles/2", "known_bad/01", "known_bad/03", "cpu/3"])
def test_explain_is_translated_whole_and_its_data_not_at_all(rung: str) -> None:
    found = explain(rung)
    english, data = str(found), to_json(to_dict(found))
    use_language("zh")
    chinese = str(found)
    assert to_json(to_dict(found)) == data
    assert len(chinese.splitlines()) == len(english.splitlines())
    source = set(found.source.file(found.entry_position.file).values())
    for one, other in zip(english.splitlines(), chinese.splitlines(), strict=True):
        is_source = one[7:] in source
        assert (one == other) == (is_source or not one), one


def test_findings_do_not_depend_on_the_language() -> None:
    english = explain("known_bad/01")
    use_language("zh")
    assert explain("known_bad/01").findings == english.findings
