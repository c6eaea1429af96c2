"""The form of a critic's answer on a plan, and how it is found in what the critic said."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from omo.errors import BadInput
from omo.shown import clip

MOST_FINDINGS = 100
MOST_CANDIDATES = 50

# What a critic looks at. The last one is the hard gate: a weak manifest lets undone work pass.
DIMENSIONS = {
    "goal": "the steps together bring about what was asked, and nothing beside it",
    "grounding": "files, functions and commands it names are really there, or an earlier step makes them",
    "order": "no step needs what a later one brings; dependencies are stated",
    "size": "each step is one change that one commit can hold and one person can review",
    "tests": "behaviour that changes has a test, written first where that is possible",
    "verify": "each Verify would fail if the work of its step were missing",
    "failure": "On failure fits: nothing that others build on is skipped, nothing risky is retried blindly",
    "scope": "the fence holds what the steps need, and closes what they must not touch",
    "safety": "no step destroys data, leaks secrets or weakens a guard; what cannot be undone is said to be so",
    "manifest-quality": "no manifest would hold for undone, half-done or unrelated work",
}
GATE = "manifest-quality"
MARKS = ("pass", "concern", "fail")


class Finding(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    dimension: Annotated[str, Field(min_length=1, max_length=60)]
    text: Annotated[str, Field(min_length=1, max_length=4000)]
    severity: Literal["blocking", "advisory"]
    line: Annotated[int, Field(ge=0)] | None = None


class Verdict(BaseModel):
    """`plan_digest` ties it to one text: what was said of another text says nothing about this one."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    verdict: Literal["clean", "findings"]
    plan_digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    dimensions: dict[str, Literal["pass", "concern", "fail"]]
    findings: Annotated[list[Finding], Field(max_length=MOST_FINDINGS)]

    @property
    def blocking(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity == "blocking"]

    @property
    def concerns(self) -> list[str]:
        return [name for name, mark in self.dimensions.items() if mark == "concern"]

    @property
    def is_clean(self) -> bool:
        is_sound = "fail" not in self.dimensions.values() and self.dimensions.get(GATE) == "pass"
        return self.verdict == "clean" and not self.blocking and is_sound

    @property
    def reasons(self) -> list[str]:
        """Why it is not clean; empty where it is."""
        count = len(self.blocking)
        told = [f"{name} fails" for name, mark in self.dimensions.items() if mark == "fail"]
        told += [f"{GATE} is a concern and has to pass"] if GATE in self.concerns else []
        told += [f"{count} blocking finding{'' if count == 1 else 's'}"] if count else []
        return told + ([f"the critic's verdict is {self.verdict!r}"] if self.verdict != "clean" else [])


def example(digest: str) -> str:
    """The form to answer in."""
    shown = {
        "verdict": "clean | findings",
        "plan_digest": digest,
        "dimensions": dict.fromkeys(DIMENSIONS, " | ".join(MARKS)),
        "findings": [
            {"line": 12, "dimension": "manifest-quality", "severity": "blocking | advisory", "text": "what is wrong"}
        ],
    }
    return json.dumps(shown, indent=2)


def named_digest(message: str) -> str | None:
    """Which text the message is about, as far as it says so."""
    found = _last_object(message) or {}
    digest = found.get("plan_digest")
    return digest if isinstance(digest, str) else None


def read(message: str) -> Verdict:
    """The last JSON object with a verdict in the message. Raises BadInput with every defect."""
    found = _last_object(message)
    if found is None:
        raise BadInput(
            "the critic's message holds no JSON object with a verdict",
            fix="omo plan critique PLAN --brief shows the form; let omo:critic answer in it",
        )
    try:
        verdict = Verdict.model_validate(found)
        defects = []
    except ValidationError as error:
        verdict, defects = None, [_in_words(one) for one in error.errors(include_url=False)]
    defects += _unmarked(found.get("dimensions"))
    if verdict is None or defects:
        raise BadInput(
            f"the critic's verdict has {len(defects)} defect{'' if len(defects) == 1 else 's'}: {defects[0]}",
            fix="omo plan critique PLAN --brief shows the form; let omo:critic answer again",
            defects=defects,
        )
    return verdict


def _unmarked(dimensions: object) -> list[str]:
    known = dimensions if isinstance(dimensions, dict) else {}
    left = [name for name in DIMENSIONS if name not in known]
    return [f"dimensions: {', '.join(left)} not judged; each is one of {', '.join(MARKS)}"] if left else []


def _in_words(error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"]) or "the object"
    return clip(f"{place}: {error['msg'].replace('Input should be', 'must be')}", 300)


def _last_object(message: str) -> dict[str, Any] | None:
    """Objects begin a line; the last that has a verdict counts, for a form may be quoted before it is filled in."""
    decoder = json.JSONDecoder()
    found = None
    end = 0
    for start in [hit.end() - 1 for hit in re.finditer(r"^[ \t>]*\{", message, re.MULTILINE)][-MOST_CANDIDATES:]:
        if start < end:
            continue
        try:
            value, end = decoder.raw_decode(message, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and "verdict" in value:
            found = value
    return found
