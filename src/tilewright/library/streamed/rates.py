"""What the seconds of tiles are made of: the sizes of a product or a transpose, and the rates of a device."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rates:
    """What a device is assumed to do: flop/s of large tiles, and bytes per second of its link in each direction.

    Small tiles leave units idle, as if they had `edge` more rows, columns and depth, and each tile takes `tile_s` of Python. A
    GPU's `units` take work-groups in turns, and the last work-groups of a tile leave units idle: a work-group computes the rows
    and columns that `group` says. A
    device that is the host's processor loses a share of the time that copies take: one core of so many does them. Each run of
    contiguous bytes in the host's memory takes `run_s` beside its bytes, one number for loading and one for storing; and each
    tile that is stored `store_s`, while the first of its pieces are on their way and the last ones are copied. For several
    devices `flops` is the sum. If they copy by themselves, `link` is the rate of each of the `links`; if the host's threads copy,
    the rate for all, and what passes by is copied once for as many as `shares`. Python runs for one device at a time: each tile
    holds up all of them for `turn_s`.
    """

    flops: float
    link: float
    lost: float = 0.0
    edge: int = 96
    tile_s: float = 4e-4
    run_s: tuple[float, float] = (0.0, 0.0)
    store_s: float = 0.0
    links: int = 1
    shares: int = 1
    turn_s: float = 0.0
    units: int = 0  # 0: not known
    group: tuple[int, int] = (1, 1)


@dataclass(frozen=True)
class Sizes:
    """What is computed: `batch` matrices of m x n over k, in bytes an element of A, B and C.

    Sums that wait between panels of k may be wider than C: of `sum_bytes`. A transpose has k = 0, and its input in place of A:
    `moved` bytes are read for each element. `files` says which of A, B and C lie in files, `by_columns` which lie by columns.
    `whole_k` says that k may not be cut: the order of an element's sum is promised.
    """

    m: int
    n: int
    k: int
    batch: int
    a_bytes: int
    b_bytes: int
    c_bytes: int
    sum_bytes: int
    reads_c: bool = False
    moved: int = 0
    files: tuple[bool, bool, bool] = (False, False, False)
    by_columns: tuple[bool, bool, bool] = (False, False, False)
    whole_k: bool = False
