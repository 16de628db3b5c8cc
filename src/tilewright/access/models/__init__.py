"""Hardware models: how each family of devices turns accesses into sectors and wavefronts."""

from ...errors import UnknownName
from .amd import AMD_WAVE32, AMD_WAVE64
from .historic import GT200
from .intel import INTEL_8, INTEL_16
from .nvidia import NVIDIA
from .rules import Model

MODELS: tuple[Model, ...] = (NVIDIA, AMD_WAVE64, AMD_WAVE32, INTEL_8, INTEL_16, GT200)


def find_model(name: str) -> Model:
    """The model called `name`; UnknownName lists the near ones."""
    for model in MODELS:
        if model.name == name:
            return model
    raise UnknownName("device model", name, [model.name for model in MODELS])


__all__ = ["AMD_WAVE32", "AMD_WAVE64", "GT200", "INTEL_8", "INTEL_16", "MODELS", "NVIDIA", "Model", "find_model"]
