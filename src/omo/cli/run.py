"""`omo run`: a task from its first prompt to its proof where nobody watches, in rounds of fresh conversations.

It is a loop around what is there: each round is the host in a process of its own, with /omo:ulw first and /omo:resume
after that; between rounds omo makes the experiment that `omo ulw done` makes; the verdict is that of the report.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from omo import hosts, masking, options, progress, settings
from omo.context import Context
from omo.digest import sha256
from omo.errors import BadInput, Busy, Missing, OmoError, Refused, Unreadable
from omo.hooks import resume as resuming
from omo.hosts.headless import Headless, RoundEnd, headless
from omo.json_text import Json, loads
from omo.proof import base, bytecode, git, globs, kept_commands, own_commands, trying
from omo.proof.gate_runs import Subject
from omo.proof.run import CommandOutcome, Guard, child_environment
from omo.proof.run import run as run_program
from omo.result import Result
from omo.safe_open import read_start
from omo.state import ownership, paths, runtime, store
from omo.state.rows import EMPTY
from omo.text import clip, counted, listed
from omo.views import project
from omo.views.report import verdict as verdicts
from omo.views.report.verdict import Headline
from omo.work import budget, gate_runner, gates, outcome, requests, session
from omo.work.run import caller_of
from omo.workflows.ultrawork import judging

if TYPE_CHECKING:
    from omo.hosts.headless import Ask
    from omo.proof.project_checks import Check
    from omo.state.rows import SessionRow


LOOK_SECONDS = 120.0
LONGEST_HANDOVER = 1600  # characters: 400 tokens
LONGEST_FAILURE = 400
LONGEST_NOTES = 64 * 1024
KNOWN_BY = 1000  # letters of a task: a ledger keeps so much of what was typed
MOST_FILES = 12
LATER = 75  # a limit or the budget ended it, and it can go on
WAIT_MINUTES = 5.0
GO_ON = "the same command goes on where it was"


def register(commands: options.Commands) -> None:
    parser = options.top_command(commands, "run", run, session=False)
    parser.add_argument("task", metavar="TASK", help="what is to be done, as you would type it")
    parser.add_argument("host_arguments", metavar="HOST ARGS", nargs="*", help="after --; for the host, in every round")
    count, number = options.as_setting(settings.whole_number), options.as_setting(settings.positive_number)
    parser.add_argument("--rounds", type=count, default=5, metavar="N", help="at most so many (default: 5)")
    parser.add_argument("--minutes", type=number, default=60.0, metavar="N", help="of a round (default: 60)")
    parser.add_argument(
        "--budget", default="", metavar="TEXT", help="of all rounds, as in /omo:budget: 2M tokens 90 min"
    )
    parser.add_argument("--host", choices=hosts.NAMES, default=hosts.NAMES[0], help="which client works")
    about = "wait out a usage limit, and try again every so often (default: 5)"
    parser.add_argument("--wait", type=number, nargs="?", const=WAIT_MINUTES, metavar="MINUTES", help=about)
    parser.add_argument("--accept", choices=(outcome.ATTESTED,), help="the agent's word is enough")
    parser.add_argument("--out", metavar="DIR", help="where the report is left (default: below the state directory)")


def run(arguments: argparse.Namespace, context: Context) -> Result:
    if context.may_come_from_agent:
        raise Refused(
            "omo run is not an agent's: the gates of the commit it begins on count as the user's",
            fix="the user, or a job of theirs, runs it",
        )
    if not arguments.task.strip():
        raise BadInput("TASK is empty", fix="say what is to be done")
    if arguments.budget:
        try:
            settings.budget(arguments.budget)
        except settings.BadSetting as refusal:
            what = f"--budget {clip(arguments.budget, 80)} {refusal}"
            raise BadInput(what, fix="--budget '2M tokens 90 min'") from None
    if arguments.out and globs.is_inside(os.path.realpath(context.root), os.path.realpath(arguments.out)):
        what = f"--out {clip(arguments.out, 200)} is in the project: what is left there would change what was proven"
        raise BadInput(what, fix="name a directory elsewhere, or leave --out away")
    environ = {name: value for name, value in context.environ.items() if name != "OMO_SESSION_ID"}  # of no round
    host = headless(arguments.host, context.root, environ, arguments.host_arguments, _asked_in(context.root))
    if not sys.stderr.isatty():
        progress.stream = None  # a log has one line a round
    _require_ready(context, host)
    ownership.make_state_dir(context.state)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        with store.Lock(os.path.join(context.state, "run.lock"), store.deadline(0.1)):
            return Rounds(arguments, context, host).until_the_end()
    except (KeyboardInterrupt, SystemExit):
        print(f"omo: interrupted; {GO_ON}", file=sys.stderr)
        raise
    except Busy:
        raise Refused("another omo run is at work in this tree", fix="wait for it, or use another worktree") from None


def _asked_in(root: str) -> Ask:
    def ask(argv: Sequence[str], stdin: bytes, environ: Mapping[str, str]) -> str:
        return run_program(argv, cwd=Path(root), timeout=LOOK_SECONDS, env=environ, stdin=stdin).stdout

    return ask


def _require_ready(context: Context, host: Headless) -> None:
    """Raises, before a token is spent, where something is missing; the fix is the line that mends it."""
    head = git.run(context.root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if not head.ok:
        raise Missing("omo run begins on a commit, and there is none here", fix="git init, git add, git commit")
    program = host.host.program
    if not shutil.which(program, path=context.environ.get("PATH", "")):
        raise Missing(f"{program} is not on the PATH", fix="install it, or choose another with --host")
    commands = _commands_of_the_agent(context, head.text.strip())
    lacking = host.lacks_login() or host.lacks_permission(commands) or host.lacks_hooks()
    if lacking:
        what, _, fix = lacking.partition(": ")
        raise Missing(what, fix=fix)


def _commands_of_the_agent(context: Context, head: str) -> list[list[str]]:
    """omo itself, and what can prove the work: the user's pins, and the tests that the commit names."""
    commands = [list(gate.argv) for gate in gates.current(context.state, "", None) if gate.is_users]
    if check := own_commands.test_gate(context.root, head, paths.session_directory(context.environ, context.cwd)):
        commands.append(_settled(context, head, check))
    if not commands:
        raise Missing(
            "nothing here could prove the work: no gate is pinned, and the commit names no tests",
            fix="/omo:pin COMMAND in a conversation, or commit the project's tests",
        )
    return [["omo"], *commands]


def _settled(context: Context, head: str, check: Check) -> list[str]:
    """Return the command that gets to the project's tests, tried now where it is not known yet."""
    check = kept_commands.answered(context.state, [check])[0]
    if check.instead:
        began = base.of_commit(context.root, head)
        look = base.look(context.root, began)
        subject = Subject(
            context.root,
            context.state,
            began,
            look,
            child_environment(os.environ),
            context.now,
            minutes=context.settings.proof_minutes,
            by=context.actor,
        )
        check = trying.find(subject, check)[0].check
    return list(check.argv)


@dataclass(frozen=True)
class Round:
    """One conversation and what omo saw after it."""

    number: int
    session: str
    seconds: float
    changed: tuple[str, ...] = ()  # files, since the run began
    tree: str = ""
    failure: str = ""  # why it is not proven; empty where it is
    limit: str = ""
    refused: tuple[str, ...] = ()
    tokens: int = 0
    note: str = ""  # how the client ended, where that was not well

    @property
    def line(self) -> str:
        files = counted(len(self.changed), "file") + " changed"
        how = f"{self.note}; " if self.note else ""
        return f"round {self.number}: {files}, {self.failure or 'proven'} ({how}{self.seconds:.0f} s)"

    @property
    def data(self) -> Json:
        return {
            "round": self.number,
            "session": self.session,
            "seconds": round(self.seconds, 1),
            "changed": list(self.changed),
            "failure": self.failure or None,
            "limit": self.limit or None,
            "refused": list(self.refused),
            "tokens": self.tokens,
            "note": self.note or None,
        }


class Rounds:
    def __init__(self, arguments: argparse.Namespace, context: Context, host: Headless) -> None:
        self.arguments = arguments
        self.context = context
        self.host = host
        self.task = arguments.task.strip()
        self.number = 0  # of the round under way, or of the last one that ended
        self.session = ""  # the conversation that has the work
        self.rounds: list[Round] = []  # those of this process
        self.last: Round | None = None  # what was seen last, also of a round before this process
        self._take_up_interrupted()

    # What is kept between rounds, so that a run that was killed goes on: the task, the round and its conversation.

    @property
    def _notes(self) -> str:
        return os.path.join(self.context.state, "run.json")

    def _take_up_interrupted(self) -> None:
        """Goes back to the round that was under way, if it was for this very task."""
        try:
            notes = loads(read_start(self._notes, LONGEST_NOTES)[0].decode("utf-8", "replace"))
            if notes["task"] != sha256(self.task.encode()) or not isinstance(notes["round"], int):
                return
            session = self._holder(str(notes["session"]))
            if session not in self._rows():
                session = self._begun()
        except (OSError, ValueError, KeyError, TypeError):
            return
        if session:
            self.number, self.session = notes["round"] - 1, session

    def _holder(self, session: str) -> str:
        """The conversation that has the work now: a round that was killed may have taken it up from this one."""
        seen: set[str] = set()
        while session in self._rows() and session not in seen:
            seen.add(session)
            for row in runtime.vouched_rows(self.context.state, session):
                if row.get("kind") == "taken-by":
                    session = str(row.get("session"))
        return session

    def _begun(self) -> str:
        """The conversation that was begun with this task last: not every client lets us choose its id."""
        begun = []
        known_by = masking.mask(self.task)[:KNOWN_BY]  # as the ledger keeps it
        for name, row in self._rows().items():
            events = runtime.vouched_rows(self.context.state, name)
            for kind, summary in runtime.left_open(row):
                typed = requests.of_run(events, kind, str(summary.get("run") or ""))
                if any(known_by in text for text in typed):
                    begun.append((str(row.get("lastUsedAt") or ""), name))
        return max(begun)[1] if begun else ""

    def _keep(self) -> None:
        notes = {"task": sha256(self.task.encode()), "round": self.number, "session": self.session}
        store.replace(self._notes, store.dumps(notes))

    def _rows(self) -> Mapping[str, SessionRow]:
        try:
            return runtime.sessions(self.context.state)
        except Unreadable:
            return {}

    def _now(self) -> Context:
        context = self.context
        return Context(context.environ, context.cwd, time.time(), is_under_agent=False)

    def _say(self, line: str) -> None:
        print(f"omo: {masking.mask(line)}", file=sys.stderr, flush=True)

    # The loop

    def until_the_end(self) -> Result:
        differing = base.take(self.context.root, self.context.environ)["files"]
        if differing and not self.session:
            self._say(f"not as in the commit, and part of what the run begins with: {listed(sorted(differing))}")
        if self.session:
            self._raise_budget()
            self.last = self._with_findings(Round(self.number, self.session, 0.0))
            self._say(f"it goes on where it was, in round {self.number + 1}")
            if not self.last.failure:
                return self._end("", 0)
        while self.number < self.arguments.rounds:
            self.number += 1
            self.last = ended = self._round()
            self.rounds.append(ended)
            self._say(ended.line)
            if not ended.failure:
                return self._end("", 0)
            if self._is_accepted():
                return self._end("the agent's word was accepted", 0)
            if ended.limit and self.arguments.wait:
                self._say(f"{clip(ended.limit, 200)}; trying again in {self.arguments.wait:g} min")
                time.sleep(self.arguments.wait * 60)
                self.number -= 1  # the same round again
                continue
            if ended.limit:
                return self._result(f"{clip(ended.limit, 200)}; {GO_ON}", LATER)
            if self._ended_by() == "budget":
                return self._result("the budget is spent; raise it, and the same command goes on", LATER)
            if why := self._why_stuck():
                return self._end(why, Refused.exit_code)
        return self._end(f"{counted(self.number, 'round')} went by", Refused.exit_code)

    def _raise_budget(self) -> None:
        """What the user allows now, where it was spent before."""
        if not self.arguments.budget:
            return
        context = self._now()

        def decide(row: SessionRow | None) -> runtime.Change:
            raised = session.raise_budget(
                row or EMPTY, budget.read_request(self.arguments.budget), limits=context.limits, now=context.now
            )
            return runtime.Change(None, raised, [{"kind": "budget", "ceilings": budget.ceilings_in_words(raised)}])

        context.change(self.session, decide, "user")

    def _round(self) -> Round:
        began = time.monotonic()
        prompt = self.host.host.spell(self._prompt()).encode("utf-8", "replace")
        environ = dict(self.host.environ)
        if self.arguments.budget:
            environ["OMO_BUDGET"] = self.arguments.budget
        conversation = str(uuid.uuid4())
        if not self.session:
            self.session = conversation
        self._keep()
        with Guard() as guard:
            ended = run_program(
                self.host.command(conversation),
                cwd=Path(self.context.root),
                timeout=self.arguments.minutes * 60,
                env=environ,
                stdin=prompt,
                started=guard.over,
                is_judged=False,
            )
        end = self.host.round_end(ended.stdout, conversation)
        if end.session in self._rows():
            self.session = end.session
        self._keep()
        note = _bad_end(ended, end)
        played = Round(self.number, self.session, 0.0, limit=end.limit, tokens=end.tokens, note=note)
        return replace(self._with_findings(played), seconds=time.monotonic() - began)

    def _prompt(self) -> str:
        """The task first; then the work as it stands, by its session, with what the last round left."""
        if not _is_open(self._rows().get(self.session)):
            return f"/omo:ulw {self.task}"
        return f"/omo:resume {self.session}\n\n{self._handover()}"

    def _handover(self) -> str:
        lines = [f"This is round {self.number} of {self.arguments.rounds}, in a conversation of its own."]
        if last := self.last:
            lines.append(f"Not proven yet: {last.failure}.")
            lines.append(f"Files changed so far: {listed(last.changed, MOST_FILES) or 'none'}.")
            if last.refused:
                lines.append(f"The client refused: {', '.join(last.refused)}. Do without it.")
        return clip("\n".join(lines), LONGEST_HANDOVER)

    # What omo sees after a round

    def _with_findings(self, played: Round) -> Round:
        """The round with what it changed, what its client was refused, and why the work is not proven."""
        context = self._now()
        row = self._rows().get(self.session)
        if row is None:
            return replace(played, failure=f"the client began no run ({played.note or 'it ended without a word'})")
        refusal = self._experiment(context) if _is_open(row) else ""
        verdict = self._verdict()
        failure = ""
        if not verdict.is_proven:
            failure = "; ".join(filter(None, [_waits_for_user(row), refusal or "; ".join(verdict.reasons)]))
        known = gate_runner.known_gates(context, self.session)
        look = base.look(context.root, known.base).without(known.left_out)
        refused: list[str] = []
        for event in runtime.vouched_rows(context.state, self.session):
            refused += event.get("refused", [])
        return replace(
            played,
            changed=tuple(sorted(look.changed or ())),
            tree=look.tree,
            failure=clip(failure, LONGEST_FAILURE),
            refused=tuple(dict.fromkeys(refused)),
        )

    def _experiment(self, context: Context) -> str:
        """Why `omo ulw done` refuses the files as they are; empty where it ends the run, because they are proven. Work
        that stands still is set going only for that end."""
        caller = replace(caller_of(context, self.session), by="user")
        try:
            with bytecode.judgement():
                if not runtime.work_in(caller.row(), "active"):
                    judging.require_proof(context, self.session)
                    resuming.resume(caller)
                judging.judge(context, self.session)
        except OmoError as error:
            defects = error.details.get("defects")
            return f"{error.message}: {'; '.join(defects)}" if isinstance(defects, list) and defects else error.message
        return ""

    def _verdict(self) -> Headline:
        return verdicts.verdict(project.look_at(self._now(), self.session))

    def _is_accepted(self) -> bool:
        return bool(self.arguments.accept) and self._verdict().level == outcome.ATTESTED

    def _ended_by(self) -> str:
        """The rule that ended the work in its session; empty where none did."""
        row = self._rows().get(self.session)
        return str(row["work"].get("ulw", {}).get("endedBy") or "") if row else ""

    def _why_stuck(self) -> str:
        last = self.rounds[-1]
        if not last.changed and last.refused:
            return f"blocked: nothing was changed, and the client refused {', '.join(last.refused)}"
        if len(self.rounds) > 1:
            before = self.rounds[-2]
            if not before.limit and (before.tree, before.failure) == (last.tree, last.failure):
                return f"stuck: the files and the failure are those of the round before: {last.failure}"
        return ""

    # The end

    def _end(self, why: str, code: int) -> Result:
        """For good: the same command would begin anew."""
        Path(self._notes).unlink(missing_ok=True)
        self._let_go(why)
        return self._result(why, code)

    def _result(self, why: str, code: int) -> Result:
        verdict = self._verdict() if self.session in self._rows() else verdicts.NO_RUN
        text = verdict.text if why in verdict.text else f"{verdict.text} ({why})"
        page = self._leave_report()
        data = {
            "exit": code,
            "verdict": verdict.data,
            "why": why or None,
            "session": self.session or None,
            "rounds": [each.data for each in self.rounds],
            "report": page or None,
        }
        return Result(data, "\n".join(filter(None, [text, page])), code)

    def _let_go(self, why: str) -> None:
        """Nobody works on it any more. What waits for the user, or has ended, stays as it is."""

        def decide(row: SessionRow | None) -> runtime.Change:
            if row is None or not runtime.work_in(row, "active"):
                return runtime.Change(None)
            after = session.exhaust(row, rule="run", why=f"omo run ended: {why}")
            return runtime.Change(None, after, [{"kind": "allowed", "rule": "run"}])

        if self.session in self._rows():
            self._now().change(self.session, decide, "user")

    def _leave_report(self) -> str:
        """Writes the report as page and Markdown, and a receipt of what is proven. Returns the path of the page."""
        from omo.cli.receipt import receipt_of
        from omo.views.report import markdown, page
        from omo.views.report.gather import gather

        own = os.path.join(self.context.state, "runs")
        directory = self.arguments.out or own
        receipt = Path(directory, "receipt.json")
        try:
            if directory == own:
                store.make_dir(own, self.context.state)
            for name in ("report.html", "report.md", "receipt.json"):  # of an earlier run
                Path(directory, name).unlink(missing_ok=True)
            report = gather(self._now(), self.session)
            os.makedirs(directory, exist_ok=True)
            for name, text in (("report.html", page.render(report)), ("report.md", markdown.render(report))):
                _write_new(Path(directory, name), text)
        except (OmoError, OSError) as error:
            self._say(f"no report could be left: {error}")
            return ""
        if report.verdict.level == outcome.PROVEN:
            try:
                _write_new(receipt, receipt_of(self._now(), self.session))
            except OmoError as error:
                self._say(f"no receipt: {error.message}; {error.fix}, then omo receipt write")
            except OSError as error:
                self._say(f"no receipt could be left: {error}")
        return os.path.join(directory, "report.html")


def _write_new(path: Path, text: str) -> None:
    """Write a file that is not there. A link that was put there meanwhile is not followed."""
    with open(path, "xb") as file:
        file.write(store.encode(text))


def _is_open(row: SessionRow | None) -> bool:
    """Whether a session has work that /omo:resume takes up."""
    return row is not None and bool(runtime.left_open(row))


def _waits_for_user(row: SessionRow) -> str:
    """What the agent wants to know before it goes on."""
    for _, summary in runtime.work_in(row, "waiting"):
        asked = filter(None, [str(summary.get("why") or "").rstrip("."), str(summary.get("question") or "")])
        return f"it waits for you: {'. '.join(asked)}"
    return ""


def _bad_end(ended: CommandOutcome, end: RoundEnd) -> str:
    """How the client ended, where that was not well."""
    if ended.timed_out:
        return "its time was up"
    if end.error:
        return clip(end.error, 200)
    if ended.exit_code:
        said = (ended.stderr or ended.stdout).strip().splitlines()
        return clip(f"exit {ended.exit_code}: {said[-1] if said else ''}", 200)
    return ""
