"""The critic's verdicts on plans: each belongs to exactly one text, and says whether the host saw the critic speak."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from omo.digest import sha256
from omo.errors import BadInput, Refused
from omo.state.journal import Journal
from omo.strict import defects_of
from omo.text import clip, counted
from omo.work import agents
from omo.work.agents import FULL, REDUCED, Message
from omo.work.run import Caller, Row
from omo.workflows.ultraplan.models import Document

CRITIC = "omo:critic"
MOST_FINDINGS = 100

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
    def concerns(self) -> list[str]:
        return [name for name, mark in self.dimensions.items() if mark == "concern"]

    @property
    def is_clean(self) -> bool:
        return not self.reasons and self.dimensions.get(GATE) == "pass"

    @property
    def reasons(self) -> list[str]:
        """Why it is not clean; empty where it is."""
        reasons = [f"{name} fails" for name, mark in self.dimensions.items() if mark == "fail"]
        if GATE in self.concerns:
            reasons.append(f"{GATE} is a concern and has to pass")
        blocking = sum(finding.severity == "blocking" for finding in self.findings)
        if blocking:
            reasons.append(counted(blocking, "blocking finding"))
        if self.verdict != "clean":
            reasons.append(f"the critic's verdict is {self.verdict!r}")
        return reasons


def read_verdict(message: str) -> Verdict:
    """The last JSON object with a verdict in the message. Raises BadInput with every defect."""
    fix = "omo plan critique PLAN --brief shows the form; let omo:critic answer in it"
    data = _last_object(message)
    if data is None:
        raise BadInput("the critic's message holds no JSON object with a verdict", fix=fix)
    verdict: Verdict | None = None
    defects: list[str] = []
    try:
        verdict = Verdict.model_validate(data)
    except ValidationError as error:
        defects = defects_of(error, Verdict, "the object")
    marked = data.get("dimensions")
    unmarked = [*DIMENSIONS]
    if isinstance(marked, dict):
        unmarked = [name for name in DIMENSIONS if name not in marked]
    if unmarked:
        defects.append(f"dimensions: {', '.join(unmarked)} not judged; each is one of {', '.join(MARKS)}")
    if verdict is None or defects:
        message = f"the critic's verdict has {counted(len(defects), 'defect')}: {defects[0]}"
        raise BadInput(message, fix=fix, defects=defects)
    return verdict


def _last_object(message: str) -> Row | None:
    """The last that has a verdict counts, for a form may be quoted before it is filled in."""
    last = None
    for candidate in agents.objects(message):
        if "verdict" in candidate:
            last = candidate
    return last


def _digest_in(message: str) -> str | None:
    """Which text the message is about, as far as it says so."""
    digest = (_last_object(message) or {}).get("plan_digest")
    return digest if isinstance(digest, str) else None


# what is recorded


@dataclass(frozen=True)
class Recorded:
    """`independence` is full where the host saw an agent of type omo:critic say it; `is_cleared`: it may be started."""

    plan: str
    digest: str
    verdict: Verdict
    independence: str
    is_cleared: bool = False


def reviews(state: str) -> Journal:
    return Journal(os.path.join(state, "plans", "reviews"), state)


def latest(state: str, digest: str) -> Row | None:
    """The verdict that counts: the newest the host saw, else the newest file. A damaged journal has none.

    A file is anybody's word, the author's too: it neither clears a text nor overrules what a critic was seen to say.
    """
    rows, problems = reviews(state).read()
    return None if problems else _counting(rows, digest)


def _counting(rows: list[Row], digest: str) -> Row | None:
    counting: Row | None = None
    for row in rows:
        if row.get("kind") != "critique" or row.get("digest") != digest:
            continue
        if counting is None or row.get("independence") == FULL or counting.get("independence") != FULL:
            counting = row
    return counting


def is_clean(row: Row | None) -> bool:
    """Whether the host saw a critic find the text clean; its newest word decides."""
    return row is not None and row.get("clean") is True and row.get("independence") == FULL


def has_refused(caller: Caller, document: Document) -> bool:
    """Whether the last verdict that a hook saw, recorded or not, was no; a new text does not undo it."""
    rows, problems = reviews(caller.state).read()
    is_refused = False
    for row in [] if problems else rows:
        if row.get("plan") == document.path and row.get("independence") == FULL:
            is_refused = row.get("clean") is not True
    for spoken in agents.messages(caller.state, caller.session, CRITIC):
        if _digest_in(spoken.text):
            try:
                is_refused = not read_verdict(spoken.text).is_clean
            except BadInput:
                is_refused = True
    return is_refused


def brief(document: Document) -> str:
    """What the critic is to be asked. It is handed the text's digest, and has to hand it back."""
    asked = "\n".join(f"- {name}: {what}" for name, what in DIMENSIONS.items())
    form = {
        "verdict": "clean | findings",
        "plan_digest": document.digest,
        "dimensions": dict.fromkeys(DIMENSIONS, " | ".join(MARKS)),
        "findings": [
            {"line": 12, "dimension": "manifest-quality", "severity": "blocking | advisory", "text": "what is wrong"}
        ],
    }
    return f"""Read the plan {document.path} and hold it against the code base; take its author's word for nothing.
The text under review has the digest {document.digest}.

Judge each dimension as pass, concern or fail:
{asked}

A manifest is what code will check once the step is said to be done. Ask of each: which lazy or wrong piece of work
would still satisfy it? If you can name one, manifest-quality fails, and the finding is blocking.

End your final message with one JSON object in this form. The verdict is clean only without a blocking finding.
```json
{json.dumps(form, indent=2)}
```"""


def await_critic(caller: Caller, agent: str | None = CRITIC) -> None:
    """From now on the host's word about the critic is kept, also in a session without open work."""
    agents.expect(caller.state, caller.session, agent, by=caller.by, now=caller.now, wait=caller.wait)


def record(caller: Caller, document: Document, message: str | None) -> Recorded:
    """`message` is the critic's final message as a file has it; None takes the one the host reported."""
    messages = agents.messages(caller.state, caller.session, CRITIC)
    about = [spoken for spoken in messages if _digest_in(spoken.text) == document.digest]
    if message is None:
        message = _reported(document, messages, about)
    verdict = read_verdict(message)
    if verdict.plan_digest != document.digest:
        raise Refused(
            f"the verdict is about the text {verdict.plan_digest[:12]}; {document.path} is {document.digest[:12]} now",
            fix=f"omo plan critique {document.path} --brief, and let omo:critic read it again",
        )
    witness = next((spoken for spoken in messages if spoken.is_same(message)), None)
    if witness is not None and about and not about[-1].is_same(message):
        # Of several verdicts on one text, nobody gets to pick.
        raise Refused(
            f"{CRITIC} has spoken about this text of {document.path} again since",
            fix=f"omo plan critique {document.path} records its last word",
        )
    row = {
        "kind": "critique",
        "plan": document.path,
        "digest": document.digest,
        "clean": verdict.is_clean,
        "verdict": verdict.verdict,
        "dimensions": verdict.dimensions,
        "findings": [finding.model_dump(exclude_none=True) for finding in verdict.findings],
        "independence": FULL if witness else REDUCED,
        "agent": witness.agent_id if witness else None,
        "message": sha256(message.encode("utf-8", "replace")),
        "session": caller.session,
    }
    journal = reviews(caller.state)

    def decide(rows: list[Row]) -> tuple[bool, list[Row]]:
        sealed = journal.seal(caller.now)
        kept = [] if sealed else rows
        return is_clean(_counting([*kept, row], document.digest)), [*sealed, row]

    is_cleared = journal.change(decide, actor=caller.by, now=caller.now, wait=caller.wait)
    await_critic(caller, None)
    return Recorded(document.path, document.digest, verdict, str(row["independence"]), is_cleared)


def _reported(document: Document, messages: list[Message], about: list[Message]) -> str:
    """The critic's last message on this text, as the host reported it."""
    if about:
        return about[-1].text
    ask = f"omo plan critique {document.path} --brief says what to ask the agent {CRITIC}"
    for spoken in reversed(messages):
        if other := _digest_in(spoken.text):
            raise Refused(
                f"the critic of this session spoke about the text {clip(other, 12)}, not about what {document.path} "
                f"is now ({document.digest[:12]})",
                fix=f"{ask}; ask again",
            )
    raise Refused(
        f"no verdict of {CRITIC} on {document.path} was reported in this session",
        fix=f"{ask}; or pass its final message with --result FILE",
    )
