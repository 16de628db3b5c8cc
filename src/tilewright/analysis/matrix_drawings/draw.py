"""All drawings of a kernel: which ones there are follows from what was recorded."""

from ...core.kernel import Config, Kernel
from ...core.problems import make_problem
from ...core.sizes import Size
from ..explanations import rules_for
from .array_layout import local_memory, packed
from .drawing import MatrixDrawing
from .fragments import fragments
from .observe import Observed, observe
from .operands import operands, sequence
from .register_tile import register_tile
from .request import request
from .sizes import drawn_problem, small_config, with_small_blocks


def matrix_drawings(kernel: Kernel, size: Size | None = None) -> tuple[MatrixDrawing, ...]:
    """Drawings of the matrices of a rung: what a work-group, a step and a work-item touch, and where it lies in memory.

    Elements are drawn with the rung's smallest configuration, at a size of a few work-groups; requests and banks with its own
    configuration. With a `size`, both are drawn with the rung's own configuration at that size. Each comes from one work-group
    that the interpreter of `explain` ran. Unsupported or SourceError for a kernel that it cannot run.
    """
    if size is not None:
        problem = make_problem(kernel, size)
        few = many = observe(kernel, problem, model=rules_for(kernel, problem, None))
    else:
        small = small_config(kernel)
        problem = drawn_problem(kernel, small)
        few = observe(kernel, problem, config=small, model=rules_for(kernel, problem, None))
        own = with_small_blocks(kernel.config)
        many = few if small == own else _as_it_is(kernel, own)
    return drawings_of(few, many)


def _as_it_is(kernel: Kernel, config: Config) -> Observed:
    problem = drawn_problem(kernel, config)
    return observe(kernel, problem, config=config, model=rules_for(kernel, problem, None))


def drawings_of(few: Observed, many: Observed) -> tuple[MatrixDrawing, ...]:
    """The drawings of two runs: of `few` elements, and of what hardware does with the kernel as it is."""
    moving = sequence(few)
    return (
        operands(few),
        *((moving,) if moving else ()),
        *register_tile(few),
        request(many),
        *local_memory(many),
        *fragments(many),
        *packed(few),
    )
