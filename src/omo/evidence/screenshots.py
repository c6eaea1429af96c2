"""Screenshots: decoded whole, and judged by their pixels, so that no encoder decides what counts as a picture."""

from __future__ import annotations

import io
import os
import stat
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omo.shown import clip

if TYPE_CHECKING:
    from PIL import Image

SMALLEST = (320, 180)
MOST_PIXELS = 40_000_000  # an 8K screen, or a full page 1280 wide and 31,000 high
LARGEST_FILE = 32_000_000
AGAIN = "take a picture of the running product that shows what was done"

# What other files begin with, to refuse them by name.
OTHERS = (
    (0, b"GIF8", "GIF"),
    (0, b"BM", "BMP"),
    (8, b"WEBP", "WebP"),
    (0, b"II*\0", "TIFF"),
    (0, b"MM\0*", "TIFF"),
    (4, b"ftypavif", "AVIF"),
    (4, b"ftyphei", "HEIC"),
    (0, b"\0\0\1\0", "ICO"),
    (0, b"%PDF", "PDF"),
    (0, b"<svg", "SVG"),
    (0, b"<?xml", "SVG"),
)
# Each format with its first and its last bytes: what follows the end of the picture is no part of it.
ENDS = {
    "PNG": (b"\x89PNG\r\n\x1a\n", b"\0\0\0\0IEND\xaeB`\x82"),
    "JPEG": (b"\xff\xd8\xff", b"\xff\xd9"),
}

# Neighbours this far apart in a channel are an edge; gradients and the ripples of JPEG stay below.
STEP = 16
# This far from the background is ink. Farther than an edge needs, as JPEG smears what is around one.
FAR = 64
# Pale areas are no smear either, when this much of the picture is one.
PALE_SHARE = 0.05
# Edges must be in this many rows and columns of a grid over the picture: a line or a mark in a corner is not.
GRID = (32, 18)
FEWEST_ROWS, FEWEST_COLUMNS = 3, 3
# In noise nearly every pixel is an edge; the busiest photographs and pages stay far below.
MOST_EDGES = 0.85
# Shown through what is transparent. An unlikely colour: what differs on any background differs on this one.
BEHIND = (131, 7, 193)


def defects(path: Path) -> list[str]:
    """Why the file is no screenshot that shows something; empty where it is one."""
    shown = clip(path.name, 100)
    try:
        image = _decode(_read(path))
    except _Unusable as error:
        return [f"{shown}: {error}"]
    return [f"{shown}: {problem}" for problem in _blankness(image)]


class _Unusable(Exception):
    pass


def _read(path: Path) -> bytes:
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise _Unusable("is not a regular file; save the picture as a PNG or JPEG file")
            data = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise _Unusable(f"cannot be read: {clip(why, 100)}; save the picture again") from None
    if len(data) > LARGEST_FILE:
        raise _Unusable(f"is larger than {LARGEST_FILE} bytes; take a smaller picture")
    return data


def _decode(data: bytes) -> Image.Image:
    """The picture in RGB. Its size is known before a single pixel is unpacked."""
    kind = _format(data)
    if not data.endswith(ENDS[kind][1]):
        raise _Unusable(f"does not end where a {kind} ends: it is cut off or carries other data; save it again")
    # Imported here: only who looks at pictures pays for it.
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(io.BytesIO(data), formats=[kind]) as image:
                _check_size(image)
                image.verify()  # the checksums; a picture cannot be unpacked after it, so it is opened again
            with Image.open(io.BytesIO(data), formats=[kind]) as image:
                image.load()
                return _flatten(image)
        except _Unusable:
            raise
        except Exception as error:  # a decoder raises whatever its input makes it raise
            raise _Unusable(f"does not decode as {kind}: {clip(str(error), 150)}; save it again") from None


def _format(data: bytes) -> str:
    for kind, (start, _) in ENDS.items():
        if data.startswith(start):
            return kind
    for at, start, name in OTHERS:
        if data[at : at + len(start)] == start:
            raise _Unusable(f"is a {name} file; screenshots are PNG or JPEG")
    raise _Unusable("is neither PNG nor JPEG; save the picture in one of these formats")


def _check_size(image: Image.Image) -> None:
    width, height = image.size
    if width < SMALLEST[0] or height < SMALLEST[1]:
        raise _Unusable(f"is {width}x{height}; a screenshot has at least {SMALLEST[0]}x{SMALLEST[1]} pixels")
    if width * height > MOST_PIXELS:
        raise _Unusable(f"is {width}x{height}, more than {MOST_PIXELS} pixels; take a picture of a part")


def _flatten(image: Image.Image) -> Image.Image:
    """RGB, with transparent parts shown as what they are: see-through."""
    from PIL import Image

    if image.mode.startswith("I"):  # 16 bits of grey, which a plain conversion would cut off at 255
        image = image.convert("I").point(lambda value: value / 256).convert("L")
    if "A" in image.mode or "transparency" in image.info:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, (*BEHIND, 255)), image)
    return image.convert("RGB")


class _Band(NamedTuple):
    """One row of the grid: which of its columns hold an edge, and how many pixels are one."""

    columns: frozenset[int]
    edges: int


def _blankness(image: Image.Image) -> list[str]:
    width, height = image.size
    bands = list(_bands(image))
    rows = sum(1 for band in bands if band.columns)
    columns = len(frozenset().union(*(band.columns for band in bands)))
    edges = sum(band.edges for band in bands)
    if not edges:
        return [f"shows one colour or a smooth gradient and nothing on it; {AGAIN}"]
    if edges > MOST_EDGES * width * height:
        return [f"shows noise: {edges * 100 // (width * height)} % of its pixels differ from their neighbours; {AGAIN}"]
    if rows < FEWEST_ROWS or columns < FEWEST_COLUMNS:
        return [
            f"shows something in {rows} of {GRID[1]} rows and {columns} of {GRID[0]} columns of the picture only, "
            f"and one colour elsewhere; {AGAIN}, in a smaller window or closer"
        ]
    pale, ink = _unlike_background(image)
    if ink <= 2 * (width + height) and pale <= PALE_SHARE * width * height:
        return [f"shows one colour but for {ink} of {width * height} pixels, no more than a thin frame has; {AGAIN}"]
    return []


def _bands(image: Image.Image) -> Iterator[_Band]:
    """In bands, so that the steps in between never need as much memory as the picture."""
    width, height = image.size
    for row in range(GRID[1]):
        top, bottom = height * row // GRID[1], height * (row + 1) // GRID[1]
        mask = _edges(image.crop((0, max(0, top - 1), width, bottom)))
        counts = [
            mask.crop((width * at // GRID[0], 0, width * (at + 1) // GRID[0], mask.height)).histogram()[255]
            for at in range(GRID[0])
        ]
        yield _Band(frozenset(at for at, count in enumerate(counts) if count), sum(counts))


def _edges(image: Image.Image) -> Image.Image:
    """255 where a pixel is far from the one to its left or the one above."""
    from PIL import ImageChops

    width, height = image.size
    inner = image.crop((1, 1, width, height))
    steps = (
        ImageChops.difference(inner, image.crop((0, 1, width - 1, height))),
        ImageChops.difference(inner, image.crop((1, 0, width, height - 1))),
    )
    red, green, blue = ImageChops.lighter(*steps).split()
    return ImageChops.lighter(ImageChops.lighter(red, green), blue).point(_above(STEP))


def _above(limit: int) -> list[int]:
    return [255 if level > limit else 0 for level in range(256)]


def _unlike_background(image: Image.Image) -> tuple[int, int]:
    """How many pixels are a step away from the most frequent colour, and how many are far from it."""
    from PIL import Image, ImageChops

    coarse = image.resize((min(image.width, 640), min(image.height, 640)), Image.Resampling.NEAREST)
    found = coarse.getcolors(640 * 640) or []
    common: tuple[int, int, int] = max(found, key=lambda one: one[0])[1]  # type: ignore[assignment]
    red, green, blue = ImageChops.difference(image, Image.new("RGB", image.size, common)).split()
    distances = ImageChops.lighter(ImageChops.lighter(red, green), blue).histogram()
    return sum(distances[STEP + 1 :]), sum(distances[FAR + 1 :])
