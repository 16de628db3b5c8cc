"""Writes pictures as .svg, .png or .pdf. The last two are made of the first by Typst, an optional extra."""

import json
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from ..core.files import write_atomically, write_named
from ..core.install import install_extra
from ..errors import InvalidInput, Unsupported

PICTURES = (".svg", ".png", ".pdf")
DOTS_PER_INCH = 144  # two dots for each pixel: Typst takes a pixel for 1/72 inch


def check_picture(path: Path) -> None:
    """InvalidInput if the name does not end as a picture's does, Unsupported if the converter it needs is missing."""
    suffix = path.suffix.lower()
    if suffix not in PICTURES:
        raise InvalidInput(f"{path}: a plot's name ends in {', '.join(PICTURES)}")
    if suffix != ".svg" and find_spec("typst") is None:
        raise Unsupported(f"{path}: {suffix} needs Typst: {install_extra('plot')}; .svg needs nothing")


def write_picture(svg: str, path: Path) -> None:
    """Write SVG text in the format of the file's name. PNG and PDF have the colours for a light background."""
    check_picture(path)
    if path.suffix.lower() == ".svg":
        write_atomically(path, f"{svg}\n".encode())
        return
    import typst

    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        drawing = Path(folder, "picture.svg")
        write_named(drawing, svg.encode())
        page = Path(folder, "page.typ")
        text = f"#set page(width: auto, height: auto, margin: 0pt)\n#image({json.dumps(drawing.name)})\n"
        write_named(page, text.encode())
        kind: Literal["png", "pdf"] = "png" if path.suffix.lower() == ".png" else "pdf"
        made = typst.compile(page, format=kind, ppi=DOTS_PER_INCH, ignore_system_fonts=True, root=Path(folder))
        write_atomically(path, made)
