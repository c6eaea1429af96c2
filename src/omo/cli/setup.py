"""`omo setup`: omo on your PATH and in the status line, a new environment, and all of it away again."""

from __future__ import annotations

import argparse
import sys

from omo import setup
from omo.cli import options
from omo.cli.result import Result
from omo.context import Context, plugin_root
from omo.errors import Refused
from omo.hosts import claude_setup, codex_setup
from omo.setup import Installation, Step
from omo.state import paths


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "setup", "omo on your PATH, in the status line, or all away")
    _changing(verbs, "path", "put omo on your PATH: a small script that finds the newest one installed", path)
    first = claude_setup.Setup.title
    _changing(verbs, "statusline", f"put omo into {first}'s status line, after what you have there", status_line)
    about = f"give {codex_setup.TITLE} the agents that ralph, reviews and the critic send"
    _changing(verbs, codex_setup.NAME, about, agents)
    options.command(verbs, "environment", "build the Python environment anew", environment, session=False)
    about = "take away all that omo put outside its plugin, and this project's state"
    parser = _changing(verbs, "remove", about, remove)
    parts = ["path", "statusline", codex_setup.NAME]
    only = f"only this: path, statusline or {codex_setup.NAME}"
    parser.add_argument("what", nargs="?", choices=parts, metavar="WHAT", help=only)


def _changing(verbs: options.Commands, name: str, about: str, run: options.Run) -> argparse.ArgumentParser:
    parser = options.command(verbs, name, f"{about}; shown first", run, session=False)
    parser.add_argument("--yes", action="store_true", help="do what is shown without asking")
    return parser


def path(arguments: argparse.Namespace, context: Context) -> Result:
    here = _for_the_user(context, "path")
    steps = setup.path_steps(here)
    launcher = setup.launcher_path(here)
    result = _carry_out(steps, f"{launcher} is so already.", agreed=arguments.yes)
    if result.exit_code == 0:
        result.text = "\n".join([result.text, *setup.path_advice(here)])
    return Result({**result.data, "file": str(launcher)}, result.text, result.exit_code)


def status_line(arguments: argparse.Namespace, context: Context) -> Result:
    here = _for_the_user(context, "statusline")
    settings = here.setup.user_settings()
    result = _carry_out(setup.status_line_steps(here), f"{settings} is so already.", agreed=arguments.yes)
    if result.data["done"]:
        result.text += " It is shown with the next message."
    return Result({**result.data, "file": str(settings)}, result.text, result.exit_code)


def agents(arguments: argparse.Namespace, context: Context) -> Result:
    here = _for_the_user(context, codex_setup.NAME)
    return _carry_out(setup.agent_steps(here), f"{codex_setup.TITLE} has the agents already.", agreed=arguments.yes)


def environment(arguments: argparse.Namespace, context: Context) -> Result:
    """bin/omo has built it, and has ended where it could not."""
    here = Installation(context, plugin_root())
    return Result({"home": str(here.home)}, f"The Python environment is ready in {here.home}.")


def remove(arguments: argparse.Namespace, context: Context) -> Result:
    here = _for_the_user(context, "remove")
    if arguments.what:
        steps = [step for step in setup.removal_steps(here) if step.what == arguments.what]
        return _carry_out(steps, f"There is no {arguments.what} of omo's to remove.", agreed=arguments.yes)
    first = []
    if live := setup.live_sessions():
        first = ["Work is on in these sessions, and nothing will hold them to it:", *(f"  {name}" for name in live)]
        first.append(f"Let go of them first with {here.command('stop-continuation', '--all')}, in each project.")
    result = _carry_out(setup.removal_steps(here), "There is nothing to remove.", agreed=arguments.yes, first=first)
    if result.exit_code == 0:
        result.text += f"\nNow the plugin itself: {here.setup.uninstall_command}"
        if codex_setup.has_plugin(context.environ):
            result.text += f"\nand in {codex_setup.TITLE}: {codex_setup.UNINSTALL}"
        result.text += f"\nOther projects keep their own {paths.STATE_DIR} until you remove it there."
    return result


def _for_the_user(context: Context, verb: str) -> Installation:
    """What is outside the project is the user's: an agent changes nothing there, and nobody does unseen."""
    here = Installation(context, plugin_root())
    if context.is_agent:
        raise Refused(
            "what omo sets up outside the project is for the user to change",
            fix=f"in a terminal of their own: {here.command('setup', verb)}",
        )
    return here


def _carry_out(steps: list[Step], nothing: str, *, agreed: bool, first: list[str] | None = None) -> Result:
    """Shows what it will do; asks only where somebody can answer."""
    shown = "\n".join([*(first or []), *(step.shown for step in steps)])
    data = {"steps": [step.shown for step in steps], "done": False}
    if not steps:
        return Result(data, nothing)
    if agreed:
        setup.carry_out(steps)
        return Result({**data, "done": True}, f"{shown}\nDone.")
    if not sys.stdin.isatty():
        return Result(data, f"{shown}\nNothing was done. With --yes it is.", 3)
    print(f"{shown}\nDo this? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        return Result(data, "Nothing was done.", 3)
    setup.carry_out(steps)
    return Result({**data, "done": True}, "Done.")
