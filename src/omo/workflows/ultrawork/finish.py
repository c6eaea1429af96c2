"""What `omo ulw done` may say: the outcome of a run, from what its gates showed and what was let through."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from omo.clock import seconds
from omo.errors import BadInput, Refused
from omo.proof import base, own_commands, seals, strength
from omo.proof.strength import FLAKY, GREEN_TO_GREEN, RED_TO_GREEN, UNSEEN, Strength
from omo.text import clip, listed
from omo.work import outcome
from omo.workflows.ultrawork.gates import Gate, Gates, environment_of, is_newer

Row = dict[str, Any]

MOST_NAMED = 8
MOST_TO_STASH = 40
BECAUSE = 'omo ulw done --because "why the work is done"'
WEAK = {
    GREEN_TO_GREEN: "passes, as it did before the work",
    FLAKY: "both fails and passes on the same files",
    UNSEEN: "passes, and nobody saw it fail before the work",
}


class WaitsForUser(Exception):
    """What stands in the way was pinned by the user, and only they let it through."""

    def __init__(self, gates: list[Gate]) -> None:
        super().__init__(_names(gates))
        self.gates = gates


class Pass(NamedTuple):
    """A gate that passes on the files as they are. `owner` is whose it is, empty where the agent chose it."""

    gate: Gate
    shown: Strength
    owner: str


@dataclass
class Finish:
    """One look at a run that is said to be finished. `look` is the tree as it is, without what gates wrote."""

    root: str
    gates: Gates
    look: base.Look
    environ: Mapping[str, str]
    armed_at: str
    because: str = ""
    skipping: str = ""
    unseen: Sequence[str] = ()  # what `because` cites, and nobody looked at
    exceptions: list[Row] = field(default_factory=list)

    def outcome(self) -> Row:
        """Raises Refused or WaitsForUser where the run cannot end so."""
        self._let_through_or_refuse()
        self._note_what_was_dropped()
        self._note_other_programs()
        passing = [self._pass(gate) for gate in self.gates if self._passes(gate)]
        # Whoever chooses when a run begins chooses what counts as before.
        began_itself = self._base.get("by") == "agent"
        if not began_itself and not self._seals.doubts and not self.exceptions:
            for proof in passing:
                if proof.shown.kind == RED_TO_GREEN and proof.owner:
                    return outcome.outcome(outcome.PROVEN, self._proven(proof, passing))
        weak = self._why_not_proven(passing)
        if began_itself:
            weak.append("the agent began the run itself")
        weak += [*self._seals.doubts, *self._seals.notes]
        if not self.because and not self.skipping:
            raise self._refusal(passing, [*weak, *(row["what"] for row in self.exceptions)])
        if self.unseen:
            weak = [f"cited and not looked at: {clip(', '.join(self.unseen), 120)}", *weak]
        if self.because:
            weak = [f"“{clip(self.because, 200)}”", *weak]
        return outcome.outcome(outcome.ATTESTED, "; ".join(weak), self.exceptions)

    @property
    def _base(self) -> Row:
        return self.gates.base or {}

    @cached_property
    def _results(self) -> dict[str, Row | None]:
        """What each gate said of exactly these files, with the variables that a command has here."""
        env = environment_of(self.environ)
        return {gate.name: gate.result_on(self.look.tree, env) for gate in self.gates}

    @cached_property
    def _seals(self) -> seals.Seals:
        """What a gate's own run has written is no work; but of what gates rest on, it matters who has changed it."""
        look = self.look
        if self.gates.left_out:
            whole = base.look(self.root, self.gates.base)
            new = [path for path in self.gates.left_out if path in whole.untracked and not seals.is_of_runner(path)]
            look = whole.without(new)
        return seals.examine(self.root, self.gates.base, list(self.gates), look=look, terms=self.gates.terms)

    def _passes(self, gate: Gate) -> bool:
        row = self._results[gate.name]
        return row is not None and row["result"] == "pass"

    def _pass(self, gate: Gate) -> Pass:
        row = self._results[gate.name]
        assert row is not None
        shown = Strength(UNSEEN)
        if self.look.changed is not None:
            shown = strength.of_gate(gate.results, row, self.look.changed, self._seals.allowed)
        owner = "pinned by the user"
        if not gate.is_users and shown.kind not in (RED_TO_GREEN, UNSEEN):
            owner = ""  # of no account
        elif not gate.is_users:
            file = own_commands.where(self.root, self._base.get("head"), gate.argv, gate.cwd)
            owner = f"the project's own ({file})" if file else ""
        return Pass(gate, shown, owner)

    def _let_through_or_refuse(self) -> None:
        """Every gate passes on the files as they are, or somebody who may has let it through."""
        left = []
        for gate in self.gates:
            row = self._results[gate.name]
            fails_here = row is not None and row["result"] == "fail"
            if self._passes(gate):
                continue
            if gate.allowed is not None:
                self._except(f"gate {gate.name} {self._state(gate)}", "user", "/omo:allow")
            elif gate.recorded is not None and fails_here and not gate.is_users:
                what = f"gate {gate.name} fails, as it did when the run began"
                self._except(what, str(gate.recorded.get("actor")), str(gate.recorded.get("evidence")))
            else:
                left.append(gate)
        if not left:
            if self.skipping:
                raise BadInput("--skip-verification: there is no gate left to skip", fix=BECAUSE)
            return
        if not self.skipping:
            raise self._not_all_hold(left)
        users, failing = [], []
        for gate in left:
            last = self._results[gate.name] or gate.last
            if gate.is_users:
                users.append(gate)
            elif last is not None and last["result"] == "fail":
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
        fix = "omo gate run"
        users = [gate for gate in left if gate.is_users and gate.has_failed]
        if users:
            fix += f'; the user pinned {_names(users)}: omo ulw done --skip-verification "why" asks them'
        elif any(gate.has_failed for gate in left):
            fix += "; a failure that was there before the work: omo gate record NAME --pre-existing --evidence TEXT"
        return Refused(
            f"{len(left)} of {len(self.gates)} gates do not hold on the files as they are",
            fix=fix,
            defects=[f"{gate.name}: {self._state(gate)}" for gate in left],
        )

    def _state(self, gate: Gate) -> str:
        """Why a gate does not hold, in words; what passed on other files names them."""
        last = gate.last
        if last is None:
            return "was not run in this run"
        if last["result"] == "fail":
            return f"fails (exit {last['exit']})"
        if last["result"] != "pass":
            return f"cannot be judged: {last['why']}"
        if last.get("tree") == self.look.tree:
            return "passed with other variables (PATH, HOME, TZ …) than this command has"
        if not isinstance(last.get("changed"), dict) or self.look.changed is None:
            return "passed, but the files have changed since"
        return f"passed, but since then changed: {listed(base.differing(last['changed'], self.look.changed))}"

    def _except(self, what: str, by: str, why: str) -> None:
        self.exceptions.append(outcome.exception(what, by, clip(why, 200)))

    def _note_what_was_dropped(self) -> None:
        passing = {gate.command for gate in self.gates if self._passes(gate)}
        for gate, by in self.gates.dropped:
            if gate.command not in passing:
                self._except(f"gate {gate.name} ({clip(shlex.join(gate.argv), 80)}) failed", by, "it was removed")

    def _note_other_programs(self) -> None:
        """A pin means the program it was pinned with, and the home directory the run was armed in."""
        try:
            armed_at = seconds(self.gates.began_at or self.armed_at)
        except ValueError:
            armed_at = 0.0  # a row that was edited: every program is newer
        for gate in self.gates:
            program = str((self._results[gate.name] or {}).get("program") or "")
            if program and program != gate.program and is_newer(program, armed_at):
                what = f"gate {gate.name} ran {clip(program, 120)}, which is newer than the run"
                self._except(what, "agent", f"it was pinned with {clip(gate.program or 'no such program', 120)}")
        armed_home = self._base.get("home")
        if armed_home and any(map(self._passes, self.gates)) and armed_home != base.home_of(self.environ):
            what = "the gates ran with another HOME than the session has"
            self._except(what, "agent", "it was given with the command")

    def _proven(self, proof: Pass, passing: Sequence[Pass]) -> str:
        gate = proof.gate
        red = f" ({proof.shown.red})" if proof.shown.red else ""
        below = "" if gate.cwd == "." else f" in {clip(gate.cwd, 80)}"
        parts = [
            f"gate {gate.name} ({clip(shlex.join(gate.argv), 80)}{below}), {proof.owner}, "
            f"failed before the change{red} and passes now"
        ]
        others = [each.gate.name for each in passing if each is not proof]
        if others:
            parts.append(f"{', '.join(others[:MOST_NAMED])} {'passes' if len(others) == 1 else 'pass'} too")
        return "; ".join([*parts, *self._seals.notes])

    def _why_not_proven(self, passing: Sequence[Pass]) -> list[str]:
        reasons = []
        if not len(self.gates):
            reasons.append("no gate was pinned")
            if self.look.changed == {}:
                reasons.append("no file was changed")
        for gate, shown, owner in passing[:MOST_NAMED]:
            weakness = WEAK.get(shown.kind, "failed before the work and passes")
            if shown.kind == RED_TO_GREEN and not owner:
                weakness += ", but the agent chose it"
            reasons.append(f"gate {gate.name} {weakness}")
        return reasons

    def _refusal(self, passing: Sequence[Pass], weak: Sequence[str]) -> Refused:
        """Both ways on: how a failure can still be shown, and how to finish on the agent's word."""
        ways = []
        if not len(self.gates):
            ways.append("omo gate add NAME -- COMMAND, then omo gate run")
        elif any(shown.kind == UNSEEN and owner for _, shown, owner in passing):
            ways += self._ways_to_show_it_failing()
        if self._seals.broken:
            ways.append("a change of such a file that the user wants they allow: /omo:allow FILE")
        ways.append(f"to finish as it is, on your word: {BECAUSE}")
        return Refused(
            f"nothing that omo saw proves the work: {'; '.join(weak) or 'no gate shows it'}", fix="; or ".join(ways)
        )

    def _ways_to_show_it_failing(self) -> list[str]:
        """The commands that put the files back as the run began with them, all but the tests, and forth again."""
        head = self._base.get("head")
        source = [path for path in self.look.changed or {} if not seals.is_test(path)]
        if not head or not source or len(source) > MOST_TO_STASH:
            return []
        files = " ".join(shlex.quote(path) for path in source)
        began, last = (base.committed(self.root, commit, source) for commit in (head, "HEAD"))
        committed = [path for path in source if last.get(path) == seals.content_of(self.root, path)]
        if not committed:
            return [f"to show it failing: git stash push -u -- {files}; omo gate run; git stash pop"]
        if committed == source and all(path in began for path in source):
            back, forth = f"git checkout {head[:12]} -- {files}", f"git checkout HEAD -- {files}"
            return [f"to show it failing: {back}; omo gate run; {forth}"]
        return []


def _names(gates: Sequence[Gate]) -> str:
    return ", ".join(gate.name for gate in gates)
