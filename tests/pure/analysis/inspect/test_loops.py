"""Loops found from branches: hand-made listings, and dominators against their definition on random graphs."""

from hypothesis import given
from hypothesis import strategies as some

from tilewright.analysis.inspect import instruction_kinds as kinds
from tilewright.analysis.inspect.loops import Block, basic_blocks, dominators, loops_of, main_loop, natural_loops
from tilewright.analysis.inspect.machine_code import Effect, Instruction, Listing


def code(*rows: tuple[str, str, str]) -> Listing:
    """A listing of (label, word, target): "fma", "load", "if" (a branch), "go" (a jump), "end"."""
    flows = {"if": kinds.BRANCH, "go": kinds.JUMP, "end": kinds.END}
    effects = {"fma": Effect(kinds.FMA, scalars=1), "load": Effect(kinds.GLOBAL_LOAD, 32)}
    instructions = tuple(
        Instruction(word, word, (effects[word],) if word in effects else (), flows.get(word, kinds.NEXT), target)
        for _, word, target in rows
    )
    return Listing(instructions, {label: at for at, (label, _, _) in enumerate(rows) if label})


NEST = code(
    ("", "load", ""),
    ("outer", "load", ""),
    ("inner", "fma", ""),
    ("", "fma", ""),
    ("", "if", "inner"),
    ("", "load", ""),
    ("", "if", "outer"),
    ("", "end", ""),
    ("self", "go", "self"),
)


def test_an_inner_loop_is_not_counted_in_the_outer_one() -> None:
    outer, inner = loops_of(NEST)
    assert (outer.depth, outer.inner, [each.opcode for each in outer.instructions]) == (1, 1, ["load", "load", "if"])
    assert (inner.depth, inner.inner, [each.opcode for each in inner.instructions]) == (2, 0, ["fma", "fma", "if"])
    assert main_loop(loops_of(NEST)) == inner


def test_the_working_loop_is_the_one_with_the_multiply_adds_even_if_another_lies_deeper() -> None:
    listing = code(
        ("outer", "fma", ""),
        ("fill", "load", ""),
        ("", "if", "fill"),
        ("", "if", "outer"),
        ("", "end", ""),
    )
    loop = main_loop(loops_of(listing))
    assert loop is not None
    assert (loop.depth, loop.inner, [each.opcode for each in loop.instructions]) == (1, 1, ["fma", "if"])


def test_a_loop_may_be_laid_out_before_the_block_that_it_is_entered_by() -> None:
    """As LLVM does it: the body first, then the header, which jumps back to it."""
    listing = code(
        ("", "go", "header"),
        ("body", "fma", ""),
        ("header", "load", ""),
        ("", "if", "body"),
        ("", "end", ""),
    )
    (loop,) = loops_of(listing)
    assert [each.opcode for each in loop.instructions] == ["fma", "load", "if"]


def test_straight_code_and_empty_code_have_no_loop() -> None:
    assert loops_of(code(("", "fma", ""), ("", "end", ""))) == ()
    assert loops_of(Listing((), {})) == ()
    assert main_loop(()) is None


def test_a_branch_out_of_the_listing_leads_nowhere() -> None:
    blocks = basic_blocks(code(("", "if", "elsewhere"), ("", "end", "")))
    assert [block.after for block in blocks] == [(1,), ()]


def reachable(graph: list[list[int]], without: int = -1) -> set[int]:
    seen: set[int] = set()
    waiting = [0] if without != 0 else []
    while waiting:
        node = waiting.pop()
        if node not in seen and node != without:
            seen.add(node)
            waiting += graph[node]
    return seen


@given(
    some.integers(1, 9).flatmap(
        lambda n: some.lists(some.lists(some.integers(0, n - 1), max_size=3), min_size=n, max_size=n)
    )
)
def test_dominators_are_what_their_definition_says(graph: list[list[int]]) -> None:
    blocks = tuple(Block(number, number + 1, tuple(dict.fromkeys(after))) for number, after in enumerate(graph))
    nearest = dominators(blocks)
    everything = reachable(graph)
    for node in range(len(graph)):
        if node not in everything:
            assert nearest[node] == -1
            continue
        strict = {other for other in everything if other != node and node not in reachable(graph, without=other)}
        chain, step = set(), node
        while step:
            step = nearest[step]
            chain.add(step)
        assert chain == strict


@given(
    some.integers(1, 9).flatmap(
        lambda n: some.lists(some.lists(some.integers(0, n - 1), max_size=3), min_size=n, max_size=n)
    )
)
def test_every_natural_loop_is_entered_by_its_header_alone(graph: list[list[int]]) -> None:
    blocks = tuple(Block(number, number + 1, tuple(dict.fromkeys(after))) for number, after in enumerate(graph))
    everything = reachable(graph)
    for loop in natural_loops(blocks):
        for node in everything - loop.blocks:
            assert not set(graph[node]) & (loop.blocks - {loop.header})
        assert any(loop.header in graph[node] for node in loop.blocks)
