"""What shows a run: a screenshot that is not blank, a capture of a terminal, a transcript of an automation."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from omo import safe_open
from omo.errors import BadInput
from omo.proof import documents
from omo.strict import Written, defects_of
from omo.text import clip

SMALLEST = (320, 180)
LARGEST_PICTURE = 32_000_000
ANOTHER_PICTURE = "take a picture of the running product that shows what was done"
# Each format with its first and its last bytes: what follows the end of the picture is no part of it.
ENDS = {
    "PNG": (b"\x89PNG\r\n\x1a\n", b"\0\0\0\0IEND\xaeB`\x82"),
    "JPEG": (b"\xff\xd8\xff", b"\xff\xd9"),
}
# A pixel this far from its neighbours is an edge; gradients and the ripples of JPEG stay below. Edges must span this
# much of the picture, across and down: those of a line or of a mark in a corner do not.
EDGE = 64
SMALLEST_SHARE = 0.15

LARGEST_CAPTURE = 16_000_000
ANOTHER_CAPTURE = "record the program in a terminal, for example: script -q -c COMMAND capture.txt"
_OSC = r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
_CSI = r"\x1b\[[0-?]*[ -/]*[@-~]"
CONTROL = re.compile(f"{_OSC}|{_CSI}")
ESCAPES = re.compile(f"{_OSC}|{_CSI}|\\x1b[ -/]*[0-~]")
READABLE = re.compile(r"\S[^\x00-\x1f\x7f\N{REPLACEMENT CHARACTER}]{9}")


def capture_defects(path: Path) -> list[str]:
    """Say why the file is no capture of a terminal session: everything at once."""
    try:
        text = safe_open.read_file(path, LARGEST_CAPTURE, follow_link=True).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        return [_unreadable(path, error)]
    defects = []
    if not CONTROL.search(text):
        defects.append(f"holds no control sequence of a terminal, so it is text and no capture; {ANOTHER_CAPTURE}")
    if not READABLE.search(ESCAPES.sub("\n", text)):
        defects.append(f"shows nothing a person could read: no 10 characters in a row; {ANOTHER_CAPTURE}")
    return [f"{clip(path.name, 100)}: {defect}" for defect in defects]


def _unreadable(path: Path, error: Exception) -> str:
    why = getattr(error, "strerror", None) or str(error)
    return f"{clip(path.name, 100)}: cannot be read: {clip(why, 100)}"


def plain(text: str) -> str:
    """Return what a person would read: no colours, one kind of line end, nothing invisible at the end of a line."""
    lines = ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).rstrip("\n")


def screenshot_defects(path: Path) -> list[str]:
    """Say why the file is no screenshot that shows something; nothing if it is one."""
    try:
        data = safe_open.read_file(path, LARGEST_PICTURE, follow_link=True)
    except (OSError, ValueError) as error:
        return [_unreadable(path, error)]
    defect = _picture_defect(data)
    return [f"{clip(path.name, 100)}: {defect}"] if defect else []


def _picture_defect(data: bytes) -> str | None:
    kind = "PNG" if data.startswith(ENDS["PNG"][0]) else "JPEG"
    if not data.startswith(ENDS[kind][0]):
        return "is neither PNG nor JPEG; save the picture in one of these formats"
    if not data.endswith(ENDS[kind][1]):
        return f"does not end where a {kind} ends: it is cut off or carries other data; save it again"
    # Imported here: only who looks at pictures pays for it.
    from PIL import Image, ImageFilter

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(io.BytesIO(data), formats=[kind]) as image:
                image.verify()  # the checksums; a picture cannot be unpacked after it, so it is opened again
            with Image.open(io.BytesIO(data), formats=[kind]) as image:
                width, height = image.size
                grey = image.convert("RGB").convert("L")
        except Exception as error:  # a decoder raises whatever its input makes it raise
            return f"does not decode as {kind}: {clip(str(error), 150)}; save it again"
    if width < SMALLEST[0] or height < SMALLEST[1]:
        return f"is {width}x{height}; a screenshot has at least {SMALLEST[0]}x{SMALLEST[1]} pixels"
    edges = grey.filter(ImageFilter.FIND_EDGES).crop((1, 1, width - 1, height - 1))
    left, top, right, bottom = edges.point([0] * EDGE + [255] * (256 - EDGE)).getbbox() or (0, 0, 0, 0)
    if right - left < SMALLEST_SHARE * width or bottom - top < SMALLEST_SHARE * height:
        shown = f"something in {right - left}x{bottom - top} of {width}x{height} pixels only" if right else "nothing"
        return f"shows {shown}; {ANOTHER_PICTURE}"
    return None


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


def _time(value: object) -> object:
    if _seconds(value) is None:
        raise ValueError("is no time; write an ISO date or a number")
    return value


def _seconds(value: object) -> float | None:
    """Return a time as a number, if it is one: an ISO date, or a count from any start."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        number = float(value)
    except ValueError:
        try:
            return datetime.fromisoformat(str(value).strip().replace("Z", "+00:00")).timestamp()
        except (ValueError, OverflowError):
            return None
    return number if 0 <= number < math.inf else None


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


def transcript_defects(path: Path, family: str) -> list[str]:
    """Say why the file is no transcript of a run on a surface of that family ("": any)."""
    try:
        transcript = DriverTranscript.model_validate(documents.load(path))
    except BadInput as error:
        return [error.message]
    except ValidationError as error:
        defects = defects_of(error, DriverTranscript, "the transcript")
    else:
        defects = list(_contradictions(transcript, family))
    lines = [f"{clip(path.name, 100)}: {defect}" for defect in defects[:MOST_DEFECTS]]
    if len(defects) > MOST_DEFECTS:
        lines.append(f"and {len(defects) - MOST_DEFECTS} more")
    return lines


def _contradictions(transcript: DriverTranscript, family: str) -> Iterator[str]:
    surface = transcript.surface
    if family and surface is not None and FAMILIES[surface] != family:
        yield f"surface: {surface!r} is a {FAMILIES[surface]} surface; here {family} is to be shown"
    rows: list[tuple[str, TranscriptStep]] = []  # in the order of time: assertions come after actions
    for name, steps in (("actions", transcript.actions), ("assertions", transcript.assertions or ())):
        rows += [(f"{name}[{number}]", step) for number, step in enumerate(steps)]
    if not any(row.names("selector") for _, row in rows):
        yield "actions: none names a selector, so nothing of the product was touched or looked at"
    before, earlier = "", 0.0
    for name, row in rows:
        now = _seconds(row.timestamp) or 0.0
        if now < earlier:
            yield f"{name}.timestamp: is earlier than that of {before}; a transcript goes forward in time"
        before, earlier = name, now
