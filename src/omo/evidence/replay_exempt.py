"""Where a command cannot be replayed: one of seven reasons, in words, approved, with evidence in its place."""

from __future__ import annotations

import re
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from omo.errors import BadInput
from omo.evidence.visible import count, is_blank
from omo.shown import clip

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
FEWEST_LETTERS, FEWEST_WORDS, FEWEST_DIFFERENT = 32, 5, 4


def is_substantive(text: str) -> bool:
    """A sentence: long enough, of words, and not one word over and over."""
    words = [word.lower() for word in text.split() if any(map(str.isalnum, word))]
    is_long = count(text) + len(words) - 1 >= FEWEST_LETTERS
    return is_long and len(words) >= FEWEST_WORDS and len(set(words)) >= FEWEST_DIFFERENT


def _sentence(text: str) -> str:
    if not is_substantive(text):
        raise ValueError(f"must say why in at least {FEWEST_LETTERS} characters and {FEWEST_WORDS} words")
    return text


def _visible(text: str) -> str:
    if is_blank(text):
        raise ValueError("must not be blank")
    return text


def _unlike(texts: list[str]) -> list[str]:
    if len(set(texts)) < len(texts):
        raise ValueError("names one artifact twice")
    return texts


Visible = Annotated[str, AfterValidator(_visible), Field(max_length=2000)]


class ReplayExempt(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    reasonCode: ReasonCode
    reason: Annotated[Visible, AfterValidator(_sentence)]
    approvedBy: Visible
    fallbackArtifactRefs: Annotated[list[Visible], Field(min_length=1, max_length=50), AfterValidator(_unlike)]


def parse(document: object) -> ReplayExempt:
    """BadInput with everything that is wrong in `defects`."""
    try:
        return ReplayExempt.model_validate(document)
    except ValidationError as error:
        found = [_told(one["loc"], one["msg"], one.get("input")) for one in error.errors(include_url=False)]
    raise BadInput(
        f"replayExempt cannot be used: {'; '.join(found)}",
        fix=f"reasonCode is one of {', '.join(REASON_CODES)}; reason, approvedBy and fallbackArtifactRefs say the rest",
        defects=found,
    )


def _told(place: tuple[int | str, ...], message: str, value: object) -> str:
    where = "".join(f"[{part}]" if isinstance(part, int) else part for part in place) or "replayExempt"
    return f"{where}: {clip(re.sub('^Value error, ', '', message), 300)}, got {clip(repr(value), 80)}"
