"""The chunks of operands, as tasks get them: by their keys, or as the tasks that make them.

Dask keeps a chunk until the last task that needs it has run: of large operands, all of them. Where memory is limited, each task
makes the chunks that it multiplies itself, again for each tile, as it would read them from a file. That needs chunks that
are made apart from each other; data that is there already is taken as it is.
"""

from collections.abc import Mapping
from typing import Any

import dask
from dask.task_spec import Alias, DataNode, GraphNode, TaskRef

from ..errors import InvalidInput
from .schedule import Place
from .tasks import Making


class Source:
    """An operand's chunks by their numbers: references to Dask's own."""

    makes = False

    def __init__(self, array: Any) -> None:
        self.name = array.name
        self._lengths = array.chunks
        self.inputs: dict[Any, GraphNode] = {}  # nodes that the graph of the product needs, too

    def chunk(self, place: Place) -> Any:
        return TaskRef((self.name, *place))

    def shape(self, place: Place) -> tuple[int, ...]:
        """The shape of the chunk, as its array says."""
        return tuple(lengths[number] for lengths, number in zip(self._lengths, place, strict=True))

    def inputs_of(self, place: Place) -> frozenset[Any]:
        """The keys of the data that the chunk is made of."""
        return frozenset()


class MadeSource(Source):
    """An operand whose chunks are made by the tasks that multiply them."""

    makes = True

    def __init__(self, array: Any, graph: Mapping[Any, GraphNode], argument: str) -> None:
        super().__init__(array)
        self._tasks: dict[Any, dict[Any, GraphNode]] = {}
        makers: dict[Any, Any] = {}
        for key in _chunk_keys(array):
            own = _tasks_of(key, graph)
            self._tasks[key] = own
            for task in own:
                if makers.setdefault(task, key) != key:
                    raise InvalidInput(
                        f"memory= makes the chunks of {argument} one by one, but the task {_readable(task)} makes several of "
                        f"them; store {argument} in these chunks first (to_zarr), or leave memory= out"
                    )
        used = {each for own in self._tasks.values() for task in own.values() for each in task.dependencies}
        self.inputs = {each: graph[each] for each in used if isinstance(graph.get(each), DataNode)}

    def chunk(self, place: Place) -> Any:
        key = (self.name, *place)
        return Making(self._tasks[key], key)

    def inputs_of(self, place: Place) -> frozenset[Any]:
        own = self._tasks[(self.name, *place)]
        return frozenset(each for task in own.values() for each in task.dependencies if each not in own)


def source_of(array: Any, argument: str, limited: bool) -> Source:
    """Where tasks get an operand's chunks from. If memory is `limited`, they make those that are not there yet."""
    if not limited:
        return Source(array)
    with dask.config.set({"optimization.fuse.active": True}):  # else the graph has layers, not tasks
        (whole,) = dask.optimize(array)
    graph = dict(whole.__dask_graph__())
    there = [key for key in _chunk_keys(array) if not _is_made(key, graph)]
    return Source(array) if there else MadeSource(array, graph, argument)


def _chunk_keys(array: Any) -> list[Any]:
    return list(dask.core.flatten(array.__dask_keys__()))


def _is_made(key: Any, graph: Mapping[Any, Any]) -> bool:
    """Whether a task makes it: it is neither data nor the result of an earlier computation."""
    node = graph.get(key)
    while isinstance(node, Alias):
        node = graph.get(node.target)
    return isinstance(node, GraphNode) and not isinstance(node, DataNode)


def _tasks_of(key: Any, graph: Mapping[Any, GraphNode]) -> dict[Any, GraphNode]:
    """All tasks that make a chunk, back to data."""
    found: dict[Any, GraphNode] = {}
    left = [key]
    while left:
        each = left.pop()
        if each not in found and _is_made(each, graph):
            found[each] = graph[each]
            left += graph[each].dependencies
    return found


def _readable(key: Any) -> str:
    return str(key[0] if isinstance(key, tuple) else key)
