"""Images and samplers on OpenCL devices, made from plain data, and their texels copied."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyopencl as cl

from ...core.device import DeviceInfo
from ...core.images import ImageValue, SamplerValue
from ...errors import Unsupported
from .image_values import copy_from_image, copy_to_image

KINDS = {
    "image1d_t": "IMAGE1D", "image1d_buffer_t": "IMAGE1D_BUFFER", "image1d_array_t": "IMAGE1D_ARRAY", "image2d_t": "IMAGE2D",
    "image2d_array_t": "IMAGE2D_ARRAY", "image2d_depth_t": "IMAGE2D", "image2d_array_depth_t": "IMAGE2D_ARRAY",
    "image3d_t": "IMAGE3D",
}  # fmt: skip


@dataclass(frozen=True)
class DeviceImage:
    """An image of a device. The texels of an image1d_buffer_t are those of a `buffer`; others have none."""

    handle: Any
    value: ImageValue
    buffer: Any = None

    def write(self, queue: Any) -> None:
        """Give it the texels that it has at first, and wait."""
        texels = np.ascontiguousarray(self.value.data)
        if self.buffer is not None:
            cl.enqueue_copy(queue, self.buffer, texels)
        else:
            copy_to_image(queue, self.handle, texels)

    def read(self, queue: Any) -> npt.NDArray[np.uint8]:
        """The bytes of its texels, after all commands in the queue."""
        host = np.empty(self.value.data.size, np.uint8)
        if self.buffer is not None:
            cl.enqueue_copy(queue, host, self.buffer)
        else:
            copy_from_image(queue, host, self.handle)
        return host


def make_image(context: Any, device: Any, info: DeviceInfo, name: str, ctype: str, value: ImageValue) -> DeviceImage:
    """The image for a parameter of the type `ctype`, which kernels may read and write. Its texels are not written yet.

    Unsupported, with the device's name, if it has no images, or none of this kind and format."""
    check_support(device, info, f"{ctype} {name}")
    kind = getattr(cl.mem_object_type, KINDS[ctype])
    form = cl.ImageFormat(getattr(cl.channel_order, value.order), getattr(cl.channel_type, value.type))
    flags = cl.mem_flags.READ_WRITE
    known = cl.get_supported_image_formats(context, flags, kind)
    if not any(_pair(each) == _pair(form) for each in known):
        orders = {cl.channel_order.to_string(each.channel_order, "%d") for each in known
                  if each.channel_data_type == form.channel_data_type}  # fmt: skip
        named = sorted(
            each for each in orders if not each.isdecimal()
        )  # vendors have orders that PyOpenCL has no name for
        there = f"with that type it has {', '.join(named)}" if named else "it has none with that type"
        raise Unsupported(f"{info.label} has no {ctype} of {value.order} {value.type}, which {name!r} is; {there}")
    descriptor = _descriptor(kind, value.sides)
    if kind != cl.mem_object_type.IMAGE1D_BUFFER:
        return DeviceImage(cl.Image(context, flags, form, desc=descriptor), value)
    buffer = cl.Buffer(context, flags, max(value.data.size, 1))
    descriptor.buffer = buffer
    return DeviceImage(cl.Image(context, flags, form, desc=descriptor), value, buffer)


def make_sampler(context: Any, device: Any, info: DeviceInfo, name: str, value: SamplerValue) -> Any:
    """The sampler for a parameter. Unsupported, with the device's name, if it has no images."""
    check_support(device, info, f"sampler_t {name}")
    linear = cl.filter_mode.LINEAR if value.linear else cl.filter_mode.NEAREST
    return cl.Sampler(context, value.normalized, getattr(cl.addressing_mode, value.addressing.upper()), linear)


def check_support(device: Any, info: DeviceInfo, parameter: str) -> None:
    """Unsupported for a device without images."""
    if not device.image_support:
        raise Unsupported(
            f"{info.label} has no images, and the kernel's argument is a {parameter}; `tilewright explain` interprets it without "
            "a device"
        )


def _pair(form: Any) -> tuple[int, int]:
    return form.channel_order, form.channel_data_type


def _descriptor(kind: Any, sides: tuple[int, ...]) -> Any:
    kinds = cl.mem_object_type
    layers = kind in (kinds.IMAGE1D_ARRAY, kinds.IMAGE2D_ARRAY)
    found = cl.ImageDescriptor()
    found.image_type = kind
    found.shape = (*(sides[:-1] if layers else sides), 1, 1)[:3]
    found.array_size = sides[-1] if layers else 0
    found.pitches = (0, 0)
    found.num_mip_levels = found.num_samples = 0
    return found
