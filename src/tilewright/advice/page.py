"""The answer as one HTML page without outer resources: verdict, causes, source with bars, roofline, machine code."""

from collections.abc import Iterator
from html import escape
from pathlib import Path

from ..analysis.explain.drawing.source import SourceLine, source_html
from ..core.files import write_atomically
from ..core.html_page import whole_page
from ..core.language import in_english
from ..errors import Unsupported
from ..reports.roofline import draw_roofline
from .answer import Answer, bound_sentence, cost_words, failure_lines, headline, nothing_found, times_words
from .cause import Cause

STYLE = """
*{box-sizing:border-box}body{background:var(--page);color:var(--ink);font:15px/1.5 system-ui,sans-serif;max-width:76rem;
margin:0 auto;padding:1.2rem 1rem 3rem;overflow-wrap:anywhere}h1{font-size:1.35rem;margin:.2rem 0}h2{font-size:1.05rem;
margin:2rem 0 .6rem}p{margin:.3rem 0}.soft{color:var(--soft)}pre,code,td,th{font:12.5px/1.5 ui-monospace,Menlo,Consolas,monospace}
pre{overflow-x:auto;margin:.4rem 0;padding:.6rem .8rem;background:var(--card);border:1px solid var(--line);border-radius:6px}
.verdict{border:1px solid;border-left-width:6px;border-radius:6px;padding:.7rem 1rem;margin:.8rem 0}
.verdict.fault{background:var(--redbox);border-color:var(--red)}.verdict.costly{background:var(--amberbox);border-color:var(--amber)}
.verdict.fine{background:var(--greenbox);border-color:var(--green)}.cards{display:grid;gap:1rem;
grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr))}.card{border:1px solid var(--line);border-top:4px solid
var(--amber);border-radius:6px;padding:.8rem 1rem;min-width:0}.card h3{margin:0;font-size:1rem}.gain{float:right;
font-weight:700;color:var(--amber);padding-left:.6rem}.meter{height:8px;border-radius:4px;background:var(--line);
margin:.5rem 0;overflow:hidden}.meter i{display:block;height:100%;background:var(--red)}.do{border-left:3px
solid var(--green);padding-left:.7rem;margin-top:.5rem}.do code{color:var(--blue);display:inline-block}
figure{margin:0;overflow-x:auto}figure svg{max-width:100%;height:auto;min-width:34rem}
pre .cost{color:var(--blue)}pre .fault{color:var(--red);font-weight:600}pre .note{color:var(--amber)}
i.bar{display:inline-block;height:.7em}i.least{background:var(--green);margin-left:1.2em}i.excess{background:var(--red)}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{text-align:right;padding:.15rem .8rem .15rem 0;
border-bottom:1px solid var(--line)}td:first-child,th:first-child{text-align:left}
"""


@in_english()
def page(answer: Answer) -> str:
    """The whole page."""
    return whole_page(f"why: {answer.kernel}", STYLE, "\n".join(sections(answer)))


def save_page(answer: Answer, path: Path) -> None:
    """Write the page, whole or not at all."""
    write_atomically(path, page(answer).encode())


def sections(answer: Answer) -> Iterator[str]:
    """The page from top to bottom."""
    yield f"<h1>Why is {escape(answer.kernel)} {'wrong' if answer.failed else 'slow'}?</h1>"
    yield f'<p class="soft">{escape(headline(answer))}</p>'
    yield from (f'<p class="soft">{escape(each)}</p>' for each in answer.notes)
    yield verdict_box(answer)
    if answer.causes and not answer.failed:
        cards = "".join(card(answer, place, each) for place, each in enumerate(answer.causes, 1))
        yield f'<h2>Causes, the largest estimated gain first</h2><div class="cards">{cards}</div>'
    if answer.source:
        yield source_section(answer.source)
    yield from roofline_section(answer)
    yield from machine_section(answer)
    if answer.not_seen:
        items = "".join(f"<li>{escape(each)}</li>" for each in answer.not_seen)
        yield f'<h2>Not looked at</h2><ul class="soft">{items}</ul>'
    if answer.counted_at:
        yield (
            f'<p class="soft">Counted on {escape(answer.counted_at)}, by the rules of {escape(answer.rules)}. Every gain is '
            "an estimate and an upper bound: fixing one cause shows the next.</p>"
        )


def verdict_box(answer: Answer) -> str:
    """A coloured box: red for wrong kernels and faults, yellow for causes, green for neither."""
    if answer.failed or answer.faults:
        sentences = [each.text for each in failure_lines(answer)] or ["it was not measured"]
        kind, title = "fault", "\u2717 the result cannot be trusted"
    elif answer.causes:
        first = answer.causes[0]
        kind, title = "costly", f"! {first.kind}: at most {times_words(first.gain)} if only this is fixed"
        sentences = [bound_sentence(answer)]
    elif answer.is_far:
        kind, title = "costly", "! far from its bound, by nothing that was looked at"
        sentences = [bound_sentence(answer), nothing_found(answer)]
    else:
        kind, title = "fine", "\u2713 no cause is known that would gain much by itself"
        sentences = [bound_sentence(answer), nothing_found(answer)]
    texts = "".join(f"<p>{escape(each)}</p>" for each in sentences)
    return f'<div class="verdict {kind}"><strong>{escape(title)}</strong>{texts}</div>'


def card(answer: Answer, place: int, cause: Cause) -> str:
    """One cause: its gain, its lines, its numbers, a meter of its share of the time, and the remedy."""
    lines = "\n".join(escape(str(each)) for each in cause.lines[:6])
    code = f"<pre>{lines}</pre>" if lines else ""
    show = f" <code>{escape(cause.show)}</code>" if cause.show else ""
    return (
        f'<section class="card"><span class="gain">at most {times_words(cause.gain)}</span><h3>{place}. {escape(cause.kind)}</h3>'
        f'{code}<p>{escape(cause.counted)}</p><div class="meter"><i style="width:{100 * cause.part:.0f}%"></i></div>'
        f'<p class="soft">costs {escape(cost_words(answer, cause))}</p>'
        f'<p class="do">{escape(cause.remedy)}.{show}</p></section>'
    )


def source_section(lines: tuple[SourceLine, ...]) -> str:
    """The source with a bar for the cost of each access."""
    code = source_html(lines)
    legend = '<p class="soft">Bars: the cost of an access. Green: the least that it could cost; red: the rest.</p>'
    return f"<h2>Source, with the traffic of each line</h2>{legend}<pre>{code}</pre>"


def roofline_section(answer: Answer) -> Iterator[str]:
    """The roofline of a product that was measured."""
    if answer.roofline is None:
        return
    try:
        yield f"<h2>Roofline</h2><figure>{draw_roofline(answer.roofline)}</figure>"
    except Unsupported as reason:
        yield f'<h2>Roofline</h2><p class="soft">{escape(str(reason))}</p>'


def machine_section(answer: Answer) -> Iterator[str]:
    """Registers, occupancy and the main loop's instructions."""
    found = answer.inspection
    if found is None or found.mix is None:
        return
    facts = [f"{found.form} for {found.arch}, by {found.origin}"] if found.origin else [found.arch]
    if found.resources is not None:
        facts.append(f"{found.resources.registers} registers, {found.resources.stack_bytes:,} bytes of stack")
    if found.occupancy is not None:
        facts.append(f"occupancy {found.occupancy}")
    loop = found.loop.mix.effects if found.loop is not None else {}
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{count:,}</td><td>{loop.get(name, 0) or '-'}</td></tr>"
        for name, count in sorted(found.mix.effects.items(), key=lambda each: (-loop.get(each[0], 0), -each[1]))
    )
    yield f"<h2>Machine code</h2><p>{escape('; '.join(facts))}</p>"
    yield f"<table><tr><th>instructions</th><th>in all</th><th>in the main loop</th></tr>{rows}</table>"
