"""What pointer arguments get: buffers of the words that a user gave, other arguments' buffers, local memory, null."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np

from ...core.argument_words import (
    BufferWord,
    FileWord,
    LocalWord,
    NullWord,
    NumberWord,
    SharedWord,
    StructWord,
    Word,
    opencl_type,
    read_word,
)
from ...core.binding import Local, Null, Part, Pointer
from ...core.own_problem import COUNTING, RANDOM, UNSET, Contents, OwnBuffer, read_array
from ...core.problems import host_bytes
from ...errors import InvalidInput
from ..explain.clc.types import NAMED, Scalar, Space, Struct, Type, Vector
from ..explain.clc.types import Pointer as PointerType
from ..explain.simt.launch_arguments import LocalMemory, check_elements
from .elements import Names, as_memory, given_text, memory_dtype, number_of, short_name

MOST_BYTES = 1 << 34  # of one buffer: a size beyond it is a mistake


def pointer_for(
    name: str,
    kind: PointerType,
    given: object,
    names: Names,
    others: Mapping[str, OwnBuffer],
    pointers: tuple[str, ...],
) -> OwnBuffer | Pointer | str:
    """The buffer of a pointer argument, a Pointer, or the name of another argument whose buffer it gets.

    `given` is a word or a Python value; `others` are the buffers made so far, `pointers` the names of all pointer arguments.
    """
    if isinstance(given, str):
        given = read_word(given)
    if given is None or isinstance(given, NullWord):
        return Null()
    if isinstance(given, LocalMemory):
        given = LocalWord(str(given.size))
    if isinstance(given, PathLike):
        given = FileWord(str(given))
    if isinstance(given, LocalWord) or kind.space is Space.LOCAL:
        return _local(name, kind, given, names)
    if isinstance(given, NumberWord):
        given = _named_buffer(given, pointers)
    if isinstance(given, SharedWord):
        return _shared(name, kind, given, names, pointers)
    readonly = kind.constant or kind.space is Space.CONSTANT
    if isinstance(given, np.ndarray):
        return _same_memory(name, given, others) or _of_array(name, kind, given, readonly, Contents("array", given))
    if isinstance(given, FileWord):
        return _of_file(name, kind, given, readonly)
    if isinstance(given, BufferWord):
        return _of_type(name, kind, given, names, readonly)
    if isinstance(given, StructWord) and given.count:
        one = as_memory(name, kind.target, StructWord(given.fields), names)
        return _made(name, kind, (_count(name, given.count, names),), readonly, Contents("repeat", one))
    raise InvalidInput(
        f"{name}={given_text(given)}: {name} is a {kind.target} *: give a buffer, such as "
        f"{name}={short_name(kind.target)}[1024], a file, another argument's (@NAME), or null"
    )


def _named_buffer(given: NumberWord, pointers: tuple[str, ...]) -> Word:
    """`a` and `a+256` mean the buffer of the argument a."""
    head, plus, rest = given.text.partition("+")
    return SharedWord(head.strip(), rest.strip() if plus else "0") if head.strip() in pointers else given


def _local(name: str, kind: PointerType, given: object, names: Names) -> Local:
    if kind.space is not Space.LOCAL:
        raise InvalidInput(f"{name}=local:...: {name} points to {kind.space.word} memory, so give a buffer")
    if isinstance(given, int):
        given = LocalWord(str(given))
    if not isinstance(given, LocalWord):
        raise InvalidInput(f"{name}={given_text(given)}: {name} is local memory: give its bytes, such as local:16*17*4")
    return Local(_count(name, given.nbytes, names, "bytes of local memory"))


def _count(name: str, text: str, names: Names, what: str = "elements") -> int:
    number = number_of(text, names, name)
    if isinstance(number, float) or number < 1:
        raise InvalidInput(f"{name}: {text} = {number} {what}: give a whole number of at least 1")
    return number


def _shared(name: str, kind: PointerType, word: SharedWord, names: Names, pointers: tuple[str, ...]) -> Part | str:
    if word.name == name or word.name not in pointers:
        known = ", ".join(each for each in pointers if each != name) or "none"
        raise InvalidInput(f"{name}=@{word.name}: there is no other buffer of that name; there are {known}")
    offset = number_of(word.offset, names, name)
    if isinstance(offset, float) or offset < 0:
        raise InvalidInput(f"{name}=@{word.name}+{word.offset}: an offset counts elements from 0 up")
    return Part(word.name, offset * kind.target.size) if offset else word.name


def _same_memory(name: str, array: np.ndarray, others: Mapping[str, OwnBuffer]) -> Part | str | None:
    """The argument whose array this one is, or lies in. InvalidInput for arrays that overlap in another way."""
    for other, buffer in others.items():
        whole = buffer.contents.value if buffer.contents.kind == "array" else None
        if whole is None or not np.may_share_memory(whole, array):
            continue
        begin = _address(array) - _address(whole)
        if not array.flags.c_contiguous or begin < 0 or begin + array.nbytes > whole.nbytes:
            raise InvalidInput(f"{name} and {other} overlap: give the array that holds both for the first of them")
        return Part(other, begin) if begin else other
    return None


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def _of_array(name: str, kind: PointerType, array: np.ndarray, readonly: bool, contents: Contents) -> OwnBuffer:
    check_elements(name, kind, array)
    if isinstance(kind.target, Struct) and array.nbytes % kind.target.size:
        raise InvalidInput(
            f"{name}: {array.nbytes:,} bytes are no multiple of {kind.target}, of {kind.target.size} bytes"
        )
    if not array.nbytes:
        raise InvalidInput(f"{name}: the array is empty; give null for no buffer")
    return OwnBuffer(name, array.dtype, array.shape, contents, readonly)


def _of_file(name: str, kind: PointerType, word: FileWord, readonly: bool) -> OwnBuffer:
    if word.path.lower().endswith(".npy"):
        return _of_array(name, kind, read_array(word.path), readonly, Contents("file", word.path))
    own = opencl_type(word.type_name, _element_name(kind)) if word.type_name else ""
    if not own:
        raise InvalidInput(f"{name}={word.path}: a file without a header needs a type, such as {word.path}:f32")
    found = NAMED[own]
    element = found.element if isinstance(found, Vector) else found
    assert isinstance(element, Scalar)
    array = read_array(word.path, element.dtype)
    return _of_array(name, kind, array, readonly, Contents("file", word.path))


def _element_name(kind: PointerType) -> str:
    return str(kind.target)


def _of_type(name: str, kind: PointerType, word: BufferWord, names: Names, readonly: bool) -> OwnBuffer:
    shape = tuple(_count(name, side, names) for side in word.sides)
    if not word.type_name:
        return _made(name, kind, shape, readonly)
    wanted = _element_name(kind)
    if isinstance(kind.target, Struct):
        if opencl_type(word.type_name):
            raise InvalidInput(
                f"{name}={word.type_name}[...]: {name} is a {wanted} *; write {name}=struct[{word.sides[0]}]"
            )
        return _made(name, kind, shape, readonly)
    own = opencl_type(word.type_name, wanted)
    if not own:
        raise InvalidInput(f"{name}={word.type_name}[...]: {word.type_name} is no type; {name} is a {wanted} *")
    given = NAMED[own]
    if isinstance(kind.target, Scalar | Vector):
        mine, theirs = _scalar_of(given), _scalar_of(kind.target)
        if mine.dtype != theirs.dtype:
            raise InvalidInput(f"{name}={word.type_name}[...]: {name} is a {wanted} *, so {word.type_name} does not fit; "
                               f"write {name}={short_name(kind.target)}[...]")  # fmt: skip
    return _made(name, PointerType(given, kind.space, kind.constant), shape, readonly)


def _scalar_of(kind: Type) -> Scalar:
    element = kind.element if isinstance(kind, Vector) else kind
    assert isinstance(element, Scalar)
    return element


def _made(
    name: str, kind: PointerType, shape: tuple[int, ...], readonly: bool, contents: Contents | None = None
) -> OwnBuffer:
    dtype, inner = memory_dtype(kind.target)
    made = OwnBuffer(name, np.dtype(dtype), (*shape, *inner), contents or Contents(RANDOM), readonly)
    most = min(filter(None, (MOST_BYTES, host_bytes() // 2)))
    if made.nbytes > most:
        raise InvalidInput(f"{name}: {made.nbytes:,} bytes are more than the {most:,} that a buffer may have here")
    return made


def contents_of(buffer: OwnBuffer, given: object, names: Names) -> Contents:
    """What `--init` says that a buffer holds: a number, unset, random, index, or a file."""
    if isinstance(given, np.ndarray):
        return _filled(buffer, given, Contents("array", given))
    text = str(given).strip()
    if text.lower() in (UNSET, RANDOM, COUNTING):
        return Contents(text.lower())
    word = read_word(text)
    if isinstance(word, FileWord):
        return _filled(buffer, read_array(word.path, buffer.dtype), Contents("file", word.path))
    if not isinstance(word, NumberWord):
        raise InvalidInput(f"--init {buffer.name}={text[:80]}: give a number, unset, random, index or a file")
    number: Any = number_of(word.text, names, f"--init {buffer.name}")
    if isinstance(number, float) and buffer.dtype.kind in "iu":
        raise InvalidInput(f"--init {buffer.name}={text[:80]}: its elements are whole numbers")
    limits = np.iinfo(buffer.dtype) if buffer.dtype.kind in "iu" else None
    if limits is not None and not limits.min <= number <= limits.max:
        raise InvalidInput(f"--init {buffer.name}={text[:80]}: its elements are from {limits.min:,} to {limits.max:,}")
    if buffer.dtype.kind == "V" and number != 0:
        raise InvalidInput(f"--init {buffer.name}={text[:80]}: its elements are structs; only 0 fills them")
    return Contents("number", number) if buffer.dtype.kind != "V" else Contents("repeat", bytes(buffer.dtype.itemsize))


def _filled(buffer: OwnBuffer, array: np.ndarray, contents: Contents) -> Contents:
    if array.nbytes != buffer.nbytes or array.dtype.itemsize != buffer.dtype.itemsize:
        raise InvalidInput(
            f"--init {buffer.name}: {array.shape} {array.dtype} are {array.nbytes:,} bytes, and {buffer.name} has "
            f"{buffer.nbytes:,} of {buffer.dtype}"
        )
    return contents


def expected_array(buffer: OwnBuffer, given: object) -> np.ndarray:
    """What `--expect` says that a buffer holds after the launch: an array or a file. InvalidInput for other sizes and types."""
    array = given if isinstance(given, np.ndarray) else read_array(str(given), buffer.dtype)
    if array.size != buffer.elements or array.dtype != buffer.dtype:
        raise InvalidInput(
            f"--expect {buffer.name}: {array.size:,} elements of {array.dtype}, and {buffer.name} has {buffer.elements:,} of "
            f"{buffer.dtype}"
        )
    return array.reshape(buffer.shape)
