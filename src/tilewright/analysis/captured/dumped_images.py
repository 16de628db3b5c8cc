"""Images and samplers in dumps of the Intercept Layer for OpenCL Applications.

Image_MetaData_N.txt has nine numbers, a line each: the region's width, height and depth in texels, the bytes of a texel, the
pitches of rows and slices, OpenCL's codes for the type and order of channels, and the code of the image's kind. The texels are
those of the region without padding, in Pre/Enqueue_NUMBER_Kernel_NAME_Arg_N_Image_NUMBER_WIDTHxHEIGHTxDEPTH_BITSbpp.raw.
SamplerN.txt has the properties that made the sampler:
`CL_SAMPLER_NORMALIZED_COORDS = CL_TRUE, CL_SAMPLER_ADDRESSING_MODE = CL_ADDRESS_CLAMP, ...`.
"""

import re
from collections.abc import Sequence
from math import prod
from pathlib import Path

import numpy as np

from ...core.captured import UnreadValue
from ...core.images import ImageValue, SamplerValue
from ..explain.clc.image_types import ADDRESSING, CHANNEL_TYPES, FIRST_ORDER, FIRST_TYPE, ORDERS

NUMBERS = 9  # of an image's metadata
AXES = {0x10F1: 2, 0x10F2: 3, 0x10F3: 3, 0x10F4: 1, 0x10F5: 2}  # of 2D, 3D, 2D array, 1D and 1D array
_PROPERTY = re.compile(r"CL_SAMPLER_(\w+) = (\w+)")


def image_in(numbers: Sequence[int], texels: Path | None) -> ImageValue | UnreadValue:
    """The image with this metadata, and its texels from their file; or why it is not known."""
    if len(numbers) < NUMBERS:
        return UnreadValue(f"is an image, and its metadata has {len(numbers)} numbers instead of {NUMBERS}")
    if texels is None:
        return UnreadValue("is an image whose texels are not in the dump: the layer did not write their .raw file")
    (*region, texel), kind = numbers[:4], numbers[8]
    order, form = _word(ORDERS, numbers[7] - FIRST_ORDER), _word(CHANNEL_TYPES, numbers[6] - FIRST_TYPE)
    if not order or not form or kind not in AXES:
        codes = f"order {numbers[7]:#x}, type {numbers[6]:#x}, kind {kind:#x}"
        return UnreadValue(f"is an image of a kind or format that is not known here ({codes})")
    if not prod(region) * texel or texels.stat().st_size != prod(region) * texel:
        return UnreadValue(
            f"is an image of {'x'.join(map(str, region))} texels of {texel} bytes, but {texels.name} has "
            f"{texels.stat().st_size:,} bytes"
        )
    return ImageValue(np.fromfile(texels, np.uint8), order, form, tuple(region[: AXES[kind]]))


def _word(words: Sequence[str], place: int) -> str:
    return words[place] if 0 <= place < len(words) else ""


def sampler_in(text: str) -> SamplerValue | UnreadValue:
    """The sampler with these properties. What is not among them is as OpenCL says: normalized, clamp and nearest."""
    found = dict(_PROPERTY.findall(text))
    if not found and text.strip() not in ("", "NULL"):
        return UnreadValue(f"is a sampler whose properties cannot be read: {text.strip()[:80]!r}")
    normalized = found.get("NORMALIZED_COORDS", "CL_TRUE")
    addressing = found.get("ADDRESSING_MODE", "CL_ADDRESS_CLAMP").removeprefix("CL_ADDRESS_").lower()
    linear = found.get("FILTER_MODE", "CL_FILTER_NEAREST")
    if (
        normalized not in ("CL_TRUE", "CL_FALSE")
        or addressing not in ADDRESSING
        or linear not in ("CL_FILTER_NEAREST", "CL_FILTER_LINEAR")
    ):
        return UnreadValue(f"is a sampler with properties that are not known here: {text.strip()[:160]!r}")
    return SamplerValue(normalized == "CL_TRUE", addressing, linear == "CL_FILTER_LINEAR")
