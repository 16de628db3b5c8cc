"""Every function in the tables of the OpenCL C specification is known, or refused by name."""

import numpy as np
import pytest

from tilewright.analysis.explain import explain_source
from tilewright.analysis.explain.clc.extensions import EXTENSIONS
from tilewright.analysis.explain.simt.builtins import find_builtin
from tilewright.errors import SourceError

# OpenCL C 3.0, 6.15, table by table; types stand for all of their kind.
MATH = """
acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi atan2pi cbrt ceil copysign cos cosh cospi erfc erf exp exp2 exp10
expm1 fabs fdim floor fma fmax fmin fmod fract frexp hypot ilogb ldexp lgamma lgamma_r log log2 log10 log1p logb mad maxmag
minmag modf nan nextafter pow pown powr remainder remquo rint rootn round rsqrt sin sincos sinh sinpi sqrt tan tanh tanpi
tgamma trunc half_cos half_divide half_exp half_exp2 half_exp10 half_log half_log2 half_log10 half_powr half_recip half_rsqrt
half_sin half_sqrt half_tan native_cos native_divide native_exp native_exp2 native_exp10 native_log native_log2 native_log10
native_powr native_recip native_rsqrt native_sin native_sqrt native_tan degrees mix radians step smoothstep sign cross dot
distance length normalize fast_distance fast_length fast_normalize"""
INTEGERS = """
abs abs_diff add_sat hadd rhadd clamp clz ctz mad_hi mad_sat max min mul_hi rotate sub_sat upsample popcount mad24 mul24
dot_acc_sat dot_4x8packed_uu_uint dot_4x8packed_ss_int dot_4x8packed_us_int dot_4x8packed_su_int
dot_acc_sat_4x8packed_uu_uint dot_acc_sat_4x8packed_ss_int dot_acc_sat_4x8packed_us_int dot_acc_sat_4x8packed_su_int
bitfield_insert bitfield_extract_signed bitfield_extract_unsigned bit_reverse"""
RELATIONS = """
isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isfinite isinf isnan isnormal isordered
isunordered signbit any all bitselect select"""
MEMORY = """
vload2 vload3 vload16 vstore2 vstore16 vload_half vload_half3 vload_half16 vstore_half vstore_half_rte vstore_half_rtz
vstore_half_rtp vstore_half_rtn vstore_half4 vstore_half4_rtz vloada_half vloada_half2 vloada_half3 vstorea_half
vstorea_half4 vstorea_half16_rtn async_work_group_copy async_work_group_strided_copy wait_group_events prefetch vec_step
shuffle shuffle2 printf barrier work_group_barrier sub_group_barrier mem_fence read_mem_fence write_mem_fence
atomic_work_item_fence"""
ITEMS = """
get_work_dim get_global_size get_global_id get_local_size get_enqueued_local_size get_local_id get_num_groups get_group_id
get_global_offset get_global_linear_id get_local_linear_id get_sub_group_size get_max_sub_group_size get_num_sub_groups
get_enqueued_num_sub_groups get_sub_group_id get_sub_group_local_id"""
ATOMICS = """
atomic_init atomic_store atomic_store_explicit atomic_load atomic_load_explicit atomic_exchange atomic_exchange_explicit
atomic_compare_exchange_strong atomic_compare_exchange_strong_explicit atomic_compare_exchange_weak
atomic_compare_exchange_weak_explicit atomic_fetch_add atomic_fetch_sub_explicit atomic_fetch_or atomic_fetch_xor
atomic_fetch_and atomic_fetch_min atomic_fetch_max_explicit atomic_flag_test_and_set atomic_flag_test_and_set_explicit
atomic_flag_clear atomic_flag_clear_explicit atomic_add atomic_sub atomic_xchg atomic_inc atomic_dec atomic_cmpxchg atomic_min
atomic_max atomic_and atomic_or atomic_xor atom_add atom_cmpxchg atom_max"""
IMAGES = """
read_imagef read_imageh read_imagei read_imageui write_imagef write_imageh write_imagei write_imageui get_image_width
get_image_height get_image_depth get_image_channel_data_type get_image_channel_order get_image_dim get_image_array_size"""
TEAMS = [
    f"{team}_{name}"
    for team in ("work_group", "sub_group")
    for name in ("all", "any", "broadcast", "reduce_add", "reduce_min", "scan_exclusive_max", "scan_inclusive_add")
]
NAMES = " ".join((MATH, INTEGERS, RELATIONS, MEMORY, ITEMS, ATOMICS, IMAGES)).split() + TEAMS
CONVERSIONS = ["convert_float4_rtp", "convert_uchar16_sat_rte", "convert_half2", "as_int2", "as_double", "as_char8"]


@pytest.mark.parametrize("name", NAMES + CONVERSIONS)
def test_the_function_is_known(name: str) -> None:
    assert find_builtin(name) is not None


@pytest.mark.parametrize("name", ["dot_4x8packed_us_uint", "atomic_fetch_mul", "vload5", "read_imaged", "convert_int5"])
def test_what_is_no_function_is_not(name: str) -> None:
    assert find_builtin(name) is None


@pytest.mark.parametrize("name", ["read_pipe", "enqueue_kernel", "async_work_group_copy_2D2D", "clock_read_device"])
def test_what_is_missing_is_named(name: str) -> None:
    with pytest.raises(SourceError, match=rf"kernel.cl:1:\d+: .*'{name}'"):
        explain_source(f"__kernel void k() {{ {name}(); }}", global_size=(1,), local_size=(1,), arguments={})


def test_sources_that_ask_for_an_extension_find_it() -> None:
    asked = "\n".join(f"#ifndef {name}\n#error no {name}\n#endif" for name in EXTENSIONS)
    source = f"""{asked}
#if CLK_ADDRESS_REPEAT != 6 || !defined(__IMAGE_SUPPORT__)
#error constants of samplers
#endif
__kernel void k(__global atomic_flag* f) {{ atomic_flag_clear(f); }}"""
    found = explain_source(source, global_size=(1,), local_size=(1,), arguments={"f": np.ones(1, np.int32)})
    assert found.outputs["f"][0] == 0
