"""What can be seen: screenshots, judged by their pixels, and captures of a terminal, control sequences and all."""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from omo import safe_open
from omo.text import clip

if TYPE_CHECKING:
    from PIL import Image

SMALLEST = (320, 180)
MOST_PIXELS = 40_000_000  # an 8K screen, or a full page 1280 wide and 31,000 high
LARGEST_PICTURE = 32_000_000
ANOTHER_PICTURE = "take a picture of the running product that shows what was done"
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


SMALLEST_CAPTURE = 512
LARGEST_CAPTURE = 16_000_000
SHORTEST_RUN = 10
FEWEST_LETTERS = 3
ANOTHER_CAPTURE = "record the program in a terminal, for example: script -q -c COMMAND capture.txt"
_OSC = r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
_CSI = r"\x1b\[[0-?]*[ -/]*[@-~]"
CONTROL = re.compile(f"{_OSC}|{_CSI}")
ESCAPES = re.compile(f"{_OSC}|{_CSI}|\\x1b[ -/]*[0-~]")


class _Unusable(Exception):
    pass


def _read(path: Path, most: int, again: str) -> bytes:
    try:
        return safe_open.read_file(path, most, follow_link=True)
    except safe_open.TooLarge:
        raise _Unusable(f"is larger than {most} bytes; {again}") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise _Unusable(f"cannot be read: {clip(why, 100)}; {again}") from None


def capture_defects(path: Path) -> list[str]:
    """Why the file is no capture of a terminal session: everything at once."""
    defects = []
    try:
        raw = _read(path, LARGEST_CAPTURE, ANOTHER_CAPTURE)
        text = raw.decode("utf-8", "replace")
        if len(raw) < SMALLEST_CAPTURE:
            defects.append(f"has {len(raw)} bytes, a capture has at least {SMALLEST_CAPTURE}; {ANOTHER_CAPTURE}")
        if not CONTROL.search(text):
            defects.append(f"holds no control sequence of a terminal, so it is text and no capture; {ANOTHER_CAPTURE}")
        if not _has_words(ESCAPES.sub("\n", text)):
            defects.append(
                f"shows nothing a person could read: no {SHORTEST_RUN} characters in a row; {ANOTHER_CAPTURE}"
            )
    except _Unusable as error:
        defects.append(str(error))
    return [f"{clip(path.name, 100)}: {defect}" for defect in defects]


def _has_words(text: str) -> bool:
    """A run of characters with letters in it: a frame of dashes or a row of blanks says nothing."""
    for run in re.split(r"[\x00-\x1f\x7f\N{REPLACEMENT CHARACTER}]", text):
        if len(run) >= SHORTEST_RUN and sum(map(str.isalnum, run)) >= FEWEST_LETTERS:
            return True
    return False


def plain(text: str) -> str:
    """What a person would read: no colours, one kind of line end, nothing invisible at the end of a line."""
    lines = ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).rstrip("\n")


def screenshot_defects(path: Path) -> list[str]:
    """Why the file is no screenshot that shows something; empty where it is one."""
    try:
        image = _decode(_read(path, LARGEST_PICTURE, "save a smaller picture as a PNG or JPEG file"))
        defect = _blankness(image)
    except _Unusable as error:
        defect = str(error)
    return [f"{clip(path.name, 100)}: {defect}"] if defect else []


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
                if "A" in image.mode or "transparency" in image.info:
                    behind = Image.new("RGBA", image.size, (*BEHIND, 255))
                    return Image.alpha_composite(behind, image.convert("RGBA")).convert("RGB")
                return image.convert("RGB")
        except _Unusable:
            raise
        except Exception as error:  # a decoder raises whatever its input makes it raise
            raise _Unusable(f"does not decode as {kind}: {clip(str(error), 150)}; save it again") from None


def _format(data: bytes) -> str:
    for kind, (start, _) in ENDS.items():
        if data.startswith(start):
            return kind
    raise _Unusable("is neither PNG nor JPEG; save the picture in one of these formats")


def _check_size(image: Image.Image) -> None:
    width, height = image.size
    if width < SMALLEST[0] or height < SMALLEST[1]:
        raise _Unusable(f"is {width}x{height}; a screenshot has at least {SMALLEST[0]}x{SMALLEST[1]} pixels")
    if width * height > MOST_PIXELS:
        raise _Unusable(f"is {width}x{height}, more than {MOST_PIXELS} pixels; take a picture of a part")


def _blankness(image: Image.Image) -> str:
    """Why the picture shows nothing; empty where it does. In bands, so that the steps in between never need as much
    memory as the picture."""
    width, height = image.size
    rows, columns = set(), set()
    edges = 0
    for row in range(GRID[1]):
        top, bottom = height * row // GRID[1], height * (row + 1) // GRID[1]
        mask = _edges(image.crop((0, max(0, top - 1), width, bottom)))
        for column in range(GRID[0]):
            left, right = width * column // GRID[0], width * (column + 1) // GRID[0]
            count = mask.crop((left, 0, right, mask.height)).histogram()[255]
            edges += count
            if count:
                rows.add(row)
                columns.add(column)
    if not edges:
        return f"shows one colour or a smooth gradient and nothing on it; {ANOTHER_PICTURE}"
    if edges > MOST_EDGES * width * height:
        share = edges * 100 // (width * height)
        return f"shows noise: {share} % of its pixels differ from their neighbours; {ANOTHER_PICTURE}"
    if len(rows) < FEWEST_ROWS or len(columns) < FEWEST_COLUMNS:
        return (
            f"shows something in {len(rows)} of {GRID[1]} rows and {len(columns)} of {GRID[0]} columns of the picture "
            f"only, and one colour elsewhere; {ANOTHER_PICTURE}, in a smaller window or closer"
        )
    pale, ink = _unlike_background(image)
    if ink <= 2 * (width + height) and pale <= PALE_SHARE * width * height:
        pixels = f"{ink} of {width * height} pixels"
        return f"shows one colour but for {pixels}, no more than a thin frame has; {ANOTHER_PICTURE}"
    return ""


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
    return ImageChops.lighter(ImageChops.lighter(red, green), blue).point([0] * (STEP + 1) + [255] * (255 - STEP))


def _unlike_background(image: Image.Image) -> tuple[int, int]:
    """How many pixels are a step away from the most frequent colour, and how many are far from it."""
    from PIL import Image, ImageChops

    coarse = image.resize((min(image.width, 640), min(image.height, 640)), Image.Resampling.NEAREST)
    colours = coarse.getcolors(640 * 640) or []
    common: tuple[int, int, int] = max(colours, key=lambda colour: colour[0])[1]  # type: ignore[assignment]
    red, green, blue = ImageChops.difference(image, Image.new("RGB", image.size, common)).split()
    distances = ImageChops.lighter(ImageChops.lighter(red, green), blue).histogram()
    return sum(distances[STEP + 1 :]), sum(distances[FAR + 1 :])
