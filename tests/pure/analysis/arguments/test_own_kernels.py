"""Kernels whose arguments are their own: what each gets, what is guessed, and what is refused."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tilewright
from tilewright.core.argument_words import name_and_word, read_word
from tilewright.errors import InvalidInput, TilewrightError, UnknownName

ADD = "__kernel void add(__global const float* a, __global const float* b, __global float* c, const uint n)\n" \
      "{ size_t i = get_global_id(0); if (i < n) c[i] = a[i] + b[i]; }\n"  # fmt: skip
SCALE = "__kernel void scale(__global const float* x, __global float* y, int n)\n" \
        "{ int i = get_global_id(0); if (i < n) y[i] = 2 * x[i]; }\n"  # fmt: skip
MIX = """typedef struct { float x; int2 y; char t; float w[3]; } P;
__kernel void mix(__global float* out, P p, float4 v, float3 u, short s, uchar b, ulong big, __global float* maybe)
{
    out[get_global_id(0)] = maybe ? 0 : p.x + 10 * p.y.y + 100 * p.t + p.w[2] + v.w + u.z + s + b + (float)(big >> 40);
}
"""
TWO = """__kernel void one(__global int* x) { x[0] = 1; }
#if W
__kernel void two(__global float* y) { y[get_global_id(0)] = W; }
#endif
"""


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def made(text: str | bytes) -> Path:
        path = tmp_path / "mine.cl"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return made


def test_a_file_alone_is_explained_and_its_guesses_are_options(write: Any) -> None:
    found = tilewright.explain(write(ADD))
    assert not found.faults
    assert found.assumed[0].endswith(
        "--global 1024 --local 64 --arg n=1024 --arg a=f32[1024] --arg b=f32[1024] --arg c=f32[1024]"
    )


def test_values_are_those_of_numpy(write: Any) -> None:
    generator = np.random.default_rng(3)
    a, b = generator.random((2, 777), dtype=np.float32)
    c = np.full(777, np.nan, np.float32)
    found = tilewright.explain(write(ADD), arguments={"a": a, "b": b, "c": c, "n": 777}, groups="all")
    assert np.array_equal(found.outputs["c"], a + b)
    assert np.isnan(c).all()  # the caller's array stays


def test_sizes_may_be_expressions_over_others(write: Any) -> None:
    arguments = {"n": "2*m", "a": "f32[n]", "b": "f32[16,m]", "c": "f32[n+1]"}
    found = tilewright.explain(write(ADD.replace("uint n", "uint n, int m")), arguments={**arguments, "m": 50})
    sizes = {each.buffer: each.elements for each in found.coverage}
    assert sizes == {"a": 100, "b": 800, "c": 101}


def test_a_size_may_use_a_number_that_is_guessed(write: Any) -> None:
    found = tilewright.explain(write(ADD), arguments={"a": "f32[2*n]"}, global_size="100", local_size="50")
    assert next(each.elements for each in found.coverage if each.buffer == "a") == 200


@pytest.mark.parametrize("shared", ["@x", "x", "same array"])
def test_two_parameters_may_have_one_buffer(write: Any, shared: str) -> None:
    x = np.arange(512, dtype=np.float32)
    found = tilewright.explain(write(SCALE), arguments={"x": x, "y": x if shared == "same array" else shared, "n": 512})
    assert np.array_equal(found.outputs["x"], 2 * np.arange(512))
    assert len(found.coverage) == 1


def test_a_race_through_two_names_of_one_buffer_is_found(write: Any) -> None:
    shifted = SCALE.replace("x[i]", "x[i + 1]")
    arguments = {"x": "f32[1025]", "n": 1024}
    assert not tilewright.explain(write(shifted), arguments=arguments).faults
    assert "race" in tilewright.explain(write(shifted), arguments={**arguments, "y": "@x"}).faults[0].kind


@pytest.mark.parametrize("part", ["@x+256", "array"])
def test_a_part_of_a_buffer(write: Any, part: str) -> None:
    x = np.arange(512, dtype=np.float32)
    given = {"x": x, "y": x[256:] if part == "array" else part, "n": 256}
    found = tilewright.explain(write(SCALE), arguments=given)
    assert np.array_equal(found.outputs["x"][256:], 2 * np.arange(256))
    assert np.array_equal(found.outputs["x"][:256], np.arange(256))
    beyond = tilewright.explain(write(SCALE), arguments={**given, "n": 257}, global_size="257", local_size="1")
    assert any("outside" in each.text for each in beyond.faults)


def test_null_structs_vectors_and_small_integers(write: Any) -> None:
    arguments = {
        "out": "f32[64]", "p": "{x=0.5,y=(3,4),t=-2,w=(1,2,3)}", "v": "(1,2,3,4)", "u": (1, 2, 30), "s": -7, "b": 200,
        "big": "3*1099511627776", "maybe": None,
    }  # fmt: skip
    found = tilewright.explain(write(MIX), arguments=arguments)
    assert not found.faults
    assert (found.outputs["out"] == 0.5 + 40 - 200 + 3 + 4 + 30 - 7 + 200 + 3).all()
    same = tilewright.explain(
        write(MIX), arguments={**arguments, "p": {"x": 0.5, "y": [3, 4], "t": -2, "w": (1, 2, 3)}}
    )
    assert np.array_equal(found.outputs["out"], same.outputs["out"])


def test_a_null_buffer_that_is_used_is_a_fault(write: Any) -> None:
    assert "null" in tilewright.explain(write(SCALE), arguments={"x": "null"}).faults[0].text


def test_the_entry_is_chosen_after_preprocessing(write: Any) -> None:
    assert tilewright.explain(write(TWO)).entry == "one"
    with pytest.raises(InvalidInput, match=r"2 kernels \(one, two\); choose one, such as --entry one"):
        tilewright.explain(write(TWO), settings={"W": 2})
    assert tilewright.explain(write(TWO), settings={"W": 2}, entry="two").outputs["y"][5] == 2
    with pytest.raises(UnknownName, match="'two'"):
        tilewright.explain(write(TWO), entry="two")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n": 1.5}, "n is a uint, which holds whole numbers"),
        ({"n": -1}, "from 0 to 4,294,967,295"),
        ({"n": 2**32}, "from 0 to 4,294,967,295"),
        ({"n": "f32[4]"}, "n is a uint, so give a number"),
        ({"n": None}, "so give a number"),
        ({"a": 5}, "a is a float \\*: give a buffer"),
        ({"a": "i32[100]"}, "a is a float \\*, so i32 does not fit"),
        ({"a": "f64[100]"}, "so f64 does not fit"),
        ({"a": np.zeros(8)}, "a float \\*, and the array has the type float64"),
        ({"a": np.zeros(8, np.int32)}, "a float \\*, and the array has the type int32"),
        ({"a": "f32[0]"}, "at least 1"),
        ({"a": "f32[n*99999999999]", "n": 9}, "that a buffer may have here"),
        ({"a": "@a"}, "no other buffer"),
        ({"a": "@nosuch"}, "no other buffer"),
        ({"a": "@b", "b": "null"}, "b is null"),
        ({"a": "@b+2000", "b": "f32[8]"}, "lies beyond the end"),
        ({"a": "nosuch.npy"}, "there is no file nosuch.npy"),
        ({"a": "local:64"}, "points to global memory"),
        ({"a": "nosuch[4]"}, "nosuch is no type"),
        ({"nosuch": 1}, "no parameter of add is called 'nosuch'"),
    ],
)
def test_what_does_not_fit_a_parameter_is_refused(write: Any, arguments: dict[str, object], words: str) -> None:
    with pytest.raises((InvalidInput, UnknownName), match=words):
        tilewright.explain(write(ADD), arguments=arguments)


def test_files_are_contents(write: Any, tmp_path: Path) -> None:
    values = np.arange(100, dtype=np.float32)
    np.save(tmp_path / "x.npy", values)
    values.tofile(tmp_path / "x.bin")
    for word in (f"{tmp_path}/x.npy", f"{tmp_path}/x.bin:f32", tmp_path / "x.npy"):
        found = tilewright.explain(write(SCALE), arguments={"x": word, "n": 100}, groups="all")
        assert np.array_equal(found.outputs["y"][:100], 2 * values)
    with pytest.raises(InvalidInput, match="float \\*"):
        tilewright.explain(write(SCALE), arguments={"x": f"{tmp_path}/x.bin:i32"})


def test_contents_before_the_launch(write: Any) -> None:
    text = SCALE.replace("y[i] =", "y[i] +=")
    found = tilewright.explain(write(text), init={"x": 3, "y": "index"}, arguments={"n": 64})
    assert np.array_equal(found.outputs["y"], 6 + np.arange(64, dtype=np.float32))
    unset = tilewright.explain(write(text), init={"y": "unset"})
    assert "before anything was stored" in unset.faults[0].text
    with pytest.raises(InvalidInput, match="unset, random, index or a file"):
        tilewright.explain(write(text), init={"y": "(1,2)"})


def test_other_names_of_a_product(write: Any) -> None:
    text = """__kernel void mm(__global float* in1, __global float* in2, __global float* out, int rows, __local float* tile)
    {
        int r = get_global_id(0), c = get_global_id(1);
        tile[get_local_id(0)] = 0;
        for (int k = 0; k < DEPTH; k++) out[r * COLUMNS2 + c] += in1[r * DEPTH + k] * in2[k * COLUMNS2 + c] + 0 * rows;
    }"""
    macros = {"DEPTH": "K", "COLUMNS2": "N"}
    how = {
        "bind": "in1=A,in2=B,out=C,rows=M,tile=local:64",
        "global_size": "M,N",
        "local_size": "16,1",
        "settings": macros,
    }
    faulty = tilewright.explain(write(text), (32, 16, 8), **how)  # type: ignore[arg-type]
    assert "before anything was stored" in faulty.faults[-1].text or "before" in str(faulty.faults)
    right = tilewright.explain(write(text), (32, 16, 8), init={"out": 0}, **how)  # type: ignore[arg-type]
    assert not [each for each in right.faults if "out" in each.text]
    with pytest.raises(UnknownName, match="operand of a gemm is called 'D'"):
        tilewright.explain(write(text), bind={"in1": "D"}, settings=macros)


def test_int_never_gets_floats_in_silence(write: Any) -> None:
    text = "__kernel void mm(__global int* A, __global int* B, __global int* C, int K) { C[get_global_id(0)] = A[0] * B[K - 1]; }"
    with pytest.raises(InvalidInput, match="A is a int \\*, and the elements of A are float32: give --dtype int32"):
        tilewright.explain(write(text), global_size="M", local_size="1")
    assert tilewright.explain(write(text), dtype="int32", global_size="M", local_size="1").outputs


@pytest.mark.parametrize(
    ("whole", "group", "offset"), [((100,), (64,), (7,)), ((19, 5), (8, 4), (0, 3)), ((3, 2, 5), (2, 2, 2), (1, 2, 3))]
)
def test_ragged_groups_and_offsets(write: Any, whole: Any, group: Any, offset: Any) -> None:
    """Every work-item stores its ids and sizes at its global place: as the definitions of OpenCL 2 say."""
    dims = len(whole)
    asked = ["get_global_id", "get_local_id", "get_group_id", "get_local_size", "get_num_groups", "get_global_offset"]
    linear = "+".join(
        "*".join([f"(get_global_id({d})-get_global_offset({d}))", *(str(whole[e]) for e in range(d))])
        for d in range(dims)
    )
    stores = "".join(
        f"out[at*{6 * dims}+{number * dims + d}] = {name}({d});"
        for number, name in enumerate(asked)
        for d in range(dims)
    )
    text = f"__kernel void k(__global int* out) {{ size_t at = {linear}; barrier(CLK_LOCAL_MEM_FENCE); {stores} }}"
    found = tilewright.explain(
        write(text), global_size=whole, local_size=group, ragged=True, global_offset=offset, groups="all",
        arguments={"out": f"i32[{int(np.prod(whole)) * 6 * dims}]"}, init={"out": -1},
    )  # fmt: skip
    assert not found.faults
    table = found.outputs["out"].reshape(*whole[::-1], 6, dims)
    for place in np.ndindex(*whole):
        row = table[place[::-1]]
        at, size, start = np.array(place), np.array(whole), np.array(offset)
        own = at // group
        sides = np.minimum(group, size - own * group)
        assert (row == [at + start, at % group, own, sides, -(-size // group), start]).all()


def test_a_ragged_group_is_counted_by_its_own_work_items(write: Any) -> None:
    text = "__kernel void k(__global float* x) { x[get_global_id(0)] = 1; }"
    found = tilewright.explain(write(text), global_size="40", local_size="32", ragged=True, groups="all")
    (store,) = found.accesses
    assert (store.requests, store.cost) == (2, 4 + 1)


def test_without_ragged_a_global_size_is_rounded_up_and_overruns_show(write: Any) -> None:
    text = "__kernel void k(__global float* x) { x[get_global_id(0)] = 1; }"
    found = tilewright.explain(write(text), global_size="40", local_size="32", arguments={"x": "f32[40]"})
    assert "rounded up" in found.rounding
    assert found.faults


@pytest.mark.parametrize(
    ("data", "note"),
    [
        (b"\xef\xbb\xbf// a\r\n__kernel\xc2\xa0void k(__global float* x)\r\n{ x[9999] = 1; }\r\n", "U\\+00A0"),
        (
            "// \u77e9\u9635\u4e58\u6cd5\n__kernel void k(__global float* x)\n{ x[9999] = 1; }\n".encode("gbk"),
            "gb18030",
        ),
        (b"// caf\xe9\n__kernel void k(__global float* x)\n{ x[9999] = 1; }\n", "latin-1"),
    ],
)
def test_files_as_people_have_them(write: Any, data: bytes, note: str) -> None:
    found = tilewright.explain(write(data), arguments={"x": "f32[4]"})
    assert [(each.position.line, each.position.column) for each in found.faults] == [(3, 4)]
    assert re.search(note, found.assumed[0])


def test_folders_of_includes(write: Any, tmp_path: Path) -> None:
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "sizes.h").write_text("#define SIDE 7\n")
    path = write('#include "sizes.h"\n__kernel void k(__global int* x) { x[get_global_id(0)] = SIDE; }\n')
    with pytest.raises(InvalidInput, match="-I FOLDER"):
        tilewright.explain(path)
    assert (tilewright.explain(path, include=tmp_path / "headers").outputs["x"] == 7).all()


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="abn@+-*/%()[]{}=,.:0189xf32locnul \0\"'\\\u00e9", max_size=24))
def test_no_word_breaks_out(word: str) -> None:
    with suppress(TilewrightError):
        name_and_word(f"a={word}", "--arg")
        assert read_word(word) is not None
