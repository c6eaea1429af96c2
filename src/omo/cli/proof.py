"""`omo proof`: which changed lines does no check hold? It needs no run and no agent, and decides nothing."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from omo import options, settings
from omo.context import Context
from omo.errors import BadInput, Missing, Refused
from omo.proof import base, changes, form, held_lines, own_commands
from omo.proof.gate_runs import GateCommand, Plain, Subject
from omo.proof.held_lines import BUILD, HELD, NO_CODE, NOT_HELD, HeldLines, HunkResult
from omo.proof.run import child_environment
from omo.result import Result
from omo.state import paths
from omo.text import clip, counted
from omo.views import lines
from omo.views.lines import Line
from omo.workflows.ultrawork import gates

STYLES = {NOT_HELD: "red", HELD: "green", BUILD: "yellow"}
MOST_SHOWN = 60
LONGEST_LINE = 60
LONGEST_WHY = 100
COMMENT_SIGNS = ("#", "//", "/*", "*", "--")  # of a hunk, a line that begins otherwise is shown


def register(commands: options.Commands) -> None:
    parser = options.top_command(commands, "proof", run, session=False)
    parser.add_argument(
        "--since", metavar="REV", help="what changed since it (default: since this branch left the other)"
    )
    number = options.as_setting(settings.positive_number)
    parser.add_argument("--minutes", type=number, default=10.0, metavar="N", help="at most so long (default: 10)")
    parser.add_argument(
        "gate", metavar="COMMAND", nargs="*", help="after --; default: what you pinned, else the project's tests"
    )


def run(arguments: argparse.Namespace, context: Context) -> Result:
    if working := context.live_sessions():
        raise Refused(
            f"session {clip(working[0], 40)} works in this tree, and its files would be swapped under it",
            fix="when it has ended; or in another worktree: git worktree add ../look HEAD",
        )
    since, where = _since(context, arguments.since)
    began = base.of_commit(context.root, since)
    look = base.look(context.root, began)
    if look.changed == {}:
        fix = "name the commit before the change, if there is one: omo proof --since HEAD~1"
        raise BadInput(f"nothing differs from {since[:12]}{where}", fix=fix)
    subject = Subject(
        context.root, context.state, began, look, child_environment(os.environ), context.now, by=context.actor
    )
    result = held_lines.find(subject, _command(context, arguments.gate, since), arguments.minutes * 60)
    held_lines.keep(subject, result)
    return Result(result.data, "" if arguments.json else lines.shown(_lines(result, where), context.environ))


def _since(context: Context, named: str | None) -> tuple[str, str]:
    """The commit, and a clause that says why it is that one; the clause is empty where it needs no reason."""
    root = Path(context.root)
    head = changes.commit_of(root, "HEAD")
    if head is None:
        raise Missing("omo proof asks what changed since a commit, and there is none here", fix="git init; git commit")
    if named:
        commit = changes.commit_of(root, named)
        if commit is None:
            raise BadInput(f"--since {clip(named, 80)} is no commit of this repository", fix="git log --oneline")
        return changes.merge_base(root, commit, head) or commit, ""
    left = changes.branch_base(root, head, own=changes.current_branch(root))
    if left is None:
        return head, ""
    branch, commit = left
    return commit, f", where this branch left {branch}" if commit != head else ""


def _command(context: Context, typed: Sequence[str], since: str) -> GateCommand:
    """What was typed, else the first command that the user pinned, else the project's tests: those that HEAD names, or
    else the commit `since`."""
    if typed:
        return Plain(typed, os.path.relpath(os.path.realpath(context.cwd), os.path.realpath(context.root)))
    for gate in gates.current(context.state, "", None):
        if gate.is_users and not form.is_form(gate.argv):
            return gate
    here = paths.session_directory(context.environ, context.cwd)
    for commit in ("HEAD", since):
        if check := own_commands.test_gate(context.root, changes.commit_of(Path(context.root), commit), here):
            return Plain(check.argv, check.cwd)
    raise Missing("no test command is known here", fix="omo proof -- COMMAND, as make test")


def _lines(result: HeldLines, where: str) -> Iterator[Line]:
    headline = f"{clip(result.command, 80)}, changes since {result.since[:12]}{where}"
    yield Line("session", "", headline, ((headline, "bold"),))
    shown = [answer for answer in result.answers if answer.why != NO_CODE]
    widest = max([len(answer.word) for answer in shown], default=0)
    for answer in shown[:MOST_SHOWN]:
        yield _line(answer, widest)
    if len(shown) > MOST_SHOWN:
        more = f"and {len(shown) - MOST_SHOWN} more: --json has them all"
        yield Line("remark", "", more, ((more, "dim"),))
    if no_code := len(result.answers) - len(shown):
        text = f"{counted(no_code, 'hunk')} of comments or blanks not looked at"
        yield Line("remark", "", text, ((text, "dim"),))
    runs = f"{counted(result.runs, 'run')} in {result.seconds:.0f} s"
    yield Line("remark", "", f"{result.sentence} ({runs})", ((result.sentence, "bold"), (f" ({runs})", "dim")))
    if result.count(HELD):
        text = "Held means that the tests notice when the hunk is gone, not that they check all it does."
        yield Line("remark", "", text, ((text, "dim"),))


def _line(answer: HunkResult, widest: int) -> Line:
    hunk = answer.hunk
    about = clip(answer.why, LONGEST_WHY)
    if answer.word == NOT_HELD:
        written = [line.strip() for line in (*hunk.after, *hunk.before) if line.strip()]
        code = [line for line in written if not line.startswith(COMMENT_SIGNS)]
        about = clip("".join((code or written)[:1]), LONGEST_LINE)
    cells = ((answer.word, STYLES.get(answer.word, "dim")), (clip(hunk.place, 200), ""), (about, "dim"))
    return Line("item", answer.word.ljust(widest), f"{clip(hunk.place, 200)}  {about}".rstrip(), cells)
