"""What may stand in the place of an argument, for shells and for help, found by the argument's metavar.

Each function imports what it needs, when it is asked: declaring the arguments of a command imports nothing heavy.
"""

import argparse
from collections.abc import Callable
from typing import Any

VALUES = "{values}"  # in an argument's help: the values are named there when the help is printed
Completer = Callable[..., "list[str] | dict[str, str]"]  # a dict has descriptions


def complete_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the arguments of a command the completers of their metavars."""
    for action in parser._actions:
        if action.choices is None and action.nargs != 0:
            action.completer = COMPLETERS.get(_named(action), nothing)  # type: ignore[attr-defined]


def values_named(action: argparse.Action) -> str | None:
    """The help of an argument with its values in it."""
    if not action.help or VALUES not in action.help:
        return action.help
    return action.help.replace(VALUES, ", ".join(COMPLETERS[_named(action)](prefix="")))


def _named(action: argparse.Action) -> str:
    """The metavar, or the name that an argument without a metavar has in help."""
    return action.metavar if isinstance(action.metavar, str) else action.dest


def nothing(**_: Any) -> list[str]:
    """What nobody can guess, such as a size."""
    return []


def words(*known: str) -> Completer:
    """Words that never change."""
    return lambda **_: list(known)


def files(*endings: str) -> Completer:
    """Files with these endings, or all."""

    def found(prefix: str, **_: Any) -> list[str]:
        from argcomplete.completers import FilesCompleter

        return list(FilesCompleter(endings)(prefix))

    return found


def ladders(**_: Any) -> dict[str, str]:
    """Ladders with their titles."""
    from ..kernels import LADDERS

    return {name: ladder.title for name, ladder in LADDERS.items()}


def rungs(parsed_args: argparse.Namespace | None = None, **_: Any) -> dict[str, str]:
    """Rungs with what they teach; after the name of a ladder only its own."""
    from ..kernels import LADDERS

    asked = LADDERS.get(str(getattr(parsed_args, "name", "")))
    some = [asked] if asked else LADDERS.values()
    return {kernel.name: kernel.lesson for ladder in some for kernel in ladder.with_originals}


def kernels(prefix: str, **_: Any) -> dict[str, str]:
    """Rungs and .cl files."""
    return {**rungs(), **dict.fromkeys(files("cl")(prefix=prefix), "a file")}


def devices(**_: Any) -> dict[str, str]:
    """The values of `--device` that mean a device of this machine. The drivers are asked for them."""
    from ..runtime.opencl.device import list_devices

    found = list_devices()
    return {
        **{info.kind: f"the first {info.kind}" for info in found},
        **{str(i): each.label for i, each in enumerate(found)},
    }


def dtypes(**_: Any) -> list[str]:
    """Element types."""
    from ..core.types import ELEMENT_TYPES

    return list(ELEMENT_TYPES)


def device_models(**_: Any) -> dict[str, str]:
    """Device models and their other names."""
    from ..analysis.explain.models import MODELS

    return {name: model.title for model in MODELS for name in (model.name, *model.aliases)}


def benchmark_sets(prefix: str, **_: Any) -> list[str]:
    """Benchmark sets, of which several are joined by commas."""
    from ..measurement.sets import SETS

    before = prefix.rpartition(",")[0]
    return [f"{before},{name}" if before else name for name in SETS]


def architectures(**_: Any) -> list[str]:
    """Architectures that `inspect` compiles for."""
    from ..analysis.inspect import ARCHITECTURES

    return list(ARCHITECTURES)


def other_sides(**_: Any) -> dict[str, str]:
    """What `inspect --diff` compares with: architectures and rungs."""
    return {**dict.fromkeys(architectures(), "an architecture"), **rungs()}


RECORDS = files("json", "json.gz")


def exercises(**_: Any) -> dict[str, str]:
    """Exercises with their titles."""
    from ..api.learning import exercise

    return {row["name"]: row["title"] for row in exercise().to_rows()}


COMPLETERS: dict[str, Completer] = {
    "FILE": files(),
    "PICTURE": files("svg", "png", "pdf"),
    "PAGE.md": files("md"),
    "RECORD.json": RECORDS,
    "FIRST.json": RECORDS,
    "SECOND.json": RECORDS,
    "OTHER": other_sides,
    "MODE": words("tf32", "fp32_split", "fp8", "reproducible"),
    "problem": words("gemm", "transpose", "copy"),
    "order": words("row", "column"),
    "layout": words("NN", "NT", "TN", "TT"),
    "dtype": dtypes,
    "LADDER": ladders,
    "RUNG": rungs,
    "KERNEL": kernels,
    "DEVICE": devices,
    "MODEL": device_models,
    "SET,...": benchmark_sets,
    "ARCH": architectures,
    "EXERCISE": exercises,
}
