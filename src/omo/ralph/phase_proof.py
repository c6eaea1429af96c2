"""Which facts prove which phase of an iteration. Pure: the facts are gathered in `exec_gate`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from omo.shown import clip, counted

# In the order in which they have to happen. IMPL is also proven by a changed tree, SHIP by the session's gates alone.
PROVEN_BY: dict[str, str | None] = {
    "PLAN": "omo:planner",
    "IMPL": "omo:executor",
    "VERIFY": "omo:qa",
    "REFINE": "omo:critic",
    "SHIP": None,
}
PHASES = tuple(PROVEN_BY)
# What the user may do without. Nothing can do without work.
REDUCIBLE = ("PLAN", "VERIFY", "REFINE", "SHIP")
REMEDIES = {
    "PLAN": "let omo:planner plan what is open",
    "IMPL": "let omo:executor carry it out, or change the files yourself",
    "VERIFY": "let omo:qa try to break what is there now",
    "REFINE": "let omo:critic look at what QA left, and mend what it finds",
    "SHIP": "run every gate on the files as they are now: omo gate run (none pinned yet: omo gate add NAME -- COMMAND)",
}
PIN = "omo gate add NAME -- COMMAND, or the user's /omo:pin"
RUN = "then omo gate run"
SHELLS = ("sh", "bash", "dash", "zsh")
HOLLOW = ("true", ":", "exit 0", "test 1", "[ 1 ]", "test 1 = 1", "test -d .", "test -e .")
PRINTERS = ("echo", "printf", "true", ":", "sleep")
BEFORE = "before omo ralph phase IMPL was noted on changed files, so nothing shows that it saw the work"
LOOK_AGAIN = {
    "VERIFY": "omo ralph phase IMPL, then let omo:qa try to break what is there now",
    "REFINE": "then let omo:critic look at what QA left",
}
SMALL_CHANGE = 50  # lines; REFINE may be left out below it

PRESENT, MISSING, SKIPPED, REDUCED = "present", "missing", "skip-recorded", "reduced"


@dataclass(frozen=True)
class Finish:
    """An agent of ours that the host saw finish with something to say; `seq` is its row of the session's ledger."""

    agent: str
    seq: int
    at: str


@dataclass(frozen=True)
class GateSeen:
    """A pinned gate and what its newest run of this iteration said; `result` is empty where it was not run."""

    name: str
    by: str
    result: str = ""
    tree: str = ""
    accepted: bool = False  # the user let it through
    argv: tuple[str, ...] = ()

    @property
    def is_hollow(self) -> bool:
        """Pinned by an agent, and it cannot fail."""
        return self.by != "user" and cannot_fail(self.argv)


@dataclass(frozen=True)
class Facts:
    """What the host and omo saw since the iteration began.

    `is_changed`: files of the project are others than then; `worked_at`: when IMPL was noted on such files, empty where
    it was not. `recorded` has the phases that were noted as over,
    `skips` the reasons for leaving one out.
    """

    agents: Sequence[Finish] = ()
    gates: Sequence[GateSeen] = ()
    tree: str = ""
    is_changed: bool = False
    worked_at: str = ""
    recorded: frozenset[str] = frozenset()
    skips: Mapping[str, str] = field(default_factory=dict)
    changed_lines: int = 0
    reduced_scope: str = ""

    def finishes(self, phase: str, after: int = 0) -> list[Finish]:
        return [one for one in self.agents if one.agent == PROVEN_BY[phase] and one.seq > after]

    @property
    def planned(self) -> int:
        """The row after which work counts as planned; 0 where nobody planned."""
        return min((one.seq for one in self.finishes("PLAN")), default=0)


@dataclass(frozen=True)
class Proof:
    """`is_honest`: what is missing is a note, a gate or a second look, not the work. `fix` is what helps, if not the
    phase itself.
    """

    status: str
    said: str
    is_honest: bool = False
    fix: str = ""


def proofs(facts: Facts) -> dict[str, Proof]:
    """One for each phase, in order."""
    return {phase: _with_record(phase, RULES[phase](facts), facts) for phase in PHASES}


def checks(facts: Facts) -> list[dict[str, Any]]:
    """The same, as they are shown."""
    return [{"phase": phase, "status": one.status, "proof": one.said} for phase, one in proofs(facts).items()]


def _with_record(phase: str, proof: Proof, facts: Facts) -> Proof:
    """The fact decides; but a phase that nobody noted as over is not over."""
    if proof.status == PRESENT and phase not in facts.recorded:
        note = f"omo ralph phase {phase}"
        proof = Proof(MISSING, f"{proof.said}, and it was never recorded: {note}", is_honest=True, fix=note)
    if proof.status == MISSING and facts.reduced_scope and phase in REDUCIBLE:
        return Proof(REDUCED, f"the run was started with less: {clip(facts.reduced_scope, 200)}")
    return proof


def _plan(facts: Facts) -> Proof:
    return _seen(facts.finishes("PLAN")[:1], "no omo:planner finished in this iteration")


def _impl(facts: Facts) -> Proof:
    if seen := facts.finishes("IMPL", after=facts.planned):
        return _seen(seen[-1:], "")
    if facts.is_changed:
        return Proof(PRESENT, "the files are others than at omo ralph exec")
    if facts.finishes("IMPL"):
        return Proof(MISSING, "omo:executor finished before omo:planner, and no file is other than at omo ralph exec")
    return Proof(MISSING, "no omo:executor finished in this iteration, and no file is other than at omo ralph exec")


def _verify(facts: Facts) -> Proof:
    work = [one.seq for one in facts.finishes("IMPL")]
    seen = facts.finishes("VERIFY", after=max([facts.planned, *work]))
    if seen and _is_before_work(seen[-1], facts):
        return Proof(MISSING, f"omo:qa finished, but {BEFORE}", is_honest=True, fix=LOOK_AGAIN["VERIFY"])
    if not seen and facts.finishes("VERIFY"):
        return Proof(MISSING, f"omo:qa finished, but {'omo:executor' if work else 'omo:planner'} after it")
    return _seen(seen[-1:], "no omo:qa finished in this iteration")


def _is_before_work(one: Finish, facts: Facts) -> bool:
    """Where only changed files show the work, nobody looked at it who finished before they were noted as changed."""
    if not facts.is_changed or facts.finishes("IMPL", after=facts.planned):
        return False
    return not facts.worked_at or one.at <= facts.worked_at


def _refine(facts: Facts) -> Proof:
    """After a QA of work: what the refinement changed is for QA again, not for another refinement."""
    first_work = min((one.seq for one in facts.finishes("IMPL", after=facts.planned)), default=facts.planned)
    verified = [one.seq for one in facts.finishes("VERIFY", after=first_work) if not _is_before_work(one, facts)]
    both = facts.finishes("VERIFY", after=first_work) and facts.finishes("REFINE", after=first_work)
    if both and not verified and not facts.skips.get("REFINE"):
        return Proof(MISSING, f"omo:critic finished, but {BEFORE}", is_honest=True, fix=LOOK_AGAIN["REFINE"])
    seen = facts.finishes("REFINE", after=min(verified)) if verified else []
    if seen or not facts.skips.get("REFINE"):
        early = "omo:critic finished before omo:qa" if facts.finishes("REFINE") else ""
        return _seen(seen[-1:], early or "no omo:critic finished in this iteration, and no reason to skip is recorded")
    reason, lines = clip(facts.skips["REFINE"], 200), counted(facts.changed_lines, "changed line")
    if facts.changed_lines >= SMALL_CHANGE:
        return Proof(
            MISSING,
            f"skipped ({reason}), but there are {lines} now and {SMALL_CHANGE} are too many to skip",
            is_honest=True,
        )
    return Proof(SKIPPED, f"{lines}: {reason}")


def _ship(facts: Facts) -> Proof:
    """A gate that an agent pinned and that cannot fail is none. A gate is never a sign of bad faith."""
    if not facts.gates:
        return Proof(MISSING, f"no gate is pinned in this session: {PIN}", is_honest=True, fix=f"{PIN}; {RUN}")
    real = [gate for gate in facts.gates if not gate.is_hollow]
    if not real:
        named = clip(", ".join(gate.name for gate in facts.gates), 200)
        told = f"what the agent pinned cannot fail, so it proves nothing: {named}"
        return Proof(MISSING, told, is_honest=True, fix=f"one that fails for broken work: {PIN}; {RUN}")
    wrong = [f"{clip(gate.name, 60)} {why}" for gate in real if (why := _open(gate, facts.tree))]
    if wrong:
        return Proof(MISSING, f"gates: {clip(', '.join(wrong), 300)}", is_honest=True)
    named = ", ".join(f"{clip(gate.name, 60)} (pinned by the {clip(gate.by, 20)})" for gate in real)
    return Proof(PRESENT, f"passed on the files as they are: {clip(named, 300)}")


def cannot_fail(argv: Sequence[str]) -> bool:
    """The plainest commands that only ever exit 0, also inside a shell. Others are for people to see through."""
    words = list(argv)
    if len(words) == 3 and _name(words[0]) in SHELLS and re.fullmatch(r"-\w*c", words[1]):
        words = re.split(r"[;\n]|\|\|", words[2].strip(" ;\n"))[-1].split() if "set -" not in words[2] else []
    first = _name(words[0]) if words else ""
    return " ".join([first, *words[1:]]) in HOLLOW or (first in PRINTERS and "&&" not in words)


def _name(program: str) -> str:
    return program.rsplit("/", 1)[-1]


def _open(gate: GateSeen, tree: str) -> str:
    """Why a gate proves nothing; empty where it does."""
    if not gate.result:
        return "was not run in this iteration"
    if gate.tree != tree:
        return "ran on other files than these"
    if gate.result == "pass" or (gate.result == "fail" and gate.accepted):
        return ""
    return f"says {clip(gate.result, 20)}"


def _seen(found: Sequence[Finish], otherwise: str) -> Proof:
    if not found:
        return Proof(MISSING, otherwise)
    one = found[0]
    return Proof(PRESENT, f"{one.agent} finished at {one.at} (row {one.seq} of the session's ledger)")


RULES = {"PLAN": _plan, "IMPL": _impl, "VERIFY": _verify, "REFINE": _refine, "SHIP": _ship}
