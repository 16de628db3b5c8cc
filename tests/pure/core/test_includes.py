"""Files that a kernel includes: put in as the preprocessor would, or refused by a sentence. And how a file is decoded."""

from pathlib import Path

import pytest

from tilewright.analysis.explain.clc.preprocess import preprocess
from tilewright.core.custom import custom_kernel
from tilewright.core.includes import with_includes
from tilewright.core.kernel import render
from tilewright.core.problem import Gemm
from tilewright.core.source import decoded, read_source, without_comments
from tilewright.errors import InvalidInput, SourceError


def expanded(folder: Path, files: dict[str, str], macros: dict[str, str | int] | None = None) -> list[str]:
    """The tokens that a compiler sees of `main.cl`, one of `files` in the folder."""
    for name, text in files.items():
        (folder / name).write_text(text)
    main = folder / "main.cl"
    whole = with_includes(main.read_text(), main, macros or {})
    return [token.text for token in preprocess(whole, macros=macros).tokens if token.kind != "end"]


GUARDED = '#ifndef {0}_H\n#define {0}_H\n#include "{1}"\nint {0};\n#endif\n'


def test_headers_that_include_each_other_behind_guards_are_legal(tmp_path: Path) -> None:
    files = {"main.cl": '#include "a.h"\n#include "b.h"\nint c;\n'}
    files |= {"a.h": GUARDED.format("a", "b.h"), "b.h": GUARDED.format("b", "a.h")}
    assert expanded(tmp_path, files) == ["int", "b", ";", "int", "a", ";", "int", "c", ";"]


def test_pragma_once_is_obeyed(tmp_path: Path) -> None:
    files = {"main.cl": '#include "a.h"\n#include "a.h"\n', "a.h": '#pragma once\n#include "a.h"\nint a;\n'}
    assert expanded(tmp_path, files) == ["int", "a", ";"]


def test_pragma_once_counts_only_where_the_file_was_live(tmp_path: Path) -> None:
    files = {
        "main.cl": '#ifdef ABSENT\n#include "a.h"\n#endif\n#include "a.h"\nint b;\n',
        "a.h": "#pragma once\nint a;\n",
    }
    assert expanded(tmp_path, files) == ["int", "a", ";", "int", "b", ";"]


def test_one_file_may_be_included_again_with_other_macros(tmp_path: Path) -> None:
    files = {
        "main.cl": '#define NAME a\n#include "x.h"\n#undef NAME\n#define NAME b\n#include "x.h"\n',
        "x.h": "int NAME;\n",
    }
    assert expanded(tmp_path, files) == ["int", "a", ";", "int", "b", ";"]


def test_a_file_that_includes_itself_until_a_macro_ends_it_is_legal(tmp_path: Path) -> None:
    """Which the preprocessor alone can know: what is put in too deep is an error that never becomes live."""
    again = (
        "int a;\n#ifdef TWO\n#define THREE\n#endif\n#ifdef ONE\n#define TWO\n#endif\n#define ONE\n"
        '#if !defined(THREE) && 1\n#include "x.h"\n#endif\n'
    )
    assert expanded(tmp_path, {"main.cl": '#include "x.h"\n', "x.h": again}) == ["int", "a", ";"] * 3


@pytest.mark.parametrize(
    "text",
    [
        '#if 0\n#include "nothere.h"\n#endif\nint a;\n',
        '#if 1\nint a;\n#else\n#include "nothere.h"\n#endif\n',
        '#ifdef ABSENT\n#include "nothere.h"\n#endif\nint a;\n',
        '#define X\n#ifndef X\n#include "nothere.h"\n#endif\nint a;\n',
        '/* as in\n#include "nothere.h"\n*/ int a;\n',
        '// \\\n#include "nothere.h"\nint a;\n',
        '#if 0\n#if 1\n#include "nothere.h"\n#endif\n#else\nint a;\n#endif\n',
        '#if defined(cl_khr_nothing)\n#include "nothere.h"\n#elif 1\nint a;\n#endif\n',
        '#if !defined(REAL)\n#include "nothere.h"\n#endif\nint a;\n',
    ],
)
def test_an_include_that_does_not_count_needs_no_file(text: str, tmp_path: Path) -> None:
    assert expanded(tmp_path, {"main.cl": text}, {"REAL": "float"}) == ["int", "a", ";"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('int a;\n#include "nothere.h"\n', 2),
        ('#if 1\n#include "nothere.h"\n#endif\n', 2),
        ('/* a comment */ #include "nothere.h"\n', 1),
        ('#ifndef MAIN\n#define MAIN\n\n#include "nothere.h"\n#endif\n', 4),
    ],
)
def test_a_missing_file_is_named_with_the_line_that_wants_it(text: str, line: int, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"nothere\.h") as caught:
        expanded(tmp_path, {"main.cl": text})
    assert (caught.value.file, caught.value.line) == (f"{tmp_path.name}/main.cl", line)


def test_a_missing_file_behind_an_unknown_condition_is_told_by_the_compiler(tmp_path: Path) -> None:
    text = '#if defined(__OPENCL_VERSION__) || 0\n\n#include "nothere.h"\n#endif\n'
    with pytest.raises(SourceError, match=r"nothere\.h") as caught:
        expanded(tmp_path, {"main.cl": text})
    assert caught.value.line == 3


def test_endless_includes_are_refused_with_their_chain(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"\S+/main\.cl -> \S+/main\.cl$"):
        expanded(tmp_path, {"main.cl": '#include "main.cl"\n'})
    files = {"main.cl": '#include "a.h"\n', "a.h": '#include "b.h"\n', "b.h": '#include "a.h"\n'}
    with pytest.raises(SourceError, match=r"(\S+/a\.h -> \S+/b\.h -> \S+/a\.h|\S+b\.h -> .*b\.h)$"):
        expanded(tmp_path, files)


def test_includes_that_double_have_a_limit(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="1,000"):
        expanded(tmp_path, {"main.cl": '#if X > 1\n#include "main.cl"\n#include "main.cl"\n#endif\n'})


def test_lines_keep_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("/* two\nlines */ int a;\n")
    main = tmp_path / "main.cl"
    main.write_text('int x;\n#include "a.h" /* and\nmore */\nint y;\n')
    tokens = preprocess(with_includes(main.read_text(), main, {})).tokens
    places = {token.text: (Path(token.position.file).name, token.position.line) for token in tokens}
    assert (places["x"], places["a"], places["y"]) == (("main.cl", 1), ("a.h", 2), ("main.cl", 4))


def test_a_kernel_in_the_current_folder_is_named_without_a_slash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.cl").write_text("__kernel void mine(__global REAL* C) {}\n")
    monkeypatch.chdir(tmp_path)
    kernel = custom_kernel("mine.cl", ("M",), ("1",))
    assert kernel.name == "mine"
    assert '#line 1 "mine.cl"' in render(kernel, kernel.config, Gemm(1, 1, 1))


SOURCE = "// {}\n__kernel void f(__global float* C) {{}}\n"


@pytest.mark.parametrize(
    ("comment", "encoding"),
    [
        ("Größe, naïve, café", "latin-1"),
        ("Matrizen, für jede Größe", "utf-8-sig"),
        ("矩阵乘法的内核", "gbk"),
        ("矩阵乘法", "utf-16"),
        ("矩阵", "utf-8"),
    ],
)
def test_comments_of_any_encoding_are_read(comment: str, encoding: str) -> None:
    text = SOURCE.format(comment)
    assert decoded(text.encode(encoding)) == text


def test_a_second_byte_that_is_a_backslash_continues_no_line() -> None:
    data = b"// " + "矩阵".encode("gbk") + b"\x95\x5c\nint a;\n"
    assert without_comments(decoded(data)).split() == ["int", "a;"]


def test_lines_of_windows_are_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.cl"
    path.write_bytes(b"#define A \\\r\n 1\r\nint a = A;\r")
    assert read_source(path) == "#define A \\\n 1\nint a = A;\n"


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.cl"
    path.write_bytes(b"\x7fELF\0\0\1")
    with pytest.raises(InvalidInput, match=r"a\.cl"):
        read_source(path)
    with pytest.raises(InvalidInput, match=r"absent\.cl"):
        read_source(tmp_path / "absent.cl")
