"""What shows a run: screenshots, judged by their pixels, captures of a terminal, and transcripts of an automation."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from omo import safe_open
from omo.clock import stamp
from omo.errors import BadInput
from omo.proof import documents
from omo.strict import Written, defects_of
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
# What a picture must show, measured on those of tests/ultragoal/test_screenshots.py, which SHOWS and BLANK list.
# Neighbours this far apart are an edge; gradients and the ripples of JPEG stay below.
STEP = 16
# This far from the background is ink. Farther than an edge needs, as JPEG smears what is around one.
FAR = 64
# Pale areas are no smear either, when this much of the picture is one.
PALE_SHARE = 0.05
# Edges must span this much of the picture, across and down: those of a line or of a mark in a corner do not.
SMALLEST_SHARE = 0.15
# In noise nearly every pixel is an edge; the busiest photographs and pages stay far below.
MOST_EDGES = 0.85
# Shown through what is transparent. An unlikely colour: what differs on any background differs on this one.
BEHIND = (131, 7, 193)

LARGEST_CAPTURE = 16_000_000
# A prompt or a frame says nothing: test_a_capture_that_does_not in tests/ultragoal/test_captures.py.
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
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise _Unusable(f"cannot be read: {clip(why, 100)}; {again}") from None


def capture_defects(path: Path) -> list[str]:
    """Why the file is no capture of a terminal session: everything at once."""
    defects = []
    try:
        text = _read(path, LARGEST_CAPTURE, ANOTHER_CAPTURE).decode("utf-8", "replace")
        if not CONTROL.search(text):
            defects.append(f"holds no control sequence of a terminal, so it is text and no capture; {ANOTHER_CAPTURE}")
        if not _has_words(ESCAPES.sub("\n", text)):
            nothing = f"shows nothing a person could read: no {SHORTEST_RUN} characters in a row"
            defects.append(f"{nothing}; {ANOTHER_CAPTURE}")
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
    kind = "PNG" if data.startswith(ENDS["PNG"][0]) else "JPEG"
    if not data.startswith(ENDS[kind][0]):
        raise _Unusable("is neither PNG nor JPEG; save the picture in one of these formats")
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


def _check_size(image: Image.Image) -> None:
    width, height = image.size
    if width < SMALLEST[0] or height < SMALLEST[1]:
        raise _Unusable(f"is {width}x{height}; a screenshot has at least {SMALLEST[0]}x{SMALLEST[1]} pixels")
    if width * height > MOST_PIXELS:
        raise _Unusable(f"is {width}x{height}, more than {MOST_PIXELS} pixels; take a picture of a part")


def _blankness(image: Image.Image) -> str:
    """Why the picture shows nothing; empty where it does."""
    from PIL import Image, ImageChops

    width, height = image.size
    grey = image.convert("L")
    inner = grey.crop((1, 1, width, height))
    beside = ImageChops.difference(inner, grey.crop((0, 1, width - 1, height)))
    above = ImageChops.difference(inner, grey.crop((1, 0, width, height - 1)))
    edges = ImageChops.lighter(beside, above).point([0] * (STEP + 1) + [255] * (255 - STEP))
    box, share = edges.getbbox(), edges.histogram()[255] / (width * height)
    if box is None:
        return f"shows one colour or a smooth gradient and nothing on it; {ANOTHER_PICTURE}"
    if share > MOST_EDGES:
        return f"shows noise: {share:.0%} of its pixels differ from their neighbours; {ANOTHER_PICTURE}"
    left, top, right, bottom = box
    if right - left < SMALLEST_SHARE * width or bottom - top < SMALLEST_SHARE * height:
        shown = f"{right - left}x{bottom - top} of {width}x{height} pixels"
        return f"shows something in {shown} only; {ANOTHER_PICTURE}, in a smaller window or closer"
    coarse = image.resize((min(width, 640), min(height, 640)), Image.Resampling.NEAREST)
    colours = coarse.getcolors(640 * 640) or []
    background: tuple[int, int, int] = max(colours, key=lambda colour: colour[0])[1]  # type: ignore[assignment]
    red, green, blue = ImageChops.difference(image, Image.new("RGB", image.size, background)).split()
    distances = ImageChops.lighter(ImageChops.lighter(red, green), blue).histogram()
    pale, ink = sum(distances[STEP + 1 :]), sum(distances[FAR + 1 :])
    if ink <= 2 * (width + height) and pale <= PALE_SHARE * width * height:
        pixels = f"{ink} of {width * height} pixels"
        return f"shows one colour but for {pixels}, no more than a thin frame has; {ANOTHER_PICTURE}"
    return ""


# Surfaces by the family whose evidence they need; a transcript may name its surface.
FAMILIES = {
    **dict.fromkeys(("gui", "web"), "web"),
    **dict.fromkeys(("native", "desktop", "tui"), "native"),
    "cli": "cli",
    **dict.fromkeys(("api", "package", "algorithm", "math"), "library"),
}
# What an action must name, one of each; an action of any other type names what it likes.
MUST_NAME = {
    "goto": ("url",),
    "custom": ("selector", "target"),
    **dict.fromkeys(("click", "fill", "press", "assert", "screenshot", "observe"), ("selector",)),
}
MOST_ROWS = 10_000
MOST_DEFECTS = 50
HOUR = 3600
FIRST_EPOCH = 1e9  # a smaller number counts from any start
MILLISECONDS = 1e11  # an epoch in seconds does not get there; one in milliseconds is far beyond
LATEST = 1e15


def _time(value: object) -> object:
    if moment(value) is None:
        raise ValueError("is no time; write an ISO date or a number")
    return value


class TranscriptStep(BaseModel):
    """Of a transcript. What else the driver writes down is its own business."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    timestamp: Annotated[Any, AfterValidator(_time)]

    def names(self, field: str) -> bool:
        value = (self.model_extra or {}).get(field)
        return isinstance(value, str) and bool(value.strip())


class Action(TranscriptStep):
    type: Written

    @model_validator(mode="after")
    def _names_what_it_touches(self) -> Action:
        wanted = MUST_NAME.get(self.type, ())
        if wanted and not any(map(self.names, wanted)):
            raise ValueError(f"{self.type} must say {' or '.join(wanted)}")
        return self


class Assertion(TranscriptStep):
    status: Literal["passed"]


class DriverTranscript(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    schemaVersion: Annotated[int, Field(ge=1, le=1)]
    tool: Written
    surface: Literal[tuple(FAMILIES)] | None = None  # type: ignore[valid-type]
    actions: Annotated[list[Action], Field(min_length=1, max_length=MOST_ROWS)]
    assertions: Annotated[list[Assertion], Field(min_length=1, max_length=MOST_ROWS)] | None = None

    @property
    def rows(self) -> list[tuple[str, TranscriptStep]]:
        """All there is in the order of time, by name: assertions come after actions."""
        actions = [(f"actions[{number}]", row) for number, row in enumerate(self.actions)]
        return [*actions, *((f"assertions[{number}]", row) for number, row in enumerate(self.assertions or ()))]


def transcript_defects(path: Path, family: str, since: float = 0.0) -> list[str]:
    """Why the file is no transcript of a run on a surface of that family ("": any), after `since`."""
    try:
        transcript = DriverTranscript.model_validate(documents.load(path))
    except BadInput as error:
        return [error.message]
    except ValidationError as error:
        defects = defects_of(error, DriverTranscript, "the transcript")
    else:
        defects = list(_contradictions(transcript, family, since))
    lines = [f"{clip(path.name, 100)}: {defect}" for defect in defects[:MOST_DEFECTS]]
    if len(defects) > MOST_DEFECTS:
        lines.append(f"and {len(defects) - MOST_DEFECTS} more")
    return lines


def _contradictions(transcript: DriverTranscript, family: str, since: float) -> Iterator[str]:
    surface = transcript.surface
    if family and surface is not None and FAMILIES[surface] != family:
        yield f"surface: {surface!r} is a {FAMILIES[surface]} surface; here {family} is to be shown"
    if not any(row.names("selector") for _, row in transcript.rows):
        yield "actions: none names a selector, so nothing of the product was touched or looked at"
    before, earlier = "", -math.inf
    is_old = False
    for name, row in transcript.rows:
        now, slack = moment(row.timestamp) or (0.0, math.inf)
        if now < earlier:
            yield f"{name}.timestamp: is earlier than that of {before}; a transcript goes forward in time"
        # A run that began before the work it is to show does not show that work; the first row tells.
        if now + slack < since and not is_old:
            is_old = True
            shown = clip(repr(row.timestamp), 60)
            yield f"{name}.timestamp: {shown} is before the goal began, {stamp(since)}; run it again, now"
        before, earlier = name, now


def moment(value: object) -> tuple[float, float] | None:
    """A time as a number, and how much later it may be meant: an ISO date, an epoch in seconds or milliseconds, or a
    count from any start, which may be at any time."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        number = float(value)
    except ValueError:
        return _date(str(value).strip())
    if not 0 <= number < LATEST:  # NaN is in no range
        return None
    if number >= MILLISECONDS:
        number /= 1000
    return (number, 1.0) if number >= FIRST_EPOCH else (number, math.inf)


def _date(text: str) -> tuple[float, float] | None:
    try:
        date = datetime.fromisoformat(text.replace("Z", "+00:00"))
        if date.tzinfo is not None:
            return date.timestamp(), 1.0
        # Of any zone, and of any hour of a day: tests/ultragoal/test_transcripts.py,
        # test_a_run_from_before_the_goal_is_stale_where_its_times_are_dates.
        hours = 12 if text[10:] else 36
        return date.replace(tzinfo=timezone.utc).timestamp(), hours * HOUR
    except (ValueError, OverflowError):
        return None
