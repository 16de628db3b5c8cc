"""Ready calls: what is left of a call once its types, shapes, rules and plan are settled.

The first call with some arguments goes the general way. If it was direct (kernels read the caller's arrays as they are, and
write to the result or to `out`), it leaves a Ready behind, under a key of its raw arguments (`library/lookup.py`). The next
call with an equal key checks what no key can hold, makes the result, binds and enqueues. `prepare` hands a Ready to the caller.

A kind of arrays takes part by an entry in `choice.MEMORIES` and these methods of its memory:

    place_of(array, device, queue)  the Device and the queue of a call whose first operand is `array`, or None if only the
                                    general way can say. The Device has a `per_thread`; the queue is anything hashable, such
                                    as whether the device was named if there is none. (static)
    key_of(array)                   what a plan depends on: shape, strides, type, alignment, offset. Arrays with equal keys
                                    can take each other's place, but for what `Ready.run` checks. (static)
    layout_of(array)                shape, strides in bytes, and type, as `prepare` compares and names them. (static)
    one_place(one, other)           whether two arrays begin at one address of one block of memory: A times its own transpose is
                                    another plan. May say no where that would take long to find out. (static)
    settled(array)                  whether `key_of` really has all of it: not where only an address can tell, nor for an array
                                    without elements. (static)
    ready(recipe)                   its Ready for calls like the recipe's
    has_plain                       whether there is run_plain(a, b, out, asked): the product of two arrays by a ready call that
                                    is found in less time, or REFUSED. (static)

CUDA arrays have `CudaCalls` there, which has its own way to find ready calls: theirs are the calls whose Python must be least.

A Ready belongs to its thread and Device, as its Call does, and is dropped with it.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from ..engine import Call

REFUSED: Any = object()  # what `Ready.run` returns for arrays that must go the general way

Names = tuple[str | None, ...]  # the kernel arguments of arrays, by their positions in a call; None for those not given


class Given(NamedTuple):
    """The caller's arrays in the call that is made ready. A Ready keeps none of them."""

    names: Names
    arrays: tuple[Any, ...]
    out: Any


NOTHING_GIVEN = Given((), (), None)


class Recipe(NamedTuple):
    """A direct call, and what its arrays are for."""

    call: Call
    operands: tuple[tuple[int, str], ...]  # positions of the caller's arrays, and the kernel arguments that get them
    output: str  # the kernel argument that gets the result
    like: Any  # a result
    given: Given
    reads_output: bool = False  # whether kernels read what is in the result
    added: int | None = None  # the position of an array that is copied to the result first
    # Operands whose matrices are transposed: kernels know, a call on the host does not.
    transposed: tuple[str, ...] = ()


class Ready(ABC):
    """A call that is ready for arrays with the keys of those that it was made for."""

    def __init__(self, recipe: Recipe) -> None:
        self.call = recipe.call

    @abstractmethod
    def run(self, arrays: tuple[Any, ...], out: Any) -> Any:
        """The result of the caller's arrays, in their order: `out`, or a new array.

        REFUSED, before anything is enqueued, if `out` shares memory with an operand or may not be written to, or an array is
        not where the call runs, or is none that the call is ready for. Sets `call.used`, so that the call is kept.
        """
