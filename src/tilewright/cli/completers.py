"""What a shell may put in the place of an argument, found by the argument's metavar. Each imports what it needs."""

import argparse
from collections.abc import Callable
from typing import Any

Completer = Callable[..., "list[str] | dict[str, str]"]  # a dict has descriptions


def complete_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the arguments of a command the completers of their metavars."""
    for action in parser._actions:
        metavar = action.metavar if isinstance(action.metavar, str) else ""
        if metavar in COMPLETERS:
            action.completer = COMPLETERS[metavar]  # type: ignore[attr-defined]
        elif action.dest == "dtype":
            action.completer = dtypes  # type: ignore[attr-defined]


def ladders(**_: Any) -> dict[str, str]:
    """Ladders with their titles."""
    from ..kernels import LADDERS

    return {name: ladder.title for name, ladder in LADDERS.items()}


def rungs(**_: Any) -> dict[str, str]:
    """Rungs with what they teach."""
    from ..kernels import LADDERS

    return {kernel.name: kernel.lesson for ladder in LADDERS.values() for kernel in ladder.kernels}


def kernels(prefix: str, **_: Any) -> dict[str, str]:
    """Rungs and .cl files."""
    from argcomplete.completers import FilesCompleter

    return {**rungs(), **dict.fromkeys(FilesCompleter(("cl",))(prefix), "a file")}


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


COMPLETERS: dict[str, Completer] = {
    "LADDER": ladders,
    "RUNG": rungs,
    "KERNEL": kernels,
    "DEVICE": devices,
    "MODEL": device_models,
    "SET,...": benchmark_sets,
    "ARCH": architectures,
}
