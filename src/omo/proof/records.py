"""What a run is recorded as: the replay of a command, why there is none, and the transcript of an automation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from omo.clock import stamp
from omo.errors import BadInput
from omo.proof import documents
from omo.strict import Strict, defects_of, validated
from omo.text import clip


def _written(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Written = Annotated[str, AfterValidator(_written)]

LONGEST_COMMAND = 8000
LONGEST_OUTPUT = 1 << 20
LONGEST_CASE = 2000
SHORTEST_TIMEOUT, DEFAULT_TIMEOUT, LONGEST_TIMEOUT = 1.0, 10.0, 120.0
RECORD_FIX = (
    "omo evidence replay --goal ID -- COMMAND runs it and writes the record; by hand: "
    '{"schemaVersion": 1, "kind": "cli-replay", "replaySafe": true, "command": ["…"], "recordedStdout": "…"}'
)


def _argv(command: object) -> object:
    if isinstance(command, str):
        raise ValueError("is text for a shell; write a list: the program and its arguments")  # noqa: TRY004
    return command


def _usable(command: list[str]) -> list[str]:
    text = "".join(command)
    if not command[0] or "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("must begin with a program, and hold neither NUL nor half characters")
    if len(text) > LONGEST_COMMAND:
        raise ValueError(f"must have at most {LONGEST_COMMAND} characters together")
    return command


def _safe(is_safe: bool) -> bool:
    if not is_safe:
        raise ValueError("is not true; say so only of what may run again")
    return is_safe


Output = Annotated[str, Field(max_length=LONGEST_OUTPUT)]


class Record(Strict):
    """A command, and what it is held against when it is run again. `stderr` None: none was recorded."""

    schema_version: Annotated[int, Field(alias="schemaVersion", ge=1, le=1)]
    kind: Literal["cli-replay"]
    safe: Annotated[bool, AfterValidator(_safe), Field(alias="replaySafe")]
    command: Annotated[list[str], Field(min_length=1), BeforeValidator(_argv), AfterValidator(_usable)]
    stdout: Annotated[Output, Field(alias="recordedStdout")]
    stderr: Annotated[Output | None, Field(alias="recordedStderr")] = None
    exit_code: Annotated[int, Field(alias="expectedExitCode", ge=0, le=255)] = 0
    normalization: Literal["default"] = "default"
    recorded_at: Annotated[str, Field(alias="recordedAt", max_length=100)] = ""
    milliseconds: Annotated[float, Field(alias="timeoutMs", gt=0, lt=1e12)] = DEFAULT_TIMEOUT * 1000
    cwd: Annotated[Written, Field(pattern=r"^[^\x00]*$")] = "."
    scenario: Annotated[str, Field(max_length=LONGEST_CASE)] = ""  # of an attempt to break it
    expected: Annotated[str, Field(alias="expectedBehavior", max_length=LONGEST_CASE)] = ""

    @property
    def timeout(self) -> float:
        return min(max(self.milliseconds / 1000, SHORTEST_TIMEOUT), LONGEST_TIMEOUT)


def parse_replay(document: object) -> Record:
    """BadInput with everything that is wrong in `defects`."""
    return validated(Record, document, what="the replay record", fix=RECORD_FIX)


ReasonCode = Literal[
    "unsafe_side_effect",
    "requires_credentials",
    "requires_network",
    "non_deterministic_external",
    "destructive",
    "interactive_only",
    "platform_unavailable",
]
REASON_CODES: tuple[str, ...] = get_args(ReasonCode)
SHORTEST_REASON, FEWEST_WORDS, FEWEST_DIFFERENT = 32, 5, 4


def _sentence(text: str) -> str:
    """Long enough, of words, and not one word over and over."""
    words = [word.lower() for word in text.split() if any(map(str.isalnum, word))]
    is_long = len(" ".join(words)) >= SHORTEST_REASON and len(words) >= FEWEST_WORDS
    if not is_long or len(set(words)) < FEWEST_DIFFERENT:
        raise ValueError(f"must say why in at least {SHORTEST_REASON} characters and {FEWEST_WORDS} words")
    return text


def _unlike(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("names one artifact twice")
    return names


Short = Annotated[Written, Field(max_length=2000)]


class ReplayExempt(Strict):
    """Why a command cannot be replayed, who says so, and what shows the run instead."""

    reasonCode: ReasonCode
    reason: Annotated[Short, AfterValidator(_sentence)]
    approvedBy: Short
    fallbackArtifactRefs: Annotated[list[Short], Field(min_length=1, max_length=50), AfterValidator(_unlike)]


def parse_exemption(document: object) -> ReplayExempt:
    """BadInput with everything that is wrong in `defects`."""
    fix = f"reasonCode is one of {', '.join(REASON_CODES)}; reason, approvedBy and fallbackArtifactRefs say the rest"
    return validated(ReplayExempt, document, what="replayExempt", fix=fix)


# Surfaces by the family whose evidence they need; a transcript may name its surface.
FAMILIES = {
    "gui": "web",
    "web": "web",
    "native": "native",
    "desktop": "native",
    "tui": "native",
    "cli": "cli",
    "api": "api-package",
    "package": "api-package",
    "algorithm": "algorithm-math",
    "math": "algorithm-math",
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


def _time(value: object) -> object:
    if moment(value) is None:
        raise ValueError("is no time; write an ISO date or a number")
    return value


class Row(BaseModel):
    """Of a transcript. What else the driver writes down is its own business."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    timestamp: Annotated[Any, AfterValidator(_time)]

    def names(self, field: str) -> bool:
        value = (self.model_extra or {}).get(field)
        return isinstance(value, str) and bool(value.strip())


class Action(Row):
    type: Written

    @model_validator(mode="after")
    def _names_what_it_touches(self) -> Action:
        wanted = MUST_NAME.get(self.type, ())
        if wanted and not any(map(self.names, wanted)):
            raise ValueError(f"{self.type} must say {' or '.join(wanted)}")
        return self


class Assertion(Row):
    status: Literal["passed"]


class Transcript(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    schemaVersion: Annotated[int, Field(ge=1, le=1)]
    tool: Written
    surface: Literal[tuple(FAMILIES)] | None = None  # type: ignore[valid-type]
    actions: Annotated[list[Action], Field(min_length=1, max_length=MOST_ROWS)]
    assertions: Annotated[list[Assertion], Field(min_length=1, max_length=MOST_ROWS)] | None = None

    @property
    def rows(self) -> list[tuple[str, Row]]:
        """All there is in the order of time, by name: assertions come after actions."""
        actions = [(f"actions[{number}]", row) for number, row in enumerate(self.actions)]
        return [*actions, *((f"assertions[{number}]", row) for number, row in enumerate(self.assertions or ()))]


def transcript_defects(path: Path, family: str, since: float = 0.0) -> list[str]:
    """Why the file is no transcript of a run on a surface of that family ("": any), after `since`."""
    try:
        transcript = Transcript.model_validate(documents.load(path))
    except BadInput as error:
        return [error.message]
    except ValidationError as error:
        defects = defects_of(error, Transcript, "the transcript")
    else:
        defects = list(_contradictions(transcript, family, since))
    lines = [f"{clip(path.name, 100)}: {defect}" for defect in defects[:MOST_DEFECTS]]
    if len(defects) > MOST_DEFECTS:
        lines.append(f"and {len(defects) - MOST_DEFECTS} more")
    return lines


def _contradictions(transcript: Transcript, family: str, since: float) -> Iterator[str]:
    surface = transcript.surface
    if family and surface is not None and FAMILIES[surface] != family:
        yield f"surface: {surface!r} is a {FAMILIES[surface]} surface; here {family} is to be shown"
    if not any(row.names("selector") for _, row in transcript.rows):
        yield "actions: none names a selector, so nothing of the product was touched or looked at"
    before, earlier = "", -math.inf
    for name, row in transcript.rows:
        now = moment(row.timestamp) or 0.0
        if now < earlier:
            yield f"{name}.timestamp: is earlier than that of {before}; a transcript goes forward in time"
        before, earlier = name, now
    # A run that began before the work it is to show does not show that work; the first row tells.
    for name, row in transcript.rows:
        latest = _latest(row.timestamp)
        if latest is not None and latest < since:
            shown = clip(repr(row.timestamp), 60)
            yield f"{name}.timestamp: {shown} is before the goal began, {stamp(since)}; run it again, now"
            return


def moment(value: object) -> float | None:
    """A time as a number: an ISO date, an epoch in seconds or milliseconds, or a count from any start."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return _date(str(value))
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e15:
        return None  # NaN is in no range
    return float(value) / 1000 if value >= MILLISECONDS else float(value)


def _date(text: str) -> float | None:
    try:
        date = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
        if date.tzinfo is None:
            date = date.replace(tzinfo=timezone.utc)
        return date.timestamp()
    except (ValueError, OverflowError):
        return None


def _latest(value: object) -> float | None:
    """The last moment that a time can mean; None for a count. A date without a zone may be of any, and to the day."""
    time, text = moment(value), str(value).strip()
    is_number = text.replace(".", "", 1).isdigit()
    if time is None or (is_number and time < FIRST_EPOCH):
        return None
    hour_and_zone = text[10:]
    if is_number or any(sign in hour_and_zone for sign in "Z+-"):
        return time + 1
    return time + (12 if hour_and_zone else 36) * HOUR
