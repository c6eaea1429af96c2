"""The gate before the judge: did the phases of this iteration happen? By what the host and omo saw, not by words."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from omo.clock import stamp
from omo.errors import BadInput, NotEvaluable, Refused, Unreadable
from omo.evidence import tree
from omo.ralph import execution, phase_proof
from omo.ralph.outcomes import outcome_of
from omo.ralph.phase_proof import MISSING, REMEDIES, Facts, Finish, GateSeen, Proof
from omo.ralph.run import RalphRun, Standing
from omo.shown import clip
from omo.state import ledger, paths, runtime

Row = dict[str, Any]

MOST_ATTEMPTS = 3
MOST_GATES = 50  # named in a judgement
OURS = frozenset(agent for agent in phase_proof.PROVEN_BY.values() if agent)
STANDING = ("gate-added", "gate-removed", "gate-allowed")  # hold from one iteration to the next
NO_WORK = ".sisyphus/"
DAMAGED = (
    "look at what was changed with omo ledger verify; only the user can seal it: omo ledger repair --session {session}"
)
ASLEEP = "no hook records agents while the session is released: the user types ulw to take it up again"


@dataclass(frozen=True)
class Found:
    """`missing` names phases, `without_work` those of them whose agent or work is not there: asking for judgement over
    them is circumvention. `gates` says who pinned what. `damage` says that no fact could be read at all, which is
    nobody's circumvention.
    """

    iteration: int
    checks: list[Row] = field(default_factory=list)
    remediation: str = ""
    damage: str = ""
    without_work: list[str] = field(default_factory=list)
    gates: list[Row] = field(default_factory=list)

    @property
    def missing(self) -> list[str]:
        return [one["phase"] for one in self.checks if one["status"] == MISSING]

    @property
    def ok(self) -> bool:
        return not self.missing

    @property
    def data(self) -> Row:
        return {
            "ok": self.ok,
            "iteration": self.iteration,
            "checks": self.checks,
            "missing": self.missing,
            "remediation": self.remediation,
        }


def check(run: RalphRun, standing: Standing, *, newer_than: str | None = None) -> Found:
    """Writes nothing. `newer_than` leaves out what the host or omo saw before that moment."""
    opened = standing.exec_row
    if not standing.open_iteration:
        raise Refused("no iteration is open, so there is nothing to look at", fix="omo ralph exec opens one")
    since = max(str(opened["ts"]), "" if newer_than is None else moment(newer_than))
    try:
        name = session_of(run, standing)
        rows, damage = _rows_since(run.state, name, opened, since)
    except Unreadable as error:
        name, rows, damage = standing.session, [], error.message
    if damage:
        return _proving_nothing(standing, name, damage)
    facts = _facts(run, standing, rows)
    missing = {phase: one for phase, one in phase_proof.proofs(facts).items() if one.status == MISSING}
    return Found(
        standing.iteration,
        phase_proof.checks(facts),
        _remediation(run.state, name, standing, missing),
        without_work=[phase for phase, one in missing.items() if not one.is_honest],
        gates=[_gate(gate) for gate in facts.gates[:MOST_GATES]],
    )


def _gate(gate: GateSeen) -> Row:
    """For the receipt: a failure that the user accepted stays a failure."""
    row: Row = {"name": clip(gate.name, 60), "by": clip(gate.by, 20)}
    if gate.result == "fail":
        row["failed"] = True
    return row


def moment(text: str) -> str:
    """An ISO time with its zone, as ledgers write it."""
    try:
        known = datetime.fromisoformat(re.sub("Z$", "+00:00", text.strip()))
        if known.tzinfo is None:
            raise ValueError("no zone")
        return stamp(known.timestamp())
    except (ValueError, OverflowError, OSError):
        raise BadInput(
            f"--newer-than {clip(text, 60)!r} is not an ISO time with its zone",
            fix="for example 2026-02-22T17:20:01Z; without it the iteration's own beginning counts",
        ) from None


def record_circumvention(run: RalphRun, standing: Standing, found: Found) -> int:
    """Note that judgement was asked for over phases that did not happen; the third such attempt ends the run.

    The iteration stays open: what is missing can still be done. Damage is refused without being counted.
    """
    if found.damage:
        raise Refused(found.damage, fix=found.remediation, defects=[found.damage])

    def decide(at: Standing) -> tuple[int, list[Row]]:
        if at.ended is not None or at.iteration != standing.iteration:
            raise Refused(f"iteration {standing.iteration} is no longer open", fix="omo ralph status")
        attempt = at.circumventions + 1
        row = {"kind": "exec-circumvention", "iteration": at.iteration, "attempt": attempt, "missing": found.missing}
        if attempt < MOST_ATTEMPTS:
            return attempt, [row]
        how = "circumvented"
        ended_as = outcome_of(replace(at, circumventions=attempt), how)
        return attempt, [row, {"kind": "ended", "how": how, "verdict": "fail", "receipt": None, "outcome": ended_as}]

    attempts: int = run.append(decide=decide)
    return attempts


def session_of(run: RalphRun, standing: Standing) -> str:
    """Whose agents count: the session that works on the run. The host may have given it a new id since the start."""
    row = runtime.session(run.state, run.session) or {}
    is_current = runtime.part(runtime.part(row, "work"), "ralph").get("run") == standing.run
    return run.session if is_current else standing.session


def _rows_since(state: str, name: str, opened: Row, since: str) -> tuple[list[Row], str]:
    """The pins of gates from the beginning on, everything else since the iteration was opened; or what is damaged.

    By place in the ledger and by time, so that a clock which was set back brings nothing old in.
    """
    if problems := runtime.chain_problems(state, name):
        return [], f"the ledger of session {name} was changed by hand, so it proves nothing: {clip(problems[0], 200)}"
    rows = ledger.rows(paths.events_file(state, name))
    is_same = opened.get("session") == name and rows and str(rows[0].get("ts")) <= str(opened["ts"])
    first = opened.get("session_seq", 0) if is_same else 0  # another session's, or one that the user sealed since

    def counts(row: Row) -> bool:
        return row.get("kind") in STANDING or (row["seq"] > first and str(row.get("ts")) > since)

    return [row for row in rows if counts(row)], ""


def _proving_nothing(standing: Standing, name: str, damage: str) -> Found:
    checks = [{"phase": phase, "status": MISSING, "proof": damage} for phase in phase_proof.PHASES]
    return Found(standing.iteration, checks, DAMAGED.format(session=shlex.quote(name)), damage)


def _facts(run: RalphRun, standing: Standing, rows: Sequence[Row]) -> Facts:
    skips = {str(row["name"]): str(row["skipped"]) for row in standing.phases if row.get("skipped")}
    now = tree.fingerprint(Path(run.root))  # no cache: what is decided on it is proof
    return Facts(
        agents=_finishes(rows),
        gates=_gates(rows),
        tree=now,
        is_changed=now != standing.exec_row.get("tree") and _is_work(run, standing),
        worked_at=execution.worked_at(standing),
        recorded=frozenset(str(row["name"]) for row in standing.phases),
        skips=skips,
        changed_lines=execution.changed_lines(run, standing) if skips else 0,
        reduced_scope=standing.reduced_scope,
    )


def _is_work(run: RalphRun, standing: Standing) -> bool:
    """Whether anything but evidence changed: what a tester writes down is not what it tests."""
    try:
        changed = execution.changed_files(run, standing.exec_row)
    except NotEvaluable:
        return True
    return any(not path.startswith(NO_WORK) for path in changed)


def _finishes(rows: Sequence[Row]) -> list[Finish]:
    """Only what a hook wrote, and only agents that said something: one that was cut off did nothing."""
    return [
        Finish(row["agentType"], row["seq"], row["ts"])
        for row in rows
        if row.get("kind") == "agent-finished"
        and row.get("actor") == "hook"
        and row.get("agentType") in OURS
        and str(row.get("message") or "").strip()
    ]


def _gates(rows: Sequence[Row]) -> list[GateSeen]:
    """The pinned gates, each with its newest run of this iteration. A new pin under a name begins anew.

    A failure is the user's to let through; the agent's own record of one does not count here.
    """
    found: dict[str, GateSeen] = {}
    for row in rows:
        kind, name = row.get("kind"), str(row.get("name"))
        if kind == "gate-added":
            found[name] = GateSeen(name, str(row.get("by")), argv=tuple(map(str, row.get("argv") or ())))
        elif kind == "gate-removed":
            found.pop(name, None)
        elif kind == "gate-ran" and name in found:
            files = str(row.get("fingerprint") or row.get("tree"))
            found[name] = replace(found[name], result=str(row.get("result")), tree=files)
        elif kind == "gate-allowed" and name in found:
            found[name] = replace(found[name], accepted=True)
    return list(found.values())


def _notes(proof: Proof, phase: str) -> bool:
    return proof.fix == f"omo ralph phase {phase}"


def _remediation(state: str, name: str, standing: Standing, missing: Mapping[str, Proof]) -> str:
    if not missing:
        return ""
    unnoted = {phase: f", then omo ralph phase {phase}" for phase in missing if standing.phase(phase) is None}
    steps = [
        f"{phase}: {one.fix or REMEDIES[phase]}{'' if _notes(one, phase) else unnoted.get(phase, '')}"
        for phase, one in missing.items()
    ]
    asleep = [] if runtime.is_live(runtime.session(state, name) or {}) else [ASLEEP]
    return "; ".join([*asleep, *steps, "then omo ralph artifacts again"])
