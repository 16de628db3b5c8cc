"""Built-in functions of OpenCL C for clang alone: they compile for every type, and become the instructions that they are."""

from collections import Counter

import pytest
from foreign import FOLDER, launches

from tilewright.analysis.inspect import amd, inspect, nvidia
from tilewright.analysis.inspect.bare_clang import conversions, language, plain_name
from tilewright.analysis.inspect.find_tools import find_clang, find_libdevice, find_ptxas

pytestmark = pytest.mark.skipif(find_clang() is None, reason="no clang 19 or later")
needs_ptxas = pytest.mark.skipif(
    find_ptxas("sm_90") is None or find_libdevice() is None, reason="no ptxas with libdevice"
)
HEAD = "__kernel void f(__global float4* a, __global int4* b, __global double2* d, __global uchar3* c) {\n"
HEAD += "const int i = get_global_id(0); a += i; b += i; d += i; c += i;\n"
# Expressions, and instructions of AMD's machine code that each must be made of, with how many.
BODIES = {
    "a[0] = native_exp2(a[0]);": {"v_exp_f32": 4},
    "a[0].x = half_sin(a[0].x);": {"v_sin_f32": 1},
    "a[0] = rsqrt(a[0]);": {"v_rsq_f32": 4},
    "a[0] = mad(a[0], a[1], a[2]);": {"v_pk_fma_f32": 2},
    "b[0].x = mul_hi(b[0].x, b[0].y);": {"mul_hi_i32": 1},
    "b[0].x = mul24(b[0].x, b[0].y);": {"mul_i32_i24": 1},
    "b[0] = popcount(b[0]);": {"bcnt": 4},
    "b[0].x = rotate(b[0].x, 7);": {"alignbit": 1},
    "atomic_add((__global int*)b, 3); atom_max((__global int*)b + 1, b[0].z);": {"global_atomic": 2},
    "atomic_cmpxchg((volatile __global int*)b, 1, 2);": {"global_atomic_cmpswap": 1},
    "c[0] = convert_uchar3_sat_rte(a[0].xyz);": {"v_rndne_f32": 3},
    "b[0] = convert_int4(a[0]) + clamp(b[1], -3, 7) + max(b[2], (int4)(1));": {"v_cvt_i32_f32": 4},
    "a[0] = clamp(mix(a[0], a[1], 0.25f), 0.0f, 1.0f) + step(0.5f, a[2]) + smoothstep(0.0f, 1.0f, a[3]);": {},
    "a[0].xyz = cross(normalize(a[0].xyz), a[1].xyz) * dot(a[2], a[3]);": {},
    "a[0] = select(a[0], a[1], isless(a[2], a[3])); b[0].x = any(b[1] > 2) + all(b[2] < 3);": {},
    "float4 w; a[0] = fract(a[1], &w) + modf(a[2], &w) + sincos(a[3], &w) + w;": {},
    "d[0] = fma(d[0], d[1], sqrt(d[2])) + convert_double2(b[0].xy) + floor(d[3]);": {},
    "b[0] = convert_int4(abs_diff(b[0], b[1]) + hadd(as_uint4(a[0]), as_uint4(b[0]))) + clz(b[1]);": {},
    "vstore3(vload3(1, (__global float*)a), 2, (__global float*)a); vstore_half4(a[0], 1, (__global half*)c);": {},
    "b[0].x = sub_group_reduce_add(b[0].x) + get_sub_group_local_id();": {"bpermute": 6},
    'mem_fence(CLK_LOCAL_MEM_FENCE); printf("%d", b[0].x); b[0].x = 1;': {},
}


@pytest.mark.parametrize("body", BODIES)
def test_amds_instructions_of_built_in_functions(body: str) -> None:
    found = amd.compile_for_amd(f"{HEAD}{body} }}", "f", "gfx90a")
    assert found.resources is not None, found.notes
    words = Counter(
        line.split()[0] for line in found.texts[amd.FORM].splitlines() if line.startswith("\t") and line.split()
    )
    for name, count in BODIES[body].items():
        assert sum(number for word, number in words.items() if name in word) == count, words


@needs_ptxas
@pytest.mark.parametrize("body", BODIES)
def test_ptxas_takes_built_in_functions(body: str) -> None:
    found = nvidia.compile_opencl_for_nvidia(f"{HEAD}{body} }}", "f", "sm_90", "", (1,))
    assert found.resources is not None


@needs_ptxas
@pytest.mark.parametrize("arch", ["sm_70", "sm_90", "sm_120"])
def test_ptxas_that_knows_the_architecture_is_chosen(arch: str) -> None:
    source = "__kernel void f(__global float* a) { a[0] = sin(a[0]) + pow(a[1], a[2]) + tgamma(a[3]); }"
    found = nvidia.compile_opencl_for_nvidia(source, "f", arch, "", (1,))
    assert found.resources is not None
    assert "ptxas" in found.origin


@pytest.mark.parametrize(
    "name", ["matmul_local_args", "lattice_boltzmann", "matvec_four_bits", "histogram_local_atomics"]
)
def test_local_arguments_count(name: str) -> None:
    (launch,) = launches(name)
    found = inspect(
        FOLDER / f"{name}.cl", "gfx90a", settings=launch.macros, global_size=launch.global_size, local_size=launch.local_size,
        entry=launch.entry, arguments=launch.arguments,
    )  # fmt: skip
    expected = {
        "matmul_local_args": 512,
        "lattice_boltzmann": 0,
        "matvec_four_bits": 64,
        "histogram_local_atomics": 128,
    }
    assert found.resources is not None
    assert found.resources.local_bytes == expected[name]
    assert found.occupancy is not None


def test_conversions_are_made_for_what_a_source_names() -> None:
    assert conversions("a = b;") == ""
    made = conversions("x = convert_uchar4_sat(y); z = convert_int_rtp(w) + convert_uchar4_sat(v);")
    assert made.count("TW_BUILTIN") == 2 * 11
    assert (
        "uchar4 convert_uchar4_sat(int4 a) { return __builtin_convertvector(clamp(a, (int)0, (int)255L), uchar4); }"
        in made
    )
    assert "int convert_int_rtp(float a) { return (int)(ceil(a)); }" in made
    assert "uchar4 convert_uchar4_sat(uchar4 a) { return __builtin_convertvector(a, uchar4); }" in made


def test_the_language_follows_the_source() -> None:
    assert language("atomic_add(p, 1); // atomic_fetch_add", ()) == "-cl-std=CL1.2"
    assert language("atomic_fetch_add(p, 1);", ()) == "-cl-std=CL2.0"
    assert language("atomic_fetch_add(p, 1);", ("-cl-std=CL3.0",)) == "-cl-std=CL3.0"


def test_mangled_names_are_read() -> None:
    assert plain_name("_Z11read_imagef14ocl_image2d_roDv2_i") == "read_imagef"
    assert plain_name("__ocml_exp_f64") == "__ocml_exp_f64"
