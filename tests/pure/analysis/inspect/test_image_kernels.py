"""Kernels with images, which no compiler for NVIDIA's GPUs takes without the driver."""

from pathlib import Path

import pytest

import tilewright
from tilewright.cli.main import main
from tilewright.errors import Unsupported

LOOK = """__kernel void look(read_only image2d_t picture, __global float4 *y)
{
    y[get_global_id(0)] = read_imagef(picture, (int2)(get_global_id(0), 0));
}
"""


def test_one_sentence_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "look.cl"
    path.write_text(LOOK)
    with pytest.raises(
        Unsupported, match=r"look cannot be compiled for sm_90 without a GPU, because of image2d_t picture"
    ):
        tilewright.inspect(path, "sm_90", global_size=64, local_size=64)
    assert main(["inspect", str(path), "--arch", "sm_90", "--global", "64", "--local", "64"]) != 0
    (line,) = capsys.readouterr().err.splitlines()
    assert "has no images and samplers of OpenCL" in line
