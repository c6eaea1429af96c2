"""Who answered the brief: the judge, as the host reported it, or whoever wrote the file that was handed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from omo.digest import sha256
from omo.errors import BadInput, Refused, Unreadable
from omo.ralph import answers
from omo.ralph.answers import Answer, Key, Malformed, Said
from omo.ralph.exec_gate import session_of
from omo.ralph.run import RalphRun, Standing, standings
from omo.shown import clip
from omo.state import ledger, paths, runtime

Row = dict[str, Any]

JUDGE = "omo:judge"
FULL, REDUCED = "full", "reduced"
BRIEF = "omo ralph brief"
ASK = f"start {JUDGE} with the text of the newest {BRIEF}; then omo ralph judge"
LEAVE_OUT = "omo ralph judge without --result; or ask anew: omo ralph brief"


@dataclass(frozen=True)
class Heard:
    """`said` is None where nobody gave an answer that can be read; `why` says so. `digest` is that of the file."""

    said: Said | None
    source: str = "judge"
    why: str = ""
    notes: list[str] = field(default_factory=list)
    digest: str = ""

    @property
    def independence(self) -> str:
        return REDUCED if self.source == "inline" else FULL


def hear(run: RalphRun, at: Standing, result_text: str | None) -> Heard:
    """What was answered to the newest brief of this iteration. Refused where there is none yet."""
    if not at.briefs:
        raise Refused(
            f"iteration {at.iteration} has questions that code cannot answer, and no judge was asked",
            fix=f"{BRIEF}, and let {JUDGE} answer it",
        )
    brief = at.briefs[-1]
    seen = reported(run, at, brief)
    return _from_host(seen, brief) if result_text is None else _from_file(run, at, result_text, seen, brief)


def reported(run: RalphRun, at: Standing, brief: Row) -> list[Row]:
    """What the host reported of judges since the brief, oldest first; a damaged ledger vouches for nobody."""
    name = session_of(run, at)
    try:
        if runtime.chain_problems(run.state, name):
            return []
        rows = ledger.rows(paths.events_file(run.state, name))
    except Unreadable:
        return []
    return [
        row
        for row in rows
        if row.get("kind") == "agent-finished"
        and row.get("agentType") == JUDGE
        and row.get("actor") == "hook"
        and isinstance(row.get("message"), str)
        and str(row.get("ts")) >= str(brief["ts"])
    ]


def failed(run: RalphRun, at: Standing, brief: Row) -> dict[Key, Answer]:
    """What a judge found not to hold when it answered that brief, whoever else said what of it."""
    found: dict[Key, Answer] = {}
    for row in reported(run, at, brief):
        said = _from_host([row], brief).said
        found |= {key: one for key, one in (said.answers if said else {}).items() if one.result == "fail"}
    return found


def answered_at(run: RalphRun, at: Standing, brief: Row) -> str:
    """When the judge last answered that brief so that it can be read; empty where it did not."""
    return max((str(row["ts"]) for row in reported(run, at, brief) if _from_host([row], brief).said), default="")


def _from_host(seen: Sequence[Row], brief: Row) -> Heard:
    found: list[Said] = []
    unread: list[str] = []
    for row in seen:
        try:
            found.append(_read(row, brief["nonce"]))
        except Malformed as error:
            unread.append(f"a message of {JUDGE} (row {row['seq']}) does not count: {error}")
    if found:
        return Heard(_merged(found), notes=unread)
    why = unread[-1] if unread else f"no {JUDGE} has answered the newest brief"
    return Heard(None, why=why, notes=unread[:-1])


def _read(row: Row, nonce: str) -> Said:
    if row.get("cut"):
        raise Malformed("it is longer than is kept, so its end is missing; ask for a shorter one")
    return answers.read(row["message"], nonce)


def _merged(found: Sequence[Said]) -> Said:
    """Of several answers to one brief none is the better one: where they differ, nothing is known."""
    first = found[0]
    for other in found[1:]:
        keys = {*first.answers, *other.answers}
        both = {key: _one(first.answers.get(key), other.answers.get(key)) for key in sorted(keys)}
        more = [one for one in other.challenges if one not in first.challenges]
        first = replace(first, answers=both, challenges=[*first.challenges, *more])
    return first


def _one(ours: Answer | None, theirs: Answer | None) -> Answer:
    if ours is not None and theirs is not None and ours.result == theirs.result:
        return theirs
    told = " and ".join(one.result if one else "nothing" for one in (ours, theirs))
    return Answer("unknown", f"judged more than once on one brief, and not the same: {told}")


def _from_file(run: RalphRun, at: Standing, text: str, seen: Sequence[Row], brief: Row) -> Heard:
    try:
        said = answers.read(text)
    except Malformed as error:
        raise BadInput(f"--result: {error}", fix=f"{BRIEF} shows the form; one JSON object, beginning a line") from None
    if said.nonce != brief["nonce"]:
        raise _other_nonce(run, at, said.nonce)
    if any(_is_same(row, text) for row in seen):
        whole = _from_host(seen, brief)  # others may have answered too
        return whole if whole.said is not None else Heard(said)
    if any(answers.carries(str(row["message"]), brief["nonce"]) for row in seen):
        raise Refused(f"--result is not what {JUDGE} itself said to this brief, as the host reported it", fix=LEAVE_OUT)
    if any(_is_answered(run, at, one) for one in briefs(at)):
        raise Refused(f"--result is for where no {JUDGE} can be started, and one answered in this iteration", fix=ASK)
    return Heard(said, "inline", digest=sha256(text.encode("utf-8", "replace")))


def briefs(at: Standing) -> list[Row]:
    """Those of this iteration, also from before it was begun anew."""
    return [row for row in at.rows if row.get("kind") == "brief" and row.get("iteration") == at.iteration]


def _is_answered(run: RalphRun, at: Standing, brief: Row) -> bool:
    return any(answers.carries(str(row["message"]), brief["nonce"]) for row in reported(run, at, brief))


def _is_same(row: Row, text: str) -> bool:
    """The very message; by its digest also where only its beginning was kept."""
    if row.get("cut"):
        return row.get("digest") in [sha256(one.encode("utf-8", "replace")) for one in (text, text.strip())]
    return str(row["message"]).strip() == text.strip()


def _other_nonce(run: RalphRun, at: Standing, nonce: str) -> Refused:
    shown = clip(nonce, 40)
    return Refused(
        f"--result answers the nonce {shown!r}, which is {_whose(run, at, nonce)}, not of the newest one",
        fix=f"{BRIEF}, and answer the nonce it shows",
        nonce=shown,
    )


def _whose(run: RalphRun, at: Standing, nonce: str) -> str:
    for other in [at, *(one for one in standings(run.state) if one.run != at.run)]:
        row = next((row for row in other.rows if row.get("kind") == "brief" and row.get("nonce") == nonce), None)
        if row is None:
            continue
        if other.run != at.run:
            return f"of a brief of ralph run {clip(other.run, 60)}"
        if row["iteration"] != at.iteration:
            return f"of a brief of iteration {row['iteration']}, and this is {at.iteration}"
        return f"of call {row['call']} of this iteration"
    return "of no brief of this project"
