"""Did the phases of an iteration happen? Read from what hooks saw of agents, from gates and from the files.

One thing only the agent can say: why a small change needs no refinement.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from omo.errors import NotMade
from omo.json_text import Json
from omo.proof import base, contents, gate_runs, hunks, kinds, own_commands
from omo.state.rows import read_base
from omo.state.runtime import part
from omo.text import clip, counted, listed
from omo.work import session
from omo.work.agents import EVIDENCE, AgentMessage, messages_in, same_files
from omo.work.files import Files
from omo.work.lifecycle import require_reason
from omo.work.run import Caller
from omo.workflows.ralph.rules import PROVEN_BY, REDUCIBLE, SMALL_CHANGE, JudgedGate, RalphRow
from omo.workflows.ralph.run import RalphRun, RalphState, require_open
from omo.workflows.ultrawork import gates as pinned
from omo.workflows.ultrawork.gates import Gate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import Base

UNCOUNTED = 1_000_000  # lines, where nobody can tell: never a small change
PHASE_OF = {agent: phase for phase, agent in PROVEN_BY.items() if agent}
GATE_ROWS = ("gate-added", "gate-removed", "gate-allowed")  # hold from one iteration to the next
PRESENT, MISSING, SKIPPED, REDUCED = "present", "missing", "skip-recorded", "reduced"

PIN = "omo gate add NAME -- COMMAND (omo gate suggest names the project's own), or the user's /omo:pin"
REMEDIES = {
    "PLAN": "let omo:planner plan what is open",
    "IMPL": "let omo:executor carry it out, or change the files yourself",
    "VERIFY": "let omo:qa try to break what is there now, its whole prompt: omo ralph brief qa",
    "REFINE": "let omo:critic look at what QA left, with what omo ralph brief critic prints as its whole prompt, and "
    'mend what it finds; of a small change: omo ralph judge --no-refine "why it needs none"',
    "SHIP": "mend what its gates say; omo ralph judge runs them on the files as they are",
}
SHELLS = ("sh", "bash", "dash", "zsh")
HOLLOW = ("true", ":", "exit 0", "test 1", "[ 1 ]", "test 1 = 1", "test -d .", "test -e .")
PRINTERS = ("echo", "printf", "true", ":", "sleep")


@dataclass(frozen=True)
class PhaseProof:
    """`is_undone`: the agent was never seen, or no work is there; more than a gate or a second look is missing."""

    status: str
    text: str
    is_undone: bool = False


@dataclass(frozen=True)
class PhaseReport:
    """`to_do` mends what is missing. `damage` says that no fact could be read, which is nobody's circumvention."""

    iteration: int
    proofs: Mapping[str, PhaseProof]
    to_do: list[str] = field(default_factory=list)
    damage: str = ""
    gates: list[Gate] = field(default_factory=list)

    @property
    def missing(self) -> list[str]:
        return [phase for phase, proof in self.proofs.items() if proof.status == MISSING]

    @property
    def remediation(self) -> str:
        return "; ".join(self.to_do)

    @property
    def undone(self) -> list[str]:
        """Asking for judgement over these is circumvention."""
        return [phase for phase, proof in self.proofs.items() if proof.is_undone]

    @property
    def ok(self) -> bool:
        return not self.missing

    @property
    def gate_rows(self) -> list[JudgedGate]:
        """Who pinned what, for the judgement."""
        rows = []
        for gate in self.gates:
            row: JudgedGate = {"name": gate.name, "by": gate.by}
            if gate.last is not None and not gate.last.passed:
                # For the receipt: what the user let through did not pass.
                row["failed"] = gate_runs.run_of(gate.last.row).failure
            rows.append(row)
        return rows

    @property
    def data(self) -> Json:
        checks = [{"phase": phase, "status": proof.status, "proof": proof.text} for phase, proof in self.proofs.items()]
        return {
            "ok": self.ok,
            "iteration": self.iteration,
            "checks": checks,
            "missing": self.missing,
            "remediation": self.remediation,
        }


def leave_out_refine(run: RalphRun, reason: str) -> None:
    """REFINE is left out of this iteration. Whether that holds, `check` says."""
    reason = clip(require_reason(reason, "--no-refine", 'omo ralph judge --no-refine "why it needs none"'), 500)

    def decide(now: RalphState) -> tuple[None, list[RalphRow]]:
        require_open(run)
        if now.why_no_refine == reason:
            return None, []
        return None, [{"kind": "phase", "iteration": now.iteration, "name": "REFINE", "skipped": reason}]

    run.change_whole(decide)


def check(run: RalphRun, files: Files, *, newer_than: str = "") -> PhaseReport:
    """Did the phases of this iteration happen? Writes nothing. `newer_than` leaves out what was seen before."""
    state = require_open(run)
    caller = run.caller
    if damage := caller.damage:
        nothing = {phase: PhaseProof(MISSING, damage) for phase in PROVEN_BY}
        repair = f"omo ledger repair --session {shlex.quote(caller.session)}"
        fix = f"look at what was changed with omo ledger verify; only the user can repair it: {repair}"
        return PhaseReport(state.iteration, nothing, [fix], damage)
    rows = _rows_since(caller, state.exec_row, max(newer_than, state.exec_row["ts"]))
    # One that was cut off, with nothing to say, did nothing.
    finished = [message for message in messages_in(rows, PHASE_OF) if message.text.strip()]
    counting = in_order(finished, state.exec_row.get("files"))
    with_pins = pinned.with_project_pins(caller.state, caller.session, rows, caller.session_rows)
    gates = list(pinned.fold(with_pins, session.run_of(caller.row())))
    proofs = {}
    for phase, agent in PROVEN_BY.items():  # SHIP, which no agent proves, is looked at below
        if message := counting.get(phase):
            text = f"{agent} finished at {message.ts} (row {message.seq} of the session's ledger)"
            proofs[phase] = PhaseProof(PRESENT, text)
        elif any(each.agent == agent for each in finished):
            proofs[phase] = PhaseProof(MISSING, f"{agent} finished before the phase before it was over")
        else:
            proofs[phase] = PhaseProof(MISSING, f"no {agent} finished in this iteration", is_undone=True)
    if "IMPL" not in counting:
        proofs["IMPL"] = _own_work(files, state, proofs["IMPL"])
    if state.why_no_refine and proofs["REFINE"].status == MISSING:
        lines = changed_lines(caller, state)
        text = f"{counted(lines, 'changed line')}, {SMALL_CHANGE} are too many: {clip(state.why_no_refine, 200)}"
        proofs["REFINE"] = PhaseProof(SKIPPED if lines < SMALL_CHANGE else MISSING, text)
    proofs["SHIP"] = ship(gates, files.tree)
    if not gates and (why := _needs_no_gate(files, state)):
        proofs["SHIP"] = PhaseProof(PRESENT, f"no gate is pinned; {why}")
    for phase in REDUCIBLE:
        if state.reduced_scope and proofs[phase].status == MISSING:
            proofs[phase] = PhaseProof(REDUCED, f"the run was started with less: {clip(state.reduced_scope, 200)}")
    remedies = REMEDIES if gates else {**REMEDIES, "SHIP": PIN}
    to_do = [f"{phase}: {remedies[phase]}" for phase, proof in proofs.items() if proof.status == MISSING]
    return PhaseReport(state.iteration, proofs, to_do, gates=gates)


def in_order(finished: Iterable[AgentMessage], began: Base | None) -> dict[str, AgentMessage]:
    """By phase, the finish that counts. What an executor does after QA is for QA again, but for no other refinement.

    Without an executor the work is the leading agent's, and QA has seen it if it finished on other files than those
    that the iteration `began` on.
    """
    counting: dict[str, AgentMessage] = {}
    was_verified = False
    for message in finished:
        phase = PHASE_OF[message.agent]
        if phase == "PLAN":
            if "PLAN" not in counting:  # what came before the plan was not planned
                counting, was_verified = {"PLAN": message}, False
        elif phase == "IMPL":
            counting["IMPL"] = message
            counting.pop("VERIFY", None)
        elif phase == "VERIFY":
            if "IMPL" in counting or not same_files(message.files, began):
                counting["VERIFY"] = message
                was_verified = True
        elif was_verified:
            counting["REFINE"] = message
    return counting


def _own_work(files: Files, state: RalphState, by_agent: PhaseProof) -> PhaseProof:
    """Files that are others than when the iteration began; what a tester writes down is not what it tests."""
    changed: list[str] | None = []
    if files.tree != state.exec_row.get("tree"):
        changed = files.changed_since(state.exec_row.get("files"))
    if changed is None or any(not path.startswith(EVIDENCE) for path in changed):
        return PhaseProof(PRESENT, f"{by_agent.text}, and files are others than when it began")
    return PhaseProof(MISSING, f"{by_agent.text}, and no file is other than when it began", is_undone=True)


def changed_lines(caller: Caller, state: RalphState) -> int:
    """Lines added and removed that no judgement saw, committed or not. UNCOUNTED if unknown.

    Since the last judgement, else since the start: what is written between rounds is nobody's small change.
    """
    began = read_base(state.last_judged.get("files")) or read_base(state.started.get("files"))
    changed = base.look(caller.root, began or None).changed
    if changed is None:
        return UNCOUNTED
    total = 0
    try:
        before = contents.at_base(caller.root, caller.state, began, list(changed))
        for path in changed:
            after = contents.now(caller.root, path)
            if b"\0" in (before[path].content or b"") + (after.content or b""):
                total += SMALL_CHANGE  # a binary has no lines: nobody can tell that it is a small change
                continue
            total += sum(hunk.size for hunk in hunks.hunks_of(path, before[path], after))
    except NotMade:
        return UNCOUNTED
    return total


def _needs_no_gate(files: Files, state: RalphState) -> str:
    """Why nobody has to pin one: a criterion's command, which is judged anyway, is the user's or the project's own, or
    there is nothing that a command could show of it."""
    for criterion in state.criteria:
        for each in criterion.mechanical:
            if each["type"] != "command":
                continue
            if state.is_confirmed:
                return f"the judgement runs {criterion.id}, which the user confirmed"
            if own_commands.where(files.root, state.base, each["argv"], each["cwd"]):
                return f"the judgement runs {criterion.id}, a check of the project's own"
    changed = base.look(files.root, read_base(state.started.get("files")) or None).changed
    which = kinds.Kinds()
    if changed and all(which.of(path) == kinds.NEITHER for path in changed):
        return "only documents were changed"
    return ""


def ship(gates: Sequence[Gate], tree: str) -> PhaseProof:
    """A gate that an agent pinned and that cannot fail is none. A missing gate is never a sign of bad faith."""
    if not gates:
        return PhaseProof(MISSING, f"no gate is pinned in this session: {PIN}")
    real = [gate for gate in gates if gate.is_users or not cannot_fail(gate.argv)]
    if not real:
        names = listed([gate.name for gate in gates])
        return PhaseProof(MISSING, f"what the agent pinned cannot fail, so it proves nothing ({names}): {PIN}")
    wrong = []
    for gate in real:
        last = gate.last
        is_of_now = last is not None and (last.row.get("fingerprint") or last.tree) == tree
        if last is None or not is_of_now or not (last.passed or gate.allowed):
            wrong.append(gate.name)
    if wrong:
        return PhaseProof(MISSING, f"not seen to pass in this iteration on the files as they are: {listed(wrong)}")
    passed = [f"{gate.name} (pinned by the {gate.by})" for gate in real]
    return PhaseProof(PRESENT, f"passed on the files as they are: {listed(passed)}")


# What the session's ledger has


def cannot_fail(argv: Sequence[str]) -> bool:
    """The plainest commands that only ever exit 0, also inside a shell. Others are for people to see through."""
    # The last command says it, also of a pipe, unless `set -e` or `&&` do: each form is in tests/ralph/test_phases.py,
    # test_a_gate_of_the_agent_that_cannot_fail_ships_nothing.
    command = list(argv)
    is_shell = len(command) == 3 and command[0].rsplit("/", 1)[-1] in SHELLS and re.fullmatch(r"-\w*c", command[1])
    if is_shell and "set -" in command[2]:
        return False
    if is_shell:
        unquoted = re.sub(r"'[^']*'|\"[^\"]*\"", "''", command[2])  # what is printed may hold a sign of the shell
        command = re.split(r"[;\n]|\|\|?", unquoted.strip(" ;\n"))[-1].split()
    if not command:
        return False
    program = command[0].rsplit("/", 1)[-1]
    line = " ".join([program, *command[1:]])
    return line in HOLLOW or (program in PRINTERS and "&&" not in line)


def _rows_since(caller: Caller, opened: RalphRow, since: str) -> list[SessionEvent]:
    """The pins of gates from the beginning on, everything else since the iteration was opened.

    By place in the ledger and by time, so that a clock which was set back brings nothing old in
    (tests/ralph/test_phases.py, test_newer_than_leaves_out_what_was_seen_before). In another ledger,
    of a session with a new id or one that the user sealed since, only the time can tell.
    """
    first = opened["session_seq"]
    following = [row["prev"] for row in caller.events if row["seq"] == first + 1]
    digest = following[0] if following else part(caller.row(), "ledger").get("digest")
    if digest != opened.get("session_digest"):
        first = 0
    wanted = []
    for row in caller.events:
        if row.get("kind") in GATE_ROWS or (row["seq"] > first and str(row.get("ts")) > since):
            wanted.append(row)
    return wanted
