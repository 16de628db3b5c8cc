"""What is known of the arguments of a kernel whose arguments are its own, while it is being found out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.binding import Null, Part, Pointer
from ...core.own_problem import OwnBuffer
from ...errors import InvalidInput, UnknownName
from ..explain.clc.tree import Function, Program
from ..explain.clc.types import Pointer as PointerType
from ..explain.clc.types import Type
from ..explain.simt.images import plain_data
from .buffers import pointer_for
from .elements import value_of
from .images import image_value, is_image


@dataclass
class Found:
    """What is known so far. `guessed` are options in the order of their making."""

    program: Program
    entry: Function
    names: dict[str, int]
    values: dict[str, Any] = field(default_factory=dict)
    buffers: dict[str, OwnBuffer] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)
    pointers: dict[str, Pointer] = field(default_factory=dict)
    guessed: list[str] = field(default_factory=list)

    @property
    def pointer_types(self) -> dict[str, PointerType]:
        return {each.name: each.type for each in self.entry.parameters if isinstance(each.type, PointerType)}

    def value(self, name: str, kind: Type, given: object) -> Any:
        """The value of an argument that is no pointer."""
        if is_image(kind):
            return plain_data(name, image_value(name, kind, given, self.names, self.program, self.entry), kind)
        return value_of(name, kind, given, self.names)

    def take_known(self, given: Mapping[str, object]) -> list[str]:
        """Give pointer arguments what `given` says. The names of those whose sizes use names that are not known yet."""
        later = []
        for name in (each for each in self.pointer_types if each in given):
            try:
                self.take(name, given[name])
            except InvalidInput as error:
                if not isinstance(error.__cause__, UnknownName):
                    raise
                later.append(name)
        return later

    def take(self, name: str, given: object) -> None:
        """Give a pointer argument what `given` says."""
        kinds = self.pointer_types
        made = pointer_for(name, kinds[name], given, self.names, self.buffers, tuple(kinds))
        if isinstance(made, OwnBuffer):
            self.buffers[name] = made
        elif isinstance(made, str):
            self.shared[name] = made
        else:
            self.pointers[name] = made

    def check_shared(self) -> None:
        """InvalidInput for a shared buffer that is none, and for a part beyond its end. Chains of names end at their buffer."""
        for name, other in list(self.shared.items()):
            seen = [name]
            while other in self.shared and other not in seen:
                seen.append(other)
                other = self.shared[other]
            self.shared[name] = other
            self._buffer_behind(name, other)
        for name, pointer in list(self.pointers.items()):
            if not isinstance(pointer, Part):
                continue
            other = self.shared.get(pointer.buffer, pointer.buffer)
            whole = self._buffer_behind(name, other)
            if pointer.offset >= whole.nbytes:
                raise InvalidInput(
                    f"{name}: byte {pointer.offset:,} lies beyond the end of {other}, which has {whole.nbytes:,}"
                )
            self.pointers[name] = Part(other, pointer.offset)
        for name in {
            *self.shared.values(),
            *(each.buffer for each in self.pointers.values() if isinstance(each, Part)),
        }:
            users = [user for user, other in self.shared.items() if other == name]
            users += [user for user, each in self.pointers.items() if isinstance(each, Part) and each.buffer == name]
            if any(not self.pointer_types[user].constant for user in users):
                self.buffers[name] = replace(self.buffers[name], readonly=False)

    def _buffer_behind(self, name: str, other: str) -> OwnBuffer:
        if other not in self.buffers:
            what = "null" if isinstance(self.pointers.get(other), Null) else "no buffer"
            raise InvalidInput(f"{name}=@{other}: {other} is {what}")
        return self.buffers[other]

    def own_buffer(self, name: str, option: str) -> OwnBuffer:
        """The buffer that an option names. InvalidInput for an argument without one."""
        own = self.shared.get(name, name)
        if own not in self.buffers:
            raise InvalidInput(f"{option} {name}=...: {name} is no buffer of its own")
        return self.buffers[own]
