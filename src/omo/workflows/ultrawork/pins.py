"""What the user pinned, for a workflow that is about to call something closed: it runs, and passes or they let it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from omo.context import Context
from omo.errors import Refused
from omo.proof import base, gate_runs
from omo.proof.run import child_environment
from omo.work import outcome
from omo.work.run import Caller
from omo.workflows.ultrawork import gates, runs
from omo.workflows.ultrawork.gates import Gate, GateRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import LetThrough


@dataclass(frozen=True)
class Held:
    """`exceptions` are pins that the user let through as they are; `not_yet` says of those that never passed in this
    run why they do not, while more of the work is to come; `passing` all others. `settled` need no other run: they ran
    just now, or do not pass on these very files."""

    passing: Sequence[Gate] = field(default_factory=list)
    exceptions: Sequence[LetThrough] = field(default_factory=list)
    not_yet: Sequence[str] = field(default_factory=list)
    settled: Sequence[str] = field(default_factory=list)

    @property
    def facts(self) -> list[str]:
        if not self.passing:
            return list(self.not_yet)
        names = ", ".join(gate.name for gate in self.passing)
        verb = "passes" if len(self.passing) == 1 else "pass"
        return [f"{names}, pinned by the user, {verb}", *self.not_yet]


def hold(caller: Caller, *, is_last: bool) -> Held:
    """Refused where a pin of the user's does not pass. Before the last part of a work one that never passed may still
    fail: it can be what the whole is to bring."""
    if not caller.session:
        return Held()
    rows = caller.session_rows
    known = gates.current(caller.state, caller.session, rows.get(caller.session), rows)
    if not any(gate.is_users for gate in known):
        return Held()
    context = Context(os.environ, caller.root, caller.now, has_terminal=caller.by == "user")
    look = base.look(caller.root, known.base).without(known.left_out)
    env = gate_runs.environment_id(child_environment(os.environ))
    passing: list[Gate] = []
    exceptions: list[LetThrough] = []
    not_yet: list[str] = []
    failing: list[tuple[Gate, str]] = []
    settled: list[str] = []
    for gate in known:
        if not gate.is_users:
            continue
        result = gate.result_on(look.tree, env)
        if result is None:
            result = GateRun(runs.run_gates(context, caller.session, gate.name).results[0])
            settled.append(gate.name)
        if result.passed:
            passing.append(gate)
            continue
        settled.append(gate.name)
        failure = gate_runs.run_of(result.row).failure
        if gate.allowed is not None:
            exceptions.append(outcome.exception(f"gate {gate.name} {failure}", "user", "/omo:allow"))
        elif not is_last and not gate.has_passed:
            not_yet.append(f"gate {gate.name}, pinned by the user, {failure}")
        else:
            failing.append((gate, failure))
    caller.forget()
    if failing:
        raise _refusal(failing)
    return Held(passing, exceptions, not_yet, settled)


def _refusal(failing: list[tuple[Gate, str]]) -> Refused:
    names = ", ".join(gate.name for gate, _ in failing)
    first = failing[0][0].name
    verb = "does" if len(failing) == 1 else "do"
    return Refused(
        f"the user pinned {names}, which {verb} not pass on the files as they are, so nothing is closed",
        fix="mend what it says, then the same again; if no work here can: "
        f"omo gate record {first} --pre-existing --evidence TEXT, which asks the user",
        defects=[f"gate {gate.name} {failure}" for gate, failure in failing],
    )
