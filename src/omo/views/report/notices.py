"""What a reader has to know before believing a report: everything that was let through, changed or damaged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from omo import table
from omo.context import Context
from omo.errors import OmoError
from omo.state import paths
from omo.state.journal import Journal
from omo.stop.rules import BY_NAME
from omo.table import name_of
from omo.text import clip, counted
from omo.views.project import SessionView, claim_in_words, claims_let_stand
from omo.views.report.parts import Part
from omo.views.report.verdict import WorkEnd, does_count, is_not_passing
from omo.work import outcome, requests, times
from omo.work.sections import Notice
from omo.work.status import BY_AGENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import LetThrough, Outcome


# What takes the ground from everything else comes first, what may be harmless last.
WEIGHTS = {"damaged ledger": 0, "damaged": 0, "unreadable": 0, "changed since": 2}
MOST_EARLIER = 5


def notices(context: Context, session: SessionView, parts: Sequence[Part]) -> list[Notice]:
    """Everything that was let through, changed or damaged."""
    listed: list[Notice] = []
    ended_goals: set[str] = set()
    names = {}
    for part in parts:
        status = part.view
        ended = WorkEnd(status, session).outcome
        listed += _work_notices(part, ended)
        is_proven = ended is not None and ended["verdict"] == outcome.PROVEN
        listed += _gate_notices(part, counts=does_count(status, session), is_proven=is_proven)
        if not table.BY_KIND[status.kind].claims:
            names[status.run] = name_of(status.kind)
        elif status.outcome:  # which names the claims about them
            ended_goals.update(item.id for item in status.items)
    for given_up in session.brief.row.get("givenUp", []):
        listed.append(_let_through(given_up, given_up["run"]))
    texts = {notice.text for notice in listed}
    damage = _shared_damage(context.state)
    for problem in session.problems:
        damage.append(Notice("damaged ledger", clip(problem, 300), "session"))
    for notice in damage:
        if notice.text not in texts:
            listed.append(notice)
    if session.brief.now.unreadable:
        listed.append(Notice("unreadable", clip(session.brief.now.unreadable, 300), "state"))
    claims = ", ".join([row.claims for row in table.ROWS if row.claims])
    try:
        for claim in claims_let_stand(context):
            if claim["goal"] not in ended_goals:
                listed.append(Notice("claim let stand", claim_in_words(claim), claim["goal"]))
    except OmoError as error:
        listed.append(Notice("unreadable", clip(error.message, 300), claims))
    named = [replace(notice, where=names.get(notice.where, notice.where)) for notice in listed]
    return sorted(dict.fromkeys(named), key=lambda notice: WEIGHTS.get(notice.what, 1))


def _work_notices(part: Part, ended: Outcome | None) -> list[Notice]:
    """What was let through is told by the outcome once there is one, and by the ledger until then."""
    status = part.view
    listed = [Notice(status.damage, clip(problem, 300), status.run or status.kind) for problem in status.problems]
    for exception in ended["exceptions"] if ended else []:
        listed.append(_let_through(exception, status.run))
    for name, section in [("", part.whole), *part.sections.of.items()]:
        for notice in section.notices:
            if ended is None or not notice.until_end:
                listed.append(notice)
        for attachment in section.attachments:
            if name and attachment.problem:
                text = f"{attachment.path or attachment.name} {attachment.problem}"
                listed.append(Notice("evidence changed", text, name))
    for item in status.items:
        if item.receipt == "stale":
            listed.append(Notice("stale receipt", item.receipt_why or "what it covers has changed", item.id))
    return listed + [Notice("changed since", change, status.run) for change in status.changed]


def _let_through(exception: LetThrough, where: str) -> Notice:
    what, by, why = (clip(str(exception.get(key) or "?"), 200) for key in ("what", "by", "why"))
    return Notice(what, f"by the {by}: {why}", where)


def _gate_notices(part: Part, *, counts: bool, is_proven: bool) -> list[Notice]:
    """What fails beside the work, and who pinned what it rests on, unless that proves it: then it is the user's or the
    project's own."""
    listed = []
    commands = []
    for item in part.view.items:
        section = part.evidence(item.id)
        if not counts and is_not_passing(item):
            what = "gate not run" if item.mark == "open" else "gate not passing"
            listed.append(Notice(what, "the work beside it was ended without it", item.id))
        if counts and not is_proven and section.whose == BY_AGENT:
            commands.append(f"{item.id}: {section.command}")
    if commands and len(commands) == len(part.view.items):
        what = f"every gate was {BY_AGENT} ({'; '.join(commands)})"
        listed.append(Notice(BY_AGENT, clip(what, 400), part.view.run))
    return listed


def _shared_damage(state: str) -> list[Notice]:
    """Of the ledgers that belong to no run: what receipts and replays lean on."""
    listed = []
    for name in paths.SHARED_LEDGERS:
        directory = os.path.join(state, name)
        if os.path.isdir(directory):
            for problem in Journal(directory, state).problems():
                listed.append(Notice("damaged ledger", clip(problem, 300), name))
    return listed


# Runs of the same conversation, before the one that is reported


def is_block(row: SessionEvent) -> bool:
    return row.get("kind") == "blocked" and not row.get("evidence")


def unproven_before(events: Sequence[SessionEvent], since: str) -> list[Notice]:
    """Runs of ultrawork that this one may be the second try of, and how they ended."""
    runs: dict[str, list[SessionEvent]] = {}
    name = ""
    for event in events:
        if str(event.get("ts")) >= since:
            break
        if event.get("kind") in requests.ARMED:
            name = str(event.get("run"))
        if name:
            runs.setdefault(name, []).append(event)
    listed = []
    for run in list(runs.values())[-MOST_EARLIER:]:
        how = _how_it_ended(run)
        if not how:
            continue
        text = f"{clip(str(run[0].get('text') or ''), 160) or 'without a task'}: {how}"
        if blocks := len([event for event in run if is_block(event)]):
            text += f", sent back {counted(blocks, 'time')}"
        listed.append(Notice("a run before this one", clip(text, 300), times.moment(str(run[0].get("ts")))))
    return listed


def _how_it_ended(run: Sequence[SessionEvent]) -> str:
    """By the last of its events that says so; empty where it was done."""
    for event in reversed(run):
        kind, rule = event.get("kind"), BY_NAME.get(str(event.get("rule")))
        if kind == "done":
            ended = outcome.of(event)
            return "" if outcome.is_done(ended) else clip(outcome.in_words(ended), 500)
        if kind == "cancelled":
            return "called off by the user"
        if kind == "allowed" and rule is not None and rule.ends_run:
            return f"ended, not proven: {rule.why}"
        if kind == "reopened":
            break
    return "left open"


def refused(events: Sequence[SessionEvent], since: str) -> list[Notice]:
    """What the host did not let the agent do in this run."""
    calls: dict[str, str] = {}
    for row in events:
        named = row.get("refused")
        if str(row.get("ts")) >= since and isinstance(named, list):
            calls.update(dict.fromkeys([clip(str(call), 200) for call in named], times.moment(str(row.get("ts")))))
    return [Notice("refused by the host", call, moment) for call, moment in calls.items()]
