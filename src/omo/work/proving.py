"""The experiment for a workflow's own commands: on the base that its run began with, in the words of its end.

The same story ends in the same word in every workflow: a command of the user's or of the project's own, the three runs,
and the project's own tests beside it.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from omo import settings
from omo.errors import NotMade
from omo.proof import (
    base,
    contents,
    experiment,
    gate_runs,
    kept_commands,
    kinds,
    own_commands,
    patterns,
    project_checks,
    trying,
    verdicts,
)
from omo.proof.checks import Check, CommandCheck, ContentCheck, MetricCheck
from omo.proof.evaluate import judge_of
from omo.proof.gate_runs import WITHOUT, GateCommand, Judge, Plain, Subject
from omo.proof.run import child_environment
from omo.proof.typed_commands import is_newer, resolve, typed
from omo.proof.verdicts import Experiment
from omo.text import clip, counted, listed
from omo.work.run import Caller

if TYPE_CHECKING:
    from omo.state.rows import Base

NamedCommand = tuple[str, GateCommand, bool]  # and whether it is the user's
USERS = "the user's"
NO_FILE = "no file was changed"
MOST_NAMED = 3
COMMENTS = ("#", "//", "--", ";")
COMMENT_OF_A_PAGE = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


class Pinned(GateCommand, Protocol):
    """A gate of the session, whoever pinned it."""

    @property
    def name(self) -> str: ...
    @property
    def is_users(self) -> bool: ...
    @property
    def allowed(self) -> object: ...  # None where nobody let it through as it is


class Allowances(Protocol):
    """What the user allowed: changes by the digest of what they saw, and tests by name."""

    @property
    def allowed_changes(self) -> Mapping[str, str]: ...
    @property
    def allowed_tests(self) -> Collection[str]: ...


@dataclass(frozen=True)
class Candidate:
    """A command that passes as it is. `owner` is whose it is; empty where the agent chose it."""

    name: str
    command: GateCommand
    owner: str
    judge: Judge | None = None


@dataclass(frozen=True)
class ProofOrDoubts:
    """`proof` is the sentence of what was proven, empty where nothing was; then `doubts` say why."""

    proof: str = ""
    doubts: Sequence[str] = field(default_factory=list)
    failing: Sequence[str] = ()  # without the work


def subject_of(
    caller: Caller, began: Base, allowed: Allowances, look: base.Look | None = None, left: Base | None = None
) -> Subject:
    """Return the files that are asked about; `look` where there was one already."""
    return Subject(
        root=caller.root,
        state=caller.state,
        began=began,
        look=look or base.look(caller.root, began),
        environ=child_environment(os.environ),
        now=caller.now,
        minutes=settings.load(os.environ, caller.root).proof_minutes,
        allowed=allowed.allowed_changes,
        allowed_tests=frozenset(allowed.allowed_tests),
        by=caller.by,
        left=left,
    )


def owner_of(subject: Subject, command: GateCommand, *, is_users: bool) -> str:
    if is_users:
        return USERS
    return own_commands.owner(subject.root, subject.began.get("head"), command.argv, command.cwd)


def shown(
    subject: Subject,
    candidates: Sequence[Candidate],
    pins: Sequence[Pinned] = (),
    others: Sequence[GateCommand] = (),
    *,
    runs_tests: bool = True,
) -> ProofOrDoubts:
    """What the candidates prove, else what the user pinned; all of it passes on these files, and so do `others`.
    `runs_tests`: the host asks the user about the command that calls this, so that the project's tests may be run
    though nobody has pinned them."""
    reasons = []
    looked_at = [(each.command.argv, each.command.cwd) for each in candidates if each.owner]
    pins_of_user = []
    for pin in pins:
        if pin.is_users and pin.allowed is None and (pin.argv, pin.cwd) not in looked_at:
            pins_of_user.append(Candidate(f"gate {pin.name}", pin, USERS))
    for candidate in [*candidates, *pins_of_user]:
        if not candidate.owner:
            reasons.append(f"{candidate.name} passes, and the agent chose it")
            continue
        if replaced := _replaced(subject, [candidate.command]):
            reasons += replaced
            continue
        # An exit code or an output that is wanted of the project's own command is the agent's ("wanted to fail").
        made = proved(subject, candidate.command, candidate.judge if candidate.owner == USERS else None)
        if not made.holds:
            reasons.append(f"{candidate.name} passes; {made.reason}")
            continue
        passing = [each.command for each in candidates if not getattr(each.command, "exit", 0)]
        beside = own_tests(subject, [*passing, *pins, *others], runs_tests=runs_tests)
        if beside.missing:
            reasons.append(beside.missing)
            continue
        owned = [each.command for each in candidates if each.owner and each.command in passing]
        owned += [pin for pin in pins if owner_of(subject, pin, is_users=pin.is_users)]
        owned += others
        shows_it = (candidate.command.argv, candidate.command.cwd)
        # "half, and the user's other check passes by its settings"
        beside_it = [each for each in owned if (each.argv, each.cwd) != shows_it]
        if doubted := doubts(subject, beside_it, by_name=True):
            reasons += doubted
            continue
        known = [*made.known_failures, *beside.known_failures]
        proof = sentence(candidate.name, candidate.command, candidate.owner, made, known)
        failing = [name for name in made.runs[WITHOUT].failing if name not in known]
        return ProofOrDoubts("; ".join([proof, *allowed_notes(subject)]), failing=failing)
    return ProofOrDoubts(doubts=list(dict.fromkeys(reasons)))


def sentence(name: str, command: GateCommand, owner: str, made: Experiment, known_failures: Sequence[str]) -> str:
    """Say what was proven, and by whose command."""
    below = "" if command.cwd == "." else f" in {clip(command.cwd, 80)}"
    parts = [f"{name} ({clip(typed(command.argv), 80)}{below}), {owner}, {made.reason}", *made.notes]
    if known_failures:
        parts.append(known_failures_in_words(known_failures))
    return "; ".join(parts)


def known_failures_in_words(names: Collection[str]) -> str:
    return f"{counted(len(names), 'known failure')} allowed: {listed(sorted(names), MOST_NAMED)}"


def proved(subject: Subject, command: GateCommand, judge: Judge | None = None) -> Experiment:
    return experiment.prove(subject, command, (), lambda: experiment.run_now(subject, command, judge), judge)


def way_to_allow(made: Experiment) -> str:
    """Say, for the end of a sentence, what the user types if what fails without the work too is no part of the task."""
    if not made.still_failing or made.known_failures:
        return ""
    line = f"/omo:allow {shlex.join(made.to_allow)}"
    return f"; without the work that failed too: if the user lets it be, they type {line}"


def shown_by_checks(
    subject: Subject,
    checks: Sequence[tuple[str, Check | str, bool]],
    pins: Sequence[Pinned] = (),
    *,
    runs_tests: bool = True,
) -> ProofOrDoubts:
    """What checks prove that all pass: commands by the experiment, and what the user wants a file to hold, if it did
    not at the base. Each with its name, and whether it is the user's."""
    candidates = []
    held = []
    for name, check, is_users in checks:
        if isinstance(check, (CommandCheck, MetricCheck)):
            candidates.append(Candidate(name, check, owner_of(subject, check, is_users=is_users), judge_of(check)))
        elif is_users and isinstance(check, ContentCheck) and _was_not_so(subject, check):
            held.append(f"{name}: {check.path} has what the user asked for, and had not before the work")
    if held:
        commands = [candidate.command for candidate in candidates]
        if doubted := doubts(subject, commands):
            return ProofOrDoubts(doubts=doubted)
        # "the user's check of a version, and the tests broken"
        if not subject.changed_documents_alone:
            beside = own_tests(subject, [*commands, *pins], runs_tests=runs_tests)
            if beside.missing:
                return ProofOrDoubts(doubts=[beside.missing])
            if beside.known_failures:
                held.append(known_failures_in_words(beside.known_failures))
        return ProofOrDoubts("; ".join([*held, *allowed_notes(subject)]))
    if not candidates:
        return ProofOrDoubts(doubts=["nothing that runs showed it: its checks look at the form of files"])
    return shown(subject, candidates, pins, runs_tests=runs_tests)


def by_exit_code(checks: Sequence[tuple[str, Check | str, bool]]) -> list[NamedCommand]:
    """The commands among checks of which no more is asked than that they succeed."""
    commands: list[NamedCommand] = []
    for name, check, is_users in checks:
        if isinstance(check, CommandCheck) and not check.exit and check.stdout is None:
            commands.append((name, check, is_users))
    return commands


def _was_not_so(subject: Subject, check: ContentCheck) -> bool:
    """In code a pattern is met by a comment as well: that is its form, and no proof. Nor is what a page no longer has,
    for none of it may be left: "the page without the word, and without all else"."""
    is_changed = check.path in (subject.look.changed or ())
    if check.absent or not is_changed or check.path.endswith(kinds.CODE) or _is_met_by_comment(subject, check):
        return False
    try:
        before = contents.at_base(subject.root, subject.state, subject.began, [check.path])[check.path].content
    except NotMade:
        return False
    text = (before or b"").decode("utf-8-sig", "replace").replace("\r\n", "\n")
    return not patterns.found(check.regex, text)


def _is_met_by_comment(subject: Subject, check: ContentCheck) -> bool:
    """Of a Dockerfile, say: "the user's check of a Dockerfile, met by a comment"."""
    text = (contents.now(subject.root, check.path).content or b"").decode("utf-8-sig", "replace")
    lines = (text if "<!--" in check.regex else COMMENT_OF_A_PAGE.sub("", text)).splitlines()
    if not kinds.is_text_for_people(check.path):
        lines = [line for line in lines if not line.lstrip().startswith(COMMENTS)]
    return not patterns.found(check.regex, "\n".join([*lines, ""]))


@dataclass(frozen=True)
class OwnTests:
    """Why the project's own tests do not stand beside a proof; or which of them fail, as the user allowed."""

    missing: str = ""
    known_failures: Sequence[str] = ()


def project_tests(subject: Subject) -> list[project_checks.Check]:
    """Return the project's own tests, each as the command that is known to get to them, or with its candidates."""
    checks = own_commands.test_gates(subject.root, subject.began, subject.look.changed or (), ".")
    return kept_commands.answered(subject.state, checks) if subject.remembers else checks


def tests_in_words(argv: Sequence[str]) -> str:
    return f"the project's tests ({clip(typed(argv), 80)})"


def own_tests(subject: Subject, passing: Sequence[GateCommand], *, runs_tests: bool = True) -> OwnTests:
    """Where nothing that passes covers them, they are run."""
    known: list[str] = []
    for check in project_tests(subject):
        if any(_covers(subject, each, check) for each in passing):
            continue
        if not runs_tests:
            name = tests_in_words(check.argv)
            pin = f" (/omo:pin {clip(typed(check.argv), 80)})" if check.cwd == "." else ""
            return OwnTests(f"{name} were not run, since nobody pinned them{pin}")
        settled, ran = trying.find(subject, check)
        if settled.gets_nowhere:
            return OwnTests(f"no command that the project's files name gets to its tests: {'; '.join(settled.lines)}")
        tests = Plain(settled.check.argv, check.cwd)
        name = tests_in_words(tests.argv)
        if ran.result == "fail":
            made = proved(subject, tests)
            if made.known_failures and made.verdict not in verdicts.TESTS_CHANGED:
                known += made.known_failures
                continue
            return OwnTests(f"{name} do not pass ({ran.summary}{way_to_allow(made)})")
        if ran.result != "pass":
            return OwnTests(f"{name} do not pass ({ran.why})")
        if weak := experiment.weakened(subject, tests):
            return OwnTests(f"{name}: {weak.reason}")
    return OwnTests(known_failures=known)


def _covers(subject: Subject, command: GateCommand, check: project_checks.Check) -> bool:
    head, is_users = subject.began.get("head"), getattr(command, "is_users", False)
    return own_commands.covers(subject.root, head, command.argv, command.cwd, check, is_users=is_users)


def doubts(subject: Subject, commands: Sequence[GateCommand], *, by_name: bool = False) -> list[str]:
    """Why commands that pass, beside somebody's judgement, need not mean that the work was done."""
    if not commands:
        return []
    if subject.look.changed == {}:
        return [NO_FILE]
    reasons = []
    for command in commands:
        if weak := experiment.weakened(subject, command, by_name=by_name):
            reasons.append(f"{clip(typed(command.argv), 80)}: {weak.reason}")
    return list(dict.fromkeys(reasons))


def programs_of(root: str, commands: Sequence[GateCommand]) -> dict[str, str]:
    """The file that each program stands for now; empty where there is none."""
    path = os.environ.get("PATH", "")
    return {each.argv[0]: resolve(each.argv[0], os.path.join(root, each.cwd), path) or "" for each in commands}


def other_programs(
    subject: Subject, commands: Sequence[GateCommand], known: Mapping[str, str], since: float
) -> list[str]:
    """What commands ran with that they would not have run with before the work; `known` is what they would have."""
    reasons = []
    home = subject.began.get("home")
    if commands and home and home != base.home_of(os.environ):
        reasons.append("the commands ran with another HOME than when the run began")
    for program, found in programs_of(subject.root, commands).items():
        if found and found != known.get(program) and is_newer(found, since):
            reasons.append(f"{clip(program, 40)} is {clip(found, 120)}, which is newer than the run")
    return [*reasons, *_replaced(subject, commands)]


def _replaced(subject: Subject, commands: Sequence[GateCommand]) -> list[str]:
    """What to say of programs in the project's environment that were others when the run began."""
    replaced: list[str] = []
    for command in commands:
        replaced += gate_runs.replaced_programs(subject, command)
    return [f"{path} was replaced since the run began" for path in dict.fromkeys(replaced)]


def allowed_notes(subject: Subject) -> list[str]:
    """What the user allowed, which lowers nothing, and is named; and what nobody has told them of."""
    notes = []
    if allowed := list(filter(subject.is_allowed, subject.allowed)):
        notes.append(f"changed as the user allowed: {listed(allowed)}")
    # Tests and what they rest on, as work left them that nobody called done: "weakened, let go, another task".
    which, now = kinds.Kinds(), subject.look.changed or ()
    changed = (base.look(subject.root, subject.left).changed if subject.left else None) or ()
    if left := sorted(path for path in changed if path not in now and which.of(path) == kinds.REST):
        notes.append(f"changed in a run before it, and not held against what they were: {listed(left, 6)}")
    return notes
