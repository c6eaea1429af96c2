"""What the user pinned, for a workflow that is about to call something closed: it runs, and passes or they let it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from omo.context import Context
from omo.errors import Refused
from omo.proof import base, gate_runs
from omo.proof.run import child_environment
from omo.work import gate_runner, gates, outcome
from omo.work.gates import Gate, GateRun
from omo.work.run import Caller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import LetThrough


@dataclass
class Held:
    """`exceptions` are pins that the user let through as they are; `not_yet` says of those that never passed in this
    run why they do not, while more of the work is to come; `passing` all others. `settled` need no other run: they ran
    just now, or do not pass on these very files."""

    passing: list[Gate] = field(default_factory=list)
    exceptions: list[LetThrough] = field(default_factory=list)
    not_yet: list[str] = field(default_factory=list)
    settled: list[str] = field(default_factory=list)

    @property
    def facts(self) -> list[str]:
        if not self.passing:
            return list(self.not_yet)
        names = ", ".join(gate.name for gate in self.passing)
        return [f"what the user pinned passes ({names})", *self.not_yet]


def hold(caller: Caller, *, is_last: bool) -> Held:
    """Refused where a pin of the user's does not pass. Before the last part of a work one that never passed may still
    fail: it can be what the whole is to bring."""
    held = Held()
    if not caller.session:
        return held
    known = gates.of_caller(caller)
    users = [gate for gate in known if gate.is_users]
    if not users:
        return held
    context = Context(os.environ, caller.root, caller.now, has_terminal=caller.by == "user")
    look = base.look(caller.root, known.base).without(known.left_out)
    env = gate_runs.environment_id(child_environment(os.environ))
    failing: list[tuple[Gate, str]] = []
    for gate in users:
        result = gate.result_on(look.tree, env)
        if result is None:
            result = GateRun(gate_runner.run_gates(context, caller.session, gate.name).results[0])
            held.settled.append(gate.name)
        if result.passed:
            held.passing.append(gate)
            continue
        held.settled.append(gate.name)
        failure = gate_runs.run_of(result.row).failure
        if gate.allowed is not None:
            held.exceptions.append(outcome.exception(f"gate {gate.name} {failure}", "user", "/omo:allow"))
        elif not is_last and not gate.has_passed:
            held.not_yet.append(f"gate {gate.name}, pinned by the user, {failure}")
        else:
            failing.append((gate, failure))
    caller.forget()
    if failing:
        raise _refusal(failing)
    return held


def _refusal(failing: list[tuple[Gate, str]]) -> Refused:
    names = [gate.name for gate, _ in failing]
    return Refused(
        f"what the user pinned does not pass on the files as they are, so nothing is closed: {', '.join(names)}",
        fix="mend what it says, then the same again; if no work here can: "
        f"omo gate record {names[0]} --pre-existing --evidence TEXT, which asks the user",
        defects=[f"gate {gate.name} {failure}" for gate, failure in failing],
    )
