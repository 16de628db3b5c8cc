"""Runs many iterations of a summing loop at once: `for (k = 0; k < n; k++) sum += A[k] * B[k];`.

The result is the same to the last bit: sums are rounded one by one, and accesses are reported iteration by iteration. If
anything is irregular, the batch is dropped without any effect, and the loop runs one iteration at a time.
"""

from dataclasses import dataclass

import numpy as np

from ..clc.lexer import Position
from ..clc.tree import (
    Assign,
    Binary,
    Block,
    Cast,
    Expression,
    ExpressionStatement,
    Index,
    Loop,
    Name,
    Number,
    Postfix,
    Statement,
    Unary,
)
from ..clc.types import Scalar
from ..clc.walk import nodes_of
from .arithmetic import COMPARISONS, common_type, to_common
from .batched_loads import Batch
from .compiled_code import Frame, Register, Run, Value
from .context import Context
from .findings import Irregular
from .machine import Machine
from .masks import Mask
from .registers import dtype_of

LEAST, MOST = 8, 256  # iterations of a batch
MOST_VALUES = 1 << 17  # of a table; several tables fit into a cache
PATIENCE = 8  # failed attempts to batch a loop before it always runs one by one


@dataclass
class Sum:
    """A loop that only adds up. `counter` and `total` are slots of the frame. `term` is what each iteration adds."""

    machine: Machine
    counter: int
    step: int
    total: int
    test: Run
    term: Run
    position: Position
    patience: int = PATIENCE

    def advance(self, frame: Frame, mask: Mask) -> None:
        """Runs all whole iterations that can be run together. The loop itself runs the rest."""
        machine = self.machine
        plain = machine.lanes > 1 and machine.covers(mask) and frame.unset[self.total] is None
        if not plain or frame.unset[self.counter] is not None or np.ndim(frame.slots[self.counter]):
            return
        most = max(LEAST, min(MOST, MOST_VALUES // machine.lanes))
        before = machine.steps
        while self.patience and self._batch(frame, mask, most):
            pass
        if machine.steps == before:
            self.patience -= 1

    def _batch(self, frame: Frame, mask: Mask, most: int) -> bool:
        """Runs up to `most` iterations; False if the loop ends there, or they cannot be run together."""
        machine, first = self.machine, frame.slots[self.counter]
        if not fits(first, first.dtype.type(self.step), most + 1):
            return False
        numbers = first + (np.arange(most + 1) * self.step).astype(first.dtype)
        batch = machine.memory.batch = Batch(machine.memory)
        machine.findings.closed = True
        try:
            frame.slots[self.counter] = numbers[:most, None]
            known = self.test(frame, mask)
            if known.shape != (most, 1):
                raise Irregular
            count = most if known.all() else int(known.argmin())
            if count < LEAST or count > machine.steps:
                raise Irregular
            frame.slots[self.counter] = numbers[:count, None]
            terms = self.term(frame, mask)
            if not fits(frame.slots[self.total], terms, count):
                raise Irregular
        except Irregular:
            frame.slots[self.counter] = first
            return False
        finally:
            machine.memory.batch, machine.findings.closed = None, False
        frame.slots[self.counter] = numbers[count]
        frame.slots[self.total] = added(frame.slots[self.total], terms, count)
        machine.steps -= count
        machine.count_iterations(self.position, mask, count)
        batch.report(count, mask)
        return count == most


def fits(total: Value, terms: Value, count: int) -> bool:
    """Whether no partial sum can leave the range of a signed integer."""
    if total.dtype.kind != "i":
        return True
    largest = [max(int(np.max(each)), -int(np.min(each))) for each in (total, terms)]
    return largest[0] + count * largest[1] <= np.iinfo(total.dtype).max


def added(total: Value, terms: Value, count: int) -> Value:
    """`total` and `count` terms (one for all iterations, or a row for each), added from the first to the last.

    NumPy adds whole rows one after the other when it reduces over the slower axis. It adds in pairs only along the fast one
    (notes of `numpy.sum`), which a single lane would be.
    """
    rows = terms if np.ndim(terms) == 2 else np.broadcast_to(terms, (count, np.size(terms)))
    lanes = max(np.size(total), rows.shape[1])
    numbers = np.empty((count + 1, lanes), total.dtype)
    numbers[0], numbers[1:] = total, rows
    if lanes == 1:
        sums = np.add.accumulate(numbers, axis=0, dtype=numbers.dtype)[-1]
        return sums if np.ndim(total) else sums[0]
    return np.add.reduce(numbers, axis=0, dtype=numbers.dtype)


def find_sum(context: Context, loop: Loop, test: Run | None) -> Sum | None:
    """The loop, with its parts compiled, as a Sum; None if it is not one."""
    assignment, step = _assignment(loop.body), _step(loop.step)
    if assignment is None or step is None or test is None or not loop.test_first or not _compares(loop.condition):
        return None
    code, (name, amount) = context.added.get(id(assignment)), step
    assert isinstance(assignment.target, Name)
    total_name = assignment.target.name
    used = {
        each.name for part in (assignment.value, loop.condition) for each in nodes_of(part) if isinstance(each, Name)
    }
    if code is None or total_name in (name, *used):
        return None
    counter, total = context.find(name, loop.position), context.find(total_name, loop.position)
    if not isinstance(counter, Register) or not isinstance(total, Register):
        return None
    kinds = counter.type, total.type, code.type
    if not all(isinstance(kind, Scalar) for kind in kinds) or np.issubdtype(dtype_of(counter.type), np.floating):
        return None
    common = common_type(total.type, code.type, assignment.position)
    if common != total.type or total.type.size < 4:
        return None
    return Sum(context.machine, counter.slot, amount, total.slot, test, to_common(code, common).run, loop.position)


def _assignment(body: Statement) -> Assign | None:
    """The only statement of a loop's body, if it is `name += ...` of a plain expression."""
    while isinstance(body, Block) and len(body.statements) == 1:
        body = body.statements[0]
    found = body.expression if isinstance(body, ExpressionStatement) else None
    if (
        isinstance(found, Assign)
        and isinstance(found.target, Name)
        and found.operator == "+"
        and _is_plain(found.value)
    ):
        return found
    return None


def _step(step: Expression | None) -> tuple[str, int] | None:
    """The counter's name and how much is added to it each time."""
    if isinstance(step, Postfix | Unary) and step.operator == "++" and isinstance(step.operand, Name):
        return step.operand.name, 1
    if isinstance(step, Assign) and step.operator == "+" and isinstance(step.target, Name):
        amount = step.value
        if isinstance(amount, Number) and isinstance(amount.value, int):
            return step.target.name, amount.value
    return None


def _compares(condition: Expression | None) -> bool:
    """Whether it is a comparison without memory reads."""
    if not isinstance(condition, Binary) or condition.operator not in COMPARISONS:
        return False
    sides = condition.left, condition.right
    return all(_is_plain(side) and not any(isinstance(each, Index) for each in nodes_of(side)) for side in sides)


def _is_plain(expression: Expression) -> bool:
    """Whether it consists of sums, products and subscripts: it has no side effects, and works on a table as on single values."""
    return all(
        isinstance(each, Name | Number | Index)
        or (isinstance(each, Binary) and each.operator in ("+", "-", "*"))
        or (isinstance(each, Cast) and isinstance(each.type, Scalar))
        for each in nodes_of(expression)
    )
