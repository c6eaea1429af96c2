"""The critic's verdicts on plans: each belongs to exactly one text, and says whether the host saw the critic speak."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

from omo.digest import sha256
from omo.errors import Refused, Unreadable
from omo.shown import clip
from omo.state import ledger, paths, runtime
from omo.state.journal import Journal
from omo.ultraplan import verdict
from omo.ultraplan.document import Document
from omo.ultraplan.verdict import DIMENSIONS, Verdict

Row = dict[str, Any]

CRITIC = "omo:critic"
FULL, REDUCED = "full", "reduced"
# While a session waits for its critic, hooks run for it even where nothing else is open.
AWAITS = "awaits"


@dataclass(frozen=True)
class Place:
    state: str
    session: str
    by: str
    now: float
    wait: float


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


def clean(state: str, digest: str) -> bool:
    """Whether the host saw a critic find exactly this text clean; its newest word decides.

    A file is anybody's word, the author's too: it neither clears a text nor overrules what a critic was seen to say.
    """
    row = latest(state, digest)
    return row is not None and row.get("clean") is True and row.get("independence") == FULL


def latest(state: str, digest: str) -> Row | None:
    """The verdict that counts: the newest the host saw, else the newest file. A damaged journal has none."""
    rows, problems = reviews(state).read()
    found = [row for row in rows if row.get("kind") == "critique" and row.get("digest") == digest]
    seen = [row for row in found if row.get("independence") == FULL]
    return None if problems else next(reversed(seen or found), None)


def brief(document: Document) -> str:
    """What the critic is to be asked. It is handed the text's digest, and has to hand it back."""
    asked = "\n".join(f"- {name}: {what}" for name, what in DIMENSIONS.items())
    return f"""Read the plan {document.path} and hold it against the code base; take its author's word for nothing.
The text under review has the digest {document.digest}.

Judge each dimension as pass, concern or fail:
{asked}

A manifest is what code will check once the step is said to be done. Ask of each: which lazy or wrong piece of work
would still satisfy it? If you can name one, manifest-quality fails, and the finding is blocking.

End your final message with one JSON object in this form. The verdict is clean only without a blocking finding.
```json
{verdict.example(document.digest)}
```"""


def await_critic(place: Place) -> None:
    """From now on the host's word about the critic is kept, also in a session without open work."""
    _set_awaits(place, CRITIC)


def _set_awaits(place: Place, value: str | None) -> None:
    def decide(row: Row | None) -> runtime.Change:
        old = row or {}
        if old.get(AWAITS) == value:
            return runtime.Change(None)
        return runtime.Change(None, {**old, AWAITS: value}, [{"kind": "awaits", "agentType": value}])

    if place.session:
        runtime.change_session(place.state, place.session, decide, actor=place.by, now=place.now, wait=place.wait)


def record(place: Place, document: Document, message: str | None) -> Recorded:
    """`message` is the critic's final message as a file has it; None takes the one the host reported."""
    seen = _seen(place)
    if message is None:
        message = _reported(seen, document)
    found = verdict.read(message)
    if found.plan_digest != document.digest:
        raise Refused(
            f"the verdict is about the text {found.plan_digest[:12]}; {document.path} is {document.digest[:12]} now",
            fix=f"omo plan critique {document.path} --brief, and let omo:critic read it again",
        )
    witness = next((row for row in seen if _is_same(row, message)), None)
    _require_last_word(seen, witness, document)
    recorded = Recorded(document.path, document.digest, found, FULL if witness else REDUCED)
    journal = reviews(place.state)

    def decide(rows: list[Row]) -> tuple[None, list[Row]]:
        return None, [*journal.seal(place.now), _row(place, recorded, message, witness)]

    journal.change(decide, actor=place.by, now=place.now, wait=place.wait)
    _set_awaits(place, None)
    return replace(recorded, is_cleared=clean(place.state, document.digest))


def _require_last_word(seen: list[Row], witness: Row | None, document: Document) -> None:
    """Of several verdicts on one text, nobody gets to pick."""
    last = next((row for row in seen if verdict.named_digest(str(row["message"])) == document.digest), None)
    if witness is not None and last is not None and witness is not last and not _is_same(last, str(witness["message"])):
        raise Refused(
            f"{CRITIC} has spoken about this text of {document.path} again since",
            fix=f"omo plan critique {document.path} records its last word",
        )


def _row(place: Place, recorded: Recorded, message: str, witness: Row | None) -> Row:
    return {
        "kind": "critique",
        "plan": recorded.plan,
        "digest": recorded.digest,
        "clean": recorded.verdict.is_clean,
        "verdict": recorded.verdict.verdict,
        "dimensions": recorded.verdict.dimensions,
        "findings": [finding.model_dump(exclude_none=True) for finding in recorded.verdict.findings],
        "independence": recorded.independence,
        "agent": witness.get("agentId") if witness else None,
        "message": sha256(message.encode("utf-8", "replace")),
        "session": place.session,
    }


def _seen(place: Place) -> list[Row]:
    """What the host reported of critics in this session, newest first; a damaged ledger reports nothing."""
    try:
        if not place.session or runtime.chain_problems(place.state, place.session):
            return []
        rows = ledger.rows(paths.events_file(place.state, place.session))
    except Unreadable:
        return []
    critics = [row for row in rows if row.get("kind") == "agent-finished" and row.get("agentType") == CRITIC]
    return [row for row in reversed(critics) if row.get("actor") == "hook" and isinstance(row.get("message"), str)]


def _is_same(row: Row, message: str) -> bool:
    return not row.get("cut") and str(row["message"]).strip() == message.strip()


def _reported(seen: list[Row], document: Document) -> str:
    about = {id(row): verdict.named_digest(str(row["message"])) for row in seen}
    for row in seen:
        if about[id(row)] == document.digest:
            return str(row["message"])
    ask = f"omo plan critique {document.path} --brief says what to ask the agent {CRITIC}"
    other = next((digest for digest in about.values() if digest), None)
    if other:
        raise Refused(
            f"the critic of this session spoke about the text {clip(other, 12)}, not about what {document.path} is now "
            f"({document.digest[:12]})",
            fix=f"{ask}; ask again",
        )
    raise Refused(
        f"no verdict of {CRITIC} on {document.path} was reported in this session",
        fix=f"{ask}; or pass its final message with --result FILE",
    )
