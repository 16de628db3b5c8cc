"""Predict the time of a kernel or a ladder on devices that need not be here."""

import argparse

EXAMPLES = """\
  tilewright predict tiles/6 --on h200
  tilewright predict tiles/6 --on h100,h200,a100,rtx4090,mi300x
  tilewright predict tiles --on h200 --size 4096
  tilewright predict mine.cl --global M,N --local 16,16 --on a100"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from ..core.device import PREDICTED
    from .json_output import add_json
    from .shared_arguments import add_kernel, add_problem

    add_kernel(parser, "a rung's name, such as tiles/2, a .cl file of your own, or a ladder")
    add_problem(parser.add_argument_group("problem"), "2048")
    parser.add_argument(
        "--on", default="h200", metavar="DEVICES",
        help=f"{', '.join(PREDICTED)}, or tables (.json) of your own, with commas between (default: %(default)s)",
    )  # fmt: skip
    add_json(parser.add_argument_group("output"), "the predictions")


def execute(options: argparse.Namespace) -> int:
    from ..analysis.predict import predict
    from ..core.kernel_options import kernel_option_defaults
    from ..errors import InvalidInput
    from ..kernels import LADDERS
    from .kernel_arguments import kernel_of
    from .outputs import check_json, write_json
    from .printing import say_lines
    from .sizes import size_of
    from .unused_options import given_among

    check_json(options)
    is_ladder = options.kernel in LADDERS
    if is_ladder and (given := given_among(options, kernel_option_defaults())):
        raise InvalidInput(f"{given}: {options.kernel} is a whole ladder: give it with one of its rungs")
    kernel = options.kernel if is_ladder else kernel_of(options)
    found = predict(kernel, options.on.split(","), size_of(options), dtype=options.dtype, offset=options.offset)
    say_lines(str(found))
    write_json(options, found)
    return 0
