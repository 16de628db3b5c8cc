"""NVIDIA's GPUs of 2008 and 2009, the target of the SDK's transpose: half-warps of 16 lanes, 16 banks. Modelled, not measured."""

from .rules import Model

GT200 = Model(
    name="gt200",
    title="NVIDIA GT200 of 2008, compute capability 1.3",
    lanes=16,
    sector=32,
    line=128,
    banks=16,
    verified=False,
    sub_group="half-warp",
    local_pass="wavefront",
    register_bytes=124 * 4,
    serial_constants=True,
    constants="the constant cache gives one address of a request to all lanes, and serves different addresses one by one",
    aliases=("gtx280", "sm_13"),
    evidence="NVIDIA's programming guide 2.3: requests of half-warps, segments of 32, 64 or 128 bytes, 16 banks of 4 bytes",
)
MODELS = (GT200,)
