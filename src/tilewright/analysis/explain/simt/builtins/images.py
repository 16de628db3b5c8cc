"""Image functions: 6.15.15 of the OpenCL C 3.0 specification. Mipmaps and multisampled images are not supported."""

import re
from typing import Any

import numpy as np

from .....core.language import Sentence
from ...clc.image_types import ADDRESS_BITS, ADDRESSING, SAMPLER, ImageType
from ...clc.tree import Call
from ...clc.types import FLOAT, HALF, INT, SIZE_T, UINT, VOID, Scalar, Type, Vector, element_of, width_of
from ...terms import term
from ..compiled_code import Code, Frame, Run, Site, Value
from ..context import Context
from ..convert import change, elementwise
from ..findings import BOUNDS
from ..images import COMPONENTS, OPAQUE_BORDER, BoundImage
from ..machine import Machine
from ..masks import Mask
from ..sampling import float_taps, integer_taps
from ..segments import Access
from .common import Builtin, arguments, uniform_integer

_NAME = re.compile(r"(read|write)_image(f|h|i|ui)$")
_ELEMENTS = {"f": FLOAT, "h": HALF, "i": INT, "ui": UINT}


def find_image_access(name: str) -> Builtin | None:
    """read_imagef, write_imageui and so on."""
    match = _NAME.match(name)
    if match is None:
        return None
    return _read(match[2]) if match[1] == "read" else _write(match[2])


def _image_argument(code: Code, call: Call) -> ImageType:
    if not isinstance(code.type, ImageType):
        raise call.position.error(f"{call.name} takes an image here, not {code.type}")
    return code.type


def _coordinates(code: Code, kind: ImageType, call: Call) -> Scalar:
    element = element_of(code.type)
    wanted = {1: (1,), 2: (2,), 3: (4, 3)}[kind.coordinates]
    if element is None or width_of(code.type) not in wanted or (not element.is_float and element.size != 4):
        raise call.position.error(f"{call.name} of {kind} takes {wanted[0]} coordinates here, not {code.type}")
    return element


def _found(machine: Machine, run: Run, frame: Frame, mask: Mask, call: Call) -> BoundImage:
    handle = uniform_integer(run(frame, mask), mask, call.position, "the image")
    return machine.memory.images[handle]


def _axes(value: Any, kind: ImageType) -> list[Any]:
    value = np.asarray(value)
    return [value] if kind.coordinates == 1 else [value[axis] for axis in range(kind.coordinates)]


class _Texels:
    """Reads and writes single texels of images; keeps how each image is accessed."""

    def __init__(self, machine: Machine, call: Call, operation: str) -> None:
        self.machine, self.call, self.operation = machine, call, operation
        self._access: dict[tuple[Any, int], Access] = {}
        self._site: Site | None = None

    def access(self, image: BoundImage, counted: bool) -> Access:
        if self._site is None or self._site.size != image.texel:
            step = image.texel & -image.texel
            self._site = self.machine.memory.site(self.call.position, self.operation, image.texel, step)
        return Access(image.dtype, image.channels, image.dtype.itemsize, self._site, counted)

    def address(self, image: BoundImage, places: tuple[Any, ...], mask: Mask) -> tuple[Any, Any]:
        """Each lane's address, and which lanes are inside the image."""
        flat: Any = np.int64(0)
        inside: Any = np.bool_(True)
        for at, size in zip(reversed(places), reversed(image.sizes), strict=True):
            flat = flat * size + np.clip(at, 0, size - 1)
            inside = inside & (at >= 0) & (at < size)
        lanes = (self.machine.lanes,)
        return image.segment.address + np.broadcast_to(flat, lanes) * image.texel, np.broadcast_to(inside, lanes)

    def outside(self, image: BoundImage, places: tuple[Any, ...], bad: Any) -> None:
        lane = int(np.flatnonzero(bad)[0])
        at = [int(np.broadcast_to(each, (self.machine.lanes,))[lane]) for each in places]
        self.machine.findings.add(
            BOUNDS,
            self.call.position,
            Sentence(
                "{operation} outside image '{name}', which has {size} texels",
                operation=term(self.operation),
                name=image.segment.name,
                size="x".join(map(str, image.sizes)),
            ),
            Sentence("texel ({place}), {item}", place=", ".join(map(str, at)), item=self.machine.item_name(lane)),
            count=int(bad.sum()),
        )

    def load(self, image: BoundImage, places: tuple[Any, ...], mask: Mask, counted: bool, border: bool) -> Any:
        """Channels as stored, (channels, lanes), and which lanes met the border."""
        address, inside = self.address(image, places, mask)
        bad = mask.lanes & ~inside
        if bad.any() and not border:
            self.outside(image, places, bad)
        own = Mask(mask.lanes & inside)
        values = self.machine.memory.load(address, self.access(image, counted), own)
        values = np.asarray(values).reshape(image.channels, -1)
        return np.broadcast_to(values, (image.channels, self.machine.lanes)), ~inside


def _colours(image: BoundImage, stored: Any, outside: Any, element: Scalar) -> Any:
    """(4, lanes): red, green, blue and alpha as numbers; the border's colour outside."""
    numbers = _as_numbers(image, stored, element)
    zero, one = np.zeros_like(numbers[0]), np.ones_like(numbers[0])
    rows = [{"0": zero, "1": one}[each] if isinstance(each, str) else numbers[each] for each in COMPONENTS[image.order]]
    border = [zero, zero, zero, one if image.order in OPAQUE_BORDER else zero]
    return np.where(outside, np.stack(border), np.stack(rows))


def _as_numbers(image: BoundImage, stored: Any, element: Scalar) -> Any:
    if image.type.startswith(("UNORM", "SNORM")):
        most = np.float32(np.iinfo(image.dtype).max)
        return np.maximum(stored.astype(np.float32) / most, np.float32(-1))
    return stored.astype(np.float32 if element.is_float else element.dtype)


def _check_kind(image: BoundImage, suffix: str, call: Call) -> None:
    fits = ("f", "h") if image.numbers == "f" else (image.numbers,)
    if suffix not in fits:
        raise call.position.error(
            f"{call.name} does not suit '{image.segment.name}', whose channels are {image.type}; that takes "
            f"{call.name.removesuffix(suffix)}{fits[0]}"
        )


def _sampler(context: Context, code: Code, call: Call) -> Run:
    if code.type != SAMPLER and not (isinstance(code.type, Scalar) and not code.type.is_float):
        raise call.position.error(f"{call.name} takes a sampler here, not {code.type}")
    return change(code, SAMPLER).run


def _read(suffix: str) -> Builtin:
    """read_image(image, coordinates) and (image, sampler, coordinates)."""

    def build(context: Context, call: Call) -> Code:
        codes = arguments(context, call, 2, 3)
        kind, element = _image_argument(codes[0], call), _ELEMENTS[suffix]
        floats = _coordinates(codes[-1], kind, call).is_float
        sampler = _sampler(context, codes[1], call) if len(codes) == 3 else None
        if sampler is None and floats:
            raise call.position.error(f"{call.name} without a sampler takes whole coordinates, not {codes[-1].type}")
        if sampler is not None and kind.buffer:
            raise call.position.error(f"{call.name} of {kind} takes no sampler")
        machine, handle, place = context.machine, codes[0].run, codes[-1].run
        texels = _Texels(machine, call, "load")

        def run(frame: Frame, mask: Mask) -> Value:
            if not mask.any:
                return np.zeros((4, 1), element.dtype) if not kind.depth else element.dtype.type(0)
            image = _found(machine, handle, frame, mask, call)
            _check_kind(image, suffix, call)
            bits = None
            if sampler is not None:
                bits = uniform_integer(sampler(frame, mask), mask, call.position, "the sampler")
            at = _axes(place(frame, mask), kind)
            taps = float_taps(image, at, bits or 0) if floats else integer_taps(image, at, bits)
            total: Any = None
            for number, (places, weight) in enumerate(zip(taps.places, taps.weights, strict=True)):
                border = bits is not None and bits & ADDRESS_BITS == ADDRESSING["clamp"]
                stored, outside = texels.load(image, places, mask, number == 0, border)
                colours = _colours(image, stored, outside, element)
                colours = colours if weight is None else colours * weight
                total = colours if total is None else total + colours
            return (total[0] if kind.depth else total).astype(element.dtype)

        return Code(element if kind.depth else Vector(element, 4), run)

    return build


def _stored(image: BoundImage, colours: Any, element: Scalar) -> Any:
    """(4, lanes) numbers as the image's channels, saturated and rounded to even."""
    rows: list[Any] = [None] * image.channels
    for component, channel in enumerate(COMPONENTS[image.order]):
        if isinstance(channel, int) and rows[channel] is None:
            rows[channel] = colours[component]
    values = np.stack(rows)
    if image.dtype.kind == "f":
        return values.astype(image.dtype)
    limits = np.iinfo(image.dtype)
    if element.is_float:
        scaled = np.nan_to_num(values.astype(np.float32) * np.float32(limits.max), nan=0.0)
        return np.clip(np.rint(scaled), limits.min, limits.max).astype(image.dtype)
    return np.clip(values.astype(np.int64), limits.min, limits.max).astype(image.dtype)


def _write(suffix: str) -> Builtin:
    """write_image(image, coordinates, colour)."""

    def build(context: Context, call: Call) -> Code:
        image_code, place_code, colour = arguments(context, call, 3)
        kind, element = _image_argument(image_code, call), _ELEMENTS[suffix]
        if _coordinates(place_code, kind, call).is_float:
            raise call.position.error(f"{call.name} takes whole coordinates, not {place_code.type}")
        if width_of(colour.type) != (1 if kind.depth else 4):
            raise call.position.error(f"{call.name} takes a {element}4, not {colour.type}")
        machine, handle, place = context.machine, image_code.run, place_code.run
        source, texels = elementwise(colour, element).run, _Texels(machine, call, "store")

        def run(frame: Frame, mask: Mask) -> Value:
            if not mask.any:
                return
            image = _found(machine, handle, frame, mask, call)
            _check_kind(image, suffix, call)
            places = integer_taps(image, _axes(place(frame, mask), kind), None).places[0]
            address, inside = texels.address(image, places, mask)
            bad = mask.lanes & ~inside
            if bad.any():
                texels.outside(image, places, bad)
            colours = np.broadcast_to(np.asarray(source(frame, mask)), (1 if kind.depth else 4, machine.lanes))
            values = _stored(image, colours, element)
            values = values[0] if image.channels == 1 else values
            machine.memory.store(address, texels.access(image, True), values, Mask(mask.lanes & inside))

        return Code(VOID, run)

    return build


def _query(kind_of: Type, answer: Any, least: int = 1) -> Builtin:
    """A fact about an image that has at least `least` dimensions."""

    def build(context: Context, call: Call) -> Code:
        (code,) = arguments(context, call, 1)
        kind, machine = _image_argument(code, call), context.machine
        if kind.dimensions < least:
            raise call.position.error(f"{call.name} does not take {kind}")

        def run(frame: Frame, mask: Mask) -> Value:
            value = np.asarray(answer(_found(machine, code.run, frame, mask, call))).astype(np.int64)
            element = element_of(kind_of)
            assert element is not None
            return value.astype(element.dtype)[()] if value.ndim == 0 else value.astype(element.dtype)[:, None]

        return Code(kind_of, run)

    return build


def _dimensions(context: Context, call: Call) -> Code:
    """get_image_dim: int2, or int4 of an image3d_t."""
    (code,) = arguments(context, call, 1)
    if _image_argument(code, call).dimensions == 3:
        return _query(Vector(INT, 4), lambda image: [*image.extent, 0], 3)(context, call)
    return _query(Vector(INT, 2), lambda image: image.extent[:2], 2)(context, call)


IMAGES: dict[str, Builtin] = {
    "get_image_width": _query(INT, lambda image: image.extent[0]),
    "get_image_height": _query(INT, lambda image: image.extent[1], 2),
    "get_image_depth": _query(INT, lambda image: image.extent[2], 3),
    "get_image_array_size": _query(SIZE_T, lambda image: image.layers),
    "get_image_dim": _dimensions,
    "get_image_channel_order": _query(INT, lambda image: image.codes[0]),
    "get_image_channel_data_type": _query(INT, lambda image: image.codes[1]),
    "get_image_num_mip_levels": _query(INT, lambda image: 1),
    "get_image_num_samples": _query(INT, lambda image: 1),
}
