"""What `__attribute__((...))` says that matters here."""

from dataclasses import dataclass

QCOM_SUB_GROUPS = {"half": 64, "full": 128}  # Adreno GPUs; cl_qcom_reqd_sub_group_size names no numbers


@dataclass
class Attributes:
    aligned: int = 0
    packed: bool = False
    work_group: tuple[int, ...] | None = None
    vector: int = 0
    sub_group: int = 0  # the work-items of a sub-group that the kernel requires
