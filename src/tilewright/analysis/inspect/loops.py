"""Finds the loops of a listing from its branches: basic blocks, dominators, and the natural loop of each backward edge."""

from dataclasses import dataclass

from . import instruction_kinds as kinds
from .machine_code import Instruction, Listing


@dataclass(frozen=True)
class Block:
    """Instructions `first` to `last` - 1, which run in order. `after` are the blocks that may come next."""

    first: int
    last: int
    after: tuple[int, ...]


@dataclass(frozen=True)
class NaturalLoop:
    """A loop: its entry block and all its blocks. `depth` is 1 for an outermost loop."""

    header: int
    blocks: frozenset[int]
    depth: int


def basic_blocks(listing: Listing) -> tuple[Block, ...]:
    """The basic blocks: the listing cut before each branch target and after each branch."""
    code = listing.instructions
    starts = {0}
    for index, each in enumerate(code):
        target = listing.target(each)
        if target is not None:
            starts.add(target)
        if each.flow in (kinds.BRANCH, kinds.JUMP, kinds.END):
            starts.add(index + 1)
    ordered = sorted(start for start in starts if start < len(code))
    number = {start: block for block, start in enumerate(ordered)}
    blocks = []
    for first, last in zip(ordered, [*ordered[1:], len(code)], strict=True):
        blocks.append(Block(first, last, tuple(dict.fromkeys(_after(listing, last, number)))))
    return tuple(blocks)


def _after(listing: Listing, last: int, number: dict[int, int]) -> list[int]:
    ending = listing.instructions[last - 1]
    target = listing.target(ending) if ending.flow in (kinds.BRANCH, kinds.JUMP) else None
    following = [number[target]] if target is not None and target in number else []
    if ending.flow not in (kinds.JUMP, kinds.END) and last in number:
        following.append(number[last])
    return following


def dominators(blocks: tuple[Block, ...]) -> list[int]:
    """The immediate dominator of each block: the nearest other block on every path to it; -1 for unreachable blocks.

    Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm (2001).
    """
    order = _postorder(blocks)
    rank = {block: place for place, block in enumerate(order)}
    before: dict[int, list[int]] = {block: [] for block in order}
    for block in order:
        for following in blocks[block].after:
            before[following].append(block)
    nearest = [-1] * len(blocks)
    nearest[0] = 0
    changed = True
    while changed:
        changed = False
        for block in reversed(order[:-1]):
            known = [each for each in before[block] if nearest[each] >= 0]
            common = known[0]
            for other in known[1:]:
                common = _meet(common, other, nearest, rank)
            if nearest[block] != common:
                nearest[block], changed = common, True
    return nearest


def _postorder(blocks: tuple[Block, ...]) -> list[int]:
    """The reachable blocks in postorder: each after the blocks that it leads to. The first block comes last."""
    order: list[int] = []
    seen = {0}
    stack = [(0, iter(blocks[0].after))]
    while stack:
        block, following = stack[-1]
        for each in following:
            if each not in seen:
                seen.add(each)
                stack.append((each, iter(blocks[each].after)))
                break
        else:
            order.append(block)
            stack.pop()
    return order


def _meet(one: int, other: int, nearest: list[int], rank: dict[int, int]) -> int:
    while one != other:
        while rank[one] < rank[other]:
            one = nearest[one]
        while rank[other] < rank[one]:
            other = nearest[other]
    return one


def natural_loops(blocks: tuple[Block, ...]) -> tuple[NaturalLoop, ...]:
    """All loops, outer before inner. Backward edges to one header make one loop."""
    nearest = dominators(blocks)
    bodies: dict[int, set[int]] = {}
    for source, block in enumerate(blocks):
        for header in block.after:
            if nearest[source] >= 0 and _dominates(header, source, nearest):
                bodies.setdefault(header, {header}).update(_body(blocks, header, source, nearest))
    loops = []
    for header, body in bodies.items():
        depth = sum(1 for other in bodies.values() if body <= other)
        loops.append(NaturalLoop(header, frozenset(body), depth))
    return tuple(sorted(loops, key=lambda loop: (loop.header, loop.depth)))


def _dominates(header: int, block: int, nearest: list[int]) -> bool:
    while block != header and block:
        block = nearest[block]
    return block == header


def _body(blocks: tuple[Block, ...], header: int, source: int, nearest: list[int]) -> set[int]:
    """The blocks that reach the backward edge without passing the header."""
    before: dict[int, list[int]] = {}
    for place, block in enumerate(blocks):
        for following in block.after:
            before.setdefault(following, []).append(place)
    body = {header}
    waiting = [source]
    while waiting:
        number = waiting.pop()
        if number not in body:
            body.add(number)
            waiting += [each for each in before.get(number, ()) if nearest[each] >= 0]
    return body


@dataclass(frozen=True)
class LoopCode:
    """The instructions of one loop without those of its inner loops. `inner` counts the inner loops."""

    depth: int
    inner: int
    instructions: tuple[Instruction, ...]


def loops_of(listing: Listing) -> tuple[LoopCode, ...]:
    """Every loop with its own code. A single instruction that jumps to itself ends the code of NVIDIA's kernels: it is not
    counted as a loop."""
    return tuple(loop for part in listing.parts() for loop in _loops_of_function(part))


def _loops_of_function(listing: Listing) -> list[LoopCode]:
    blocks = basic_blocks(listing)
    loops = natural_loops(blocks)
    found = []
    for loop in loops:
        inside = [each for each in loops if each is not loop and each.blocks < loop.blocks]
        own = loop.blocks.difference(*(each.blocks for each in inside))
        ranges = (range(blocks[number].first, blocks[number].last) for number in sorted(own))
        code = tuple(listing.instructions[index] for indices in ranges for index in indices)
        if len(code) > 1:
            found.append(LoopCode(loop.depth, len(inside), code))
    return found


def main_loop(loops: tuple[LoopCode, ...]) -> LoopCode | None:
    """The main loop: the one with the most matrix instructions, else multiply-adds, else other floating-point instructions,
    else loads and stores; None if there is no loop."""

    def weight(loop: LoopCode) -> tuple[int, int, int, int, int]:
        effects = [effect for each in loop.instructions for effect in each.effects]
        scalars = sum(effect.scalars for effect in effects)
        matrix, other = (sum(effect.kind == kind for effect in effects) for kind in (kinds.MATRIX, kinds.FLOAT))
        traffic = sum(effect.kind in kinds.MEMORY for effect in effects)
        return matrix, scalars, other, traffic, len(loop.instructions)

    return max(loops, key=weight, default=None)
