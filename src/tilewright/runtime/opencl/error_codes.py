"""OpenCL's error codes: what each usually means in a program that launches kernels, and the exception for it."""

import re

from ...errors import DevicePoisoned, LaunchFailed, OutOfDeviceMemory

# The names are from The OpenCL Specification 3.0, appendix F; the sentences are from experience.
MEANINGS = {
    -1: ("DEVICE_NOT_FOUND", "the driver has no device of that type; `tilewright doctor` says what is there"),
    -2: ("DEVICE_NOT_AVAILABLE", "the device is there but in use or disabled"),
    -3: ("COMPILER_NOT_AVAILABLE", "the driver came without its compiler; install the full package"),
    -4: ("MEM_OBJECT_ALLOCATION_FAILURE", "the device has no room for a buffer; try a smaller size"),
    -5: ("OUT_OF_RESOURCES", "a work-group needs more registers or local memory than there is, or a kernel faulted"),
    -6: ("OUT_OF_HOST_MEMORY", "the host ran out of memory inside the driver"),
    -7: ("PROFILING_INFO_NOT_AVAILABLE", "the queue was made without profiling or the event has not ended"),
    -8: ("MEM_COPY_OVERLAP", "source and destination of a copy overlap"),
    -9: ("IMAGE_FORMAT_MISMATCH", "images of different formats, or the driver means something else"),
    -10: ("IMAGE_FORMAT_NOT_SUPPORTED", "the device has no images of that format"),
    -11: ("BUILD_PROGRAM_FAILURE", "the kernel did not compile; the log says where"),
    -12: ("MAP_FAILURE", "a buffer could not be mapped into host memory"),
    -13: ("MISALIGNED_SUB_BUFFER_OFFSET", "a sub-buffer must start at a multiple of the device's base alignment"),
    -14: ("EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", "an earlier command that this one waits for has failed"),
    -15: ("COMPILE_PROGRAM_FAILURE", "the source did not compile; the log says where"),
    -16: ("LINKER_NOT_AVAILABLE", "the driver came without its linker; install the full package"),
    -17: ("LINK_PROGRAM_FAILURE", "the compiled programs do not fit together; the log says why"),
    -18: ("DEVICE_PARTITION_FAILED", "the device cannot be divided like that"),
    -19: ("KERNEL_ARG_INFO_NOT_AVAILABLE", "the program was built without -cl-kernel-arg-info"),
    -30: ("INVALID_VALUE", "an argument is out of its range"),
    -31: ("INVALID_DEVICE_TYPE", "the type of device is none that OpenCL knows"),
    -32: ("INVALID_PLATFORM", "the platform is gone, or was never there"),
    -33: ("INVALID_DEVICE", "the device does not belong to this platform or context"),
    -34: ("INVALID_CONTEXT", "the buffer, queue and program do not belong to one context"),
    -35: ("INVALID_QUEUE_PROPERTIES", "the device does not support these properties of a queue"),
    -36: ("INVALID_COMMAND_QUEUE", "the queue is dead: usually an earlier kernel faulted and took the context with it"),
    -37: ("INVALID_HOST_PTR", "a pointer into host memory is missing, or is there without a flag that uses it"),
    -38: ("INVALID_MEM_OBJECT", "a buffer was released or belongs to another context"),
    -39: ("INVALID_IMAGE_FORMAT_DESCRIPTOR", "the device has no images of that order and type of channels"),
    -40: ("INVALID_IMAGE_SIZE", "an image is wider, higher or deeper than the device allows"),
    -41: ("INVALID_SAMPLER", "a sampler was released or belongs to another context"),
    -42: ("INVALID_BINARY", "a cached program does not fit this driver"),
    -43: ("INVALID_BUILD_OPTIONS", "the compiler does not know a build option"),
    -44: ("INVALID_PROGRAM", "the program was not made"),
    -45: ("INVALID_PROGRAM_EXECUTABLE", "the program was not built for this device"),
    -46: ("INVALID_KERNEL_NAME", "the source holds no kernel of that name"),
    -47: ("INVALID_KERNEL_DEFINITION", "the kernel was built for several devices, and its arguments differ between them"),
    -48: ("INVALID_KERNEL", "the kernel object is gone"),
    -49: ("INVALID_ARG_INDEX", "the kernel has fewer arguments than were bound"),
    -50: ("INVALID_ARG_VALUE", "an argument is not of the kind that the kernel declares"),
    -51: ("INVALID_ARG_SIZE", "a scalar has another width than the kernel declares"),
    -52: ("INVALID_KERNEL_ARGS", "not all arguments were bound"),
    -53: ("INVALID_WORK_DIMENSION", "an NDRange has one to three dimensions"),
    -54: ("INVALID_WORK_GROUP_SIZE", "the work-group is larger than this kernel allows on this device, or differs "
          "from reqd_work_group_size, or does not divide the global size"),
    -55: ("INVALID_WORK_ITEM_SIZE", "one side of the work-group is longer than the device allows"),
    -56: ("INVALID_GLOBAL_OFFSET", "the global offset is out of range"),
    -57: ("INVALID_EVENT_WAIT_LIST", "an event to wait for is not valid, or is of another context"),
    -58: ("INVALID_EVENT", "the event is not valid in this context"),
    -59: ("INVALID_OPERATION", "the driver refuses this operation in this state"),
    -60: ("INVALID_GL_OBJECT", "the buffer or texture was not made from an object of OpenGL"),
    -61: ("INVALID_BUFFER_SIZE", "a buffer of size zero, or beyond the largest allocation"),
    -62: ("INVALID_MIP_LEVEL", "the texture has no such mipmap level"),
    -63: ("INVALID_GLOBAL_WORK_SIZE", "a side of the NDRange is zero or too long"),
    -64: ("INVALID_PROPERTY", "a property of a context, device or queue is unknown or given twice"),
    -65: ("INVALID_IMAGE_DESCRIPTOR", "the description of the image contradicts itself"),
    -66: ("INVALID_COMPILER_OPTIONS", "the compiler does not know an option"),
    -67: ("INVALID_LINKER_OPTIONS", "the linker does not know an option"),
    -68: ("INVALID_DEVICE_PARTITION_COUNT", "the device has no such number of compute units to divide"),
    -69: ("INVALID_PIPE_SIZE", "the pipe is empty, or its packets are larger than the device allows"),
    -70: ("INVALID_DEVICE_QUEUE", "the argument is no queue of the device"),
    -71: ("INVALID_SPEC_ID", "the SPIR-V module has no specialisation constant of that number"),
    -72: ("MAX_SIZE_RESTRICTION_EXCEEDED", "the size of a local argument exceeds what the kernel allows"),
    -1001: ("PLATFORM_NOT_FOUND_KHR", "no OpenCL driver is registered; `tilewright doctor` says how to add one"),
    -9999: ("NVIDIA_ILLEGAL_ACCESS", "NVIDIA's driver: a kernel read or wrote outside its buffers"),
}  # fmt: skip

POISONED = (-36, -9999)  # on NVIDIA, after a fault, every later call in the context fails with these
NO_MEMORY = (-4, -6)


def error_sentence(code: int) -> str:
    """The code's name and what it usually means."""
    name, meaning = MEANINGS.get(code, ("unknown error code", "specific to this driver"))
    return f"OpenCL {name} ({code}): {meaning}"


def code_of(error: BaseException) -> int | None:
    """The error code in a PyOpenCL exception, or None."""
    code = getattr(error, "code", None)
    if isinstance(code, int):
        return code
    found = re.search(r"-\d+", str(error))
    return int(found[0]) if found else None


def failure(sentence: str, code: int | None) -> LaunchFailed:
    """The exception for an error code, with advice."""
    if code in NO_MEMORY:
        return OutOfDeviceMemory(sentence, code)
    if code in POISONED:
        advice = "the context is poisoned by an earlier fault: start a new process"
        return DevicePoisoned(f"{sentence}; {advice}", code)
    return LaunchFailed(sentence, code)
