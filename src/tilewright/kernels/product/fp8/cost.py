"""When converting the operands of a product of 8-bit floats to fp16 is worth its launches."""

from ..call import GemmCall

WORTH_FLOPS = 2**30  # below it, two launches to convert the operands cost more than tensor cores gain


def worth_converting(call: GemmCall) -> bool:
    """Whether tensor cores gain more than the launches that convert both operands cost."""
    return call.flops >= WORTH_FLOPS
