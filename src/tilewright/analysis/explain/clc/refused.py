"""What this front end refuses though some driver takes it: a sentence for each. docs/reference/opencl-c.md has the same list."""

_PIPES = "pipes are not interpreted: they connect kernels, and one kernel is explained at a time"
_QUEUES = "enqueueing from the device is not interpreted: give the inner kernel its own explanation"
_BLOCKS = "blocks (^{ ... }) are not interpreted: write a function"
_SAMPLES = "multisampled images are not interpreted"
ASSEMBLY = "inline assembly cannot be interpreted"

# Types, functions and signs that stand for a part of the language, with what is said about it.
REFUSED_WORDS: dict[str, str] = {
    **dict.fromkeys(("pipe", "reserve_id_t"), _PIPES),
    **dict.fromkeys(("read_pipe", "write_pipe", "reserve_read_pipe", "reserve_write_pipe"), _PIPES),
    **dict.fromkeys(("queue_t", "clk_event_t", "ndrange_t"), _QUEUES),
    **dict.fromkeys(("enqueue_kernel", "enqueue_marker", "get_default_queue", "ndrange_1D", "ndrange_2D", "ndrange_3D"), _QUEUES),
    **dict.fromkeys(("image2d_msaa_t", "image2d_array_msaa_t", "image2d_msaa_depth_t", "image2d_array_msaa_depth_t"), _SAMPLES),
    **dict.fromkeys(("asm", "__asm", "__asm__"), ASSEMBLY),
    "^": _BLOCKS,
}  # fmt: skip
INTO_BLOCK = "goto jumps into braces from outside, which is not supported: put the label at the level of the goto, or further out"
OUT_OF_EXPRESSION = "a statement expression is left by {word}, which is not supported: end it by its value"
FUNCTION_POINTER = "function pointers do not exist in OpenCL C"
VARIABLE_LENGTH = "a constant is needed here: OpenCL C has no variable-length arrays"
OTHER_TYPE = (
    "the attributes vector_size and mode make another type, which is not supported: write that type, such as float4"
)
LONG_LONG = "long long has 128 bits in OpenCL C, which are not supported: write long, which has 64"
WIDE_CONSTANT = (
    "a constant with ll or too large for long has 128 bits in OpenCL C, and more than 64 show here: write ul or l"
)
PACKED_BITS = "bit-fields of packed structs are not supported: shift and mask by hand"
