"""`omo proof`: is this change tested? A verdict for anyone, then the changed lines that no test checks."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from omo import __version__, globs, options, safe_open, settings, variables
from omo.context import Context
from omo.errors import BadInput, NotEvaluable, OmoError, Refused
from omo.json_text import Json
from omo.proof import (
    base,
    change_verdict,
    changes,
    form,
    git,
    kept_commands,
    merged,
    mutant_runs,
    own_commands,
    trials,
    trying,
    unchecked_lines,
)
from omo.proof.change_verdict import CANNOT_TELL, ChangeVerdict
from omo.proof.gate_runs import AS_IT_IS, WITHOUT, CommandRun, GateCommand, Plain, Subject
from omo.proof.project_checks import Check
from omo.proof.run import child_environment
from omo.result import Result
from omo.state import paths
from omo.text import clip
from omo.views import lines, proof
from omo.views.proof import markdown, sarif, terminal
from omo.work import gates

LARGEST = 64 * 1024 * 1024
NAMES_BASE = "omo proof --since REV"


def register(commands: options.Commands) -> None:
    parser = options.top_command(commands, "proof", run, session=False)
    add = parser.add_argument
    add("--since", metavar="REV", help="where the change begins (default: where it left the default branch)")
    add(
        "--allow",
        metavar="TEST",
        action="append",
        default=[],
        help="a test, or a file of tests, that may go, change, or fail as it does without the change; may be repeated",
    )
    add("--refactoring", action="store_true", help="nothing but the form was to change")
    add("--verdict", action="store_true", help="only the verdict, without the lines that no test checks")
    add("--untrusted", action="store_true", help="run it as a stranger's code, with none of your variables")
    number = options.as_setting(settings.positive_number)
    add("--minutes", type=number, default=10.0, metavar="N", help="at most so long (default: 10)")
    add("-j", "--jobs", type=int, default=1, metavar="N", help="so many runs at once, in worktrees of their own")
    add(
        "--shard",
        default="1/1",
        metavar="I/N",
        help="only this part of the lines; omo proof merge joins all",
    )
    add("--cache", metavar="DIR", help="keep results there, outside the checkout, for a later run")
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--md", action="store_true", help="as Markdown, for a pull request")
    forms.add_argument("--sarif", action="store_true", help="as SARIF, for code scanning")
    add(
        "gate",
        metavar="COMMAND",
        nargs="*",
        help="after --; default: what you pinned, else the project's tests. Or show FILE, or merge FILES",
    )


def run(arguments: argparse.Namespace, context: Context) -> Result:
    match arguments.gate:
        case ["show", file]:
            return Result(data := _read(context, file), _shown(data, arguments, context))
        case ["merge", *files]:
            data = merged.merge([_read(context, file) for file in files])
            return Result(data, _shown(data, arguments, context), change_verdict.EXIT_CODES[data["verdict"]])
    if working := context.live_sessions():
        raise Refused(
            f"session {clip(working[0], 40)} works in this tree, and its files would be swapped under it",
            fix="when it has ended; or in another worktree: git worktree add ../look HEAD",
        )
    with ExitStack() as stack:
        environ: Mapping[str, str] = child_environment(os.environ)
        if arguments.untrusted:
            home = stack.enter_context(variables.strangers_home())
            stack.enter_context(variables.handing_on(tuple))
            environ = variables.for_stranger(os.environ, home)
        change = _Change(arguments, context, environ)
        verdict = change.verdict()
        data = change.data | verdict.data
        stopped_by = change.look_at_lines(verdict, data)
    return Result(data, _shown(data, arguments, context), verdict.exit_code if stopped_by is None else stopped_by)


def _read(context: Context, file: str) -> Json:
    """Return what `omo proof --json` printed into a file."""
    try:
        raw = safe_open.read_file(os.path.join(context.cwd, file), LARGEST, follow_link=True)
    except OSError as error:
        what = f"{clip(file, 200)} cannot be read: {error.strerror or error}"
        raise BadInput(what, fix="omo proof --json > FILE") from None
    return proof.read(raw.decode("utf-8", "replace"), clip(file, 80))


def _shown(data: Json, arguments: argparse.Namespace, context: Context) -> str:
    if arguments.json:
        return ""
    if arguments.md:
        return markdown.markdown(data)
    if arguments.sarif:
        return json.dumps(sarif.sarif(data), indent=1)
    return lines.shown(terminal.lines_of(data), context.environ)


class _Change:
    """What is asked about: the files since a commit, and the commands that may show that they are tested."""

    def __init__(self, arguments: argparse.Namespace, context: Context, environ: Mapping[str, str]) -> None:
        self.arguments = arguments
        self.context = context
        self.shard = _shard(arguments.shard)
        self.commands: list[GateCommand] = []
        self.seen: list[CommandRun] = []
        self.began = self.since = ""
        self.why_not = _missing_base(context, arguments.since)
        if self.why_not is not None:
            return
        self.began, self.since = _since(context, arguments.since)
        began = base.of_commit(context.root, self.began)
        look = base.look(context.root, began)
        if look.changed == {}:
            raise BadInput(
                f"nothing differs from {self.since}",
                fix="name the commit before the change, if there is one: omo proof --since HEAD~1",
            )
        named = map(os.path.normpath, arguments.allow)
        files = {path: base.digest_of(context.root, path) for path in named if path in (look.changed or ())}
        self.subject = Subject(
            *(context.root, context.state, began, look, environ, context.now, arguments.minutes),
            remembers=not arguments.untrusted,
            allowed=files,
            allowed_tests=frozenset(arguments.allow),
            by=context.actor,
        )

    @property
    def data(self) -> Json:
        head = changes.commit_of(Path(self.context.root), "HEAD") or ""
        is_dirty = bool(self.began) and _is_dirty(self.context)
        tree = self.subject.look.tree if self.began else ""
        row: Json = {"omo": __version__, "base": self.began, "since": self.since, "head": head, "is_dirty": is_dirty}
        files = sorted(self.subject.look.changed or ()) if self.began else []
        row |= {"tree": tree, "files": files, "shard": list(self.shard)}
        return row | {"lines": None, "mutants": None}

    def verdict(self) -> ChangeVerdict:
        if self.why_not is not None:
            return self.why_not
        try:
            self._find_commands()
            return change_verdict.judge(
                self.subject, self.commands, self.seen, is_refactoring=self.arguments.refactoring
            )
        except NotEvaluable as error:
            return ChangeVerdict(CANNOT_TELL, error.message, facts=_defects(error), fix=error.fix)

    def _find_commands(self) -> None:
        """What was typed, else what the user pinned, else the project's own tests of what was changed."""
        context, typed = self.context, self.arguments.gate
        if typed:
            here = os.path.relpath(os.path.realpath(context.cwd), os.path.realpath(context.root))
            self.commands = [Plain(typed, here)]
            return
        for gate in gates.current(context.state, "", None):
            if gate.is_users and not form.is_form(gate.argv):
                self.commands.append(gate)
        if self.commands or self.subject.changed_documents_alone:
            return
        for check in self._project_tests():
            settled, ran = trying.find(self.subject, check)
            if settled.gets_nowhere:
                raise NotEvaluable(
                    "no command that this project's files name gets to its tests",
                    fix="name one that does: omo proof -- COMMAND",
                    defects=settled.lines,
                )
            self.commands.append(Plain(settled.check.argv, settled.check.cwd))
            self.seen.append(ran)
        if not self.commands:
            raise NotEvaluable("no test command is known here", fix="omo proof -- COMMAND, as make test")

    def _project_tests(self) -> list[Check]:
        """Those that the files named where the change began; a project that had none then names them now."""
        here = paths.session_directory(self.context.environ, self.context.cwd)
        changed = self.subject.look.changed or ()
        checks = own_commands.test_gates(self.context.root, self.subject.began, changed, here)
        if not checks and (head := changes.commit_of(Path(self.context.root), "HEAD")):
            checks = list(filter(None, [own_commands.test_gate(self.context.root, head, here)]))
        return kept_commands.answered(self.context.state, checks)

    def look_at_lines(self, verdict: ChangeVerdict, data: Json) -> int | None:
        """Find the lines that no test checks, and the mutants that live, where a command fails without the change.
        Return the exit code of a signal that ended the look."""
        proving = [each for each in verdict.tried if each.made.holds]
        if self.arguments.verdict or not proving:
            return None
        made, command = proving[0].made, proving[0].command
        began = time.monotonic()
        look = trials.Options(
            self.arguments.minutes * 60,
            self.arguments.jobs,
            self.shard,
            self._cache(),
            seen=made.runs[AS_IT_IS],
            without=made.runs[WITHOUT],
        )
        try:
            found = unchecked_lines.find(self.subject, command, look)
            unchecked_lines.keep(self.subject, found)
            data["lines"] = found.data
            if found.stopped_by is None:
                left = look.seconds - (time.monotonic() - began)
                mutants = mutant_runs.find(self.subject, command, replace(look, seconds=max(0.0, left)))
                data["mutants"] = mutants.data
                return mutants.stopped_by
            return found.stopped_by
        except NotEvaluable as error:
            data["facts"] = [*data["facts"], f"lines that no test checks: {error.message}"]
            return None

    def _cache(self) -> str | None:
        """Return where results are kept besides the state. A stranger's branch is not helped by what lies there."""
        if self.arguments.cache is None or self.arguments.untrusted:
            return None
        place = os.path.realpath(os.path.join(self.context.cwd, self.arguments.cache))
        if globs.is_inside(os.path.realpath(self.context.root), place):
            raise BadInput(f"--cache {clip(self.arguments.cache, 200)} lies in the checkout", fix="name one outside")
        return place


def _shard(text: str) -> tuple[int, int]:
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise BadInput(f"--shard {clip(text, 40)!r} is no part I/N", fix="omo proof --shard 1/4")
    return int(index), int(count)


def _defects(error: OmoError) -> list[str]:
    defects = error.details.get("defects")
    return [str(defect) for defect in defects] if isinstance(defects, (list, tuple)) else []


def _missing_base(context: Context, named: str | None) -> ChangeVerdict | None:
    """Say what is missing where a clone does not have the commit that the change began on."""
    root = Path(context.root)
    if changes.commit_of(root, "HEAD") is None:
        return ChangeVerdict(CANNOT_TELL, "there is no commit here", fix="git init; git commit")
    is_shallow = git.run(context.root, "rev-parse", "--is-shallow-repository").text.strip() == "true"
    if not is_shallow:
        return None
    if named is not None:
        is_here = changes.commit_of(root, named) is not None
    else:
        is_here = _left(context)[0] not in ("", changes.commit_of(root, "HEAD")) or _is_dirty(context)
    if is_here:
        return None
    fix = "git fetch --unshallow; in a GitHub workflow: actions/checkout with fetch-depth: 0"
    return ChangeVerdict(CANNOT_TELL, "this clone is shallow and lacks the commit before the change", fix=fix)


def _is_dirty(context: Context) -> bool:
    return bool(base.look(context.root, base.of_commit(context.root, "HEAD")).changed)


def _left(context: Context) -> tuple[str, str]:
    """Return where HEAD left the default branch, and the name of that branch; both empty where nobody can tell."""
    root = Path(context.root)
    branch = changes.default_branch(root)
    commit = changes.merge_base(root, branch, "HEAD") if branch else ""
    return (commit, branch.removeprefix("refs/remotes/").removeprefix("refs/heads/")) if commit else ("", "")


def _since(context: Context, named: str | None) -> tuple[str, str]:
    """Return the commit on which the change began, and what a person calls it."""
    root = Path(context.root)
    head = changes.commit_of(root, "HEAD") or ""
    if named:
        commit = changes.commit_of(root, named)
        if commit is None:
            raise BadInput(f"--since {clip(named, 80)} is no commit of this repository", fix="git log --oneline")
        return changes.merge_base(root, commit, head) or commit, named
    commit, branch = _left(context)
    if commit and commit != head:
        return commit, branch
    if _is_dirty(context):
        return head, "HEAD"
    where = f"this is {branch} itself, and nothing is changed" if branch else "no default branch is known here"
    raise BadInput(f"which change is meant? {where}", fix=f"name where it begins: {NAMES_BASE}, as HEAD~1")
