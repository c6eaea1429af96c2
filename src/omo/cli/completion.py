"""`omo completion`: the script for a shell, made from the commands' own parsers."""

from __future__ import annotations

import argparse

from omo import options
from omo.context import Context
from omo.result import Result

INSTALL = {
    "bash": "omo completion bash > ~/.local/share/bash-completion/completions/omo, "
    "or in ~/.bashrc: source <(omo completion bash)",
    "zsh": 'in ~/.zshrc, after compinit: eval "$(omo completion zsh)"',
    "fish": "omo completion fish > ~/.config/fish/completions/omo.fish",
}
FILE_WORDS = ("FILE", "JSON|FILE", "PATH", "PLAN", "PLAN|SPEC", "SPEC")


def register(commands: options.Commands) -> None:
    parser = options.top_command(commands, "completion", script, session=False)
    installs = "; ".join(f"{shell}: {install}" for shell, install in INSTALL.items())
    parser.add_argument("shell", choices=list(INSTALL), metavar="SHELL", help=f"to install it, {installs}")


def script(arguments: argparse.Namespace, context: Context) -> Result:
    """Printed, to be put where the shell looks for it."""
    import shtab  # for this command alone

    from omo.cli.main import build_parser

    parser = build_parser()
    _offer_files(parser, shtab.FILE, shtab.DIRECTORY)
    text = shtab.complete(parser, arguments.shell).rstrip("\n")
    return Result({"shell": arguments.shell, "script": text}, text)


def _offer_files(parser: argparse.ArgumentParser, file: object, directory: object) -> None:
    """Where the name of an option, or the word for its value, says that it takes one."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                _offer_files(child, file, directory)
        elif action.dest == "file" or action.metavar in FILE_WORDS:
            action.complete = file  # type: ignore[attr-defined]
        elif action.dest == "cwd" or action.metavar == "DIR":
            action.complete = directory  # type: ignore[attr-defined]
