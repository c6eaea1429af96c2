"""Did the phases of an iteration happen?

Noting one as over proves nothing. What the host and omo saw does: agents that finished, files that changed, gates.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from omo.clock import stamp
from omo.errors import BadInput, Unreadable
from omo.state import ledger, paths
from omo.state.runtime import is_live, part
from omo.text import clip, counted
from omo.work import agents
from omo.work.agents import Message, messages_in
from omo.workflows.ralph.iteration import Files, changed_lines
from omo.workflows.ralph.rules import PHASES, PROVEN_BY, REDUCIBLE, SMALL_CHANGE, Row
from omo.workflows.ralph.run import KIND, RalphRun, RalphState, require_iteration

MOST_GATES = 50  # named in a judgement
AGENTS = frozenset(agent for agent in PROVEN_BY.values() if agent)
GATE_ROWS = ("gate-added", "gate-removed", "gate-allowed")  # hold from one iteration to the next
EVIDENCE = ".sisyphus/"
PRESENT, MISSING, SKIPPED, REDUCED = "present", "missing", "skip-recorded", "reduced"

PIN = "omo gate add NAME -- COMMAND, or the user's /omo:pin"
NO_GATE = f"no gate is pinned in this session, and SHIP needs one: {PIN}"
REMEDIES = {
    "PLAN": "let omo:planner plan what is open",
    "IMPL": "let omo:executor carry it out, or change the files yourself",
    "VERIFY": "let omo:qa try to break what is there now",
    "REFINE": "let omo:critic look at what QA left, and mend what it finds",
    "SHIP": "run every gate on the files as they are now: omo gate run (none pinned yet: omo gate add NAME -- COMMAND)",
}
BEFORE_WORK = "on the files as they were at omo ralph exec, so it did not see the work"
SHELLS = ("sh", "bash", "dash", "zsh")
HOLLOW = ("true", ":", "exit 0", "test 1", "[ 1 ]", "test 1 = 1", "test -d .", "test -e .")
PRINTERS = ("echo", "printf", "true", ":", "sleep")


@dataclass(frozen=True)
class Gate:
    """A pinned gate and what its newest run of this iteration said; `result` is empty where it was not run."""

    name: str
    by: str
    result: str = ""
    tree: str = ""
    is_allowed: bool = False  # the user let its failure through
    argv: tuple[str, ...] = ()


@dataclass(frozen=True)
class Facts:
    """What the host and omo saw since the iteration began.

    `began` is how the files were then, and `is_changed` whether they are others now. `recorded` has the phases that
    were noted as over, `skip` the reason for leaving REFINE out.
    """

    agents: Sequence[Message] = ()
    gates: Sequence[Gate] = ()
    tree: str = ""
    began: Row | None = None
    is_changed: bool = False
    recorded: frozenset[str] = frozenset()
    skip: str = ""
    changed_lines: int = 0
    reduced_scope: str = ""

    def finishes(self, phase: str, after: int = 0) -> list[Message]:
        return [message for message in self.agents if message.agent == PROVEN_BY[phase] and message.seq > after]

    @property
    def planned(self) -> int:
        """The row after which work counts as planned; 0 where nobody planned."""
        return min((message.seq for message in self.finishes("PLAN")), default=0)

    def is_before_work(self, message: Message) -> bool:
        """Where only changed files show the work, nobody saw it who finished on those of the beginning."""
        if not self.is_changed or self.finishes("IMPL", after=self.planned):
            return False
        return _known_files(message.files) is not None and _known_files(message.files) == _known_files(self.began)


def _known_files(files: Row | None) -> object:
    """Commit and what differed from it, evidence aside; None where that is not known."""
    if files is None or files.get("unknown"):
        return None
    return files["head"], {path: digest for path, digest in files["files"].items() if not path.startswith(EVIDENCE)}


@dataclass(frozen=True)
class Proof:
    """`is_undone`: an agent or the work itself is missing, not just a note, a gate or a second look.

    `fix` is what helps, if not the phase itself.
    """

    status: str
    text: str
    is_undone: bool = False
    fix: str = ""


def proofs(facts: Facts) -> dict[str, Proof]:
    """One for each phase, in order. The fact decides; but a phase that nobody noted as over is not over."""
    proven = {
        "PLAN": _plan(facts),
        "IMPL": _impl(facts),
        "VERIFY": _verify(facts),
        "REFINE": _refine(facts),
        "SHIP": _ship(facts),
    }
    for phase, proof in proven.items():
        if proof.status == PRESENT and phase not in facts.recorded:
            note = f"omo ralph phase {phase}"
            proven[phase] = Proof(MISSING, f"{proof.text}, and it was never recorded: {note}", fix=note)
        if proven[phase].status == MISSING and facts.reduced_scope and phase in REDUCIBLE:
            proven[phase] = Proof(REDUCED, f"the run was started with less: {clip(facts.reduced_scope, 200)}")
    return proven


def _finished(message: Message) -> Proof:
    return Proof(PRESENT, f"{message.agent} finished at {message.ts} (row {message.seq} of the session's ledger)")


def _undone(text: str) -> Proof:
    return Proof(MISSING, text, is_undone=True)


def _plan(facts: Facts) -> Proof:
    planners = facts.finishes("PLAN")
    return _finished(planners[0]) if planners else _undone("no omo:planner finished in this iteration")


def _impl(facts: Facts) -> Proof:
    executors = facts.finishes("IMPL", after=facts.planned)
    if executors:
        return _finished(executors[-1])
    if facts.is_changed:
        return Proof(PRESENT, "the files are others than at omo ralph exec")
    who = "omo:executor finished before omo:planner" if facts.finishes("IMPL") else "no omo:executor finished"
    return _undone(f"{who} in this iteration, and no file is other than at omo ralph exec")


def _verify(facts: Facts) -> Proof:
    executors = [message.seq for message in facts.finishes("IMPL")]
    testers = facts.finishes("VERIFY", after=max([facts.planned, *executors]))
    if testers and facts.is_before_work(testers[-1]):
        return Proof(MISSING, f"omo:qa finished, but {BEFORE_WORK}")
    if testers:
        return _finished(testers[-1])
    if facts.finishes("VERIFY"):
        return _undone(f"omo:qa finished, but {'omo:executor' if executors else 'omo:planner'} after it")
    return _undone("no omo:qa finished in this iteration")


def _refine(facts: Facts) -> Proof:
    """After a QA of work: what the refinement changed is for QA again, not for another refinement."""
    executors = facts.finishes("IMPL", after=facts.planned)
    first_work = executors[0].seq if executors else facts.planned
    testers = facts.finishes("VERIFY", after=first_work)
    verified = [message.seq for message in testers if not facts.is_before_work(message)]
    critics = facts.finishes("REFINE", after=verified[0]) if verified else []
    if critics:
        return _finished(critics[-1])
    if facts.skip:
        lines = counted(facts.changed_lines, "changed line")
        if facts.changed_lines < SMALL_CHANGE:
            return Proof(SKIPPED, f"{lines}: {clip(facts.skip, 200)}")
        many = f"there are {lines} now and {SMALL_CHANGE} are too many to skip"
        return Proof(MISSING, f"skipped ({clip(facts.skip, 200)}), but {many}")
    if testers and not verified and facts.finishes("REFINE", after=first_work):
        return Proof(MISSING, f"omo:critic finished, but omo:qa {BEFORE_WORK}")
    if facts.finishes("REFINE"):
        return _undone("omo:critic finished before omo:qa")
    return _undone("no omo:critic finished in this iteration, and no reason to skip is recorded")


def _ship(facts: Facts) -> Proof:
    """A gate that an agent pinned and that cannot fail is none. A missing gate is never a sign of bad faith."""
    if not facts.gates:
        return Proof(MISSING, f"no gate is pinned in this session: {PIN}", fix=f"{PIN}; then omo gate run")
    real = [gate for gate in facts.gates if gate.by == "user" or not cannot_fail(gate.argv)]
    if not real:
        names = clip(", ".join(gate.name for gate in facts.gates), 200)
        text = f"what the agent pinned cannot fail, so it proves nothing: {names}"
        return Proof(MISSING, text, fix=f"one that fails for broken work: {PIN}; then omo gate run")
    wrong = []
    for gate in real:
        why = _unproven(gate, facts.tree)
        if why:
            wrong.append(f"{clip(gate.name, 60)} {why}")
    if wrong:
        return Proof(MISSING, f"gates: {clip(', '.join(wrong), 300)}")
    pinned = ", ".join(f"{clip(gate.name, 60)} (pinned by the {clip(gate.by, 20)})" for gate in real)
    return Proof(PRESENT, f"passed on the files as they are: {clip(pinned, 300)}")


def _unproven(gate: Gate, files: str) -> str:
    """Why a gate proves nothing; empty where it does."""
    if not gate.result:
        return "was not run in this iteration"
    if gate.tree != files:
        return "ran on other files than these"
    if gate.result == "pass" or (gate.result == "fail" and gate.is_allowed):
        return ""
    return f"says {clip(gate.result, 20)}"


def cannot_fail(argv: Sequence[str]) -> bool:
    """The plainest commands that only ever exit 0, also inside a shell. Others are for people to see through."""
    command = list(argv)
    is_shell = len(command) == 3 and command[0].rsplit("/", 1)[-1] in SHELLS and re.fullmatch(r"-\w*c", command[1])
    if is_shell and "set -" in command[2]:
        return False
    if is_shell:
        command = re.split(r"[;\n]|\|\|", command[2].strip(" ;\n"))[-1].split()
    if not command:
        return False
    program = command[0].rsplit("/", 1)[-1]
    return " ".join([program, *command[1:]]) in HOLLOW or (program in PRINTERS and "&&" not in command)


# The facts


@dataclass(frozen=True)
class SessionEvents:
    """The row and the ledger of the session that works on a run, read once.

    `damage` says why none of the ledger can be believed.
    """

    session: str
    row: Row
    rows: list[Row]
    damage: str = ""

    def messages(self, agent: str) -> list[Message]:
        """What a hook saw that agent say last, oldest first."""
        return messages_in(self.rows, [agent])

    @property
    def has_gates(self) -> bool:
        """Whether SHIP can be proven in this session at all."""
        return any(row.get("kind") == "gate-added" for row in self.rows)


def session_events(run: RalphRun) -> SessionEvents:
    """Of the session that works on the run: the host may have given it a new id since the start."""
    caller = run.caller
    session = caller.session
    if caller.summary(KIND).get("run") != run.id and run.state is not None:
        session = run.state.session
    row = caller.session_rows.get(session, {})
    path = paths.events_file(caller.state, session)
    try:
        rows, problems = ledger.read_marked(path, part(row, "ledger"), f"the row of session {session}")
    except Unreadable as error:
        return SessionEvents(session, row, [], error.message)
    if problems:
        what = f"the ledger of session {session} is not as omo wrote it, so it proves nothing"
        return SessionEvents(session, row, [], f"{what}: {clip(problems[0], 200)}")
    return SessionEvents(session, row, rows)


def expect(run: RalphRun, events: SessionEvents, agent: str | None) -> None:
    """A session that was let go hears that agent all the same; a live one hears every agent, so nothing is written."""
    caller = run.caller
    if (agent and not is_live(events.row)) or (not agent and events.row.get("awaits")):
        agents.expect(caller.state, events.session, agent, by=caller.by, now=caller.now, wait=caller.wait)
        caller.forget()


@dataclass(frozen=True)
class PhaseReport:
    """`undone` names the phases whose agent or work is missing: asking for judgement over them is circumvention.

    `gates` says who pinned what. `damage` says that no fact could be read at all, which is nobody's circumvention.
    """

    iteration: int
    proofs: Mapping[str, Proof]
    remediation: str = ""
    damage: str = ""
    gates: list[Row] = field(default_factory=list)

    @property
    def missing(self) -> list[str]:
        return [phase for phase, proof in self.proofs.items() if proof.status == MISSING]

    @property
    def undone(self) -> list[str]:
        return [phase for phase, proof in self.proofs.items() if proof.is_undone]

    @property
    def ok(self) -> bool:
        return not self.missing

    @property
    def data(self) -> Row:
        checks = [{"phase": phase, "status": proof.status, "proof": proof.text} for phase, proof in self.proofs.items()]
        return {
            "ok": self.ok,
            "iteration": self.iteration,
            "checks": checks,
            "missing": self.missing,
            "remediation": self.remediation,
        }


def check(run: RalphRun, files: Files, events: SessionEvents, *, newer_than: str | None = None) -> PhaseReport:
    """Did the phases of this iteration happen? Writes nothing. `newer_than` leaves out what was seen before."""
    state = require_iteration(run)
    since = str(state.exec_row["ts"])
    if newer_than is not None:
        since = max(since, moment(newer_than))
    if events.damage:
        nothing = {phase: Proof(MISSING, events.damage) for phase in PHASES}
        repair = f"omo ledger repair --session {shlex.quote(events.session)}"
        fix = f"look at what was changed with omo ledger verify; only the user can seal it: {repair}"
        return PhaseReport(state.iteration, nothing, fix, events.damage)
    facts = _facts(files, state, _rows_since(events, state.exec_row, since))
    proven = proofs(facts)
    gates = []
    for gate in facts.gates[:MOST_GATES]:
        row: Row = {"name": clip(gate.name, 60), "by": clip(gate.by, 20)}
        if gate.result == "fail":  # for the receipt: a failure that the user let through stays a failure
            row["failed"] = True
        gates.append(row)
    remediation = _remediation(state, proven)
    if remediation and not is_live(events.row):
        released = "no hook records agents while the session is released: the user types ulw to take it up again"
        remediation = f"{released}; {remediation}"
    return PhaseReport(state.iteration, proven, remediation, gates=gates)


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


def _rows_since(events: SessionEvents, opened: Row, since: str) -> list[Row]:
    """The pins of gates from the beginning on, everything else since the iteration was opened.

    By place in the ledger and by time, so that a clock which was set back brings nothing old in.
    """
    first = 0
    # Else it is another session's ledger, or one that the user sealed since.
    is_same = opened.get("session") == events.session and events.rows
    if is_same and str(events.rows[0].get("ts")) <= str(opened["ts"]):
        first = opened.get("session_seq", 0)
    wanted = []
    for row in events.rows:
        if row.get("kind") in GATE_ROWS or (row["seq"] > first and str(row.get("ts")) > since):
            wanted.append(row)
    return wanted


def _facts(files: Files, state: RalphState, rows: Sequence[Row]) -> Facts:
    began = state.exec_row
    is_changed = False
    if files.tree != began.get("tree"):
        changed = files.changed_since(began)
        # What a tester writes down is not what it tests.
        is_changed = changed is None or any(not path.startswith(EVIDENCE) for path in changed)
    skip = str((state.phase("REFINE") or {}).get("skipped") or "")
    return Facts(
        # One that was cut off, with nothing to say, did nothing.
        agents=[message for message in messages_in(rows, AGENTS) if message.text.strip()],
        gates=_gates(rows),
        tree=files.tree,
        began=began.get("files"),
        is_changed=is_changed,
        recorded=frozenset(str(row["name"]) for row in state.phases),
        skip=skip,
        changed_lines=changed_lines(files, state) if skip else 0,
        reduced_scope=state.reduced_scope,
    )


def _gates(rows: Sequence[Row]) -> list[Gate]:
    """The pinned gates, each with its newest run of this iteration. A new pin under a name begins anew.

    A failure is the user's to let through; the agent's own record of one does not count here.
    """
    gates: dict[str, Gate] = {}
    for row in rows:
        kind, name = row.get("kind"), str(row.get("name"))
        if kind == "gate-added":
            gates[name] = Gate(name, str(row.get("by")), argv=tuple(map(str, row.get("argv") or ())))
        elif kind == "gate-removed":
            gates.pop(name, None)
        elif kind == "gate-ran" and name in gates:
            files = str(row.get("fingerprint") or row.get("tree"))
            gates[name] = replace(gates[name], result=str(row.get("result")), tree=files)
        elif kind == "gate-allowed" and name in gates:
            gates[name] = replace(gates[name], is_allowed=True)
    return list(gates.values())


def _remediation(state: RalphState, proven: Mapping[str, Proof]) -> str:
    steps = []
    for phase, proof in proven.items():
        if proof.status != MISSING:
            continue
        step = f"{phase}: {proof.fix or REMEDIES[phase]}"
        note = f"omo ralph phase {phase}"
        if state.phase(phase) is None and proof.fix != note:
            step += f", then {note}"
        steps.append(step)
    return "; ".join([*steps, "then omo ralph artifacts again"]) if steps else ""
