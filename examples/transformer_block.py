"""A float32 transformer block, forward and backward: PyTorch's default, TF32, and tilewright's "fp32_split" side by side.

All ways have the same weights and take turns. Their errors are relative norms of differences from the same block in float64.
`--record FILE` saves all times and errors as JSON. On a CPU the three ways compute the same, so take small sizes there.
"""

import argparse
import copy
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

import tilewright
import tilewright.torch


class Block(nn.Module):  # type: ignore[misc]
    """Attention and two layers of four times the width, each behind a norm and beside a connection that skips it."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention = "fused"
        self.first_norm, self.second_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.queries_keys_values, self.mix = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """The block's result for x, both (batch, sequence, width)."""
        parts = self.queries_keys_values(self.first_norm(x)).unflatten(-1, (3, self.heads, -1))
        queries, keys, values = parts.movedim(-3, 0).transpose(-3, -2)  # (batch, heads, sequence, part of the width)
        if self.attention == "fused":
            seen = functional.scaled_dot_product_attention(queries, keys, values)
        else:
            scores = (queries * queries.shape[-1] ** -0.5) @ keys.mT
            seen = scores.softmax(-1) @ values
        x = x + self.mix(seen.transpose(-3, -2).flatten(-2))
        result: Tensor = x + self.down(functional.gelu(self.up(self.second_norm(x))))
        return result


@contextmanager
def tf32() -> Iterator[None]:
    """PyTorch's float32 products with 11 bits of each factor, where the device has such products."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


WAYS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "PyTorch, float32": nullcontext,
    "PyTorch, TF32": tf32,
    "tilewright, fp32_split": lambda: tilewright.torch.products(precision="fp32_split"),
}
# "fused" is scaled_dot_product_attention, which is PyTorch's in every way; "products" are two products and a softmax.
ATTENTIONS = ("fused", "products")


@dataclass
class Row:
    """What was measured of one way: milliseconds of each round, and relative errors."""

    way: str
    attention: str
    forward_ms: list[float] = field(default_factory=list)
    backward_ms: list[float] = field(default_factory=list)
    output_error: float = 0.0
    gradient_errors: dict[str, float] = field(default_factory=dict)

    @property
    def times(self) -> list[float]:
        """Milliseconds of forward and backward together, in order of length."""
        return sorted(one + other for one, other in zip(self.forward_ms, self.backward_ms, strict=True))


class Clock:
    """Points in time by the GPU's clock, or by the host's."""

    def __init__(self, device: str) -> None:
        self.on_gpu = device == "cuda"
        self.points: list[Any] = []

    def mark(self) -> None:
        """Keep this moment: of the current stream on a GPU."""
        self.points.append(torch.cuda.Event(enable_timing=True) if self.on_gpu else perf_counter())
        if self.on_gpu:
            self.points[-1].record()

    def milliseconds(self) -> list[float]:
        """The time between each two neighbouring points."""
        pairs = zip(self.points, self.points[1:], strict=False)
        if not self.on_gpu:
            return [(late - early) * 1e3 for early, late in pairs]
        torch.cuda.synchronize()
        return [early.elapsed_time(late) for early, late in pairs]


def one_pass(block: Block, x: Tensor, upstream: Tensor, row: Row, clock: Clock) -> dict[str, Tensor]:
    """A forward and a backward pass in a row's way: the output and all gradients by name."""
    block.attention = row.attention
    block.zero_grad(set_to_none=True)
    x = x.detach().requires_grad_()
    with WAYS[row.way]():
        clock.mark()
        output = block(x)
        clock.mark()
        output.backward(upstream)
        clock.mark()
    gradients = {name: each.grad for name, each in block.named_parameters()}
    return {"output": output.detach(), "input": x.grad, **gradients}


def relative_errors(found: dict[str, Tensor], exact: dict[str, Tensor]) -> dict[str, float]:
    """The norm of each difference as a part of the exact tensor's norm."""
    return {name: float((found[name].double() - right).norm() / right.norm()) for name, right in exact.items()}


def measured(options: argparse.Namespace) -> list[Row]:
    """The rows of all ways: errors first, then times in rounds, in which each way runs once untimed and once timed."""
    torch.manual_seed(options.seed)
    block = Block(options.width, options.heads).to(options.device)
    shape = (options.batch, options.sequence, options.width)
    x, upstream = (torch.randn(shape, device=options.device) for _ in range(2))
    attentions = ATTENTIONS if options.attention == "both" else (options.attention,)
    rows = [Row(way, attention) for attention in attentions for way in WAYS]
    wide = copy.deepcopy(block).double()
    exact = one_pass(wide, x.double(), upstream.double(), Row("PyTorch, float32", "products"), Clock(options.device))
    for row in rows:
        errors = relative_errors(one_pass(block, x, upstream, row, Clock(options.device)), exact)
        row.output_error = errors.pop("output")
        row.gradient_errors = errors
    del wide, exact
    for number in range(options.rounds):
        for row in (*rows[number % len(rows) :], *rows[: number % len(rows)]):
            one_pass(block, x, upstream, row, Clock(options.device))
            clock = Clock(options.device)
            one_pass(block, x, upstream, row, clock)
            forward, backward = clock.milliseconds()
            row.forward_ms.append(forward)
            row.backward_ms.append(backward)
    return rows


def lines(rows: list[Row]) -> list[str]:
    """The table: times with the spread from the 20th to the 80th percentile, and errors."""
    texts = [
        f"{'way':24} {'attention':9} {'ms':>8} {'20% .. 80%':>18} {'forward':>8} {'x float32':>9}  error of output, gradients"
    ]
    for row in rows:
        first = next(each for each in rows if each.attention == row.attention)
        times = row.times
        low, high = times[len(times) // 5], times[(4 * len(times)) // 5]
        texts.append(
            f"{row.way:24} {row.attention:9} {median(times):8.2f} {low:8.2f} .. {high:6.2f} {median(row.forward_ms):8.2f} "
            f"{median(first.times) / median(times):9.2f}  {row.output_error:.1e}, {max(row.gradient_errors.values()):.1e}"
        )
    return [*texts, "The error of gradients is the largest of all parameters and of the input."]


def version_of(package: str) -> str:
    """The version of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def facts(options: argparse.Namespace) -> dict[str, Any]:
    """What a record says about the block and the machine."""
    on_gpu = options.device == "cuda"
    info = tilewright.open_device("gpu" if on_gpu else None).info
    return {
        "block": {name: getattr(options, name) for name in ("batch", "sequence", "width", "heads", "seed")},
        "rounds": options.rounds,
        "device": torch.cuda.get_device_name() if on_gpu else info.name,
        "driver": info.driver,
        "versions": {"tilewright": version_of("tilewright"), "torch": torch.__version__, "cuda": torch.version.cuda},
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--heads", type=int, default=16)
    parser.add_argument("--attention", choices=(*ATTENTIONS, "both"), default="both")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", type=Path, metavar="FILE", help="save all times and errors as JSON")
    options = parser.parse_args()
    if options.width % options.heads or min(options.batch, options.sequence, options.width, options.rounds) < 1:
        parser.error(
            f"--width {options.width} must be a multiple of --heads {options.heads}, and sizes and rounds at least 1"
        )
    if options.record is not None and not options.record.parent.is_dir():
        parser.error(f"--record {options.record}: there is no folder {options.record.parent}")
    record = facts(options)
    rows = measured(options)
    print("\n".join(lines(rows)))
    if options.record is not None:
        record["rows"] = [asdict(row) for row in rows]
        options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        print(f"wrote {options.record}")


if __name__ == "__main__":
    main()
