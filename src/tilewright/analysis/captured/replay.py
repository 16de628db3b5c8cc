"""Launches from dumps of the Intercept Layer for OpenCL Applications, made by its option CaptureReplay.

A dump is a folder Enqueue_NUMBER_KERNEL with the files that its documentation (docs/capture_single_kernels.md) and its script
run.py name: kernel.cl, kernelName.txt (knlName.txt before 2025), buildOptions.txt, worksizes.txt (global size, local size or
zeros, offset), Argument0.bin ..., Local0.txt ..., SVM_Arg_Offset_0.txt ..., and
Pre/Enqueue_NUMBER_Kernel_NAME_Arg_0_Buffer_NUMBER.bin with a buffer's bytes before the launch. Older versions keep these in
memDumpPreEnqueue, two folders further up. dumped_images.py has the files of images and samplers.

The layer forgets nothing that a program set before: an argument that was a buffer and then null has a handle of zeros, and
still the buffer's contents. One that was set to a value and, at another time, to null has Argument0.bin and Local0.txt.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...core.captured import (
    BufferValue,
    CapturedKernel,
    CapturedLaunch,
    EitherValue,
    LocalValue,
    RawValue,
    SetValue,
    UnreadValue,
    Value,
)
from ...core.source import decoded
from ...errors import InvalidInput
from .dumped_images import image_in, sampler_in

SIZES = "worksizes.txt"
NAMES = ("kernelName.txt", "knlName.txt")
_INDEX = re.compile(r"(Argument|Local|Sampler|Image_MetaData_|SVM_Arg_Offset_)(\d+)\.(?:bin|txt)$")
_CONTENTS = re.compile(r"Enqueue_\d+_Kernel_.*_Arg_(\d+)_(?:Buffer_\d+\.bin|Image_\d+_\w+\.raw)$")


@dataclass(frozen=True)
class DumpedLaunch:
    """One dump: the kernel and its NDRange. `capture` reads the arguments."""

    folder: Path
    kernel: CapturedKernel
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    offset: tuple[int, ...]

    def capture(self, patience: float = 0.0) -> CapturedLaunch:
        return CapturedLaunch(self.kernel, self.global_size, self.local_size, self.offset, values_in(self.folder))


def dumps_in(folder: Path) -> list[DumpedLaunch]:
    """The dumps in a folder: the folder itself is one, or it has some below it, in the order of their enqueue numbers.

    InvalidInput if there is none, or if one lacks a file; it names the file.
    """
    if not folder.is_dir():
        raise InvalidInput(f"there is no folder {folder}")
    found = sorted({each.parent for each in folder.rglob(SIZES)}, key=_order)
    if not found:
        raise InvalidInput(
            f"{folder} holds no dump of a launch (no {SIZES} in it or below it); CLI_CaptureReplay=1 makes them, in "
            "Replay/Enqueue_NUMBER_KERNEL"
        )
    return [read_dump(each) for each in found]


def _order(folder: Path) -> tuple[int, str]:
    number = re.match(r"Enqueue_(\d+)", folder.name)
    return int(number[1]) if number else 0, str(folder)


def read_dump(folder: Path) -> DumpedLaunch:
    """One dump, without its arguments."""
    lines = [_numbers(folder / SIZES, line) for line in _text(folder / SIZES).splitlines()]
    if len(lines) < 3 or not lines[0] or not len(lines[0]) == len(lines[1]) == len(lines[2]):
        raise InvalidInput(
            f"{folder / SIZES}: three lines of as many numbers are needed: global size, local size, offset; it has "
            f"{' | '.join(' '.join(map(str, line)) for line in lines) or 'none'}"
        )
    name = next((folder / each for each in NAMES if (folder / each).is_file()), None)
    if name is None:
        raise InvalidInput(f"{folder} has neither {' nor '.join(NAMES)}: the kernel's name is not known")
    options = folder / "buildOptions.txt"
    source = folder / "kernel.cl"
    text = decoded(source.read_bytes().rstrip(b"\0")).replace("\r\n", "\n") if source.is_file() else None
    missing = "" if text else f"{folder} has no kernel.cl: the program was made from a binary or from SPIR-V"
    entry, given = _text(name).strip(), _text(options).strip() if options.is_file() else ""
    local_size = lines[1] if any(lines[1]) else None
    return DumpedLaunch(folder, CapturedKernel(entry, text or None, given, missing), lines[0], local_size, lines[2])


def values_in(folder: Path) -> tuple[Value, ...]:
    """The arguments of a dump, up to the last one that it has a file for."""
    files: dict[tuple[str, int], Path] = {}
    for path in sorted(folder.iterdir()):
        if match := _INDEX.match(path.name):
            files[match[1], int(match[2])] = path
    contents = contents_of(folder)
    indices = {index for _, index in files} | set(contents)
    return tuple(_value(index, files, contents.get(index)) for index in range(max(indices, default=-1) + 1))


def contents_of(folder: Path) -> dict[int, Path]:
    """The file of each buffer's and image's contents before the launch, by the argument's index."""
    pre, numbered = folder / "Pre", ""
    if not pre.is_dir():
        pre = folder.parent.parent / "memDumpPreEnqueue"
        number = folder / "enqueueNumber.txt"
        numbered = f"Enqueue_{int(_text(number).split()[0]):04}_" if number.is_file() else "Enqueue_"
    if not pre.is_dir():
        return {}
    matches = ((_CONTENTS.match(path.name), path) for path in sorted(pre.iterdir()) if path.name.startswith(numbered))
    return {int(match[1]): path for match, path in matches if match}


def _value(index: int, files: dict[tuple[str, int], Path], contents: Path | None) -> Value:
    """What an argument was set to; both, if it was set to a value and, at another time, to null."""
    local, argument = files.get(("Local", index)), files.get(("Argument", index))
    if local is None:
        return _set_value(index, files, contents)
    size = LocalValue(_numbers(local, _text(local))[0])
    return size if argument is None else EitherValue(size, _set_value(index, files, contents))


def _set_value(index: int, files: dict[tuple[str, int], Path], contents: Path | None) -> SetValue:
    """A value that is not null: the handle of an object with its contents, or the bytes of a number or struct."""
    argument, offset = files.get(("Argument", index)), files.get(("SVM_Arg_Offset_", index))
    handle = argument.read_bytes() if argument else b""
    if handle and not any(handle):  # zero, or null: contents are of a buffer that was set before
        return RawValue(handle)
    if metadata := files.get(("Image_MetaData_", index)):
        return image_in(_numbers(metadata, _text(metadata)), contents)
    if sampler := files.get(("Sampler", index)):
        return sampler_in(_text(sampler))
    if contents is not None and contents.suffix == ".raw":
        return UnreadValue(f"is an image whose format is not in the dump: it has no Image_MetaData_{index}.txt")
    if contents is not None:
        first = _numbers(offset, _text(offset))[0] if offset else 0
        # Arguments of one handle are one buffer; without a handle each is its own.
        memory = int.from_bytes(handle, "little") if handle else -1 - index
        return BufferValue(np.fromfile(contents, np.uint8)[first:], memory)
    return RawValue(handle) if argument else UnreadValue("has no file in the dump")


def _text(path: Path) -> str:
    try:
        return decoded(path.read_bytes().rstrip(b"\0"))
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from error


def _numbers(path: Path, text: str) -> tuple[int, ...]:
    words = text.split()
    if not all(each.isdecimal() for each in words) or (not words and path.name != SIZES):
        raise InvalidInput(f"{path}: numbers are needed, not {text.strip()[:40]!r}")
    return tuple(int(each) for each in words)
