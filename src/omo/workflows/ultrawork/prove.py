"""What `omo ulw done` runs before it says anything: the gates that nobody saw on these files, and the experiment."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property

from omo.context import Context
from omo.proof import base, experiment, form, gate_runs, own_commands, trying, typed_commands, verdicts
from omo.proof.gate_runs import CommandRun
from omo.proof.project_checks import BUILD, TASKS, Check
from omo.proof.run import child_environment
from omo.proof.typed_commands import command_id
from omo.proof.verdicts import Experiment
from omo.state import paths
from omo.text import clip
from omo.work import gate_runner, requests, session
from omo.work.gates import FoundGates, Gate, GateRun, Gates, SessionGates, pin_line
from omo.work.proving import tests_in_words
from omo.work.status import BY_USER

MOST_ROUNDS = 3
BUILT_APART = (TASKS, "node")  # in other languages whoever runs the tests builds


@dataclass
class Proof:
    """What a session's gates showed on the files as they are. `tests_not_run` says why the project's own tests did not
    run; it is empty where they did, or where there are none."""

    gates: Gates
    look: base.Look
    whole: base.Look  # with what gates' own runs have written
    subject: gate_runs.Subject  # the same files, for the experiment
    number_of_rows: int  # of the ledger, by which this is known
    # Each by the name of a gate: whose it is, empty where the agent chose it; what it said of exactly these files, with
    # the variables that a command has here; and what came of its experiment.
    owners: dict[str, str] = field(default_factory=dict)
    results: dict[str, GateRun | None] = field(default_factory=dict)
    experiments: dict[str, Experiment] = field(default_factory=dict)
    tests_not_run: str = ""
    gets_nowhere: list[str] = field(default_factory=list)  # of the project's commands for its tests, why none does
    submodule: str = ""  # that was changed: no gate can be tried without that
    tests: list[str] = field(default_factory=list)  # the gates that run the project's own tests

    def is_of(self, known: Gates, whole: base.Look, number_of_rows: int) -> bool:
        """Return whether nothing has come since."""
        return self.gates is known and self.whole is whole and self.number_of_rows == number_of_rows


class Prover:
    """Runs the gates and experiments of which nothing is known on these files, and remembers what came of them."""

    def __init__(self, context: Context, pinned: SessionGates, *, makes: bool, runs_gates: bool = True) -> None:
        self.context = context
        self.pinned = pinned
        self.makes = makes  # runs on swapped files; an agent that gives its word asks for none
        self.runs_gates = runs_gates  # False where the agent says that one cannot be run
        self._experiments: dict[tuple[str, str], Experiment] = {}  # by command and tree
        self._owners: dict[str, str] = {}  # by command
        self._covered: dict[tuple[str, bool, str], bool] = {}  # by both commands, and whether the first is the user's
        self._ran: set[str] = set()  # names of gates
        self._whole: base.Look | None = None  # the files as they were last seen, if nothing has run since
        self._looked: Proof | None = None
        self._chain = pinned.chain
        self._environ = child_environment(os.environ)
        self._env = gate_runs.environment_id(self._environ)

    def proof(self) -> Proof:
        """What was shown on files that no run has changed: after a gate that formats them, all is asked once more. So
        it is if the user typed something meanwhile, by which another verdict may come of the same runs."""
        self._whole = None
        for _ in range(MOST_ROUNDS):
            if self._chain is not self.pinned.chain:
                self._chain = self.pinned.chain
                self._experiments.clear()
                self._forget_tests()
            tests_not_run = self._pin_project_tests()
            tree = self._look().look.tree
            proof = self._round()
            proof.tests_not_run = tests_not_run
            gates_before = [gate.command for gate in proof.gates]
            proof.gets_nowhere = self._settle_tests()
            is_settled = gates_before == [gate.command for gate in self.pinned.known]
            if proof.look.tree == tree and is_settled and self._chain is self.pinned.chain:
                break
        return proof

    def other_gates(self, proof: Proof) -> list[str]:
        """Return the project's other gates that may show the work, each with when."""
        others = self._gate_of_form(proof)
        if any(made.verdict in verdicts.SHOWS_NO_RED for made in proof.experiments.values()):
            others += self._gate_with_build(proof)
        return others

    def _round(self) -> Proof:
        before = self._look()
        for gate in self._failing(before):
            # The files are the same, but what made it fail need not have been one: "a gate that asks git, committed
            # after it failed". If it passes by now, more can be proven.
            if self.runs_gates and gate.name not in self._ran:
                self._run(gate)
        known = self._look()
        proving = self._proving(known)
        for gate in known.gates:
            if gate not in proving:  # first these, since they may write what the others read
                self._run_unseen(known, gate)
        tried = self._look()
        self._make_experiments(tried)
        between = self._look()
        for gate in between.gates:  # the experiments may have written as well
            self._run_unseen(between, gate)
        after = self._look()
        after.experiments = tried.experiments
        after.tests = [gate.name for gate in after.gates if self._covers_tests(after, gate)]
        return after

    def _settle_tests(self) -> list[str]:
        """Find by trying which commands get to the project's tests, where that is not known, and pin these. Return a
        line for each that was tried in vain."""
        if not (self.makes and self.runs_gates) or self._look().subject.changed_documents_alone:
            return []
        in_vain: list[str] = []
        for check in [check for check in self._tests if check.instead]:
            settled = self._settled(check)
            if settled is not None and settled.gets_nowhere:
                in_vain += settled.lines
        self._forget_tests()  # they are named anew, by what was found
        return in_vain

    def _forget_tests(self) -> None:
        self.__dict__.pop("_tests", None)

    def _settled(self, check: Check) -> trying.Settled | None:
        """Have the gate that stands for the check give way if it does not get to the tests. None where the user pinned
        one, or where it passes."""
        proof = self._look()
        covering = [gate for gate in proof.gates if self._covers(gate, check, proof)]
        if proof.submodule or any(gate.is_users for gate in covering):
            return None
        if not covering:
            program = self._program_of(check.argv, check.cwd)
            if program is None:
                settled, _ = trying.find(proof.subject, check)
                if settled.check.argv != check.argv:
                    self._add_gate(self._name_for(check, proof), settled.check)
                return settled
            return None
        gate = covering[0]
        result = proof.results[gate.name]
        if result is None:
            return None
        ran = gate_runs.run_of(result.row)
        if ran.result == "pass":
            trying.keep(proof.subject, check, gate.argv)
            return None
        if gate.argv == check.argv:
            settled = trying.settle(proof.subject, check, ran)
        elif trying.Try(check, ran).gets_to_all:
            return None
        else:
            settled, _ = trying.find(proof.subject, check)
        self._whole = None
        if settled.check.argv not in (check.argv, gate.argv):
            self._add_gate(gate.name, settled.check, gave_way=True)
        return settled

    def _add_gate(self, name: str, check: Check, *, gave_way: bool = False) -> None:
        program = self._program_of(check.argv, check.cwd)
        self.pinned.add(name, check.argv, cwd=check.cwd, program=program, gave_way=gave_way)

    def _name_for(self, check: Check, proof: Proof) -> str:
        taken = {gate.name: gate.argv for gate in proof.gates}
        return typed_commands.name_for(check.argv, taken) if check.name in taken else check.name

    def _make_experiments(self, proof: Proof) -> None:
        proving = self._proving(proof)
        # Past a gate that fails nothing is proven, so no file is swapped for it, unless its tests are known by name.
        if not all(gate.last is not None and gate.last.names_are_whole for gate in self._failing(proof)):
            return
        for gate in proving:
            made = proof.experiments[gate.name] = self._experiment(proof, gate)
            is_of_tests = not self._tests or self._covers_tests(proof, gate)
            if made.holds and (is_of_tests or form.is_form(gate.argv)):
                break
        for gate in [gate for gate in self._failing(proof) if gate in proving and gate.name not in proof.experiments]:
            proof.experiments[gate.name] = self._experiment(proof, gate)
        self._hold_tests_as_they_were(proof)

    def _gate_of_form(self, proof: Proof) -> list[str]:
        """The project's linter or type checker, only where the user spoke of it: nobody else is led to prove a task by
        a finding that has nothing to do with it."""
        run = session.run_of(self.pinned.row) or ""
        task = "\n".join(requests.of_run(self.pinned.rows, session.KIND, run)).lower()
        for check in self._found(proof):
            names = [check.name.rstrip("s"), *form.CHECKERS.intersection(check.argv)]
            is_meant = any(name in task for name in names)
            if form.is_form(check.argv) and is_meant and not self._has_gate(check, proof):
                return [f"if the work is for what it looks at: {pin_line(check, self._here)}"]
        return []

    def _gate_with_build(self, proof: Proof) -> list[str]:
        """The project's own build before its tests, if no gate builds: what was built with the work stays, so that the
        tests pass without it ("tests of what is built, with the build that the refusal names")."""
        for build in self._found(proof):
            if build.kind != BUILD or build.language not in BUILT_APART:
                continue
            for tests in self._tests:
                if tests.cwd == build.cwd and not self._has_gate(build, proof):
                    line = f"{typed_commands.typed(build.argv)} && {typed_commands.typed(tests.argv)}"
                    both = Check(["sh", "-c", line], tests.file, tests.language, tests.kind)
                    both.name, both.cwd = tests.name, tests.cwd
                    return [f"if the tests run what is built from it: {pin_line(both, self._here)}"]
        return []

    @property
    def _here(self) -> str:
        return paths.session_directory(self.context.environ, self.context.cwd)

    def _found(self, proof: Proof) -> list[Check]:
        return FoundGates(self.context.root, self.context.state, self._here, self.pinned.row, proof.gates).checks

    def _hold_tests_as_they_were(self, proof: Proof) -> None:
        """Where another gate proves, and nobody has seen the tests, or what the user pinned, pass with the old tests,
        they are run here: "the test emptied, while the linter proves", "the failing test cut out of the file that the
        linter proves", "half, a second pin passes by its settings"."""
        if not any(made.holds for made in proof.experiments.values()):
            return
        for gate in proof.gates:
            made = proof.experiments.get(gate.name)
            has_shown = made is not None and (made.holds or made.verdict in verdicts.TESTS_CHANGED)
            is_seen = has_shown or (made is not None and not made.changed_rest)
            covers_tests = self._covers_tests(proof, gate)
            if is_seen or not (gate.is_users or covers_tests):
                continue
            self._whole = None
            if weak := experiment.weakened(proof.subject, gate, by_name=not covers_tests):
                proof.experiments[gate.name] = weak

    def _proving(self, proof: Proof) -> list[Gate]:
        """The gates by which something can be proven, those of tests first. A command of the project's own that runs a
        part of its tests proves nothing: a test could have been weakened in the other part."""
        proving = []
        for gate in proof.gates:
            is_whole = not self._tests or form.is_form(gate.argv) or self._covers_tests(proof, gate)
            if gate.is_users or (proof.owners[gate.name] and is_whole):
                proving.append(gate)
        return sorted(proving, key=lambda gate: (form.is_form(gate.argv), not gate.is_users))

    def _look(self) -> Proof:
        """What is known of the gates; and of the files, which are looked at again only if something has run."""
        known = self.pinned.known
        if self._whole is None:
            self._whole = base.look(self.context.root, known.base)
        if self._looked is not None and self._looked.is_of(known, self._whole, len(self.pinned.rows)):
            return self._looked
        subject = gate_runner.subject_of(self.context, known, self._whole, self._environ, makes=self.makes)
        proof = Proof(known, self._whole.without(known.left_out), self._whole, subject, len(self.pinned.rows))
        for path in proof.look.changed or ():
            if os.path.isfile(os.path.join(self.context.root, path, ".git")):
                proof.submodule = path
        for gate in known:
            proof.owners[gate.name] = self._owner(gate)
            proof.results[gate.name] = gate.result_on(proof.look.tree, self._env)
        self._looked = proof
        return proof

    def _owner(self, gate: Gate) -> str:
        if gate.is_users:
            return BY_USER
        if gate.command not in self._owners:
            head = (self.pinned.known.base or {}).get("head")
            self._owners[gate.command] = own_commands.owner(self.context.root, head, gate.argv, gate.cwd)
        return self._owners[gate.command]

    @cached_property
    def _tests(self) -> list[Check]:
        """The project's own tests as its files named them when the run began."""
        known = self.pinned.known
        whole = self._whole or base.look(self.context.root, known.base)
        return known.project_tests(self.context.root, self.context.state, self._here, whole)

    def _covers(self, gate: Gate, check: Check, proof: Proof) -> bool:
        key = (gate.command, gate.is_users, command_id(check.argv, check.cwd))
        if key not in self._covered:
            head = (proof.gates.base or {}).get("head")
            is_users = gate.is_users
            covers = own_commands.covers(self.context.root, head, gate.argv, gate.cwd, check, is_users=is_users)
            self._covered[key] = covers
        return self._covered[key]

    def _covers_tests(self, proof: Proof, gate: Gate) -> bool:
        return any(self._covers(gate, check, proof) for check in self._tests)

    def _has_gate(self, check: Check, proof: Proof) -> bool:
        return any(self._covers(gate, check, proof) for gate in proof.gates)

    def _pin_project_tests(self) -> str:
        """Nothing is proven past the project's own tests, so they become gates, unless only documents were changed. An
        end on the agent's word only says that they were not run. Why one of them is not run; empty where all are."""
        proof = self._look()
        if self.makes and proof.subject.changed_documents_alone:
            return ""
        not_run = ""
        if proof.submodule:
            what = f"{clip(proof.submodule, 80)} is a repository of its own, as a submodule or a worktree is"
            not_run = f"{what}, and omo does not swap it: prove the work in a clone, or take it away"
        for check in [check for check in self._tests if not self._has_gate(check, proof)]:
            tests = tests_in_words(check.argv)
            if not self.makes:
                not_run = f"{tests} were not run"
            elif self._program_of(check.argv, check.cwd) is None:
                missing = f"there is no {check.argv[0]}: install it, or prove the work where it is"
                not_run = f"{tests} cannot be started here: {missing}"
            else:
                self._add_gate(self._name_for(check, proof), check)
                proof = self._look()
        return not_run

    def _program_of(self, argv: list[str], cwd: str) -> str | None:
        return typed_commands.resolve(argv[0], os.path.join(self.context.root, cwd), os.environ.get("PATH", ""))

    def _failing(self, proof: Proof) -> list[Gate]:
        """The gates that fail on these files and were not let through."""
        failing = []
        for gate in proof.gates:
            ran = proof.results[gate.name]
            if ran is not None and ran.failed and not gate.allowed and not gate.recorded:
                failing.append(gate)
        return failing

    def _run_unseen(self, proof: Proof, gate: Gate) -> None:
        if self.runs_gates and proof.results[gate.name] is None:
            self._run(gate)

    def _experiment(self, proof: Proof, gate: Gate) -> Experiment:
        key = (gate.command, proof.look.tree)
        if key not in self._experiments:
            made = experiment.prove(proof.subject, gate, self._seen(gate), lambda: self._run(gate))
            if made.verdict == verdicts.NOT_MADE:
                self._whole = None  # it may have ended between two runs
            self._experiments[key] = made
        return self._experiments[key]

    def _seen(self, gate: Gate) -> list[CommandRun]:
        """Return what this run saw of a gate, with the variables of now. A run under which files moved is none of any
        files, nor is a failure that wrote some ("a test that passes once it has written its cache")."""
        runs = []
        for ran in gate.results:
            if ran.env == self._env:
                run = gate_runs.run_of(ran.row)
                has_moved = ran.moved or (ran.failed and ran.left_out)
                runs.append(replace(run, on_files="") if has_moved else run)
        return runs

    def _run(self, gate: Gate) -> CommandRun:
        wanted = self.pinned.known.select(gate.name)
        looked = self._look() if self._whole is not None else None
        before = (looked.whole, looked.subject) if looked is not None else None
        ran = gate_runner.run_loaded(self.context, self.pinned, wanted, before=before, owner=self._owner)
        self._whole = ran.whole
        self._ran.add(gate.name)
        return gate_runs.run_of(ran.results[0])
