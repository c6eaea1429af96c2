"""A project in which anything may happen to a plan, and somebody who only does what the messages say."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from omo.cli.main import main
from omo.errors import OmoError, Unreadable
from omo.hooks import prompt, session_start, stop, tool_use
from omo.hooks.main import World as HookWorld
from omo.hosts import claude
from omo.state import paths, runtime
from tests.ultragoal.gates import valid_gate

Row = dict[str, Any]

NOW = 1_700_000_000.0  # long before any file of a test was written, whatever the script waits for
EXIT_CODES = (0, 2, 3, 4, 77)
HOOKS = {
    "SessionStart": session_start.handle,
    "Stop": stop.handle,
    "UserPromptSubmit": prompt.handle,
    "PreToolUse": tool_use.handle,
}
WORK = ("execute-goal", "start-goal", "retry-failed", "resolve-blockers", "create-goal", "drop-goal")
LAST = ("verify-again", "complete-goal")
RELEASED = ("paused", "waiting", "exhausted")

COMMAND = re.compile(r"\bomo (?:ultragoal|goal|state|ledger|evidence)\b")
WORDS = re.compile(r"""'[^']*'|"[^"]*"|\S+""")
BARE = ("--force", "--retry-failed", "--retry-blocked", "--repair", "--json")
ENDS = ";,:."


class Died(BaseException):
    """The process was killed: nothing of it runs on."""


@contextlib.contextmanager
def death(at: int | None) -> Iterator[None]:
    """Every write from this one on fails, so whatever a dying process would still do in a `finally` is not done."""
    writes = itertools.count()

    def mortal(write: Callable[..., Any]) -> Callable[..., Any]:
        def written(*arguments: Any, **options: Any) -> Any:
            if at is not None and next(writes) >= at:
                raise Died
            return write(*arguments, **options)

        return written

    with contextlib.ExitStack() as stack:
        for name in ("replace", "rename", "write") if at is not None else ():
            stack.enter_context(mock.patch.object(os, name, mortal(getattr(os, name))))
        yield


@dataclass(frozen=True)
class Ran:
    argv: tuple[str, ...]
    code: int
    answer: Row

    @property
    def fix(self) -> str:
        return str(self.answer.get("error", {}).get("fix", ""))

    def __str__(self) -> str:
        said = self.answer.get("error", {}).get("message") or self.answer.get("next") or ""
        return f"{' '.join(self.argv)} -> {self.code} {said} | {self.fix}"


@dataclass
class Hunt:
    """Two sessions of one project. `log` is what happened, for the report of a finding."""

    root: Path
    now: float = NOW
    count: int = 0
    log: list[str] = field(default_factory=list)
    before: dict[Path, bytes] = field(default_factory=dict)
    released: set[str] = field(default_factory=set)
    dies_at: int | None = None  # the write at which the next command is killed

    @property
    def state(self) -> str:
        return str(self.root / ".sisyphus" / "cc-omo")

    def directory(self, session: str) -> Path:
        return Path(paths.ultragoal_dir(self.state, session))

    def new(self, words: str = "seen") -> str:
        """Words nobody said before."""
        self.count += 1
        return f"{words} number {self.count}"

    def run(self, session: str, *argv: str, by: str = "agent") -> Ran:
        """One command of the agent, or of the user in a terminal of their own, where no session is known."""
        self.now += 1
        agent = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session}
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), death(self.dies_at):
            environ = agent if by == "agent" else {}
            code = main([*argv, "--json"], environ, str(self.root), self.now, has_terminal=True)
        ran = Ran(argv, code, json.loads(out.getvalue()))
        self.log.append(f"{session} {by}: {ran}")
        assert code in EXIT_CODES, self.log
        assert code == 0 or ran.fix or "error" not in ran.answer, f"a refusal without a remedy: {self.log}"
        return ran

    def hook(self, name: str, session: str, **fields: object) -> bytes:
        """The handler itself: whatever it raises besides our own errors is a finding, not a line in a log."""
        self.now += 10
        raw = json.dumps({"hook_event_name": name, "session_id": session, "cwd": str(self.root), **fields})
        event = claude.HOST.read(raw.encode(), {})
        assert event is not None
        try:
            answer = HOOKS[name](event, HookWorld(event, {}, str(self.root), self.now))
            said = claude.HOST.write(answer, event, {})
        except OmoError as error:
            said = str(error).encode()
        self.log.append(f"{session} hook {name} {fields} -> {said[:80]!r}")
        return said

    def files(self) -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in Path(self.state).rglob("*") if path.is_file()}

    def evidence(self) -> bytes:
        """Of the whole project, so it is no part of a plan's status."""
        path = Path(self.state, "evidence", "ledger.jsonl")
        return path.read_bytes() if path.exists() else b""

    def gate(self, goal: str) -> str:
        """A gate that passes, with evidence nobody has seen before."""
        path = self.root / "gate.json"
        path.write_text(json.dumps(valid_gate(self.root, goal, salt=self.new())), encoding="utf-8")
        return str(path)

    def goal(self, session: str, number: int) -> str:
        """The id of some goal of the plan, as far as anyone can read it."""
        try:
            names = [goal["id"] for goal in json.loads((self.directory(session) / "goals.json").read_text())["goals"]]
        except (OSError, ValueError, KeyError, TypeError):
            names = []
        return str(names[number % len(names)]) if names else "G001"

    def status(self, session: str) -> Row:
        """The answer to "what now?": there is one, always."""
        ran = self.run(session, "ultragoal", "status")
        assert ran.code == 0, self.log
        assert ran.answer["next"]["command"] or ran.answer["next"]["action"] == "done", self.log
        return ran.answer

    def told(self, session: str) -> Row:
        return runtime.part(runtime.part(self.row(session), "work"), "ultragoal")

    def row(self, session: str) -> Row:
        try:
            return runtime.session(self.state, session) or {}
        except Unreadable:
            return {}

    def check_stop(self, session: str, shown: Row) -> None:
        """Stop holds while there is work for the agent, unless somebody let go; and lets go when nothing is open."""
        row = self.row(session)
        told = self.told(session)
        if not shown["exists"] or shown["problems"] or runtime.part(row, "stopContinuation").get("disabled"):
            return
        is_open = any(goal["status"] not in ("complete", "superseded") for goal in shown["goals"])
        if shown["next"]["action"] in (WORK if is_open else LAST):
            allowed = ("active", *(RELEASED if session in self.released else ()))
            assert told.get("state") in allowed, (told, shown["next"], self.log)
        if shown["next"]["action"] == "done":
            assert told.get("state") == "done", (told, shown["next"], self.log)

    def escape(self, session: str) -> None:
        """Do what is said, as it is said, until the run is over."""
        shown, seen = self.status(session), set()
        text, left = "", 12 + 6 * len(shown.get("goals", []))
        while text or not self.is_over(session, shown):
            command, by = first_command(text or shown["next"]["command"])
            assert command, f"no command is named: {text or shown['next']} {self.log}"
            step = (command, by, json.dumps(shown), self.evidence())
            assert step not in seen, f"no way out: {command} {self.log}"
            assert left, f"no end: {command} {self.log}"
            seen.add(step)
            left -= 1
            ran = self.run(session, *self.filled(command), by=by)
            text = ran.fix if ran.code else ""
            shown = self.status(session)
            if not ran.code and command[0] != "evidence":
                self.check_stop(session, shown)

    def is_over(self, session: str, shown: Row) -> bool:
        if shown["exists"] or shown["problems"]:
            return bool(shown["next"]["action"] == "done")
        return self.told(session).get("state") != "active"

    def filled(self, command: tuple[str, ...]) -> Iterator[str]:
        """The command with every placeholder filled in."""
        goal = command[command.index("--goal-id") + 1] if "--goal-id" in command else "G001"
        for word in command:
            if word == "FILE":
                yield self.gate(goal)
            elif word == "PATH":
                (self.root / "seen.txt").write_text(self.new(), encoding="utf-8")
                yield "seen.txt"
            else:
                yield self.new() if word in ("TEXT", "…", "ID") else word.replace("…", self.new()).split("|")[0]


def first_command(text: str) -> tuple[tuple[str, ...], str]:
    """The first command that a message names, and who it says is to run it."""
    found = COMMAND.search(text)
    if found is None:
        return (), ""
    by = "user" if "user" in text[: found.start()] else "agent"
    words: list[str] = []
    for token in WORDS.findall(text[found.start() + 4 :])[:40]:
        bare = token.rstrip(ENDS) if token[0] not in "'\"" else token
        is_value = bool(words) and words[-1].startswith("--") and words[-1] not in BARE
        if not is_value and not _belongs(words, bare):
            break
        words.append(bare.strip("'\"") if token[0] in "'\"" else bare)
        if bare != token:
            break
    return tuple(words), by


def _belongs(words: list[str], word: str) -> bool:
    """A verb, an option, or a placeholder: what is none of these is prose."""
    is_deep = words[:2] == ["ultragoal", "gate"] or (words[:1] == ["state"] and words[1:2] not in (["clear"], ["show"]))
    verbs = 3 if is_deep else 2
    return len(words) < verbs or word.startswith("--") or word == "PATH"


def make_template(root: Path) -> Path:
    """A repository with one commit, to be copied."""
    root.mkdir(parents=True)
    identity = ["-c", "user.name=omo", "-c", "user.email=omo@example.org", "-c", "commit.gpgsign=false"]
    (root / "value.txt").write_text("old\n", encoding="utf-8")
    for arguments in (["init", "-q", "--template="], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)
    return root


@contextlib.contextmanager
def hunt_in(template: Path, root: Path) -> Iterator[Hunt]:
    shutil.copytree(template, root)
    hunt = Hunt(root)
    try:
        yield hunt
    finally:
        for left in (root, hunt.root):  # it may have been moved
            shutil.rmtree(left, ignore_errors=True)
