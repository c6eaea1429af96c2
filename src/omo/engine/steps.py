"""Did the steps of a round happen? Read from what hooks saw of agents, from gates and from the files.

One thing only the agent can say: why a small change needs no such step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from omo.engine.case import Case, CaseRow, JudgedGate
from omo.engine.flow import Flow, RoundStep
from omo.engine.runs import CaseRun
from omo.errors import NotMade
from omo.json_text import Json
from omo.proof import base, contents, gate_runs, hunks, kinds, own_commands
from omo.state.rows import read_base
from omo.state.runtime import part
from omo.text import clip, counted, listed
from omo.work import gates as pinned
from omo.work import session
from omo.work.agents import EVIDENCE, AgentMessage, messages_in, same_files
from omo.work.files import Files
from omo.work.gates import Gate
from omo.work.lifecycle import require_reason
from omo.work.run import Caller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import Base

UNCOUNTED = 1_000_000  # lines, if nobody can tell: never a small change
GATE_ROWS = ("gate-added", "gate-removed", "gate-allowed")  # count from one round to the next
PRESENT, MISSING, SKIPPED, REDUCED = "present", "missing", "skip-recorded", "reduced"
PIN = "omo gate add NAME -- COMMAND (omo gate suggest names the project's own), or the user's /omo:pin"


@dataclass(frozen=True)
class StepProof:
    """`is_undone`: the agent was never seen, or no work is there. More is missing than a gate or a second look."""

    status: str
    text: str
    is_undone: bool = False


@dataclass(frozen=True)
class StepReport:
    """What was seen of each step of a round. `to_do` mends what is missing.

    `was_damaged`: rows of the session were lost in this round, so a step that nobody saw is nobody's circumvention.
    """

    iteration: int
    proofs: Mapping[str, StepProof]
    to_do: list[str] = field(default_factory=list)
    was_damaged: bool = False
    gates: list[Gate] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.missing

    @property
    def missing(self) -> list[str]:
        return [step for step, proof in self.proofs.items() if proof.status == MISSING]

    @property
    def undone(self) -> list[str]:
        """Steps over which it is circumvention to ask for a verdict."""
        return [step for step, proof in self.proofs.items() if proof.is_undone]

    @property
    def remediation(self) -> str:
        return "; ".join(self.to_do)

    @property
    def gate_rows(self) -> list[JudgedGate]:
        """Who pinned which gate, and how those failed that the user let through."""
        rows = []
        for gate in self.gates:
            row: JudgedGate = {"name": gate.name, "by": gate.by}
            if gate.last is not None and not gate.last.passed:
                row["failed"] = gate_runs.run_of(gate.last.row).failure
            rows.append(row)
        return rows

    @property
    def data(self) -> Json:
        checks = [{"phase": step, "status": proof.status, "proof": proof.text} for step, proof in self.proofs.items()]
        return {
            "ok": self.ok,
            "iteration": self.iteration,
            "checks": checks,
            "missing": self.missing,
            "remediation": self.remediation,
        }


def skip(run: CaseRun, step: RoundStep, reason: str) -> None:
    """Record that a step is left out of this round. `look` says whether it may be."""
    why = clip(require_reason(reason, step.option, f'{run.flow.judge} {step.option} "why it needs none"'), 500)

    def decide(now: Case) -> tuple[None, list[CaseRow]]:
        run.require_open()
        if now.reason_to_skip(step.name) == why:
            return None, []
        return None, [{"kind": "skipped", "iteration": now.round, "step": step.name, "why": why}]

    run.change_whole(decide)


def look(run: CaseRun, files: Files, *, newer_than: str = "") -> StepReport:
    """Say of each step whether it happened in this round. Writes nothing. Skips what was seen before `newer_than`."""
    flow, case, caller = run.flow, run.require_open(), run.caller
    rows = _rows_since(caller, case.opened, max(newer_than, case.opened["ts"]))
    with_pins = pinned.with_project_pins(caller.state, caller.session, rows, caller.session_rows)
    gates = list(pinned.fold(with_pins, session.run_of(caller.row())))
    # An agent that was cut off, with nothing to say, did nothing.
    agents = {step.agent for step in flow.steps}
    finished = [message for message in messages_in(rows, agents) if message.text.strip()]
    counting = in_order(flow, finished, case.opened.get("files"))
    proofs = {}
    for step in flow.steps:
        proof = gates_pass(gates, files.tree) if step.gates else _by_agent(step, counting, finished)
        if step.gates and not gates and (why := _why_no_gate(files, case)):
            proof = StepProof(PRESENT, f"no gate is pinned; {why}")
        if proof.status == MISSING and step.or_work:
            proof = _own_work(files, case, proof)
        if proof.status == MISSING and (why := case.reason_to_skip(step.name)):
            lines, most = changed_lines(caller, case), flow.small_change
            text = f"{counted(lines, 'changed line')}, {most} are too many: {clip(why, 200)}"
            proof = StepProof(SKIPPED if lines < most else MISSING, text)
        if proof.status == MISSING and case.reduced_scope and not step.is_required:
            proof = StepProof(REDUCED, f"the run was started with less: {clip(case.reduced_scope, 200)}")
        proofs[step.name] = proof
    to_do = []
    for step in flow.steps:
        if proofs[step.name].status == MISSING:
            to_do.append(f"{step.name}: {PIN if step.gates and not gates else step.to_do}")
    was_damaged = bool(caller.damage_lines) or any(row.get("kind") == "repaired" for row in rows)
    return StepReport(case.round, proofs, to_do, was_damaged, gates)


def in_order(flow: Flow, finished: Iterable[AgentMessage], began: Base | None) -> dict[str, AgentMessage]:
    """Return by step the finish that counts.

    What a step of work does later is for the step right after it to look at again, but for no later one, or the chain
    would never end. If the work is the leading agent's own, the step after it has seen it if it finished on other files
    than those that the round `began` on.
    """
    by_agent = {step.agent: step for step in flow.steps if step.agent}
    counting: dict[str, AgentMessage] = {}
    happened: set[str] = set()  # also steps that have to happen again
    for message in finished:
        step = by_agent[message.agent]
        if step.or_work:
            for later in flow.steps:
                if later.after == step.name:
                    counting.pop(later.name, None)
        elif not step.after:
            if step.name in counting:
                continue
            counting, happened = {}, set()  # what came before the plan was not planned
        elif step.after not in happened:
            before = next(each for each in flow.steps if each.name == step.after)
            if not before.or_work or same_files(message.files, began):
                continue
        counting[step.name] = message
        happened.add(step.name)
    return counting


def _by_agent(step: RoundStep, counting: Mapping[str, AgentMessage], finished: Sequence[AgentMessage]) -> StepProof:
    if message := counting.get(step.name):
        return StepProof(PRESENT, f"{step.agent} finished at {message.ts} (row {message.seq} of the session's ledger)")
    if any(message.agent == step.agent for message in finished):
        return StepProof(MISSING, f"{step.agent} finished before the phase before it was over")
    return StepProof(MISSING, f"no {step.agent} finished in this iteration", is_undone=True)


def _own_work(files: Files, case: Case, by_agent: StepProof) -> StepProof:
    """Accept files that changed since the round began. What a tester writes down is not what it tests."""
    changed: list[str] | None = []
    if files.tree != case.opened.get("tree"):
        changed = files.changed_since(case.opened.get("files"))
    if changed is None or any(not path.startswith(EVIDENCE) for path in changed):
        return StepProof(PRESENT, f"{by_agent.text}, and files are others than when it began")
    return StepProof(MISSING, f"{by_agent.text}, and no file is other than when it began", is_undone=True)


def changed_lines(caller: Caller, case: Case) -> int:
    """Count the lines added and removed since the last judgement, else since the start; UNCOUNTED if unknown.

    What is written between two rounds is counted too.
    """
    began = read_base(case.last_judged.get("files")) or read_base(case.started.get("files"))
    changed = base.look(caller.root, began or None).changed
    if changed is None:
        return UNCOUNTED
    total = 0
    try:
        before = contents.at_base(caller.root, caller.state, began, list(changed))
        for path in changed:
            after = contents.now(caller.root, path)
            if b"\0" in (before[path].content or b"") + (after.content or b""):
                total += case.flow.small_change  # a binary has no lines, so nobody can tell that it is a small change
                continue
            total += sum(hunk.size for hunk in hunks.hunks_of(path, before[path], after))
    except NotMade:
        return UNCOUNTED
    return total


def gates_pass(gates: Sequence[Gate], tree: str) -> StepProof:
    """Say whether every gate passed on these files, or was let through. A missing gate is never a sign of bad faith."""
    if not gates:
        return StepProof(MISSING, f"no gate is pinned in this session: {PIN}")
    wrong = []
    for gate in gates:
        last = gate.last
        is_of_now = last is not None and (last.row.get("fingerprint") or last.tree) == tree
        if last is None or not is_of_now or not (last.passed or gate.allowed):
            wrong.append(gate.name)
    if wrong:
        return StepProof(MISSING, f"not seen to pass in this iteration on the files as they are: {listed(wrong)}")
    passed = [f"{gate.name} (pinned by the {gate.by})" for gate in gates]
    return StepProof(PRESENT, f"passed on the files as they are: {listed(passed)}")


def _why_no_gate(files: Files, case: Case) -> str | None:
    """Return why nobody has to pin a gate: a command of the user's or of the project's own is judged anyway, or no
    command could show anything."""
    for item in case.items:
        for check in item.mechanical:
            if check["type"] != "command":
                continue
            if case.is_confirmed:
                return f"the judgement runs {item.id}, which the user confirmed"
            if own_commands.where(files.root, case.base, check["argv"], check["cwd"]):
                return f"the judgement runs {item.id}, a check of the project's own"
    changed = base.look(files.root, read_base(case.started.get("files")) or None).changed
    which = kinds.Kinds()
    if changed and all(which.of(path) == kinds.NEITHER for path in changed):
        return "only documents were changed"
    return None


def _rows_since(caller: Caller, opened: CaseRow, since: str) -> list[SessionEvent]:
    """Return the pins of gates from the beginning on, and all else since the round was opened.

    By place in the ledger and by time, so that a clock which was set back brings nothing old in
    (tests/engine/test_steps.py, test_newer_than_leaves_out_what_was_seen_before). In another ledger,
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
