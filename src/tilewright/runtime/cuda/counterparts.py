"""Opens a device by OpenCL, by CUDA, or by both on the same GPU."""

from ...core.defaults import BACKENDS
from ...core.images import image_parameters
from ...core.kernel import Kernel
from ...errors import InvalidInput, NoDevice, Unsupported
from ..device import Device
from ..opencl.device import Device as OpenCLDevice
from ..opencl.device import open_device
from ..opencl.information import pci_place
from .opening import open_counterpart
from .opening import open_device as open_cuda_device

# Kinds of devices, and the feature of kernels that NVRTC makes machine code of. Of those with other features it makes PTX.
CUDA_FEATURES = {"cpu", "gpu", "nvidia"}


def open_backends(backend: str, device: str | Device | None = None) -> tuple[Device, ...]:
    """The device opened by each runtime that `backend` names, OpenCL first. `device` may be open already.

    NoDevice says what is missing: NVRTC, or an NVIDIA GPU.
    """
    if backend not in BACKENDS:
        raise InvalidInput(f"backend={backend!r} is not one of {', '.join(BACKENDS)}")
    if backend == "cuda":
        return (open_cuda_device(device) if device is None or isinstance(device, str) else device,)
    opened = open_device(device) if device is None or isinstance(device, str) else device
    return (opened,) if backend == "opencl" else (opened, counterpart_of(opened))


def counterpart_of(device: Device) -> Device:
    """The CUDA device that is the same GPU as an OpenCL device."""
    if not isinstance(device, OpenCLDevice) or "nvidia" not in device.info.features:
        raise NoDevice(f"{device.info.label} has no CUDA counterpart: only an NVIDIA GPU opened by OpenCL has one")
    return open_counterpart(pci_place(device.device))


def without_counterpart(kernel: Kernel) -> None:
    """Unsupported if a kernel uses what the CUDA device of ladders does not have."""
    if kernel.binding is not None and kernel.binding.pointers:
        raise Unsupported(
            f"{kernel.name} has no CUDA counterpart: its arguments include local memory, null or parts of buffers"
        )
    if objects := image_parameters(kernel.signature):
        raise Unsupported(
            f"{kernel.name} has no CUDA counterpart: {', '.join(objects)}: CUDA has no images and samplers of OpenCL"
        )
    foreign = sorted({feature for feature, _ in kernel.requires} - CUDA_FEATURES)
    if foreign:
        raise Unsupported(
            f"{kernel.name} has no CUDA counterpart: it uses {', '.join(foreign)}, and kernels with these instructions are "
            "measured by --backend opencl"
        )
