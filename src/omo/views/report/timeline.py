"""The timeline of a session: the rows of all its ledgers in order, each as a sentence."""

from __future__ import annotations

import json
import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from omo.clock import seconds, stamp
from omo.errors import OmoError
from omo.shown import clip
from omo.state import paths
from omo.state.journal import Journal
from omo.state.runtime import part
from omo.ultragoal.run import kept_plans
from omo.work import outcome

Row = dict[str, Any]

MOST_EVENTS = 400
MOST_KINDS = 40
LONGEST_WORD, LONGEST_DETAIL = 160, 500
# Part of the chain, told in a column of their own, or too long for a line.
HIDDEN = ("seq", "ts", "kind", "actor", "prev", "after", "tail", "message")


@dataclass(frozen=True)
class Event:
    """`at` is the row's own time, and as a number where that can be read; `ledger` is where it was written."""

    at: str
    kind: str
    what: str
    detail: str = ""
    mark: str = ""
    ledger: str = ""
    run: str = ""
    actor: str = ""
    moment: float = 0.0

    @property
    def data(self) -> Row:
        names = ("at", "kind", "what", "detail", "mark", "ledger", "run", "actor")
        return {name: getattr(self, name) or None for name in names}


@dataclass(frozen=True)
class Timeline:
    """Oldest first: the newest events, before them what is no routine; `earlier` counts by kind what is not told."""

    events: tuple[Event, ...] = ()
    earlier: dict[str, int] = field(default_factory=dict)
    total: int = 0
    quiet: int = 0
    began: str = ""
    ended: str = ""

    @property
    def data(self) -> Row:
        return {
            "events": [one.data for one in self.events],
            "earlier": self.earlier,
            "total": self.total,
            "quiet": self.quiet,
            "began": self.began or None,
            "ended": self.ended or None,
        }


@dataclass(frozen=True)
class Source:
    """One ledger, or the part of one that is about the session."""

    ledger: str
    rows: Sequence[Row]
    run: str = ""


Timed = tuple[float, Source, Row]


def tell(sources: Sequence[Source], *, most: int = MOST_EVENTS) -> Timeline:
    """Merged by time. A row whose time cannot be read stays where it was in its ledger."""
    timed = [one for source in sources for one in _timed(source)]
    timed.sort(key=lambda one: one[0])
    loud = [one for one in timed if str(one[2].get("kind")) not in QUIET.get(one[1].ledger, ())]
    shown, before = _chosen(loud, most)
    moments = [one[0] for one in loud if one[0] > 0]
    return Timeline(
        events=tuple(event for at, source, row in shown for event in _events(at, source, row)),
        earlier={clip(kind, 40): count for kind, count in _counted(before)},
        total=len(loud),
        quiet=len(timed) - len(loud),
        began=stamp(moments[0]) if moments else "",
        ended=stamp(moments[-1]) if moments else "",
    )


def _counted(before: list[Timed]) -> list[tuple[str, int]]:
    return Counter(str(row.get("kind")) for _, _, row in before).most_common(MOST_KINDS)


def _chosen(loud: list[Timed], most: int) -> tuple[list[Timed], list[Timed]]:
    """What is told and what is only counted: the newest, and of what came before, first what is no routine."""
    if len(loud) <= most:
        return loud, []
    new, old = loud[-(most // 2) :], loud[: -(most // 2)]
    kept = [at for at, one in enumerate(old) if str(one[2].get("kind")) not in ROUTINE]
    kept = kept[-(most - len(new)) :] if kept else list(range(len(old)))[-(most - len(new)) :]
    told = set(kept)
    return [*(old[at] for at in kept), *new], [one for at, one in enumerate(old) if at not in told]


def _timed(source: Source) -> Iterator[Timed]:
    last = 0.0
    for row in source.rows:
        try:
            last = seconds(str(row.get("ts")))
        except (ValueError, OverflowError):
            pass
        yield last, source, row


def _events(at: float, source: Source, row: Row) -> Iterator[Event]:
    for what, detail, mark in sentences(dict(row), source.ledger):
        yield Event(
            clip(str(row.get("ts") or ""), 30),
            clip(str(row.get("kind")), 60),
            clip(what, 400),
            detail,
            mark,
            source.ledger,
            clip(source.run, 80),
            clip(str(row.get("actor") or ""), 12),
            at,
        )


def sources_of(state: str, session: str, rows: Sequence[Row]) -> list[Source]:
    """Every ledger with something of the session in it. `rows` are those of the session's own."""
    goal = Journal(paths.goal_dir(state, session), state)
    found = [Source("session", rows), Source("goal", _rows(goal))]
    for kept in kept_plans(state, session):
        directory = kept.directory or paths.ultragoal_dir(state, session)
        found.append(Source("ultragoal", _rows(Journal(directory, state)), kept.run))
    for run in _plan_runs(state, session):
        found.append(Source("ultraplan", _rows(Journal(paths.plan_run_dir(state, run), state)), run))
    for run in _ralph_runs(state, session, rows):
        found.append(Source("ralph", _rows(Journal(paths.ralph_run_dir(state, run), state)), run))
    found += _verify(state, session)
    return [one for one in found if one.rows]


def _plan_runs(state: str, session: str) -> list[str]:
    from omo.ultraplan.run import records

    return [one.run for one in records(state) if one.session == session]


def _ralph_runs(state: str, session: str, rows: Sequence[Row]) -> list[str]:
    """Those it began, and those its own ledger names because it took them up."""
    from omo.ralph.run import RALPH

    taken_up = {str(row.get("run")) for row in rows if row.get("kind") == "ralph"}
    begun = RALPH.names_of(state, session)
    return [name for name in RALPH.names(state) if name in begun or name in taken_up]


def _verify(state: str, session: str) -> list[Source]:
    """The goals that this session began, and the claims about them."""
    top = paths.verify_dir(state)
    if not os.path.isdir(top):
        return []
    rows = _rows(Journal(os.path.join(top, "goals"), state))
    names = {str(row.get("goal")) for row in rows if row.get("kind") == "begun" and row.get("session") == session}
    claims = _rows(Journal(os.path.join(top, "claims"), state))
    return [Source("verify", [row for row in found if str(row.get("goal")) in names]) for found in (rows, claims)]


def _rows(journal: Journal) -> list[Row]:
    try:
        return journal.rows()
    except OmoError:
        return []


@dataclass(frozen=True)
class Line:
    """`what` is filled in from the row's fields, `detail` names those that follow. `mark` says how it is drawn."""

    what: str
    detail: tuple[str, ...] = ()
    mark: str = ""
    also: str = ""  # what follows besides


Lines = Line | Callable[[Row], list[Line]]


class _Words(dict[str, str]):
    """A row's fields as they may stand in a sentence; what is missing is a dash."""

    def __init__(self, row: Row) -> None:
        goal = row.get("goalId")
        own = {"of_goal": f" of {word(goal)}" if goal else ""}
        super().__init__({**{str(key): word(value) for key, value in row.items()}, **own})

    def __missing__(self, key: str) -> str:
        return "–"


def word(value: object, longest: int = LONGEST_WORD) -> str:
    if isinstance(value, (list, tuple)):
        return clip(", ".join(word(one, 60) for one in value[:20]), longest) or "none"
    if isinstance(value, dict):
        return clip(json.dumps(value, ensure_ascii=False, default=str), longest)
    return clip("–" if value is None else str(value), longest)


def sentences(row: Row, ledger: str) -> list[tuple[str, str, str]]:
    """(what, detail, mark) of a row; one kind may tell several things. A kind nobody knows is shown as it is."""
    kind = str(row.get("kind"))
    known = LINES.get(ledger, {}).get(kind) or ANYWHERE.get(kind)
    if known is None:
        rest = {key: value for key, value in row.items() if key not in HIDDEN}
        return [(clip(kind, 80), word(rest, LONGEST_DETAIL) if rest else "", "")]
    lines = [known] if isinstance(known, Line) else known(row)
    words = _Words(row)
    return [(one.what.format_map(words), _detail(row, one), one.mark) for one in lines]


def _detail(row: Row, line: Line) -> str:
    told = [word(row[name], LONGEST_DETAIL) for name in line.detail if row.get(name) not in (None, "", [], {})]
    return "; ".join([*told, *([line.also] if line.also else [])])


def _gate_added(row: Row) -> list[Line]:
    argv = row.get("argv")
    typed = shlex.join(map(str, argv)) if isinstance(argv, list) else word(argv)
    return [Line("Gate {name} was pinned by the {by}", mark="gate", also=clip(typed, LONGEST_DETAIL))]


def _gate_ran(row: Row) -> list[Line]:
    mark = {"pass": "done", "fail": "failed"}.get(str(row.get("result")), "waiting")
    return [Line("Gate {name}: {result} (exit {exit}, {seconds} s)", ("why",), mark)]


def _checkpointed(row: Row) -> list[Line]:
    if row.get("status") != "complete":
        return [Line("{goalId} was set to {status}", ("evidence",), "failed")]
    receipt = part(row, "completionVerification")
    if not receipt:
        return [Line("{goalId} was called complete, without a receipt", ("evidence",), "stale")]
    whole = " and of the whole plan" if "covers" in receipt else ""
    reduced = receipt.get("independence") == "reduced"
    issued = f"{{goalId}} is complete: its gate passed, and the receipt of the goal{whole} was issued"
    found = [Line(issued, ("evidence",), "done")]
    return [*found, *([Line("The receipt of {goalId} has reduced independence", mark="stale")] if reduced else [])]


def _judged(row: Row) -> list[Line]:
    mark = {"pass": "done", "partial": "waiting"}.get(str(row.get("verdict")), "failed")
    results = part(row, "results")
    told = word([f"{name} {part(results, name).get('result')}" for name in results], LONGEST_DETAIL)
    found = [Line("Round {iteration} was judged: {verdict}, decision {decision}", mark=mark, also=told)]
    for name, state in part(row, "states").items():
        is_new = isinstance(state, dict) and state.get("regressed_at_iteration") == row.get("iteration")
        if is_new and part(results, name).get("result") == "fail":
            text = f"{_plain(name)} regressed: it passed in round {_plain(state.get('last_pass_iteration'))}"
            found.append(Line(text, mark="regression"))
    if row.get("independence") not in (None, "full"):
        found.append(Line("Round {iteration} was judged with reduced independence", mark="stale"))
    return found


def _plain(value: object) -> str:
    """As it may stand in a sentence that is filled in later."""
    return word(value, 60).replace("{", "{{").replace("}", "}}")


def _ralph_ended(row: Row) -> list[Line]:
    mark = "done" if row.get("how") == "pass" else "failed"
    return [Line("The run ended: {how}, verdict {verdict}", mark=mark, also=_ended_as(row))]


def _plan_finished(row: Row) -> list[Line]:
    mark = "done" if row.get("verdict") == "pass" else "failed"
    what = "The plan session ended: {verdict}, audit {audit}"
    return [Line(what, ("reason", "failed", "violations"), mark, _ended_as(row))]


def _goal_finished(row: Row) -> list[Line]:
    mark = {"pass": "done", "fail": "failed"}.get(str(row.get("verdict")), "waiting")
    return [Line("{goal} was verified: {verdict}, now {to}", ("reason", "summary", "notes"), mark, _ended_as(row))]


def _ended_as(row: Row) -> str:
    """The outcome of a row that ends work, in its words; empty where it has none."""
    return clip(outcome.in_words(outcome.of(row)), LONGEST_DETAIL) if row.get("outcome") else ""


def _evaluated(row: Row) -> list[Line]:
    mark = {"pass": "done", "fail": "failed"}.get(str(row.get("verdict")), "waiting")
    return [Line("The checks of {goal}: {verdict}", ("flags",), mark)]


def _claim(row: Row) -> list[Line]:
    if row.get("override"):
        return [Line("A claim was let stand against {verdict}: {claim}", ("override",), "stale")]
    mark = "done" if row.get("verdict") == "holds" else "failed"
    return [Line("A claim was looked into: {verdict}", ("claim",), mark)]


def _preflight(row: Row) -> list[Line]:
    if row.get("bypassed"):
        return [Line("What the plan needs was not asked for: bypassed by {bypassed}", ("why",), "stale")]
    mark = "failed" if row.get("missing") else "done"
    return [Line("The machine was asked for what the plan needs: {result}", ("missing", "why"), mark)]


def _audited(row: Row) -> list[Line]:
    mark = "done" if row.get("verdict") == "pass" else ""
    return [Line("The audit of git and files: {verdict}, passed {passed}", ("missing",), mark)]


def _critique(row: Row) -> list[Line]:
    return [Line("The critic said {verdict}", ("findings",), "done" if row.get("clean") else "failed")]


def _blocked(row: Row) -> list[Line]:
    """Stop's own word, or the agent's that something outside stops it."""
    if row.get("rule") or row.get("reason"):
        return [Line("Stop was sent back to work", ("reason",), "block")]
    return [Line("The agent is blocked from outside", ("evidence",), "waiting")]


def _done(row: Row) -> list[Line]:
    mark = "done" if outcome.is_done(outcome.of(row)) else "stale"
    return [Line("The run was ended", mark=mark, also=_ended_as(row))]


LINES: dict[str, dict[str, Lines]] = {
    "session": {
        "activated": Line("Ultrawork was turned on ({rule})", mark="active"),
        "rearmed": Line("Ultrawork was turned on again, with a full budget ({rule})", mark="active"),
        "blocked": _blocked,
        "waiting": Line("The agent waits for the user", ("evidence", "gates"), "waiting"),
        "allowed": Line("Stop was let through ({rule})", mark="allow"),
        "overridden": Line("A person spoke before the agent went on after a block", mark="steer"),
        "withdrawn": Line("The prompt that turned it on was taken back", mark="steer"),
        "cancelled": Line("The user called it off ({rule})", ("reason",), "cut"),
        "cancel-told": Line("The agent was told that it is off"),
        "paused": Line("The user paused it ({rule})", mark="waiting"),
        "resumed": Line("It goes on", mark="active"),
        "gate-added": _gate_added,
        "gate-ran": _gate_ran,
        "gate-recorded": Line("A failure of gate {name} was recorded as pre-existing", ("evidence",), "stale"),
        "gate-removed": Line("Gate {name} was taken away", mark="stale"),
        "gate-allowed": Line("The user let gate {name} through", mark="stale"),
        "change-allowed": Line("The user let {path} be changed", mark="steer"),
        "done": _done,
        "denied": Line("{tool} was denied by gate {gate}", ("reason",), "block"),
        "agent-finished": Line("{agentType} finished", mark="agent"),
        "plan-archived": Line("The plan {run} was archived for a new one, with {open} goals open", mark="stale"),
        "plan-adopted": Line("Another session took the plan over: {by}", mark="steer"),
        "cleared": Line("The plan was cleared, with {open} goals open", ("kept", "receipts"), "stale"),
        "phase-written": Line("{mode} went from {from} to {phase}", mark="steer"),
        "handed-off": Line("{from} handed its work to {to}", mark="steer"),
        "taken-over": Line("The host gave the session a new id; it was {from}"),
    },
    "ultragoal": {
        "plan_created": Line("A plan was made: {objective}", mark="active"),
        "goal_started": Line("{goalId} was begun", mark="active"),
        "goal_checkpointed": _checkpointed,
        "steering_accepted": Line("The plan was steered: {mutation}{of_goal}", ("rationale", "evidence"), "steer"),
        "steering_rejected": Line("Steering was refused: {mutation}{of_goal}", ("reason",), "failed"),
        "review_blockers_recorded": Line("A review{of_goal} asks for more: {blockerGoalIds}", ("evidence",), "failed"),
        "blocker_classified": Line("A blocker{of_goal} was classified {classification}", ("evidence",), "waiting"),
        "goal_resumed": Line("The paused goal goes on", mark="active"),
        "adopted": Line("The plan was taken over by session {session}", mark="steer"),
    },
    "goal": {
        "goal_created": Line("The session was given a goal", ("objective",), "active"),
        "goal_paused": Line("The session's goal was paused", ("why",), "waiting"),
        "goal_resumed": Line("The session's goal goes on", mark="active"),
        "goal_completed": Line("The session's goal is complete", mark="done"),
        "goal_dropped": Line("The session's goal was dropped", ("why", "kept"), "cut"),
    },
    "ultraplan": {
        "preflight": _preflight,
        "started": Line("The plan session was begun: {spec}, steps {steps}", ("unreviewed", "out_of_order"), "active"),
        "audited": _audited,
        "skipped": Line("Step {step} was skipped", ("reason",), "stale"),
        "recovered": Line("Recovery {depth} goes on with steps {missing}", ("spec",), "steer"),
        "finished": _plan_finished,
        "moved": Line("The project was moved to {root}"),
        "critique": _critique,
    },
    "ralph": {
        "started": Line("The run was begun, of at most {max_iterations} rounds", ("source", "reduced_scope"), "active"),
        "exec-delegated": Line("Round {iteration} was opened for {scope}", mark="active"),
        "phase": Line("Round {iteration}: {name}", ("skipped",)),
        "exec-circumvention": Line(
            "A verdict on round {iteration} was asked for over phases that did not happen: {missing}", mark="stale"
        ),
        "brief": Line("The judge was asked about {criteria}, call {call} of round {iteration}", mark="judge"),
        "brief-superseded": Line("What a judge found in an earlier brief of round {iteration} stands", mark="judge"),
        "judge-inline-fallback": Line(
            "The answers of round {iteration} came from a file: no hook saw the judge", mark="stale"
        ),
        "judge-unknown": Line("Round {iteration}, call {call}: nobody could tell", mark="waiting"),
        "judged": _judged,
        "ended": _ralph_ended,
    },
    "verify": {
        "goal-added": Line("{goal} was filed", ("reason",), "active"),
        "begun": Line("{goal} was begun, attempt {attempt}", ("again",), "active"),
        "checks-evaluated": _evaluated,
        "answered": Line("{question} of {goal} was answered: {result}", mark="judge"),
        "finished": _goal_finished,
        "achieved": Line("{goal} was achieved: {streak} in a row", mark="done"),
        "unblocked": Line("{goal} freed {freed}", ("summary",)),
        "gap": Line("{question} of {goal} left a gap", ("why",), "stale"),
        "claim": _claim,
    },
}  # fmt: skip
ANYWHERE: dict[str, Lines] = {
    "repaired": Line("A damaged ledger was set aside", ("kept",), "stale"),
}
# What comes again and again: counted rather than told where there is too much.
ROUTINE = frozenset(
    (
        *("blocked", "allowed", "overridden", "denied", "gate-ran", "agent-finished", "phase-written", "resumed"),
        *("audited", "preflight", "phase", "checks-evaluated", "answered", "claim"),
    )
)
# Rows that sum up for hooks what another ledger tells in full.
QUIET = {"session": frozenset(("ultragoal", "ultraplan", "ralph", "verify", "awaits"))}
