"""What calls and commands take if nothing else is said. Nothing is imported: every command line declares these values."""

BACKENDS = ("opencl", "cuda", "both")  # what `--backend` may name: the runtimes that measure a source
LIBRARY_BACKENDS = ("opencl", "both")  # what that of `bench` may name
BENCHMARK_SETS = {"cpu": ("quick",), "gpu": ("squares", "skinny")}

# By operation and kind of device: large enough to tell rungs apart, small enough to end within a minute.
LADDER_SIDES = {("gemm", "cpu"): 512, ("gemm", "gpu"): 4096, ("transpose", "cpu"): 2048, ("transpose", "gpu"): 4096}
ACCURACY_SIZES = {"cpu": (512, 512, 2048), "gpu": (2048, 2048, 8192)}  # on two CPU cores the larger one takes minutes
RUN_SIDES = {"cpu": 512, "gpu": 1024}
ROOFLINE_SIDES = {"cpu": 512, "gpu": 4096}
INSPECT_SIDE = 256

EXPLAIN_STEPS = 40_000  # loop iterations and calls of a launch: some tens of seconds on a laptop
EXPLAIN_S = 30.0  # of one launch, whose user waits for nothing else
TRIAL_S = 60.0  # for the start of Python, the build, the reference and one run; usual sizes take a few seconds
SUSTAINED_S = 2.0  # of a turn: a GPU's clock settles after some tenths of a second


def cpu_or_gpu(device_kind: str) -> str:
    """The key "cpu" or "gpu" of the tables above for a kind of device: what is no GPU is measured as a CPU."""
    return "gpu" if device_kind == "gpu" else "cpu"


def ladder_side(operation: str, device_kind: str) -> int:
    """The side of the square problem at which kernels of an operation are measured. Copies have that of transposes."""
    return LADDER_SIDES["gemm" if operation == "gemm" else "transpose", cpu_or_gpu(device_kind)]
