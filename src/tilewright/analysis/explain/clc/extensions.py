"""Macros of the extensions and features that the interpreter has, so that sources take the branch that it can run.

Names of the Khronos extension registry, and of OpenCL C 3.0, 6.2.1. What is missing here (PTX, pipes, enqueueing) has no macro.
"""

from .image_types import IMAGE_MACROS

EXTENSIONS = (
    "cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics", "cl_khr_3d_image_writes", "cl_khr_depth_images",
    "cl_khr_subgroups", "cl_khr_subgroup_extended_types", "cl_khr_subgroup_ballot", "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative", "cl_khr_subgroup_rotate", "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_non_uniform_arithmetic", "cl_khr_subgroup_clustered_reduce", "cl_khr_integer_dot_product",
    "cl_khr_extended_bit_ops", "cl_khr_work_group_uniform_arithmetic", "cl_ext_float_atomics", "cl_intel_subgroups",
    "cl_intel_subgroups_char", "cl_intel_subgroups_short", "cl_intel_subgroups_long", "cl_intel_required_subgroup_size",
    "cl_arm_integer_dot_product_int8", "cl_arm_integer_dot_product_accumulate_int8",
)  # fmt: skip
# Features of OpenCL C 3.0; a compiler of an older version does not define them.
FEATURES = (
    "__opencl_c_images", "__opencl_c_3d_image_writes", "__opencl_c_read_write_images", "__opencl_c_subgroups",
    "__opencl_c_work_group_collective_functions", "__opencl_c_atomic_order_acq_rel", "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_device", "__opencl_c_atomic_scope_all_devices", "__opencl_c_integer_dot_product_input_4x8bit",
    "__opencl_c_integer_dot_product_input_4x8bit_packed", "__opencl_c_ext_fp32_global_atomic_add",
    "__opencl_c_ext_fp32_local_atomic_add", "__opencl_c_ext_fp32_global_atomic_min_max",
    "__opencl_c_ext_fp32_local_atomic_min_max", "__opencl_c_ext_fp64_global_atomic_add",
    "__opencl_c_ext_fp64_local_atomic_add",
)  # fmt: skip
MACROS: dict[str, str] = {
    **dict.fromkeys(EXTENSIONS, "1"),
    **IMAGE_MACROS,
    "__IMAGE_SUPPORT__": "1",
    "ATOMIC_FLAG_INIT": "0",
}
