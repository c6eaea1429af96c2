"""`omo demo`: a whole ultrawork session in a temporary repository, through the very commands in hooks.json."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omo import options, progress
from omo.cli.setup import Installation
from omo.context import Context, plugin_root
from omo.errors import NotEvaluable
from omo.hosts import rehearsal, setups
from omo.proof.run import CommandOutcome, child_environment
from omo.proof.run import run as run_program
from omo.result import Result
from omo.text import counted, fold

SESSION = "demo-session"
WIDTH = 71  # with who speaks before it, a line fits 80 columns
PATIENCE = 120.0  # seconds for each of its commands
SHOWN = 8
FIRST_WORDS = "ulw fix the failing test"
SHOWN_OF_A_PROMPT = 4  # what the model is told is long, and not for the reader
TEST = """\
import unittest
from add import add

class Add(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(add(2, 2), 4)

unittest.main()
"""


def register(commands: options.Commands) -> None:
    options.top_command(commands, "demo", run, session=False)


def run(arguments: argparse.Namespace, context: Context) -> Result:
    with tempfile.TemporaryDirectory(prefix="omo demo ") as directory:
        stage = Stage(Path(directory), context, quiet=arguments.json)
        play(stage)
    stage.title("7. Now you")
    for line in next_steps(setups.every(context.environ, context.root), plugin_root()):
        stage.say(line)
    return Result({"steps": stage.steps}, "")


class Stage:
    """A temporary project, a person typing, an agent working, and the hooks between them."""

    def __init__(self, project: Path, context: Context, *, quiet: bool) -> None:
        self.project = project
        self.steps: list[dict[str, Any]] = []
        self._quiet = quiet
        self._root = plugin_root()
        data = Installation(context, self._root).home
        self._environ = {
            **child_environment(context.environ),
            **rehearsal.hook_variables(self._root, data, project),
            **rehearsal.agent_shell_variables(SESSION),  # which the client sets for hooks too
            "OMO_COOLDOWN_SECONDS": "0.001",  # nobody watching wants to wait for it
        }

    def person(self, prompt: str) -> str:
        self.say(f"you    > {prompt}")
        answer = self._hook(rehearsal.PROMPT, rehearsal.prompt_event(SESSION, self.project, prompt))
        text = in_words(answer, "to you, without the model") or "(lets it pass)"
        self._show("omo", text, SHOWN_OF_A_PROMPT)
        return answer

    def agent_stops(self, saying: str) -> str:
        self.say(f"agent  : {saying} (ends its turn)")
        event = rehearsal.stop_event(SESSION, self.project, message=saying, continues=bool(self.steps))
        answer = self._hook(rehearsal.STOP, event)
        self._show("omo", in_words(answer, "sends it back") or "(lets it stop)")
        return answer

    def agent_runs(self, *argv: str) -> int | None:
        self.say(f"agent  $ omo {' '.join(argv)}")
        done = self._run(str(self._root / "bin" / "omo"), *argv)
        self.steps.append({"command": list(argv), "exit": done.exit_code})
        self._show("", (done.stdout + done.stderr).strip())
        return done.exit_code

    def git(self, *argv: str) -> str:
        return self._run("git", *argv).stdout.strip()

    def title(self, text: str) -> None:
        self.say(f"\n{text}\n{'-' * min(len(text), progress.columns())}")

    def say(self, text: str) -> None:
        if not self._quiet:
            print(progress.folded(text, sys.stdout), flush=True)

    def _hook(self, event: str, stdin: bytes) -> str:
        """As the host does it: the command string in sh, the event on stdin."""
        done = self._run("sh", "-c", rehearsal.registered_commands(self._root, event)[0], stdin=stdin)
        self.steps.append({"event": event, "exit": done.exit_code, "stdout": done.stdout})
        return done.stdout.strip()

    def _run(self, *argv: str, stdin: bytes = b"") -> CommandOutcome:
        return run_program(argv, cwd=self.project, timeout=PATIENCE, env=self._environ, stdin=stdin)

    def _show(self, who: str, text: str, most: int = SHOWN) -> None:
        width = min(WIDTH, progress.columns() - 9)
        lines = fold("\n".join(text.splitlines()), width).split("\n")
        for line in lines[:most]:
            self.say(f"{who:7}| {line}")
            who = ""
        if len(lines) > most:
            self.say(f"{'':7}| … {counted(len(lines) - most, 'more line')}")


def play(stage: Stage) -> None:
    if shutil.which("git") is None or shutil.which("sh") is None:
        raise NotEvaluable("the demo needs git and sh on PATH", fix="install them")
    scene = "A scratch repository: add.py subtracts where it should add, and check.py notices. "
    scene += "You and an agent work in it; omo's real hooks stand between you."
    stage.say(fold(scene, min(80, progress.columns())))
    (stage.project / "add.py").write_text("def add(a, b):\n    return a - b\n", encoding="utf-8")
    (stage.project / "check.py").write_text(TEST, encoding="utf-8")
    stage.git("init", "-q")
    stage.git("add", ".")
    stage.git("-c", "user.name=demo", "-c", "user.email=demo@example.invalid", "commit", "-q", "-m", "start")

    stage.title("1. Without the word nothing happens")
    expect(stage.person("what does add.py do?") == "", "an ordinary prompt is left alone")
    expect(stage.agent_stops("It subtracts.") == "", "an ordinary Stop is left alone")

    stage.title("2. You type ulw, and pin the check that has to pass")
    expect("turned ultrawork on" in stage.person("ulw fix the failing check"), "the instructions are injected")
    python = "python3" if shutil.which("python3") else sys.executable
    pinned = stage.person(f"/omo:pin check -- {shlex.quote(python)} -B check.py")
    expect("pinned by you" in pinned, "the user's gate is pinned")

    stage.title("3. The agent stops too early, and is sent back")
    expect('"block"' in stage.agent_stops("I fixed it, trust me."), "a premature Stop is blocked")

    stage.title("4. omo runs your check with the work and without it: that is what counts")
    expect(stage.agent_runs("ulw", "done") == 3, "done is refused while the bug is there")
    stage.say("agent  : writes add.py")
    (stage.project / "add.py").write_text("def add(a, b):\n    return a + b\n", encoding="utf-8")
    expect(stage.agent_runs("ulw", "done") == 0, "done is accepted")
    expect("done, proven: gate check" in stage.agent_stops("The check passes."), "the user is told that it is proven")

    stage.title("5. And you can always end it yourself")
    stage.person("ulw polish everything")
    expect('"block"' in stage.person("/omo:stop-continuation"), "the prompt never reaches the model")
    expect(stage.agent_stops("Stopping.") == "", "nothing holds the session any more")

    stage.title("6. What is left behind")
    changed = stage.git("status", "--porcelain")
    stage.say(f"git status: {changed or 'clean'} (omo's own state ignores itself)")
    expect(changed == "M add.py", "the fix is the only change")


def next_steps(hosts: Sequence[setups.HostSetup], plugin: Path) -> list[str]:
    """Say how to install omo, unless a host has it, and what to type then."""
    with_omo = [host for host in hosts if host.has_plugin()]
    if with_omo:
        return [f"Open {with_omo[0].title} in a project of yours, and type:", f"  {FIRST_WORDS}"]
    here = []
    for host in hosts:
        if shutil.which(host.host.program, path=host.environ.get("PATH", "")):
            here.append(host)
    here = here or list(hosts[:1])
    lines = ["Install omo:"]
    for host in here:
        lines.append(f"  {host.install_command.replace('PLACE', shlex.quote(str(plugin)))}")
    return [*lines, f"Open {here[0].title} in a project of yours, and type:", f"  {FIRST_WORDS}"]


def in_words(answer: str, on_block: str) -> str:
    """A hook's answer as the people concerned meet it."""
    read = rehearsal.read_answer(answer)
    if read.reason:
        return f"({on_block}) {read.reason}"
    lines = []
    if read.message:
        lines.append(f"(to you) {read.message}")
    if read.context:
        lines.append(f"(to the agent) {read.context}")
    return "\n".join(lines)


def expect(held: bool, what: str) -> None:
    if not held:
        raise NotEvaluable(f"the demo went wrong: expected that {what}", fix="run omo doctor")
