"""The timeline of a session: the rows of all its ledgers in order, each as a sentence."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from omo.clock import stamp
from omo.errors import OmoError
from omo.hooks.messages import LETS_GO
from omo.hooks.stop import RULES
from omo.state import paths
from omo.state.journal import Journal
from omo.state.runtime import part
from omo.text import clip, counted
from omo.work import outcome, times
from omo.work.run import Kind, tag
from omo.work.viewer import Viewer

Row = dict[str, Any]

MOST_EVENTS = 400
LONGEST_WORD, LONGEST_DETAIL = 160, 500
# Part of the chain, told in a column of their own, or too long for a line.
HIDDEN = ("seq", "ts", "kind", "actor", "prev", "after", "tail", "message")
# Rows of a session that sum up for hooks what another ledger tells in full.
QUIET = frozenset(("ultragoal", "ultraplan", "ralph", "verify", "awaits"))
ARMED = ("activated", "rearmed")
ASKED = (*ARMED, "asked", "ralph-asked")
WHY = {rule.name: rule.why for rule in RULES}


@dataclass(frozen=True)
class Event:
    """One sentence; `ts` is its row's own time."""

    ts: str
    what: str
    detail: str = ""
    mark: str = ""


@dataclass(frozen=True)
class Timeline:
    """The newest events, oldest first; `total` counts the rows of all ledgers that tell something."""

    events: tuple[Event, ...] = ()
    total: int = 0
    began: str = ""
    ended: str = ""


@dataclass(frozen=True)
class Source:
    """One ledger, or the part of one that is about the session."""

    ledger: str
    rows: Sequence[Row]
    run: str = ""


@dataclass(frozen=True)
class EarlierRun:
    """A run of ultrawork in the same conversation, before the one that is reported."""

    ts: str
    task: str
    blocks: int
    ended: str
    is_done: bool

    @property
    def in_words(self) -> str:
        sent_back = f", sent back {counted(self.blocks, 'time')}" if self.blocks else ""
        return f"{self.ended}{sent_back}"


def asked_at(rows: Sequence[Row], began: str) -> str:
    """When the user asked for what began then; that moment itself where nobody did."""
    asked = ""
    for row in rows:
        if row.get("kind") in ASKED and str(row.get("ts")) <= began:
            asked = str(row["ts"])
    return asked or began


def is_block(row: Row) -> bool:
    return row.get("kind") == "blocked" and not row.get("evidence")


def earlier_runs(rows: Sequence[Row], since: str) -> list[EarlierRun]:
    """Those that began before that moment, each with how it ended."""
    runs: dict[str, EarlierRun] = {}
    run = ""
    for row in rows:
        kind, name = row.get("kind"), str(row.get("run"))
        if str(row.get("ts")) >= since:
            break
        if kind in ARMED and (name not in runs or name != run):
            run = name
            runs[run] = EarlierRun(str(row.get("ts")), word(row.get("text") or ""), 0, "left open", False)
        elif run:
            runs[run] = _after(runs[run], row)
    return list(runs.values())


def _after(run: EarlierRun, row: Row) -> EarlierRun:
    kind, rule = row.get("kind"), str(row.get("rule"))
    if is_block(row):
        return replace(run, blocks=run.blocks + 1)
    if kind == "done":
        ended = outcome.of(row)
        return replace(run, ended=clip(outcome.in_words(ended), LONGEST_DETAIL), is_done=outcome.is_done(ended))
    if kind == "cancelled":
        return replace(run, ended="called off by the user", is_done=False)
    if kind == "reopened":
        return replace(run, ended="left open", is_done=False)
    if kind == "allowed" and rule in LETS_GO:
        return replace(run, ended=f"ended, not proven: {WHY.get(rule, rule)}", is_done=False)
    return run


def tell(sources: Sequence[Source], *, since: str = "", most: int = MOST_EVENTS) -> Timeline:
    """Merged by time, from a moment on; each earlier run of the session is one event. A row whose time cannot be read
    stays where it was in its ledger. Blocks with nothing between them are one event too."""
    timed: list[tuple[float, Source, list[Row]]] = []
    earlier: list[EarlierRun] = []
    for source in sources:
        moment = 0.0
        if since and source.ledger == "session":
            earlier = earlier_runs(source.rows, since)
        for row in source.rows:
            moment = times.number(str(row.get("ts"))) or moment
            if _is_told(row, source, since):
                timed.append((moment, source, [row]))
    timed.sort(key=lambda entry: entry[0])
    together: list[tuple[float, Source, list[Row]]] = []
    for entry in timed:
        if together and is_block(entry[2][0]) and is_block(together[-1][2][0]):
            together[-1][2].extend(entry[2])
        else:
            together.append(entry)
    events = []
    for run in earlier:
        mark = "done" if run.is_done else "stale"
        events.append(Event(run.ts, clip(f"An earlier run of this conversation: {run.task}", 400), run.in_words, mark))
    for _, source, rows in together:
        event = replace(in_words(rows[-1], source.ledger), ts=clip(str(rows[0].get("ts") or ""), 30))
        if len(rows) > 1:
            event = replace(event, what=f"{event.what}, {len(rows)} times")
        events.append(event)
    known = [moment for moment, _, _ in timed if moment > 0]
    began, ended = (stamp(known[0]), stamp(known[-1])) if known else ("", "")
    return Timeline(tuple(events[-most:]), len(events), began, ended)


def _is_told(row: Row, source: Source, since: str) -> bool:
    if source.ledger not in ("session", "goal"):
        return True
    is_twice = row.get("kind") == "allowed" and row.get("rule") == "duplicate"
    return row.get("kind") not in QUIET and not is_twice and str(row.get("ts")) >= since


def run_kinds() -> list[Kind[Any]]:
    """The workflows whose runs have a directory each. Imported here: a report alone needs them all."""
    from omo.workflows.ralph.run import RALPH
    from omo.workflows.ultragoal.run import ULTRAGOAL
    from omo.workflows.ultraplan.run import PLAN

    return [ULTRAGOAL, PLAN, RALPH]


def sources_of(viewer: Viewer) -> list[Source]:
    """Every ledger with something of the session in it."""
    state, session = viewer.context.state, viewer.session
    sources = [Source("session", viewer.events), Source("goal", _rows(paths.goal_dir(state, session), state))]
    for kind in run_kinds():
        for run in kind.names(state):
            # The id says who began it; who took it over is named by the row.
            is_own = tag(session) in run.split("-")[1:2] or viewer.caller.summary(kind.name).get("run") == run
            if is_own or run == viewer.run:
                sources.append(Source(kind.name, _rows(kind.directory(state, run), state), run))
    sources += _goal_sources(state, session)
    return [source for source in sources if source.rows]


def _goal_sources(state: str, session: str) -> list[Source]:
    """The verified goals that this session began, and the claims about them."""
    top = paths.verify_dir(state)
    if not os.path.isdir(top):
        return []
    goals = _rows(os.path.join(top, "goals"), state)
    names = set()
    for row in goals:
        if row.get("kind") == "begun" and row.get("session") == session:
            names.add(str(row.get("goal")))
    sources = []
    for rows in (goals, _rows(os.path.join(top, "claims"), state)):
        sources.append(Source("verify", [row for row in rows if str(row.get("goal")) in names]))
    return sources


def _rows(directory: str, state: str) -> list[Row]:
    try:
        return Journal(directory, state).rows()
    except OmoError:
        return []


class Line(NamedTuple):
    """A sentence that a row's fields are filled into; `detail` names the fields that follow it. `mark` says how it is
    drawn, where the field `by` holds nothing that does."""

    what: str
    detail: tuple[str, ...] = ()
    mark: str = ""
    by: str = ""


class _Words(dict[str, str]):
    """A row's fields as they may stand in a sentence; what is missing is a dash."""

    def __init__(self, row: Row) -> None:
        super().__init__({str(key): word(value) for key, value in row.items()})
        goal = row.get("goalId")
        self["of_goal"] = f" of {word(goal)}" if goal else ""
        self["let_go"] = WHY.get(str(row.get("rule")), self["rule"])
        self["judged_by"] = ", not by an independent judge" if row.get("independence") == "reduced" else ""

    def __missing__(self, key: str) -> str:
        return "–"


def word(value: object, longest: int = LONGEST_WORD) -> str:
    if isinstance(value, (list, tuple)):
        return clip(", ".join(word(each, 60) for each in value[:20]), longest) or "none"
    if isinstance(value, dict):
        return clip(json.dumps(value, ensure_ascii=False, default=str), longest)
    return clip("–" if value is None else str(value), longest)


def in_words(row: Row, ledger: str) -> Event:
    """What a row tells. A kind nobody knows is shown as it is."""
    kind, moment = str(row.get("kind")), clip(str(row.get("ts") or ""), 30)
    known = LINES.get(ledger, {})
    line = known.get(kind) or ANYWHERE.get(kind)
    if line is None:
        rest = {key: value for key, value in row.items() if key not in HIDDEN}
        return Event(moment, clip(kind, 80), word(rest, LONGEST_DETAIL) if rest else "")
    for field in TOLD_APART:
        if row.get(field):
            line = known.get(f"{kind} with {field}", line)
    details = [_detail(row, name) for name in line.detail if row.get(name) not in (None, "", [], {})]
    mark = MARKS.get(str(row.get(line.by)), line.mark)
    if row.get("outcome"):  # a row that ends work says how
        ended = outcome.of(row)
        details.append(clip(outcome.in_words(ended), LONGEST_DETAIL))
        if line.by == "outcome" and outcome.is_done(ended):
            mark = "done"
    return Event(moment, clip(line.what.format_map(_Words(row)), 400), "; ".join(details), mark)


def _detail(row: Row, name: str) -> str:
    value = row[name]
    if name == "argv" and isinstance(value, list):
        return clip(shlex.join(map(str, value)), LONGEST_DETAIL)
    if name == "results" and isinstance(value, dict):  # of a judge, by criterion
        verdicts = []
        for criterion in value:
            result = part(value, criterion).get("result")
            has_passed = part(part(row, "states"), criterion).get("regressed_at_iteration") == row.get("iteration")
            verdicts.append(f"{criterion} {'regressed' if has_passed and result == 'fail' else result}")
        return word(verdicts, LONGEST_DETAIL)
    return word(value, LONGEST_DETAIL)


# A kind of row that has one of these fields may have another sentence.
TOLD_APART = ("evidence", "completionVerification", "bypassed", "override")
# What the value of a field says of the mark.
MARKS = {
    "pass": "done",
    "ok": "done",
    "holds": "done",
    "True": "done",
    "fail": "failed",
    "failed": "failed",
    "partial": "waiting",
}
LINES: dict[str, dict[str, Line]] = {
    "session": {
        "activated": Line("Ultrawork was turned on by the {actor}", ("text",), "active"),
        "rearmed": Line("Ultrawork was turned on again by the {actor}, with a full budget", ("text",), "active"),
        "blocked": Line("Stop was sent back to work", ("reason",), "block"),
        "blocked with evidence": Line("The agent is blocked from outside", ("evidence",), "waiting"),
        "waiting": Line("The agent waits for the user", ("evidence", "gates"), "waiting"),
        "allowed": Line("Stop was let through: {let_go}", mark="allow"),
        "overridden": Line("A person spoke before the agent went on after a block", mark="steer"),
        "withdrawn": Line("The prompt that turned it on was taken back", mark="steer"),
        "cancelled": Line("The user called it off", ("reason",), "cut"),
        "cancel-told": Line("The agent was told that it is off"),
        "budget": Line("The user set the budget: {ceilings}", mark="steer"),
        "paused": Line("The user paused it", mark="waiting"),
        "resumed": Line("It goes on", mark="active"),
        "end-answered": Line("The user answered how it had ended", mark="steer"),
        "gate-added": Line("Gate {name} was pinned by the {by}", ("argv",), "gate"),
        "gate-ran": Line("Gate {name}: {result} (exit {exit}, {seconds} s)", ("why",), "waiting", "result"),
        "gate-recorded": Line("A failure of gate {name} was recorded as pre-existing", ("evidence",), "stale"),
        "gate-removed": Line("Gate {name} was taken away by the {actor}", mark="stale"),
        "gate-allowed": Line("The user let gate {name} through", mark="stale"),
        "asked": Line("The user asked for {workflow}", ("text",), "active"),
        "typed": Line("The user typed /omo:{workflow}", mark="active"),
        "ralph-asked": Line("The user typed what they want of ralph", ("text", "criteria"), mark="active"),
        "change-allowed": Line("The user let {path} be changed", mark="steer"),
        "done": Line("The run was ended", (), "stale", "outcome"),
        "reopened": Line("{work} goes on: files were changed after it was called done", ("changed",), "stale"),
        "denied": Line("{tool} was denied by gate {gate}", ("reason",), "block"),
        "agent-finished": Line("{agentType} finished", mark="agent"),
        "plan-archived": Line("The plan {run} was archived for a new one, with {open} goals open", mark="stale"),
        "cleared": Line("The plan was cleared by the {actor}, with {open} goals open", ("kept", "receipts"), "stale"),
        "given-up": Line("The agent gave work up: {what}", ("why",), "stale"),
        "taken-up": Line("All that session {from} left open was taken up here", mark="steer"),
        "taken-by": Line("Session {session} took up all that was open here", mark="steer"),
        "taken-over": Line("The host gave the session a new id; it was {from}"),
    },
    "ultragoal": {
        "plan_created": Line("A plan was made: {objective}", mark="active"),
        "goal_started": Line("{goalId} was begun", mark="active"),
        "goal_checkpointed": Line("{goalId} was set to {status}", ("evidence",), "stale", "status"),
        "goal_checkpointed with completionVerification": Line(
            "{goalId} is complete: its gate passed, and its receipt was issued", ("evidence",), "done"
        ),
        "steering_accepted": Line("The plan was steered: {mutation}{of_goal}", ("rationale", "evidence"), "steer"),
        "steering_rejected": Line("Steering was refused: {mutation}{of_goal}", ("reason",), "failed"),
        "review_blockers_recorded": Line("A review{of_goal} asks for more: {blockerGoalIds}", ("evidence",), "failed"),
        "blocker_classified": Line("A blocker{of_goal} was classified {classification}", ("evidence",), "waiting"),
        "goal_resumed": Line("The paused goal goes on", mark="active"),
        "plan_ended": Line("The plan came to its end", mark="done"),
        "reopened": Line("The plan goes on: files were changed after its end", ("changed",), "stale"),
        "handoff_marked": Line("The plan was marked ready for handoff", mark="steer"),
        "handed_off": Line("The plan was handed off to {to}", mark="steer"),
        "taken_up": Line("The plan was taken up again", mark="steer"),
        "adopted": Line("The plan was taken over by session {session}", mark="steer"),
    },
    "goal": {
        "goal_created": Line("The session was given a goal", ("objective",), "active"),
        "goal_paused": Line("The session's goal was paused", ("why",), "waiting"),
        "goal_resumed": Line("The session's goal goes on", mark="active"),
        "goal_completed": Line("The session's goal is complete", mark="done"),
        "goal_reopened": Line("The session's goal goes on: files were changed after it was completed", mark="stale"),
        "goal_dropped": Line("The session's goal was dropped", ("why", "kept"), "cut"),
    },
    "ultraplan": {
        "preflight": Line("The plan's needs were looked at: {result}", ("missing", "why"), "failed", "result"),
        "preflight with bypassed": Line("The plan's needs were bypassed by {bypassed}", ("why",), "stale"),
        "started": Line("The plan session was begun: {path}, steps {steps}", ("unreviewed",), "active"),
        "audited": Line("The audit of git and files: {verdict}, passed {passed}", ("missing",), by="verdict"),
        "verified": Line("The Verify commands were run: {verdict}", ("results",), by="verdict"),
        "skipped": Line("Step {step} was skipped by the {actor}", ("reason",), "stale"),
        "recovered": Line("Recovery {depth} goes on with steps {missing}", (), "steer"),
        "finished": Line(
            "The plan session ended: {verdict}, audit {audit}",
            ("reason", "failed", "violations", "unverified", "handoff"),
            "failed",
            "verdict",
        ),
        "reopened": Line("The plan session goes on: files were changed after its end", ("changed",), "stale"),
        "moved": Line("The project was moved to {root}"),
        "filled-in": Line("omo filled in what the steps of {plan} leave to it"),
        "critique": Line("The critic said {verdict}", ("findings",), "failed", "clean"),
    },
    "ralph": {
        "started": Line("The run was begun, of at most {max_iterations} rounds", ("source", "reduced_scope"), "active"),
        "exec-delegated": Line("Round {iteration} was opened for {scope}", mark="active"),
        "phase": Line("Round {iteration}: what the agent says of {name}", ("skipped",)),
        "exec-circumvention": Line(
            "A verdict on round {iteration} was asked for over phases that did not happen: {missing}", mark="stale"
        ),
        "brief": Line("The judge was asked about {criteria}, call {call} of round {iteration}", mark="judge"),
        "judge-inline-fallback": Line(
            "The answers of round {iteration} came from a file: no hook saw the judge", mark="stale"
        ),
        "judge-unknown": Line("Round {iteration}, call {call}: nobody could tell", mark="waiting"),
        "judged": Line(
            "Round {iteration} was judged: {verdict}{judged_by}",
            ("results",),
            "failed",
            "verdict",
        ),
        "ended": Line("The run ended: {how}, verdict {verdict}", mark="failed", by="how"),
        "reopened": Line("The run goes on: files were changed after its end", ("changed",), "stale"),
    },
    "verify": {
        "goal-added": Line("{goal} was filed", mark="active"),
        "begun": Line("{goal} was begun, attempt {attempt}", ("again",), "active"),
        "checks-evaluated": Line("The checks of {goal}: {verdict}", ("flags",), "waiting", "verdict"),
        "answered": Line("{question} of {goal} was answered: {result}", mark="judge"),
        "brief": Line("A judge was asked about {goal}", mark="judge"),
        "finished": Line(
            "{goal} was verified: {verdict}, now {to}", ("reason", "summary", "notes"), "waiting", "verdict"
        ),
        "reopened": Line("{goal} goes on: files were changed after it was verified", ("changed",), "stale"),
        "achieved": Line("{goal} was achieved: {streak} in a row", mark="done"),
        "unblocked": Line("{goal} freed {freed}", ("summary",)),
        "gap": Line("{question} of {goal} left a gap", ("why",), "stale"),
        "claim": Line("A claim was looked into: {verdict}", ("claim",), "failed", "verdict"),
        "claim with override": Line("A claim was let stand against {verdict}: {claim}", ("override",), "stale"),
    },
}  # fmt: skip
ANYWHERE: dict[str, Line] = {
    "repaired": Line("A damaged ledger was set aside", ("kept",), "stale"),
}
