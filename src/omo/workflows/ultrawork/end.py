"""What `omo ulw done` may say: the outcome of a run, from what its gates showed and what was let through."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from omo import settings
from omo.clock import seconds
from omo.errors import BadInput, Refused
from omo.proof import base, calls, experiment, gate_runs, kinds, verdicts
from omo.proof.gate_runs import WITHOUT
from omo.proof.typed_commands import is_newer
from omo.proof.verdicts import Experiment
from omo.text import clip, counted, listed
from omo.work import outcome, proving, task_documents, task_items
from omo.work.citations import not_looked_at
from omo.work.gates import Gate, GateRun, Gates
from omo.work.task_documents import LostLines
from omo.workflows.ultrawork.prove import Proof

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import Base, LetThrough, Outcome


MOST_NAMED = 8
MOST_TESTS = 3
MOST_ALLOWED = 40
ALLOWS = 'they type /omo:allow {0}; to ask them: omo ulw blocked --evidence TEXT --question "/omo:allow {0}?"'
BECAUSE = 'omo ulw done --because "why the work is done"'
NONE_MADE = Experiment("", "")


class WaitsForUser(Exception):
    """What stands in the way was pinned by the user, and only they let it through."""

    def __init__(self, gates: list[Gate]) -> None:
        super().__init__(_names(gates))
        self.gates = gates


@dataclass
class Finish:
    """One look at a run that is said to be finished."""

    proof: Proof
    other_gates: Callable[[Proof], list[str]]  # of the project's that may show the work, each with when
    armed_at: str
    because: str = ""
    skipping: str = ""
    unseen: Sequence[str] = ()  # what `because` cites, and nobody looked at
    began_with: str = ""  # what the user typed first, where they armed the run more than once
    asked: Sequence[SessionEvent] = ()  # what the user typed for the run
    exceptions: list[LetThrough] = field(default_factory=list)
    still_failing: list[Gate] = field(default_factory=list)  # as without the work; the agent gives its word beside them

    @cached_property
    def lost(self) -> list[LostLines]:
        """What is gone of the documents that the user named as the task."""
        return task_documents.lost(self.proof.subject.root, self.asked, self.gates.allowed_changes, self._base)

    def outcome(self) -> Outcome:
        """How the run ends. Raises Refused or WaitsForUser where it cannot end like this."""
        self._let_through_or_refuse()
        self._note_what_was_dropped(by_user=True)
        authorised = len(self.exceptions)  # somebody who may has let each of them through, and said why
        self._note_what_was_dropped(by_user=False)
        self._note_other_programs()
        self.exceptions += [outcome.damaged(outcome.ITS_LEDGER, row) for row in self.gates.repairs]
        # Whoever chooses when a run begins chooses what counts as before.
        began_itself = self._base.get("by") == "agent"
        proven = self._proven_gate()
        is_whole = len(self.exceptions) == authorised and not self.still_failing and not self.proof.tests_not_run
        is_whole = is_whole and not self.lost
        if proven is not None and not began_itself and is_whole:
            ended = outcome.finished(outcome.PROVEN, self._proven(proven), exceptions=self.exceptions)
            failing = self.proof.experiments[proven.name].runs[WITHOUT].failing
            return task_items.told_with(ended, self.asked, failing)
        doubts = self._doubts()
        if began_itself:
            doubts.append("the agent began the run itself")
        if not self.because and not self.skipping:
            raise self._refusal([*doubts, *(row["what"] for row in self.exceptions)])
        if self.unseen:
            doubts.insert(0, not_looked_at(self.unseen))
        said = [f"the agent says: “{clip(self.because, 200)}”"] if self.because else []
        return outcome.finished(outcome.ATTESTED, [], doubts, self.exceptions, said)

    @property
    def gates(self) -> Gates:
        return self.proof.gates

    @property
    def look(self) -> base.Look:
        return self.proof.look

    @property
    def _base(self) -> Base:
        return self.gates.base or {}

    def _experiment(self, gate: Gate) -> Experiment:
        return self.proof.experiments.get(gate.name, NONE_MADE)

    def _passes(self, gate: Gate) -> bool:
        """Return whether it passes, or fails by nothing but tests that the user allowed to fail."""
        ran, made = self.proof.results[gate.name], self._experiment(gate)
        if ran is None or made.verdict == verdicts.ENDED_EARLY:
            return False
        return ran.passed or bool(made.known_failures)

    def _fails_as_without(self, gate: Gate) -> bool:
        """Return whether only tests fail that fail without the work too. A gate of the user's is theirs to let be."""
        return bool(self._experiment(gate).still_failing) and not gate.is_users

    def _proven_gate(self) -> Gate | None:
        """The gate whose experiment held. None where the project's own tests, or what the user pinned, do not hold as
        they were: then no other gate proves anything."""
        for gate in self.gates:
            made = self._experiment(gate)
            is_pin = gate.is_users and experiment.names_what_fails(made, gate)
            if made.verdict in verdicts.TESTS_CHANGED and (is_pin or gate.name in self.proof.tests):
                return None
        for gate in self.gates:
            if self._experiment(gate).holds and self.proof.owners[gate.name] and self._passes(gate):
                return gate
        return None

    def _let_through_or_refuse(self) -> None:
        """Every gate passes on the files as they are, or somebody who may has let it through."""
        left = []
        for gate in self.gates:
            if self._passes(gate):
                continue
            ran = self.proof.results[gate.name]
            fails_here = ran is not None and ran.failed
            if self._fails_as_without(gate) and self.because:
                self.still_failing.append(gate)
            elif gate.allowed is not None:
                self._except(f"gate {gate.name} {self._state(gate)}", "user", "/omo:allow")
            elif gate.recorded is not None and fails_here and not gate.is_users:
                what = f"gate {gate.name} fails, as it did when the run began"
                self._except(what, str(gate.recorded.get("actor")), str(gate.recorded.get("evidence")))
            else:
                left.append(gate)
        if self.skipping:
            self._skip(left)
        elif left:
            raise self._not_all_hold(left)

    def _skip(self, left: list[Gate]) -> None:
        """--skip-verification goes over gates that could not be run, not over a failing one or a user's."""
        if not left:
            raise BadInput("--skip-verification: there is no gate left to skip", fix=BECAUSE)
        users, failing = [], []
        for gate in left:
            last = self.proof.results[gate.name] or gate.last
            if gate.is_users:
                users.append(gate)
            elif last is not None and last.failed:
                failing.append(gate)
        if users:
            raise WaitsForUser(users)
        if failing:
            raise Refused(
                f"--skip-verification does not go over a gate that fails: {_names(failing)}",
                fix="mend it; or omo gate record NAME --pre-existing --evidence TEXT, if it failed before the work",
            )
        for gate in left:
            self._except(f"gate {gate.name} {self._state(gate)}", "agent", self.skipping)

    def _not_all_hold(self, left: list[Gate]) -> Refused:
        fix = "mend what they say, then omo ulw done"
        if all(self._fails_as_without(gate) for gate in left):
            fix = f"mend them too; or, if they are no part of the task, on your word: {BECAUSE}"
        users = [gate for gate in left if gate.is_users and gate.has_failed]
        if users:
            fix += f'; the user pinned {_names(users)}: omo ulw done --skip-verification "why" asks them'
        elif failing := [gate.name for gate in left if gate.has_failed and not self._fails_as_without(gate)]:
            record = f"omo gate record {failing[0]} --pre-existing --evidence TEXT"
            fix += f"; a failure that was there before the work: {record}"
        is_of_project = not users and any(self.proof.owners[gate.name] for gate in left)
        if is_of_project and any(gate.is_users for gate in self.gates):  # "a target that fails as before, beside a pin"
            fix += f"; where the project is tested otherwise, the user says how in {settings.FILE}, for the next run"
        defects = [f"{gate.name}: {self._state(gate)}" for gate in left]
        if self.proof.gets_nowhere:
            defects.append("no command that the project's files name gets to its tests:")
            defects += self.proof.gets_nowhere
            fix += "; a command that does, the user pins: /omo:pin COMMAND"
        total = counted(len(self.gates), "gate")
        return Refused(
            f"{len(left)} of {total} {'does' if len(left) == 1 else 'do'} not hold on the files as they are",
            fix="; or ".join([fix, *self._to_allow()]),
            defects=defects,
        )

    def _state(self, gate: Gate) -> str:
        """Why a gate does not hold, in words; what passed on other files names them."""
        last = self.proof.results[gate.name] or gate.last
        if last is None:
            return "was not run in this run"
        made = self._experiment(gate)
        if made.verdict == verdicts.ENDED_EARLY or (last.failed and made.still_failing):
            return made.reason
        if not last.passed:
            also = [made.reason] if made.verdict in verdicts.MAY_BE_ALLOWED else []
            return "; ".join([gate_runs.run_of(last.row).failure, *also])
        if last.tree == self.look.tree:
            return "passed with other variables (PATH, HOME, TZ …) than this command has"
        if last.changed is None or self.look.changed is None:
            return "passed, but the files have changed since"
        return f"passed, but since then changed: {listed(base.differing(last.changed, self.look.changed))}"

    def _except(self, what: str, by: str, why: str) -> None:
        self.exceptions.append(outcome.exception(what, by, clip(why, 200)))

    def _note_what_was_dropped(self, *, by_user: bool) -> None:
        passing = [calls.call_of(gate.argv, gate.cwd) for gate in self.gates if self._passes(gate)]
        for gate, by in self.gates.dropped:  # `python3 -m pytest` is `pytest`, called otherwise
            is_missed = calls.call_of(gate.argv, gate.cwd) not in passing and not all(map(_ran_nothing, gate.results))
            if is_missed and (by == "user") == by_user:
                self._except(f"gate {gate.name} ({clip(shlex.join(gate.argv), 80)}) failed", by, "it was removed")

    def _note_other_programs(self) -> None:
        """A pin means the program it was pinned with, and the home directory the run was armed in."""
        try:
            armed_at = seconds(self.gates.began_at or self.armed_at)
        except ValueError:
            armed_at = 0.0  # a row that was edited: every program is newer
        for gate in self.gates:
            ran = self.proof.results[gate.name]
            program = ran.program if ran is not None else ""
            if program and program != gate.program and is_newer(program, armed_at):
                rows = [each.row for each in gate.results]
                if not gate_runs.has_installed(self.proof.subject, gate, program, rows):
                    what = f"gate {gate.name} ran {clip(program, 120)}, which is newer than the run"
                    self._except(what, "agent", f"it was pinned with {clip(gate.program or 'no such program', 120)}")
            if replaced := gate_runs.replaced_programs(self.proof.subject, gate):
                what = f"gate {gate.name} ran with {listed(replaced, MOST_NAMED)}"
                self._except(what, "agent", "replaced since the run began")
        armed_home = self._base.get("home")
        if armed_home and any(map(self._passes, self.gates)) and armed_home != base.home_of(self.proof.subject.environ):
            what = "the gates ran with another HOME than the session has"
            self._except(what, "agent", "it was given with the command")

    def _proven(self, gate: Gate) -> list[str]:
        made = self.proof.experiments[gate.name]
        known = [each.known_failures for each in self.proof.experiments.values()]
        known_failures = sorted(set().union(*known))
        facts = [proving.sentence(f"gate {gate.name}", gate, self.proof.owners[gate.name], made, known_failures)]
        others = [each.name for each in self.gates if each is not gate and self._passes(each)]
        if others:
            facts.append(f"{', '.join(others[:MOST_NAMED])} {'passes' if len(others) == 1 else 'pass'} too")
        if self.began_with:  # "another wish, and a bare ulw": what they asked in between is none of it
            facts.append(f"the run began with “{clip(self.began_with, 80)}”")
        return [*facts, *proving.allowed_notes(self.proof.subject)]

    def _doubts(self) -> list[str]:
        doubts = [f"gate {gate.name} fails: {self._experiment(gate).reason}" for gate in self.still_failing]
        doubts += map(str, self.lost)
        if not len(self.gates):
            doubts.append("no gate was pinned")
        if self.look.changed == {}:
            doubts.append(proving.NO_FILE)
        if self.look.changed is None:
            doubts.append(self.look.unknown_in_words)
        for gate in list(self.gates)[:MOST_NAMED]:
            made = self._experiment(gate)
            if not self._passes(gate):
                continue
            if not self.proof.owners[gate.name]:
                doubts.append(f"gate {gate.name} passes, and the agent chose it")
            elif not made.reason:
                doubts.append(f"gate {gate.name} passes")
            elif made.holds:
                doubts.append(f"gate {gate.name} {made.reason}")
            elif self.look.changed:
                doubts.append(f"gate {gate.name} passes; {made.reason}")
            doubts += made.notes
        if before := self._done_before():
            doubts.append(f"what was in no commit when the run began is not its work: {listed(before, 6)}")
        if self.proof.tests_not_run:
            doubts.append(self.proof.tests_not_run)
        if rest := self._changed_and_not_tried():
            doubts.append(f"changed, and not held against what they were: {listed(rest, 6)}")
        return [*doubts, *proving.allowed_notes(self.proof.subject)]

    def _done_before(self) -> list[str]:
        """Work that was in no commit when the run began, where nothing shows that the run did anything: whoever says
        ulw in the middle of the work has done some before it ("mended before the run began")."""
        has_shown = bool(len(self.gates) and self.look.changed)
        if came_of_it := {made.verdict for made in self.proof.experiments.values()}:
            has_shown = not came_of_it <= {*verdicts.SHOWS_NO_RED, verdicts.FLAKY, verdicts.NO_WORK}
        if has_shown or not self._base.get("head"):
            return []
        which = kinds.Kinds()
        left = self._base["files"].keys() - (self.look.changed or {}).keys()
        return sorted(path for path in left if which.of(path) == kinds.WORK)

    def _changed_and_not_tried(self) -> list[str]:
        """The changed tests, configuration and data, where no experiment was made with them as they were: a later run
        begins with them ("weakened in a run that ends on the agent's word, the next one proven")."""
        made = list(self.proof.experiments.values())
        if any(each.verdict != verdicts.NOT_MADE for each in made):
            return []
        which = kinds.Kinds()
        changed = {path for path in self.look.changed or () if which.of(path) == kinds.REST}
        return sorted(changed.union(*(each.changed_rest for each in made)))

    def _refusal(self, doubts: Sequence[str]) -> Refused:
        """The ways on: what would count, what the user can allow, and how to finish on the agent's word."""
        ways = []
        made = list(self.proof.experiments.values())
        has_changes = self.look.changed != {}  # else nothing can be shown
        if has_changes and not any(self.proof.owners.values()):
            ways += self._gate_that_counts()
        if any(each.verdict == verdicts.NOT_BUILT for each in made):
            ways.append("a gate that builds it first would show it: the user types /omo:pin tests -- BUILD && TESTS")
        elif any(each.verdict in verdicts.SHOWS_NO_RED for each in made):
            ways.append("a test that fails without the work would show it; then omo ulw done again")
        if any(each.verdict == verdicts.FLAKY for each in made):
            ways.append("mend what fails now and then, also if it did before the work; then omo ulw done again")
        ways += [f"{way}; then omo ulw done again" for way in self.other_gates(self.proof)]
        what = "nothing that omo saw proves the work"
        if self.lost:
            what = "it is not called proven with a shorter task"
            names = shlex.join([each.path for each in self.lost])
            ways.append(f"put the lines back, ticked or not; then omo ulw done again; or {ALLOWS.format(names)}")
        ways += self._to_allow()
        ways.append(f"to finish as it is, on your word: {BECAUSE}")
        return Refused(f"{what}: {'; '.join(doubts) or 'no gate shows it'}", fix="; or ".join(ways))

    def _gate_that_counts(self) -> list[str]:
        """Where there is none, or the agent chose all of them."""
        if self.proof.tests:
            remove = f"omo gate remove {self.proof.tests[0]}"
            return [f"{remove}; then omo ulw done runs the tests as the project names them"]
        # Past these no other counts, and it says what to do: "the program of the project's tests is not installed".
        if self.proof.tests_not_run:
            return []
        adding = "omo gate add NAME -- COMMAND, if"
        if self.proof.subject.changed_documents_alone:
            return [f"{adding} a command shows it"]
        users = "one that the user pins would count: /omo:pin COMMAND"
        if not self._base.get("head"):
            return [f"{base.why_no_commit(self._base)}; {users}"]
        unknown = "no test command of the project's is known"
        if len(self.gates):
            return [f"{unknown}; {users}"]
        return [f"{unknown}; {adding} the project names another that shows the work", users]

    def _to_allow(self) -> list[str]:
        for made in self.proof.experiments.values():
            named = made.to_allow or made.changed_rest[:1]
            if made.verdict == verdicts.FAILS and made.to_allow:
                return [f"if the user lets what fails be, {ALLOWS.format(shlex.join(named[:MOST_ALLOWED]))}"]
            if made.verdict in verdicts.MAY_BE_ALLOWED and named:
                return [f"if the user wants this change, {ALLOWS.format(shlex.join(named[:MOST_ALLOWED]))}"]
        return []


def _ran_nothing(ran: GateRun) -> bool:
    """Whether its runner says so: "honest: a gate with a wrong path, removed"."""
    run = gate_runs.run_of(ran.row)
    return run.ran_nothing and not run.failing


def _names(gates: Sequence[Gate]) -> str:
    return ", ".join(gate.name for gate in gates)
