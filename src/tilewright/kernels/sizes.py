"""How configurations read a problem's sizes: the integers that its kernels get as arguments."""

from ..core.problem import Problem
from ..errors import InvalidInput


def size(problem: Problem, name: str) -> int:
    """The size that kernels get as the argument `name`, such as "M" or "ROWS"; InvalidInput if that is no integer."""
    value = problem.scalars[name]
    if not isinstance(value, int):
        raise InvalidInput(f"{problem.title}: {name}={value} is not a size")
    return value
