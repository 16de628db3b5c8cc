"""Images and samplers of PyOpenCL programs as plain data."""

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.captured import UnreadValue
from ...core.images import ImageValue, SamplerValue


def is_image(memory: Any) -> bool:
    """Whether a memory object of PyOpenCL is an image."""
    import pyopencl as cl

    return isinstance(memory, cl.Image)


def image_sides(image: Any) -> tuple[int, ...]:
    """The texels along x, y, and z or layers: 1 to 3 numbers."""
    import pyopencl as cl

    kinds, info = cl.mem_object_type, cl.image_info
    layers = image.type in (kinds.IMAGE1D_ARRAY, kinds.IMAGE2D_ARRAY)
    axes = {kinds.IMAGE2D: 2, kinds.IMAGE2D_ARRAY: 2, kinds.IMAGE3D: 3}.get(image.type, 1)
    sides = [image.get_image_info(each) for each in (info.WIDTH, info.HEIGHT, info.DEPTH)[:axes]]
    return (*sides, *([image.get_image_info(info.ARRAY_SIZE)] if layers else []))


def image_region(image: Any) -> tuple[int, int, int]:
    """The region of the whole image, as calls that copy images want it."""
    x, y, z = (*image_sides(image), 1, 1)[:3]
    return x, y, z


def copy_from_image(queue: Any, host: npt.NDArray[np.uint8], image: Any, **how: Any) -> Any:
    """Enqueue a copy of all texels without padding. PyOpenCL's own `enqueue_copy` refuses images of one dimension."""
    import pyopencl as cl

    return cl._cl._enqueue_read_image(queue, image, (0, 0, 0), image_region(image), host, **how)


def copy_to_image(queue: Any, image: Any, texels: npt.NDArray[np.uint8]) -> None:
    """Give an image all its texels, and wait."""
    import pyopencl as cl

    cl._cl._enqueue_write_image(queue, image, (0, 0, 0), image_region(image), texels)


def image_bytes(image: Any) -> int:
    """The bytes of all texels without padding."""
    import pyopencl as cl

    return prod(image_sides(image)) * int(image.get_image_info(cl.image_info.ELEMENT_SIZE))


def image_value(image: Any, texels: npt.NDArray[np.uint8]) -> ImageValue:
    """The image with the texels that were read from it."""
    import pyopencl as cl

    form = image.format
    order = cl.channel_order.to_string(form.channel_order, "%d")
    kind = cl.channel_type.to_string(form.channel_data_type, "%d")
    return ImageValue(texels, order, kind, image_sides(image))


def sampler_value(sampler: Any) -> SamplerValue | UnreadValue:
    """The properties of a sampler, as its driver tells them."""
    import pyopencl as cl

    info = cl.sampler_info
    try:
        normalized, mode, kind = (
            sampler.get_info(each) for each in (info.NORMALIZED_COORDS, info.ADDRESSING_MODE, info.FILTER_MODE)
        )
    except cl.Error as error:
        return UnreadValue(f"is a sampler whose properties cannot be read ({error})")
    addressing = cl.addressing_mode.to_string(mode, "%d").lower()
    return SamplerValue(bool(normalized), addressing, kind == cl.filter_mode.LINEAR)
