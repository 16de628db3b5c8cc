"""Hardware models: how each family of devices turns accesses into sectors and wavefronts.

A model is a file of this folder that ends in `MODELS`, and its name in FAMILIES: the command line, `explain` and `roofline`
find it there. Of a vendor's models the first is taken for a GPU whose sub-groups have another width.
"""

from ....core.device import DeviceInfo
from ....errors import UnknownName
from . import amd, historic, intel, nvidia
from .amd import AMD_WAVE32, AMD_WAVE64
from .historic import GT200
from .intel import INTEL_8, INTEL_16
from .nvidia import NVIDIA
from .rules import Model

FAMILIES = (nvidia, amd, intel, historic)
MODELS: tuple[Model, ...] = tuple(model for family in FAMILIES for model in family.MODELS)


def find_model(name: str) -> Model:
    """The model of that name or alias; UnknownName lists the near ones."""
    for model in MODELS:
        if name in (model.name, *model.aliases):
            return model
    raise UnknownName("device model", name, [known for model in MODELS for known in (model.name, *model.aliases)])


def model_for(info: DeviceInfo) -> Model:
    """The model of a device's vendor and sub-group width; NVIDIA's, the verified one, for devices without a model."""
    of_vendor = [model for model in MODELS if model.is_for(info)]
    of_width = [model for model in of_vendor if model.lanes == info.sub_group_width]
    return (*of_width, *of_vendor, NVIDIA)[0]


__all__ = [
    "AMD_WAVE32", "AMD_WAVE64", "FAMILIES", "GT200", "INTEL_8", "INTEL_16", "MODELS", "NVIDIA", "Model", "find_model",
    "model_for",
]  # fmt: skip
