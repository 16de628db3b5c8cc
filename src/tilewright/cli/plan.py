"""Print the launches that the library would run for a product, and why other candidates lost."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .quantities import from_zero

if TYPE_CHECKING:
    from ..core.problem import Gemm

LARGEST_SIDE = 2**31 - 1  # kernels count in 32 bits

EXAMPLES = """\
  tilewright plan 4096x64x4096
  tilewright plan 512 --layout NT --batch 32 --device gpu --dtype float16"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from .shared_arguments import add_device, add_library_type

    parser.add_argument("size", metavar="SIZE", help="N or MxNxK, in elements")
    parser.add_argument("--layout", default="NN", help="NN, NT, TN or TT: which operand is transposed (default: NN)")
    parser.add_argument(
        "--batch", type=from_zero, default=1, metavar="COUNT", help="number of products (default: %(default)s)"
    )
    add_library_type(parser)
    add_device(parser)


def execute(options: argparse.Namespace) -> int:
    from ..dispatch.choice import plan_product
    from ..dispatch.table_files import load_tables
    from ..runtime.opencl.device import open_device
    from ..runtime.opencl.vpdpbusd import equipped

    problem = product_of(options)
    print(plan_product(problem, equipped(open_device(options.device).info, options.dtype), load_tables()))
    return 0


def product_of(options: argparse.Namespace) -> Gemm:
    """The product of that size, layout, type and batch."""
    from ..core.problem import Gemm
    from ..errors import InvalidInput
    from ..measurement.sets import STORED
    from .sizes import parse_size

    size = parse_size(options.size, "N or MxNxK")
    if len(size) not in (1, 3):
        raise InvalidInput(f"{options.size}: a product has 1 or 3 sizes; write N or MxNxK")
    m, n, k = size * 3 if len(size) == 1 else size
    if max(m, n, k) > LARGEST_SIDE:
        raise InvalidInput(f"{options.size}: sides are limited to 2^31 - 1 = {LARGEST_SIDE:,}")
    orders = {"N": "row", "T": "column"}
    if not set(options.layout) <= set(orders) or len(options.layout) != 2:
        raise InvalidInput(f"--layout {options.layout}: write NN, NT, TN or TT")
    a_order, b_order = (orders[letter] for letter in options.layout)
    stored = STORED.get(options.dtype)
    return Gemm(
        m, n, k, options.dtype, a_order, b_order, out_dtype=stored, batch=options.batch, precision=options.precision
    )
