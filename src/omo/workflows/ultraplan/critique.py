"""The critic's verdicts on plans, as a hook saw them said: each belongs to exactly one text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from omo.digest import sha256
from omo.engine.asking import item_brief
from omo.errors import BadInput, Unreadable
from omo.json_text import Json
from omo.state import paths, runtime
from omo.state.journal import Journal
from omo.state.ledger_rows import LedgerRow
from omo.strict import validated
from omo.text import counted
from omo.work import agents, requests
from omo.work.briefs import quoted
from omo.work.run import Caller
from omo.workflows.ultraplan.flow import CRITIC, DIMENSIONS, GATE, MARKS
from omo.workflows.ultraplan.models import Document


class CritiqueRow(LedgerRow, total=False):
    """Of the ledger of what is known about texts of plans."""

    plan: str
    digest: str
    before: str  # omo filled the text in
    clean: bool
    verdict: str
    dimensions: object
    findings: list[Json]
    reasons: list[str]
    agent: str
    message: str  # by its digest
    session: str


TYPED = "ultraplan"
MOST_FINDINGS = 100
LONGEST_REQUEST = 8000


WEAK_MANIFESTS = f"""\
A manifest is what code will check once the step is said to be done. Ask of each: which lazy or wrong piece of work
would still satisfy it? If you can name one, {GATE} fails, and the finding is blocking.
The verdict is clean only without a blocking finding."""


class CriticFinding(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    dimension: Annotated[str, Field(min_length=1, max_length=60)]
    text: Annotated[str, Field(min_length=1, max_length=4000)]
    severity: Literal["blocking", "advisory"]
    line: Annotated[int, Field(ge=0)] | None = None


class CriticVerdict(BaseModel):
    """`plan_digest` ties it to one text: what was said of another text says nothing about this one."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    verdict: Literal["clean", "findings"]
    plan_digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    dimensions: dict[str, Literal["pass", "concern", "fail"]]
    findings: Annotated[list[CriticFinding], Field(max_length=MOST_FINDINGS)]

    @field_validator("dimensions")
    @classmethod
    def _all_judged(cls, dimensions: dict[str, str]) -> dict[str, str]:
        unmarked = [name for name in DIMENSIONS if name not in dimensions]
        if unmarked:
            raise ValueError(f"{', '.join(unmarked)} not judged; each is one of {', '.join(MARKS)}")
        return dimensions

    @property
    def concerns(self) -> list[str]:
        return [name for name, mark in self.dimensions.items() if mark == "concern"]

    @property
    def data(self) -> CritiqueRow:
        """As it is kept and printed."""
        findings = [finding.model_dump(exclude_none=True) for finding in self.findings]
        return {
            "verdict": self.verdict,
            "clean": self.is_clean,
            "reasons": self.reasons,
            "dimensions": self.dimensions,
            "findings": findings,
        }

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


def read_verdict(message: str) -> CriticVerdict:
    """The last JSON object with a verdict in the message. Raises BadInput with every defect."""
    fix = "omo plan critique PLAN shows the form; let omo:critic answer in it"
    data = _last_object(message)
    if data is None:
        raise BadInput("the critic's message holds no JSON object with a verdict", fix=fix)
    return validated(CriticVerdict, data, what="the critic's verdict", fix=fix)


def _finds_clean(message: agents.AgentMessage) -> bool | None:
    """None for what is not in the form."""
    try:
        return read_verdict(message.text).is_clean
    except BadInput:
        return None


def _last_object(message: str) -> Json | None:
    """The last that has a verdict counts, for a form may be quoted before it is filled in."""
    verdicts = [candidate for candidate in agents.objects(message) if "verdict" in candidate]
    return verdicts[-1] if verdicts else None


# what is recorded


def reviews(state: str) -> Journal:
    return Journal(os.path.join(state, "plans", "reviews"), state)


def _rows(root: str, state: str) -> list[CritiqueRow]:
    """What is known of plans in every worktree of the repository: a text is the same in each."""
    known: list[CritiqueRow] = []
    for there in _states(root, state):
        known += reviews(there).rows()
    return known


def _states(root: str, state: str) -> list[str]:
    """The state directories of all worktrees, this one first."""
    others = [paths.state_beside(root, state, other) for other in paths.worktrees(root)[1:]]
    return [state, *others]


def _said_of(caller: Caller, document: Document) -> list[agents.AgentMessage]:
    """What a hook saw critics say of a text, to this session, or to one that asked and has not taken it up: the plan
    may be started from another conversation, in another worktree."""
    said = []
    for state in _states(caller.root, caller.state):
        try:
            rows = runtime.sessions(state)
        except Unreadable:
            continue
        for session, row in rows.items():
            is_own = state == caller.state and session == caller.session
            if is_own or row.get("awaits") == CRITIC.agent:
                said += agents.messages(state, session, CRITIC.agent)
    about = [each for each in said if (_last_object(each.text) or {}).get("plan_digest") == document.digest]
    return sorted(about, key=lambda each: each.ts)


def latest(root: str, state: str, digest: str) -> CritiqueRow | None:
    """What counts of the verdicts on a text: a bad one, whoever was asked again; else the newest."""
    newest = None
    for row in _rows(root, state):
        if row.get("kind") == "critique" and row.get("digest") == digest:
            newest = row
            if not is_clean(row):
                break
    return newest


def note_filled_in(caller: Caller, document: Document, before: str) -> None:
    """omo wrote into the plan what its steps leave to it: one text, under two digests."""
    _note(caller, {"kind": "filled-in", "plan": document.path, "before": before, "digest": document.digest})


def _note(caller: Caller, row: CritiqueRow) -> None:
    reviews(caller.state).change(lambda _: (None, [row]), actor=caller.by, now=caller.now, wait=caller.wait)


def texts_of(root: str, state: str, digest: str) -> list[str]:
    """The digests that a text had before omo filled it in, its own first."""
    digests = [digest]
    for row in reversed(_rows(root, state)):
        if row.get("kind") == "filled-in" and row.get("digest") == digests[-1]:
            digests.append(str(row["before"]))
    return digests


def is_clean(row: CritiqueRow | None) -> bool:
    return row is not None and row.get("clean") is True


def brief(document: Document, request: str = "", done: Sequence[int] = ()) -> str:
    """What the critic is to be asked, with what the user typed. It is handed the text's digest, and has to hand it
    back. Steps that are `done` are not under review."""
    known = [f"The text under review has the digest {document.digest}."]
    if request:
        known.append(f"What the user asked for, as they typed it:\n{quoted(request, LONGEST_REQUEST)}")
    if done:
        steps = ", ".join(map(str, done))
        known.append(f"Done and committed: step {steps}. Judge what is left, and whether it fits that.")
    asked = "\n".join(f"- {name}: {what}" for name, what in DIMENSIONS.items())
    known.append(f"Judge each dimension as pass, concern or fail:\n{asked}")
    known.append(WEAK_MANIFESTS)
    return item_brief(CRITIC, document.path, known, {**CRITIC.form, "plan_digest": document.digest})


def record(caller: Caller, document: Document) -> CriticVerdict | None:
    """The critic's last word on this text, as the host reported it, from now on in the journal; None where it said
    nothing. A clean one after a bad one counts only of another text."""
    said = _said_of(caller, document)
    counting = agents.words_that_count(said, _finds_clean, lambda first, second: True)
    if not counting:
        return None
    message = counting[-1]
    verdict = read_verdict(message.text)
    row = verdict.data
    row |= {"kind": "critique", "plan": document.path, "digest": document.digest, "session": caller.session}
    row |= {"agent": message.agent_id, "message": sha256(message.text.encode("utf-8", "replace"))}
    if (latest(caller.root, caller.state, document.digest) or {}).get("message") != row["message"]:
        _note(caller, row)
    agents.expect(caller, None, begins=TYPED)
    return verdict


def is_another_named(caller: Caller, path: str, digest: str, since: str = "") -> bool:
    """Whether the user named this plan since then, and another text of it; what omo filled in makes it no other."""
    typed = requests.typed(caller.events, "ultraexecute", since)
    texts = texts_of(caller.root, caller.state, digest)
    return all(requests.changed_since_named(typed, path, text) for text in texts)
