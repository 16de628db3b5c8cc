"""The matrices of a kernel with what one work-group, one step of it and one work-item touch."""

from textwrap import wrap

from ...core.language import Sentence, shown, translated
from ...core.svg import Drawing
from .drawing import MatrixDrawing, Values
from .matrices import Matrix
from .observe import Observed
from .panels import GROUP, ITEM, STEP, Cells, Panel
from .picture import STYLE, legend, product_arrangement, side_by_side
from .terminal import GLYPHS, NEXT, product_text, row_text

SEQUENCE = 4  # steps of a sequence
SHADE_WORDS = {GROUP: Sentence("work-group"), STEP: Sentence("this step"), ITEM: Sentence("one work-item")}


def by_name(seen: Observed) -> list[Matrix]:
    """The matrices that are drawn: the inputs as the kernel reads them, then the output."""
    used = {each.buffer for each in seen.globals}
    found = [each for name, each in seen.matrices.items() if name in used]
    return sorted(found, key=lambda each: (each.name == seen.output, each.name))


def sentence_title(matrix: Matrix) -> str:
    return f"{matrix.title}  {matrix.rows} x {matrix.columns}"


def panel_of(seen: Observed, matrix: Matrix, step: int | None, item: int | None, following: int | None) -> Panel:
    """A whole matrix: what the group touches in all, in one step, by one work-item, and what it reads in the next step."""
    name = matrix.name
    shades: dict[int, Cells] = {GROUP: frozenset(seen.touched(name))}
    if step is not None:
        shades[STEP] = frozenset(seen.touched(name, step=step))
    if item is not None:
        writes = True if name == seen.output else None
        own = step if name != seen.output else None
        shades[ITEM] = frozenset(seen.touched(name, step=own, item=item, stores=writes))
    outlined: Cells = frozenset()
    if following is not None and name != seen.output:
        outlined = frozenset(seen.touched(name, step=following))
        if outlined == shades.get(STEP):
            outlined = frozenset()
    marked = shades.get(STEP) or shades[GROUP]
    return Panel(
        sentence_title(matrix), (0, 0), (matrix.rows, matrix.columns), shades, outlined,
        along_rows=matrix.along_rows, marked=marked,
    )  # fmt: skip


def operands(seen: Observed) -> MatrixDrawing:
    """All matrices, in the arrangement of a product, or input and output beside each other."""
    item, step = seen.item if seen.items > 1 else None, seen.step
    at = seen.steps.index(step) if step is not None else 0
    following = seen.steps[at + 1] if step is not None and at + 1 < len(seen.steps) else None
    matrices = by_name(seen)
    product = len(matrices) == 3
    if not product:
        step = following = None
    panels = [panel_of(seen, each, step, item, following) for each in matrices]
    picture = product_arrangement(panels) if product else side_by_side(panels)
    legend(picture, [*_entries(panels, step, item, at, len(seen.steps), seen.items), *settings(seen)])
    lines = product_text(panels) if product else row_text(panels)
    lines += ["", *wrap("; ".join(shown(words) for _, words in settings(seen)), 78)]
    counts = [len(each.shades[GROUP]) for each in panels], [len(each.shades.get(STEP, ())) for each in panels]
    owned = [len(each.shades.get(ITEM, each.shades[GROUP])) for each in panels]
    shared: Values = {"kernel": seen.kernel.name, "group": group_name(seen), "item": seen.item, "a": matrices[0].title,
              "c": matrices[-1].title, "a_all": counts[0][0], "c_all": counts[0][-1], "a_item": owned[0],
              "c_item": owned[-1]}  # fmt: skip
    if not product:
        return _made("operands", "copy", shared, picture, [*lines, *_text_legend(panels)])
    extra: Values = {"b": matrices[1].title, "b_all": counts[0][1], "a_step": counts[1][0], "b_step": counts[1][1],
             "step": at + 1, "steps": max(len(seen.steps), 1)}  # fmt: skip
    return _made(
        "operands",
        "product" if step is None else "operands",
        {**shared, **extra},
        picture,
        [*lines, *_text_legend(panels)],
    )


def _made(name: str, kind: str, values: Values, picture: Drawing, lines: list[str]) -> MatrixDrawing:
    return MatrixDrawing(name, kind, values, picture.svg(STYLE), "\n".join(lines))


def settings(seen: Observed) -> list[tuple[str, str]]:
    """What a legend says of a run with other settings than the rung's own: they are smaller, so that elements can be seen."""
    own = seen.kernel.config.key
    changed = [f"{name}={value}" for name, value in seen.config.key.items() if own.get(name) != value]
    return [("", Sentence("drawn small, with {settings}", settings=" ".join(changed)))] if changed else []


def group_name(seen: Observed) -> str:
    """The ids of the work-group, as many as the NDRange has dimensions."""
    return "(" + ", ".join(map(str, seen.group[: len(seen.local_size)])) + ")"


def _entries(
    panels: list[Panel], step: int | None, item: int | None, at: int, steps: int, items: int
) -> list[tuple[str, str]]:
    """The legend: only what can be seen."""
    found = []
    if items > 1:
        found.append(("s1", "the work-group, from beginning to end"))
    else:
        found.append(("s1", "the work-item, from beginning to end"))
    if step is not None and any(each.shades.get(STEP) for each in panels):
        found.append(
            ("s2", f"the work-group in step {at + 1} of {steps}" if items > 1 else f"step {at + 1} of {steps}")
        )
    if items > 1 and any(each.shades.get(ITEM) for each in panels):
        found.append(("s3", f"work-item {item} alone: loads, and results"))
    if any(each.outlined for each in panels):
        found.append(("next", f"step {at + 2}"))
    return [*found, ("arrow", "neighbours in memory")]


def _text_legend(panels: list[Panel]) -> list[str]:
    shades = sorted({shade for each in panels for shade, cells in each.shades.items() if cells})
    words = [f"{GLYPHS[shade]} {shown(SHADE_WORDS[shade])}" for shade in shades]
    if any(each.outlined for each in panels):
        words.append(f"{NEXT} {translated('next step')}")
    return ["", "   ".join(words)]


def sequence(seen: Observed) -> MatrixDrawing | None:
    """The first steps in small pictures; None where steps do not move over two inputs."""
    matrices = by_name(seen)
    if len(matrices) != 3 or len(seen.steps) < 3:
        return None
    steps = seen.steps[:SEQUENCE]
    inputs = matrices[:2]
    moved = [{frozenset(seen.touched(each.name, step=step)) for step in steps} for each in inputs]
    if any(len(each) < len(steps) for each in moved) or frozenset() in moved[0] | moved[1]:
        return None
    picture, lines = Drawing(), []
    for number, step in enumerate(steps):
        panels = [_bare(panel_of(seen, each, step, None, None)) for each in matrices]
        small = product_arrangement(panels, width=160.0)
        picture.place(small, number % 2 * 178, number // 2 * (small.height + 26) + 16)
        picture.text(
            number % 2 * 178, number // 2 * (small.height + 26) + 11, f"step {number + 1}", "ink head", size=12
        )
        lines += [f"step {number + 1}", *product_text(panels), ""]
    legend(picture, [("s1", "the work-group, from beginning to end"), ("s2", "read in this step"), *settings(seen)])
    values: Values = {
        "kernel": seen.kernel.name,
        "group": group_name(seen),
        "shown": len(steps),
        "steps": len(seen.steps),
    }
    return _made("sequence", "sequence", values, picture, lines)


def _bare(panel: Panel) -> Panel:
    """A panel without numbers and arrow, for a small picture."""
    shades = {shade: cells for shade, cells in panel.shades.items() if shade != ITEM}
    return Panel(panel.title.split("  ")[0], panel.first, panel.size, shades)
