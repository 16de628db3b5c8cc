"""What keys of caches say of the code that a driver makes."""

from tilewright.runtime.processors import code_facts, processor_flags


def test_code_for_a_cpu_depends_on_its_flags_and_on_what_its_compiler_is_told() -> None:
    plain = code_facts("cpu", {})
    assert plain == processor_flags()
    told = code_facts("cpu", {"CL_CONFIG_CPU_TARGET_ARCH": "core-avx2", "HOME": "anywhere"})
    other = code_facts("cpu", {"CL_CONFIG_CPU_TARGET_ARCH": "skx"})
    assert len({plain, told, other, code_facts("cpu", {"POCL_VECTORIZER_REMARKS": "1"})}) == 4
    assert code_facts("cpu", {"POCL_AFFINITY": "1", "POCL_CACHE_DIR": "a folder", "HOME": "anywhere"}) == plain


def test_code_for_a_gpu_does_not() -> None:
    assert code_facts("gpu", {"CL_CONFIG_CPU_TARGET_ARCH": "core-avx2"}) == ""
