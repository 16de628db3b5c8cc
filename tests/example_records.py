"""A ladder's record that tables, pages and commands are tried with. Nobody measured it."""

from dataclasses import replace

from tilewright.core.device import DeviceInfo, Peaks
from tilewright.core.records import Environment, Record, Role, Row, RowStatus, Samples


def row(name: str, seconds: float, size: int = 100, **fields: object) -> Row:
    """A product's row whose three samples have that median."""
    samples = Samples((seconds * 2,) * 3, (seconds * 0.9, seconds, seconds * 1.2))
    problem = f"gemm {size}x{size}x{size} float32"
    made = Row(name, f"What {name} changes.", problem, (size,) * 3, 2 * size**3, 12 * size**2, samples=samples)
    return replace(made, **fields)  # type: ignore[arg-type]


REFUSED = row("l/03_c", 1.0, status=RowStatus.REFUSED, reason="K=5 is not a multiple of 4\nand more", samples=Samples())
ROWS = (
    row("NumPy", 0.0005, role=Role.BASELINE, backend="host"),
    row("host program", 0.1, role=Role.SEQUENTIAL),
    row("l/01_a", 0.01, published=(("Tesla", 139.0),)),
    row("l/02_b", 0.004, notes=("cut from 16 to 8",)),
    REFUSED,
    row("l/04_d", 0.002),
)
DEVICE = DeviceInfo("Device", "Platform", driver="1.2")
ENVIRONMENT = Environment(DEVICE, "2026-01-02T03:04:05+00:00", "3.11", "Linux", "Processor", 2, 0.5, {"numpy": "2"})
PEAKS = Peaks({"float32": 2.0, "float64": 1.0}, 10.0, 40.0)
RECORD = Record("ladder l", "float32", ENVIRONMENT, PEAKS, ROWS)
