"""A walk through a project in which anything may be done to its work, and then somebody who only does what omo says.

The question at every state is: is there a way on? Stop blocks only with a next step that leads somewhere; where only
the user can go on it lets go, and what they are told to run works; nothing is called done while what it needs is
missing; and stop-continuation ends it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from omo.context import Context
from omo.state import paths
from omo.state.runtime import has_ended, let_go, part, standing
from omo.views.project import SessionView, look_at
from omo.work import outcome
from omo.work.status import NextStep
from tests.named_commands import children, parser_at, parser_of_omo
from tests.project import Answer, Project, Ran

EXIT_CODES = (0, 2, 3, 4, 77)
KILLED = 137
MOST_TURNS = 60
MOST_REMEDIES = 4
ALTERNATIVES = ("or", "if", "left out")  # what stands behind these is another way than the first
COMMAND = re.compile(r"(?<![/:\w])omo ([a-z-]+)")
WORDS = re.compile(r"""'[^']*'|"[^"]*"|\S+""")
ON_THE_AGENTS_WORD = (outcome.PROVEN, outcome.JUDGED, outcome.ATTESTED)

Move = Callable[["Walk", int], object]


class Died(BaseException):
    """The process was killed: nothing of it runs on."""


@contextlib.contextmanager
def death(after: int | None) -> Iterator[None]:
    """Every write from this one on fails, so that what a dying process would still do in a `finally` is not done."""
    writes = itertools.count()

    def mortal(write: Callable[..., Any]) -> Callable[..., Any]:
        def written(*arguments: Any, **options: Any) -> Any:
            if after is not None and next(writes) >= after:
                raise Died
            return write(*arguments, **options)

        return written

    with contextlib.ExitStack() as stack:
        if after is not None:
            for name in ("replace", "rename", "write"):
                stack.enter_context(mock.patch.object(os, name, mortal(getattr(os, name))))
        yield


@dataclass(frozen=True)
class Workflow:
    """How a workflow is begun, what may happen to it, and what whoever is next does besides commands.

    `missing` says what its end needs and the files or the agents have not shown, in facts that omo has no part in.
    """

    kind: str
    begin: Move
    moves: Mapping[str, Move]
    work: Callable[[Walk, NextStep], object]
    missing: Callable[[Walk], list[str]]


@dataclass
class Walk(Project):
    """`log` is what happened, for the report of a finding. `facts` is what moves note for `Workflow.missing`."""

    workflows: tuple[Workflow, ...] = ()
    fill: Callable[[Walk, list[str]], tuple[list[str], str | None]] = lambda walk, argv: (argv, None)
    react: Callable[[Walk, list[str], Ran], object] = lambda walk, argv, ran: None
    log: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    count: int = 0
    dies_after: int | None = None  # the write at which the next command is killed
    ends: set[str] = field(default_factory=set)

    def new(self, words: str = "it was seen") -> str:
        """Words nobody said before."""
        self.count += 1
        return f"{words}, number {self.count}"

    def omo(self, *argv: str, by: str = "agent", **options: Any) -> Ran:
        """Also a refusal says what mends it; whatever is raised is a finding."""
        words = list(argv)
        words.insert(words.index("--") if "--" in words else len(words), "--json")
        dies_after, self.dies_after = self.dies_after, None
        try:
            with death(dies_after):
                ran = super().omo(*words, by=by, **options)
        except Died:
            self.facts["damaged"] = True
            self.log.append(f"{by}: omo {' '.join(argv)} -> killed at write {dies_after}")
            return Ran(KILLED, "{}", "")
        said = ran.json.get("error") or {key: ran.json[key] for key in ("next", "outcome") if ran.json.get(key)}
        self.log.append(f"{by} ({self.session}): omo {' '.join(argv)} -> {ran.code} {str(said)[:400]}")
        assert ran.code in EXIT_CODES, self.report("a bug")
        assert "error" not in ran.json or ran.json["error"]["fix"], self.report("a refusal without a remedy")
        return ran

    def hook(self, name: str, **fields: Any) -> Answer:
        log = Path(paths.log_file(self.state))
        try:
            answer = super().hook(name, **fields)
        except AssertionError:
            is_let_go = self.facts.get("damaged") and "Unreadable" in log.read_text("utf-8")
            assert is_let_go, self.report("a hook failed")
            log.unlink()
            answer = Answer(0, "", "")
        shown = {key: str(value)[:80] for key, value in fields.items() if key in ("prompt", "agent_type", "tool_name")}
        self.log.append(f"hook ({self.session}): {name} {shown or ''} -> {answer.stdout[:400]}")
        return answer

    def stop(self, **fields: Any) -> Answer:
        """Never the same event twice."""
        return super().stop(**{"last_assistant_message": self.new(), **fields})

    def report(self, what: str) -> str:
        return "\n".join([what, *self.log])

    # What is so

    def view(self) -> SessionView:
        """As `omo status` has it."""
        environ = {**self.environ, "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": self.session}
        return look_at(Context(environ, str(self.root), self.now), self.session)

    def is_over(self, view: SessionView) -> bool:
        """Nothing is left that any word of the user's could wake."""
        is_on = part(view.brief.row, "ulw").get("enabled") and not part(view.brief.row, "work")
        return view.brief.mode in ("cancelled", "off") or not (standing(view.brief.row) or is_on)

    def check_state(self) -> SessionView:
        """A state that Stop would hold has a next step of the agent's; what has ended has what it needed."""
        view = self.view()
        if view.brief.decision == "block" and view.brief.rule.name != "begin":  # of which omo next alone knows
            step = view.next
            # After a crash or an edit of the state, hooks know from the first command that meets it.
            is_known = not self.facts.get("damaged")
            assert step.commands or not is_known, self.report(f"Stop blocks, and nothing is next: {step}")
            # A session that stopped at a step is woken by any word of the user's, and the agent goes on with theirs.
            is_agents = step.who == "agent" or step.action == "escalate" or not is_known
            assert is_agents, self.report(f"Stop blocks, and only the user can go on: {step.text}")
            for each in step.commands:
                parses(each.argv, self)
        for workflow in self.workflows:
            summary = view.brief.row["work"].get(workflow.kind, {})
            ended = outcome.of(summary) if has_ended(summary) else outcome.outcome(outcome.ENDED, "")
            name = f"{self.session} {workflow.kind} {summary.get('run')} {ended['why']}"
            if ended["verdict"] in ON_THE_AGENTS_WORD and name not in self.ends:
                self.ends.add(name)
                missing = workflow.missing(self)
                assert not missing, self.report(f"{outcome.in_words(ended)}, and yet: {missing}")
        return view

    # The way on

    def play(self, *script: tuple[Move, int]) -> None:
        for move, number in script:
            self.log.append(f"# {getattr(move, '__name__', move)} {number}")
            move(self, number)
            self.check_state()

    def can_be_stopped(self) -> None:
        """By the user's word and by their command, whatever the state; then it is put back."""
        aside = self.root.parent / "aside"
        session = self.session
        for stop in (
            lambda: self.prompt("/omo:stop-continuation"),
            lambda: self.user("stop-continuation", session=session),
        ):
            if not Path(self.state).exists():
                return
            shutil.copytree(self.state, aside, symlinks=True)
            stop()
            assert not self.stop().blocks, self.report("stopped by the user, and yet Stop blocks")
            view = self.view()
            let_go = (
                ("cancelled", "off") if view.brief.row["stopContinuation"]["ended"] else ("cancelled", "off", "done")
            )
            assert view.brief.mode in let_go, self.report(f"stopped, and yet {view.brief.mode}")
            shutil.rmtree(self.state)
            aside.rename(self.state)
            self.log.append("# the state before that word is put back")

    def reach_the_end(self) -> None:
        """Whoever does what is said, as it is said, comes to the end."""
        tried: list[NextStep] = []
        for _ in range(MOST_TURNS):
            if self.is_over(self.check_state()):
                return
            stop = self.stop()
            view = self.check_state()
            if self.is_over(view):
                return
            if not stop.blocks:
                self.let_the_user_answer(view)
            elif tried[-2:] == [view.next] * 2:
                tried.clear()
                self.follow(*first_command(str(stop.json["reason"]).partition("Cannot go on?")[2]))
            elif view.next.who == "user" or not view.next.commands:
                tried.append(view.next)
                self.follow(*first_command(str(stop.json["reason"])))
            else:
                tried.append(view.next)
                self.carry_out(view.next, view.leading.kind if view.leading else "ulw")
        raise AssertionError(self.report("no end"))

    def carry_out(self, step: NextStep, kind: str, by: str = "agent") -> None:
        """What the step itself asks for, then its first command and those that go with it."""
        self.log.append(f"# next for the {by}: {step.text}")
        for workflow in self.workflows:
            if workflow.kind == kind:
                workflow.work(self, step)
        for each in step.commands:
            if each.argv and not each.lead.startswith(ALTERNATIVES) and self.follow(list(each.argv), by):
                return

    def follow(self, argv: list[str], by: str) -> int:
        """A command that is named, and where it is refused the one that the refusal names. The last exit code."""
        if argv[0] != "omo":
            return subprocess.run(argv, cwd=self.root, check=False, capture_output=True).returncode
        code = 0
        for _ in range(MOST_REMEDIES):
            filled, stdin = self.fill(self, argv[1:])
            ran = self.omo(*filled, by=by, stdin=stdin)
            self.react(self, filled, ran)
            code = ran.code
            remedy = ran.json.get("error", {}).get("fix", "")
            argv, by = first_command(remedy)
            if not argv:
                break
        return code

    def let_the_user_answer(self, view: SessionView) -> None:
        """It waits for them: what they are told to run, else the word that sets it going."""
        step = view.next
        if step.who == "user" and any(each.argv for each in step.commands):
            self.carry_out(step, view.leading.kind if view.leading else "", by="user")
        elif let_go(view.brief.row):
            self.prompt("ulw go on")
        else:
            for gate in self.facts.get("pins", ()):
                self.prompt(f"/omo:allow {gate}")
            self.prompt("continue")


def parses(argv: tuple[str, ...], walk: Walk) -> None:
    """A command of ours that is named exists, with its options."""
    if argv[:1] != ("omo",):
        return
    parser, rest = parser_at(list(argv[1:]))
    for word in itertools.takewhile(lambda word: word != "--", rest):
        known = not word.startswith("--") or word in parser._option_string_actions
        assert known, walk.report(f"{parser.prog} has no {word}")


def first_command(text: str) -> tuple[list[str], str]:
    """The first command of ours that a sentence names, and who is to run it: the words that its parser knows."""
    starts = [match.start() for match in COMMAND.finditer(text) if match[1] in children(parser_of_omo())]
    if not starts:
        return [], ""
    start = starts[0]
    by = "user" if re.search(r"\b(user|they)\b", text[:start]) else "agent"
    words = WORDS.findall(text[start + 4 :])
    parser, rest = parser_at([word.rstrip(";,:.`") for word in words])
    argv = [word.rstrip(";,:.") for word in words[: len(words) - len(rest)]]
    takes_value, ends = False, words[len(argv) - 1].endswith((";", ",", ":", "."))
    names_gate = any(action.metavar == "NAME" and action.nargs is None for action in parser._actions)
    for word in words[len(argv) :]:
        if ends:
            break
        bare = word if word[0] in "'\"" else word.rstrip(";,:.")
        ends = bare != word
        if takes_value:
            takes_value = False
        elif bare in parser._option_string_actions:
            takes_value = parser._option_string_actions[bare].nargs != 0
        elif names_gate:
            names_gate = False
        elif not (bare.isupper() or bare.isdigit() or bare == "--" or "." in bare or word[0] in "'\""):
            break
        argv.append(bare.strip("'\""))
    return ["omo", *argv], by
