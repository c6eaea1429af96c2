"""`omo receipt`: what was proven as a file that others run again, and running such a file again."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from omo import options, progress, safe_open, variables
from omo.cli import out_file
from omo.context import Context
from omo.errors import BadInput, Missing, NotEvaluable, OmoError, Refused
from omo.proof import base, changes
from omo.proof.gate_runs import Subject
from omo.proof.run import child_environment
from omo.result import Result
from omo.text import clip, listed
from omo.views.report.gather import Report, gather
from omo.work import gate_runner, outcome, receipts
from omo.work.proving import NamedCommand
from omo.work.receipts import ChosenBase, Proven, ReceiptLine, Statement

HOME = "receipts"


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "receipt")
    writing = options.command(
        verbs, "write", "write the receipt of a proven run for the commit that is checked out", write
    )
    writing.add_argument("--out", metavar="FILE", help=out_file.ABOUT)
    about = "make its experiment again in this checkout: "
    about += "0 it holds, 3 a line does not, 4 a gate cannot start here, 77 nobody said yes"
    verifying = options.command(verbs, "verify", about, verify, session=False)
    verifying.add_argument("file", metavar="FILE", help="a receipt")
    verifying.add_argument("--yes", action="store_true", help="run code of the commit without asking, as in a job")
    about = "the work began where the commit left it (default: the default branch)"
    verifying.add_argument("--base", metavar="REV", default="", help=about)
    about = "take its word for what the user pinned and allowed: such commands are run, such changes are none"
    verifying.add_argument("--trust-user", action="store_true", help=about)


def write(arguments: argparse.Namespace, context: Context) -> Result:
    if context.is_agent and context.may_come_from_agent and arguments.out is not None:
        raise out_file.not_the_agents("omo receipt write")
    name = context.judged_session(arguments.session)
    text = receipt_of(context, name)
    path = _write_file(context, arguments.out, text)
    return Result(
        {"path": path, "session": name}, f"{path}\nomo receipt verify runs it again, in any clone of this commit"
    )


def receipt_of(context: Context, name: str) -> str:
    """The receipt of what a session has proven. Raises where others could not run that again, and says why."""
    with progress.doing("gathering what was proven"):
        report = gather(context, name)
    verdict = report.verdict
    if verdict.outcome is None or verdict.outcome["verdict"] != outcome.PROVEN:
        raise Refused(
            f"only what is proven can be run again, and this is {verdict.text}", fix="omo report says what is missing"
        )
    if differing := receipts.uncommitted(receipts.top_of(context.root)):
        raise Refused(f"a receipt speaks of a commit, and these are in none: {listed(differing, 6)}", fix="commit them")
    began, uncommitted, commands = _beginning(report)
    if not began:
        raise Refused(
            "the run began on no commit, so that nobody else has what it began with", fix="commit before the work"
        )
    # A commit that was amended since is nobody else's: what came before it is the base, and all of it the work.
    merge_base = changes.merge_base(Path(context.root), began, "HEAD")
    if not merge_base:
        what = f"{began[:12]}, on which the run began, has no commit in common with what is checked out"
        raise Refused(what, fix="check out the branch on which it was done")
    began = merge_base
    known = gate_runner.known_gates(context, name)
    started = base.of_commit(context.root, began)
    subject = Subject(
        context.root,
        context.state,
        started,
        base.look(context.root, started),
        child_environment(os.environ),
        context.now,
        context.settings.proof_minutes,
        allowed=known.allowed_changes,
        allowed_tests=frozenset(known.allowed_tests),
        by=context.actor,
    )
    named = [*((gate.name, gate, gate.is_users) for gate in known), *commands]
    return receipts.write(subject, Proven(began, report.task, named, uncommitted))


def _beginning(report: Report) -> tuple[str, list[str], Sequence[NamedCommand]]:
    """The commit that the leading work began on, the files that were in no commit then, and what its checks run."""
    for part in report.parts:
        started, commands = part.sections.base, part.sections.commands
        if isinstance(started, str) and started:
            return started, [], commands
        if isinstance(started, dict) and started.get("head"):
            return str(started["head"]), sorted(started.get("files") or ()), commands
    return "", [], ()


def _write_file(context: Context, out: str | None, text: str) -> str:
    if out is not None:
        return out_file.write(context, out, text, text.partition(",")[0], "receipt")
    return out_file.keep(context, HOME, f"{changes.commit_of(Path(context.root), 'HEAD')}.json", text)


def verify(arguments: argparse.Namespace, context: Context) -> Result:
    """Code of the commit runs only after a yes; before that git alone is asked."""
    can_ask = not context.is_agent and sys.stdin.isatty()
    if not arguments.yes and not can_ask:
        raise Missing("nothing was run: this runs code of the commit that is checked out; look at it, then add --yes")
    try:
        raw = safe_open.read_file(os.path.join(context.cwd, arguments.file), receipts.LARGEST, follow_link=True)
    except OSError as error:
        what = f"FILE {clip(arguments.file, 200)} cannot be read: {error.strerror or error}"
        raise BadInput(what, fix="omo receipt write names the file it writes") from None
    statement, lines = receipts.read_receipt(raw)
    root = receipts.project_in(statement, context.root) if statement is not None else ""
    if statement is not None and not root:
        lines.append(ReceiptLine(f"directory {clip(statement.predicate.directory, 200)}", False, "it is not there"))
    ran: list[str] = []
    if statement is not None and not lines:
        try:
            chosen, lines = receipts.check_commits(statement, root, arguments.base)
            if chosen is not None:
                _run_again(arguments, context, statement, root, chosen, lines, ran)
        except (BadInput, Missing):
            raise
        except OmoError as error:
            lines.append(ReceiptLine("the experiment", None, error.message))
    code = _exit_code(lines)
    words = {0: "It holds", Refused.exit_code: "It does not hold", NotEvaluable.exit_code: "It cannot be verified here"}
    ran = list(dict.fromkeys(ran))
    shown = [f"  ran      {_escaped(command)}" for command in ran] or ["  ran      nothing"]
    text = "\n".join([*map(_in_words, lines), *shown, f"{words[code]}."])
    data = {"verdict": words[code], "lines": [line.data for line in lines], "ran": ran, "exit": code}
    return Result(data, text, code)


def _run_again(
    arguments: argparse.Namespace,
    context: Context,
    statement: Statement,
    root: str,
    chosen: ChosenBase,
    lines: list[ReceiptLine],
    ran: list[str],
) -> None:
    """Adds each line that was found out, and each command that was run, also those before an error. Nothing of the
    user's own environment is handed on."""
    with variables.strangers_home() as home, variables.handing_on(tuple):
        environ = variables.for_stranger(os.environ, home)
        subject = receipts.subject_of(statement, chosen, root, context.state, environ, context.now)
        commands = receipts.commands(subject, statement, trusts_user=arguments.trust_user)
        if commands and not arguments.yes:
            _require_yes(commands, statement.named(receipts.COMMIT))
        try:
            for line in receipts.verify(
                subject, statement, is_receipts_base=chosen.is_receipts, trusts_user=arguments.trust_user
            ):
                lines.append(line)
        finally:
            ran += subject.ran


def _require_yes(commands: Sequence[str], commit: str) -> None:
    """Shows what would run, and asks."""
    shown = [f"omo receipt verify runs code of {commit[:12]} here, as you and in no sandbox, by these commands:"]
    shown += [f"  $ {_escaped(command)}" for command in commands]
    print("\n".join(shown), "Run them? [y/N] ", sep="\n", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Missing("nothing was run")


def _escaped(command: str) -> str:
    """All of it in one line: what is not seen must not be run."""
    return "".join([letter if letter.isprintable() else ascii(letter)[1:-1] for letter in command])


def _exit_code(lines: list[ReceiptLine]) -> int:
    if any(line.holds is False for line in lines):
        return Refused.exit_code
    return NotEvaluable.exit_code if any(line.holds is None for line in lines) else 0


def _in_words(line: ReceiptLine) -> str:
    word = "note" if line.is_note else {True: "holds", False: "not so", None: "unknown"}[line.holds]
    why = f" ({clip(line.why, 300)})" if line.why and not line.holds else ""
    return f"  {word:8} {clip(line.what, 300)}{why}"
