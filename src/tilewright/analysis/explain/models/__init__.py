"""Device models: how each family of devices turns accesses into sectors and wavefronts.

A model is a file in this folder that ends in `MODELS`, and its name in FAMILIES: there the command line, `explain` and
`roofline` find it. A GPU with another sub-group width gets its vendor's first model.
"""

from ....core.device import DeviceInfo
from ....errors import UnknownName
from . import amd, cpu, historic, intel, nvidia
from .amd import AMD_WAVE32, AMD_WAVE64
from .cpu import CPU
from .historic import GT200, HD_4870, HD_5870, KEPLER_4, KEPLER_8
from .intel import INTEL_8, INTEL_16
from .nvidia import NVIDIA
from .rules import Model

FAMILIES = (nvidia, amd, intel, historic, cpu)
MODELS: tuple[Model, ...] = tuple(model for family in FAMILIES for model in family.MODELS)


def find_model(name: str) -> Model:
    """The model with that name or alias, in capital letters or not; UnknownName lists similar ones."""
    for model in MODELS:
        if isinstance(name, str) and name.lower() in (model.name, *model.aliases):
            return model
    raise UnknownName("device model", name, [known for model in MODELS for known in (model.name, *model.aliases)])


def model_for(info: DeviceInfo) -> Model:
    """The model for a device's vendor and sub-group width; NVIDIA's, which was checked, for other devices."""
    of_vendor = [model for model in MODELS if model.is_for(info)]
    of_width = [model for model in of_vendor if model.lanes == info.sub_group_width]
    return (*of_width, *of_vendor, NVIDIA)[0]


def model_of_width(model: Model, width: int) -> Model:
    """The model of the same vendor with sub-groups of `width` work-items, as a kernel may require; else `model`."""
    same = [each for each in MODELS if each.vendors and each.vendors == model.vendors and each.lanes == width]
    return (*same, model)[0]


__all__ = [
    "AMD_WAVE32", "AMD_WAVE64", "CPU", "FAMILIES", "GT200", "HD_4870", "HD_5870", "INTEL_8", "INTEL_16", "KEPLER_4", "KEPLER_8",
    "MODELS", "NVIDIA", "Model", "find_model", "model_for", "model_of_width",
]  # fmt: skip
