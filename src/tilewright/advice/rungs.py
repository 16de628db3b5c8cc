"""The rungs that show a remedy, on GPUs and on CPUs."""

SHARE, LARGER, REGISTERS, WIDE = "share", "larger", "registers", "wide"
PRIVATE, COALESCED, TRANSPOSED, PADDED = "private", "coalesced", "transposed", "padded"
ON_GPUS = {
    SHARE: "tiles/2", LARGER: "tiles/6", REGISTERS: "tiles/6", WIDE: "tiles/7", PRIVATE: "rows/3", COALESCED: "tiles/1",
    TRANSPOSED: "transpose/5", PADDED: "transpose/6",
}  # fmt: skip
ON_CPUS = ON_GPUS | {SHARE: "cpu/3", LARGER: "cpu/5", REGISTERS: "cpu/3", WIDE: "cpu/2", COALESCED: "cpu/1"}


def rung_for(remedy: str, is_cpu: bool) -> str:
    """The rung that shows a remedy."""
    return (ON_CPUS if is_cpu else ON_GPUS)[remedy]
