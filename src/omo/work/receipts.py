"""A receipt: what was proven, written so that somebody else can make the experiment again; and whoever does that.

It is an unsigned in-toto Statement about a git commit and its tree. Nothing in it is believed: the gates are run again,
and what they show is held against what it says. The digest tells only whether it was damaged on the way.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from omo import __version__, masking, strict
from omo.digest import sha256
from omo.errors import BadInput, Refused
from omo.json_text import Json
from omo.proof import base, changes, gate_runs, git, outputs, own_commands, reading, verdicts
from omo.proof.gate_runs import CommandRun, GateCommand, Subject
from omo.proof.typed_commands import resolve, typed
from omo.proof.verdicts import Experiment
from omo.state import store
from omo.text import clip, listed
from omo.work import outcome, proving

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:x-omo:receipt:v1"
COMMIT, TREE = "gitCommit", "gitTree"  # in-toto's names for such digests
PROJECT, USER = "project", "user"
MINUTES = 24 * 60.0  # who verifies has asked for the runs, however long they take
LARGEST = 4 * 1024 * 1024
ONLY_SAID = "only the receipt says so: look at it, then --trust-user"

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{40,64}$")]
Text = Annotated[str, Field(max_length=4000)]
Arrangement = Literal["without the work", "with the old tests", "as it is"]


class About(strict.Strict):
    name: Text
    digest: dict[Text, Sha]


class ReceiptRun(strict.Strict):
    """One run of a gate; counts where its runner prints them. The digest is of the end of what it printed then, which
    has times in it and is not compared."""

    exit: int | None
    counts: Annotated[list[int], Field(min_length=3, max_length=3)] | None  # passed, failed, skipped
    output: Sha256

    @property
    def in_words(self) -> str:
        if self.counts is None:
            return f"exit {self.exit}"
        return ", ".join([f"exit {self.exit}", *map("{} {}".format, self.counts, ("passed", "failed", "skipped"))])


class ReceiptGate(strict.Strict):
    """A command that fails without the work and passes with it. `source` is the file of the base that names it; a gate
    of the user's has none."""

    name: Text
    argv: Annotated[list[Text], Field(min_length=1, max_length=200)]
    cwd: Text
    sealed: list[Text]
    timeout: Annotated[float, Field(gt=0)]
    by: Literal["project", "user"]
    source: Text
    runs: dict[Arrangement, ReceiptRun]


class Exceptions(strict.Strict):
    """Changes to tests that the user wanted, by the digest of what they saw; tests that they allowed to fail or to go;
    and files that were there when the run began and in no commit, which here count as work."""

    allowed: dict[Text, Text]
    allowed_tests: list[Text] = Field(default_factory=list)
    uncommitted: list[Text]


class Predicate(strict.Strict):
    """`directory` is the project, as a path below the top of its repository: gates are run from there."""

    base: dict[Text, Sha]
    directory: Text = "."
    task: Sha256 | None
    gates: Annotated[list[ReceiptGate], Field(min_length=1, max_length=100)]
    exceptions: Exceptions
    verdict: Text
    versions: dict[Text, Text]
    digest: Sha256


class Statement(strict.Strict):
    type: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: list[About]
    predicate_type: Literal["urn:x-omo:receipt:v1"] = Field(alias="predicateType")
    predicate: Predicate

    def named(self, kind: str) -> str:
        """The commit or the tree that it speaks of; empty where it names none, or several."""
        found = [about.digest[kind] for about in self.subject if kind in about.digest]
        return found[0] if len(found) == 1 else ""


# Writing


@dataclass(frozen=True)
class Proven:
    """What a session has proven: since which commit, on whose word, by which commands."""

    base: str
    task: str
    commands: Sequence[proving.NamedCommand]
    uncommitted: Sequence[str] = ()


def write(subject: Subject, proven: Proven) -> str:
    """The receipt for what HEAD holds. The runs that were not seen from this base are made here. Raises Refused where
    nothing is proven by what others have, too."""
    root = subject.root
    gates: list[ReceiptGate] = []
    reasons: list[str] = []
    for name, command, owner, is_needed in _commands(subject, proven):
        if gates and not is_needed:
            continue
        made = proving.proved(subject, command)
        if made.holds:
            gates.append(_gate(name, command, owner, made))
        else:
            reasons.append(f"{name} ({clip(typed(command.argv), 80)}): {made.reason}")
    if not gates:
        why = "; ".join(reasons) or "there is no command that the project or the user names"
        raise Refused(f"from the commit {proven.base[:12]} on it is not proven: {why}", fix="omo report says what is")
    if missing := proving.own_tests(subject, [gate_command(gate) for gate in gates]).missing:
        raise Refused(f"from the commit {proven.base[:12]} on it is not proven: {missing}", fix="omo report")
    head = changes.commit_of(Path(root), "HEAD") or ""
    directory = os.path.relpath(os.path.realpath(root), top_of(root))
    if outside := _outside(root, directory, proven.base, head):
        what = f"a receipt of {clip(directory, 200)} speaks of that alone, and the commits since {proven.base[:12]}"
        raise Refused(f"{what} change {listed(outside, 6)} too", fix="commit these apart, before the run")
    predicate: Json = {
        "base": {COMMIT: proven.base},
        "directory": directory,
        "task": sha256(store.encode(proven.task)) if proven.task else None,
        "gates": [gate.model_dump(mode="json") for gate in gates],
        "exceptions": {
            "allowed": dict(subject.allowed),
            "allowed_tests": sorted(subject.allowed_tests),
            "uncommitted": list(proven.uncommitted),
        },
        "verdict": outcome.PROVEN,
        "versions": {"omo": __version__, "python": platform.python_version(), "system": platform.system()},
    }
    about = [{"name": "commit", "digest": {COMMIT: head}}, {"name": "tree", "digest": {TREE: tree_of(root, head)}}]
    statement: Json = {"_type": STATEMENT, "subject": about, "predicateType": PREDICATE, "predicate": predicate}
    predicate["digest"] = digest_of(statement)
    return json.dumps(statement, indent=2, ensure_ascii=False) + "\n"


def _commands(subject: Subject, proven: Proven) -> Iterator[tuple[str, GateCommand, str, bool]]:
    """Those of the user, and the project's own tests: each with its name and the file that names it, if any. Of others
    that the project names one will do, where none of these shows the work."""
    users, others = [], []
    for name, command, is_users in proven.commands:
        owner = own_commands.where(subject.root, proven.base, command.argv, command.cwd)
        if is_users:
            users.append(command)
            yield name, command, owner, True
        elif owner:
            others.append((name, command, owner, False))
    for check in proving.project_tests(subject):
        others = [other for other in others if (list(other[1].argv), other[1].cwd) != (check.argv, check.cwd)]
        if not any(own_commands.covers(subject.root, proven.base, each.argv, each.cwd, check) for each in users):
            yield check.name, gate_runs.Plain(check.argv, check.cwd), check.found_in, True
    yield from others


def _gate(name: str, command: GateCommand, source: str, made: Experiment) -> ReceiptGate:
    runs = {arrangement: _ran(run).model_dump() for arrangement, run in made.runs.items()}
    argv = masking.masked_command(command.argv)  # others read it: who runs it again puts in their own
    row: Json = {"name": name, "argv": argv, "cwd": command.cwd, "sealed": list(command.sealed)}
    row |= {"timeout": float(command.timeout), "by": PROJECT if source else USER, "source": source, "runs": runs}
    return ReceiptGate.model_validate(row)


def _ran(run: CommandRun) -> ReceiptRun:
    counts = list(run.counts) if run.counts is not None else None
    return ReceiptRun(exit=run.exit, counts=counts, output=sha256(store.encode(run.tail)))


def gate_command(gate: ReceiptGate) -> gate_runs.Plain:
    """What is sealed is the word of a user's pin: else a stranger seals the work itself, and a refactoring holds."""
    sealed = gate.sealed if gate.by == USER else ()
    return gate_runs.Plain(gate.argv, gate.cwd, sealed, gate.timeout)


def uncommitted(root: str) -> list[str]:
    """The files that differ from what is checked out."""
    look = base.look(root, base.of_commit(root, "HEAD"))
    return sorted(look.changed) if look.changed is not None else [look.unknown]


def top_of(root: str) -> str:
    """Of the repository that the project lies in; the project itself where there is none."""
    return os.path.realpath(os.path.join(root, git.place_of_repository(root)))


def _outside(root: str, directory: str, before: str, commit: str) -> list[str]:
    """What the commits change beside the project, where it is only a part of the repository."""
    if directory == ".":
        return []
    differing = changes.changed_between(Path(top_of(root)), before, commit)
    return [path for path in differing if not path.startswith(f"{directory}/")]


def tree_of(root: str, commit: str) -> str:
    return git.run(root, "rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}").text.strip()


def digest_of(statement: Json) -> str:
    """Of everything but itself."""
    predicate = {name: value for name, value in statement["predicate"].items() if name != "digest"}
    return sha256(json.dumps({**statement, "predicate": predicate}, sort_keys=True).encode("ascii"))


# Verifying


@dataclass(frozen=True)
class ReceiptLine:
    """One line of a receipt, and whether it holds here; None where nobody can tell, and `why` says what is missing. A
    note is for whoever reads: nothing was looked at for it."""

    what: str
    holds: bool | None
    why: str = ""
    is_note: bool = False

    @property
    def data(self) -> Json:
        return {"line": self.what, "holds": self.holds, "why": self.why, "note": self.is_note}


def read_receipt(raw: bytes) -> tuple[Statement | None, list[ReceiptLine]]:
    """The statement, and what is wrong with the file itself."""
    try:
        document = json.loads(raw.decode("utf-8"))
        statement = Statement.model_validate(document)
    except ValidationError as error:
        return None, [ReceiptLine(defect, False) for defect in strict.defects_of(error, Statement)]
    except (ValueError, RecursionError) as error:
        return None, [ReceiptLine("the file", False, f"it is no JSON: {clip(str(error), 200)}")]
    lines = []
    if digest_of(document) != statement.predicate.digest:
        lines.append(ReceiptLine("digest", False, "it is not as it was written"))
    if statement.predicate.verdict != outcome.PROVEN:
        lines.append(
            ReceiptLine("verdict", False, f"{clip(statement.predicate.verdict, 40)} is nothing that can be run again")
        )
    return statement, lines


def project_in(statement: Statement, root: str) -> str:
    """The project that it speaks of, in the checkout that `root` lies in; empty where there is no such directory."""
    top = top_of(root)
    project = os.path.realpath(os.path.join(top, statement.predicate.directory))
    is_inside = project == top or project.startswith(os.path.join(top, ""))
    return project if is_inside and os.path.isdir(project) else ""


@dataclass(frozen=True)
class ChosenBase:
    """The commit from which on the work counts, chosen by whoever verifies. `is_receipts`: what the receipt says."""

    commit: str
    is_receipts: bool


def check_commits(statement: Statement, root: str, told: str) -> tuple[ChosenBase | None, list[ReceiptLine]]:
    """Look whether this checkout is the commit and nothing else, and choose the base: where the commit left the branch
    `told`, else the default branch. Nothing of the checkout is run. No base where a line does not hold."""
    place = Path(root)
    lines = []
    for line in _about_commit(statement, place):
        lines.append(line)
        if not line.holds:
            return None, lines
    chosen, about = _choose_base(statement, place, told)
    lines += about
    if chosen is None:
        return None, lines
    commit, directory = statement.named(COMMIT), statement.predicate.directory
    is_before = chosen.commit != commit and changes.merge_base(place, chosen.commit, commit) == chosen.commit
    why = f"{chosen.commit[:12]} is no commit that came before {commit[:12]}"
    lines.append(ReceiptLine("base before commit", is_before, why))
    if directory != "." and is_before:
        outside = _outside(root, directory, chosen.commit, commit)
        why = f"it speaks of that alone, and these differ too: {listed(outside, 6)}"
        lines.append(ReceiptLine(f"only {clip(directory, 200)} differs from the base", not outside, why))
    return (chosen if all(line.holds for line in lines) else None), lines


def _about_commit(statement: Statement, root: Path) -> Iterator[ReceiptLine]:
    commit, tree = statement.named(COMMIT), statement.named(TREE)
    yield _known(root, "commit", commit)
    own_tree = tree_of(str(root), commit)
    yield ReceiptLine(f"tree {tree[:12]}", own_tree == tree, f"the commit has {own_tree[:12]}")
    here = tree_of(str(root), "HEAD")
    yield ReceiptLine(
        "this checkout", here == tree, f"it has another tree checked out, {here[:12]}: git checkout {commit[:12]}"
    )
    differing = uncommitted(top_of(str(root)))
    yield ReceiptLine("a clean checkout", not differing, f"not as in the commit: {listed(differing, 6)}")


def _choose_base(statement: Statement, root: Path, told: str) -> tuple[ChosenBase | None, list[ReceiptLine]]:
    """A stranger who names the base could begin with weakened tests. Theirs counts only where the commit is on the
    default branch already, and then the answer says so."""
    commit, said = statement.named(COMMIT), statement.predicate.base.get(COMMIT, "")
    branch = told or changes.default_branch(root)
    if not branch:
        why = "which branch is the default one here is not clear: name it, or a commit, with --base REV"
        return None, [ReceiptLine("base", None, why)]
    if changes.commit_of(root, branch) is None:
        raise BadInput(f"--base {clip(branch, 100)} is no commit of this repository", fix="git log")
    name = clip(branch.removeprefix("refs/remotes/").removeprefix("refs/heads/"), 100)
    left = changes.merge_base(root, changes.commit_of(root, branch) or "", commit)
    if not left:
        why = f"nothing here says where it left {name}: git fetch --unshallow, or name another with --base REV"
        return None, [ReceiptLine("base", None, why)]
    if left == commit and not told:
        known = _known(root, "base", said)
        lines = [known]
        if known.holds:
            what = (
                f"the receipt chose the base {said[:12]}, since the commit is on {name} already (--base REV: another)"
            )
            lines.append(ReceiptLine(what, True, is_note=True))
        return (ChosenBase(said, is_receipts=True) if known.holds else None), lines
    lines = [ReceiptLine(f"base {left[:12]}, where it left {name}", True)]
    if left != said:
        lines.append(
            ReceiptLine(f"the receipt has another base, {said[:12]}, which decides nothing", True, is_note=True)
        )
    return ChosenBase(left, is_receipts=left == said), lines


def subject_of(
    statement: Statement, chosen: ChosenBase, root: str, state: str, environ: Mapping[str, str], now: float
) -> Subject:
    began = base.of_commit(root, chosen.commit)
    look = base.look(root, began)
    said = statement.predicate.exceptions
    tests = frozenset(said.allowed_tests)
    return Subject(
        *(root, state, began, look, environ, now, MINUTES),
        remembers=False,
        allowed=said.allowed,
        allowed_tests=tests,
        by=USER,
    )


def commands(subject: Subject, statement: Statement, *, trusts_user: bool) -> list[str]:
    """Return what `verify` would run here, as one types it: the gates that count, and the project's own tests."""
    found = []
    for gate in statement.predicate.gates:
        source = own_commands.where(subject.root, subject.began.get("head"), gate.argv, gate.cwd)
        if source or (gate.by == USER and trusts_user):
            found.append(_as_run_here(subject, gate_command(gate)))
    for check in proving.project_tests(subject):
        found += [gate_runs.Plain(each.argv, check.cwd) for each in (check, *check.instead)]
    return list(dict.fromkeys(gate_runs.typed_in(command.argv, command.cwd) for command in found))


def verify(
    subject: Subject, statement: Statement, *, is_receipts_base: bool, trusts_user: bool
) -> Iterator[ReceiptLine]:
    """Make its experiment again, line by line. What another base than the receipt's shows of the runs without the work
    is no line of its own: the gate holds from that base on, or it does not."""
    allowed = statement.predicate.exceptions.allowed
    for path in sorted(allowed):
        why = "" if trusts_user else ONLY_SAID
        yield ReceiptLine(f"{clip(path, 200)} changed as the user allowed", trusts_user or None, why)
    for test in sorted(statement.predicate.exceptions.allowed_tests):
        why = "" if trusts_user else ONLY_SAID
        yield ReceiptLine(f"{clip(test, 200)} may fail or be gone, as the user allowed", trusts_user or None, why)
    for path in sorted(statement.predicate.exceptions.uncommitted):
        what = f"by its word {clip(path, 200)} was there and in no commit when the run began; it counts as work here"
        yield ReceiptLine(what, True, is_note=True)
    passing, not_started = [], []
    for gate in statement.predicate.gates:
        lines = list(_gate_again(subject, gate, is_receipts_base=is_receipts_base, trusts_user=trusts_user))
        yield from lines
        if all(line.holds for line in lines):
            passing.append(gate_command(gate))
        elif gate.by == PROJECT and lines[-1].holds is None:
            not_started.append(gate_command(gate))
    missing = proving.own_tests(subject, [*passing, *not_started]).missing
    if missing or not not_started:
        yield ReceiptLine("the project's own tests are not weakened", not missing, missing)


def _known(root: Path, what: str, commit: str) -> ReceiptLine:
    """In a shallow clone a commit may only not be there yet."""
    name = f"{what} {commit[:12]}"
    if commit and changes.commit_of(root, commit) == commit:
        return ReceiptLine(name, True)
    is_shallow = git.run(root, "rev-parse", "--is-shallow-repository").text.strip()
    if is_shallow == "true":
        return ReceiptLine(name, None, "this clone does not go back so far: git fetch --unshallow")
    if not is_shallow:
        return ReceiptLine(name, None, "there is no git repository here")
    return ReceiptLine(name, False, "this repository has no such commit")


def _gate_again(
    subject: Subject, gate: ReceiptGate, *, is_receipts_base: bool, trusts_user: bool
) -> Iterator[ReceiptLine]:
    command = gate_command(gate)
    name = f"gate {clip(gate.name, 60)} ({clip(typed(gate.argv), 80)})"
    source = own_commands.where(subject.root, subject.began.get("head"), gate.argv, gate.cwd)
    if gate.by == PROJECT:
        yield ReceiptLine(f"{name}: the project's own", bool(source), "no file of the base names it")
        if not source:
            return
    elif not source and not trusts_user:
        yield ReceiptLine(name, None, f"{ONLY_SAID}; it was not run")
        return
    if shadows := reading.shadows(subject.root, subject.began, command, subject.allowed):
        yield ReceiptLine(name, False, outputs.IN_PLACE_OF_RUNNER.format(shadows[0]))
        return
    made = proving.proved(subject, _as_run_here(subject, command))
    now = made.runs.get(gate_runs.AS_IT_IS)
    if why := _cannot_start(made, now):
        yield ReceiptLine(name, None, why)
        return
    yield ReceiptLine(f"{name}: {made.reason}" if made.holds else name, made.holds, made.reason)
    for arrangement in sorted({*gate.runs, *made.runs}):
        said, run = gate.runs.get(arrangement), made.runs.get(arrangement)  # type: ignore[call-overload]
        if run is None and arrangement == gate_runs.OLD_TESTS and made.holds:
            yield ReceiptLine(f"{name}, {arrangement}: no test differs from the base here", True, is_note=True)
            continue
        there = said.in_words if said else "no such run"
        here = _ran(run).in_words if run else "no such run"
        if arrangement != gate_runs.AS_IT_IS and not is_receipts_base:
            yield ReceiptLine(f"{name}, {arrangement}: {here}; from its own base {there}", True, is_note=True)
            continue
        yield ReceiptLine(f"{name}, {arrangement}: {there}", there == here, f"here it is {here}")


def _as_run_here(subject: Subject, command: GateCommand) -> GateCommand:
    """The project's tests by the runner that this machine has, where the writer's lay in an environment of its own."""
    directory = os.path.join(subject.root, command.cwd)
    if resolve(command.argv[0], directory, subject.environ.get("PATH", "")) is not None:
        return command
    head = subject.began.get("head")
    check = own_commands.test_gate(subject.root, head, command.cwd)
    if check is None or not own_commands.covers(subject.root, head, command.argv, command.cwd, check):
        return command
    return gate_runs.Plain(check.argv, check.cwd, command.sealed, command.timeout)


def _cannot_start(made: Experiment, now: CommandRun | None) -> str:
    """Why the gate says nothing here: a program or a package that this machine has not."""
    if made.verdict == verdicts.NOT_MADE:
        return made.reason
    if now is None:
        return ""
    if now.result == "unknown":
        return now.why
    if now.exit in gate_runs.COULD_NOT_START:
        return f"it cannot be started here ({now.quoted})"
    if now.result == "fail" and now.broke_before_tests and now.missing:
        return f"it stops before its tests for want of {listed(now.missing, 3)}"
    return ""
