"""Runs plans: programs built, arguments bound by name, buffers between fences, times by the device's and the host's clock."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from ..core.arguments import check_arguments
from ..core.binding import Local, Null, Part
from ..core.checked import check_object, checked_mapping
from ..core.images import ImageValue, SamplerValue
from ..core.kernel import NDRange, Step, render
from ..core.operands import Operand
from ..core.plan import Plan
from ..core.problem import inputs_of, output_of
from ..core.source import Parameter
from ..core.types import numpy_dtype
from ..errors import InvalidInput, Unsupported, WrongResult, quoted
from .device import Device, check_opened
from .fences import Fenced, fenced_buffer, outside

WAIT_S = 0.1  # between two waits of sustained work: some 20 us of pause are negligible


@dataclass(frozen=True)
class Times:
    """Seconds of one run. `device_s` is from the start of the first launch to the end of the last, by the device's clock.
    `wall_s` is from the enqueue until the queue is empty, by the host's clock."""

    device_s: float
    wall_s: float


@dataclass(frozen=True)
class Work:
    """Calls back to back, and their seconds by the host's clock."""

    seconds: float
    calls: int


@dataclass(frozen=True)
class Launch:
    """One step, ready to launch: its own kernel object, its sizes, the arguments that take buffers, and its name in errors."""

    kernel: Any
    ndrange: NDRange
    slots: tuple[tuple[int, str], ...]  # (argument index, name of the plan's buffer)
    what: str


class LoadedPlan:
    """A plan with built programs and bound scalar arguments. Bind buffers, then enqueue it.

    Arguments are state of the kernel objects, so a LoadedPlan is for one thread.
    """

    def __init__(self, plan: Plan, device: Device) -> None:
        self.plan = plan
        self.device = device
        self.logs: dict[str, str] = {}
        self._tensor_maps: list[Any] = []  # OpenCL's arguments keep no buffers alive
        self._samplers: list[Any] = []
        self.images: dict[str, Any] = {}  # by the name of their parameter
        busy = (step for step in plan.steps if not step.config.ndrange(step.problem).empty)
        self.launches = [self._load(step) for step in busy]
        self._starts = [(each.kernel, each.ndrange, each.slots, each.what) for each in self.launches]

    def _load(self, step: Step) -> Launch:
        kernel, device = step.kernel, self.device
        source = render(kernel, step.config, step.problem, device.dialect)
        program = device.build(source, kernel.name, kernel.signature, step.problem.dtype, kernel.options, kernel.target)
        self.logs[kernel.name] = program.log
        prepared = program.new_kernel()
        scalars = {**step.problem.scalars, **step.config.scalars(step.problem)}
        maps = step.config.tensor_maps(step.problem)
        slots = []
        for index, parameter in enumerate(kernel.signature.parameters):
            if parameter.name in maps:
                self._tensor_maps.append(device.tensor_map(maps[parameter.name]))
                prepared.set_arg(index, self._tensor_maps[-1])
            elif parameter.pointer:
                pointer = step.pointer_of(parameter.name)
                if isinstance(pointer, Local | Null):
                    prepared.set_arg(
                        index, device.local_memory(pointer.nbytes) if isinstance(pointer, Local) else device.null
                    )
                    continue
                slots.append((index, pointer.name if pointer else step.buffer_of(parameter.name)))
            elif isinstance(scalars.get(parameter.name), ImageValue | SamplerValue):
                prepared.set_arg(index, self._image_or_sampler(parameter, scalars[parameter.name]))
            elif parameter.name in scalars:
                prepared.set_arg(index, program.argument_types[index](scalars[parameter.name]))
            else:
                known = ", ".join(scalars)
                raise InvalidInput(f"{kernel.name}: no value for the argument {parameter.name!r}; there are {known}")
        what = f"{kernel.name} ({step.problem.title})"
        return Launch(prepared, step.config.ndrange(step.problem), tuple(slots), what)

    def _image_or_sampler(self, parameter: Parameter, value: Any) -> Any:
        """What the argument of an image or sampler is set to. Launches of one plan share an image of one name."""
        name = parameter.name
        if isinstance(value, SamplerValue):
            self._samplers.append(self.device.sampler(name, value))
            return self._samplers[-1]
        if name not in self.images:
            self.images[name] = self.device.image(name, parameter.ctype, value)
        return self.images[name].handle

    def bind(self, buffers: Mapping[str, Any]) -> None:
        """Set every pointer argument to the buffer of its name."""
        for launch in self.launches:
            for index, name in launch.slots:
                if name not in buffers:
                    raise InvalidInput(f"{launch.what}: no buffer for {name!r}; there are {', '.join(buffers)}")
                launch.kernel.set_arg(index, buffers[name])

    def unbind(self) -> None:
        """Let pointer arguments be none: a driver may keep what a kernel's argument is."""
        for launch in self.launches:
            for index, _ in launch.slots:
                launch.kernel.set_arg(index, self.device.null)

    def start(self, buffers: Mapping[str, Any], queue: Any, wait_for: Any, event: bool) -> Any:
        """`bind` and `enqueue` in one, for calls that take as long as their Python. The last event, or None."""
        last, launch_on = None, self.device.launch
        for kernel, ndrange, slots, what in self._starts:
            set_argument = kernel.set_arg
            for index, name in slots:
                set_argument(index, buffers[name])
            last = launch_on(kernel, ndrange, what, queue, wait_for, event)
            wait_for = None
        return last

    def enqueue(self, queue: Any = None, wait_for: Any = None, event: bool = True) -> list[Any]:
        """Enqueue all steps on an in-order queue. Their events; without events there is less time between launches."""
        events = []
        for launch in self.launches:
            events.append(self.device.launch(launch.kernel, launch.ndrange, launch.what, queue, wait_for, event))
            wait_for = None
        return events


class Execution:
    """A plan with its own fenced buffers, for verification and measurement. It can be launched many times.

    With `inputs` it shares the inputs of another execution of the same problem, and has its own output. Fences of at least
    `fence_bytes` take in stores farther beyond a buffer. InvalidInput for a plan that calls the host and has no launches.
    """

    def __init__(self, plan: Plan, device: Device, inputs: "Execution | None" = None, fence_bytes: int = 0) -> None:
        if plan.host_call:
            raise InvalidInput(
                f"the plan of {plan.problem.title} calls {plan.host_call} and launches no kernel: name the device, as in "
                'plan(512, device="cpu"), for one that does'
            )
        self.plan = plan
        self.device = device
        buffers = [*(each.name for each in plan.problem.operands), *plan.scratch]
        for step in plan.steps:
            scalars = {**step.problem.scalars, **step.config.scalars(step.problem)}
            check_arguments(step, buffers, scalars, step.config.tensor_maps(step.problem))
        self._loaded = LoadedPlan(plan, device)
        self._buffers: dict[str, Fenced] = {
            each.name: inputs._buffers[each.name]
            if inputs is not None and not each.written
            else fenced_buffer(device, each.nbytes, each.dtype, fence_bytes)
            for each in plan.problem.operands
        }
        for name, nbytes in plan.scratch.items():
            self._buffers[name] = fenced_buffer(device, nbytes, plan.problem.dtype, fence_bytes)
            if name in plan.zeroed:
                device.fill(self._buffers[name].inner, 0, 0, nbytes)
        self._parts = self._part_buffers()  # OpenCL's arguments keep no buffers alive
        self._loaded.bind({name: buffer.inner for name, buffer in self._buffers.items()} | self._parts)

    def _part_buffers(self) -> dict[str, Any]:
        """Sub-buffers of the arguments that get a part of a buffer. Unsupported if the device cannot begin one there."""
        found, align = {}, max(self.device.info.base_align_bytes, 1)
        for each in (pointer for step in self.plan.steps for _, pointer in step.pointers if isinstance(pointer, Part)):
            if each.offset % align:
                label = f"{self.device.info.label} begins parts of buffers at multiples of {align} bytes"
                raise Unsupported(f"the part of {each.buffer} from byte {each.offset:,} on: {label}")
            whole = self._buffers[each.buffer]
            found[each.name] = self.device.part(whole.whole, whole.fence + each.offset, whole.nbytes - each.offset)
        return found

    @property
    def logs(self) -> dict[str, str]:
        """The compiler's logs by kernel name."""
        return self._loaded.logs

    def write(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Upload the problem's inputs, each in the memory order of its operand, and the texels of images."""
        for operand in inputs_of(self.plan.problem):
            self.device.write(self._buffers[operand.name].inner, operand.flatten(_checked(operand, arrays)))
        for image in self._loaded.images.values():
            self.device.write_image(image)

    def spoiled_inputs(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """The inputs that differ from `arrays`: a kernel has written to them."""
        spoiled = []
        for operand in (each for each in inputs_of(self.plan.problem) if not each.written):
            now = self.device.read(self._buffers[operand.name].inner, operand.elements, numpy_dtype(operand.dtype))
            if not np.array_equal(now.view(np.uint8), operand.flatten(arrays[operand.name]).view(np.uint8)):
                spoiled.append(operand.name)
        return spoiled

    def poison(self, pattern: int | None = None) -> None:
        """Fill the output with NaN, so that elements which are not written are found. An output that is also read is left alone;
        one with an initial number gets that.

        With a `pattern` it is filled with that byte, and its fences are not touched.
        """
        if output_of(self.plan.problem).updated:
            return
        operand = output_of(self.plan.problem)
        output = self._buffers[operand.name]
        if operand.name in self.plan.initial:
            whole = np.full(operand.elements, self.plan.initial[operand.name]).astype(numpy_dtype(operand.dtype))
            self.device.write(output.inner, whole)
            return
        if pattern is not None:
            self.device.write(output.inner, np.full(output.nbytes, pattern, np.uint8))
            return
        self.device.fill(output.whole, output.poison, 0, output.fence + output.nbytes + output.tail)

    @property
    def launches(self) -> int:
        """The number of launches of one run."""
        return len(self._loaded.launches)

    def enqueue(self, queue: Any = None) -> None:
        """Enqueue all steps once without events, and return at once."""
        self._loaded.enqueue(queue, event=False)

    def launch(self) -> Times:
        """Run all steps once and wait."""
        begin = perf_counter()
        events = self._loaded.enqueue()
        self.device.finish(self.plan.problem.title)
        wall = perf_counter() - begin
        if not events:
            return Times(0.0, wall)
        return Times((events[-1].profile.end - events[0].profile.start) * 1e-9, wall)

    def burst(self, calls: int) -> Times:
        """Run all steps `calls` times back to back and wait. The median device time and the mean wall time of a call."""
        begin = perf_counter()
        runs = [self._loaded.enqueue() for _ in range(calls)]
        self.device.finish(self.plan.problem.title)
        wall = (perf_counter() - begin) / calls
        spans = [(events[-1].profile.end - events[0].profile.start) * 1e-9 for events in runs if events]
        return Times(median(spans) if spans else 0.0, wall)

    def sustain(self, seconds: float) -> Work:
        """Run all steps back to back for at least `seconds`, waiting only every `WAIT_S`."""
        once = max(self.launch().wall_s, 1e-6)
        together = max(1, round(WAIT_S / once))
        begin, calls = perf_counter(), 0
        while (passed := perf_counter() - begin) < seconds or not calls:
            for _ in range(together):
                self._loaded.enqueue(event=False)
            self.device.finish(self.plan.problem.title)
            calls += together
        return Work(passed, calls)

    def check_fences(self, first: str = "") -> None:
        """WrongResult, which names all buffers, the `first` one first, if a kernel wrote outside of any."""
        names = sorted(self._buffers, key=lambda name: name != first)
        hit = [(name, place) for name in names if (place := self._buffers[name].overwritten(self.device))]
        if hit:
            raise WrongResult(outside(self.plan, hit))

    def contents(self) -> dict[str, np.ndarray]:
        """The bytes of all operands that are written; WrongResult if a kernel wrote outside of a buffer."""
        self.check_fences()
        written = [each for each in self.plan.problem.operands if each.written]
        return {
            each.name: self.device.read(self._buffers[each.name].inner, each.nbytes, np.dtype(np.uint8))
            for each in written
        }

    def texels(self) -> dict[str, np.ndarray]:
        """The bytes of all images."""
        return {name: self.device.read_image(each) for name, each in self._loaded.images.items()}

    def read(self) -> np.ndarray:
        """The output as an array of its shape; WrongResult, which names all buffers, if a kernel wrote outside of any."""
        output = output_of(self.plan.problem)
        self.check_fences(output.name)
        flat = self.device.read(self._buffers[output.name].inner, output.elements, numpy_dtype(output.dtype))
        return output.unflatten(flat)


def _checked(operand: Operand, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    if operand.name not in arrays:
        raise InvalidInput(f"the operand {operand.name} is missing; given: {', '.join(arrays) or 'none'}")
    array = arrays[operand.name]
    if not isinstance(array, np.ndarray):
        raise InvalidInput(f"{operand.name}={quoted(array)}: pass a NumPy array")
    if array.shape != operand.shape or array.dtype != numpy_dtype(operand.dtype):
        wanted = f"{operand.shape} {operand.dtype}"
        raise InvalidInput(f"{operand.name} is {array.shape} {array.dtype}, the problem needs {wanted}")
    return array


def run_plan(plan: Plan, arrays: Mapping[str, np.ndarray], device: Device) -> tuple[np.ndarray, Times]:
    """Run a plan once on NumPy arrays: the output, and the times in seconds.

    `arrays` has an array for each input, by its name in `plan.problem.operands` and of its shape and type: A and B of a
    Gemm, and C if beta is not 0. InvalidInput for others, and for a plan that calls the host and has no launches.
    """
    check_object("plan", plan, Plan, "a Plan, as plan_kernel gives")
    check_opened(device)
    execution = Execution(plan, device)
    execution.write(checked_mapping("arrays", arrays))
    times = execution.launch()
    return execution.read(), times
