"""`omo completion`: the script for a shell, made from the commands' own parsers."""

from __future__ import annotations

import argparse
from functools import partial

from omo.cli import options
from omo.cli.result import Result
from omo.context import Context

INSTALL = {
    "bash": "omo completion bash > ~/.local/share/bash-completion/completions/omo, "
    "or in ~/.bashrc: source <(omo completion bash)",
    "zsh": 'in ~/.zshrc, after compinit: eval "$(omo completion zsh)"',
    "fish": "omo completion fish > ~/.config/fish/completions/omo.fish",
}
FILE_WORDS = ("FILE", "JSON|FILE", "PATH", "PLAN", "PLAN|SPEC", "SPEC")


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "completion", "completion for your shell: bash, zsh, fish")
    for shell, install in INSTALL.items():
        about = f"print the script for {shell}. To install: {install}"
        options.command(verbs, shell, about, partial(script, shell), session=False)


def script(shell: str, arguments: argparse.Namespace, context: Context) -> Result:
    import shtab  # for this command alone

    from omo.cli.main import build_parser

    parser = build_parser()
    _offer_files(parser, shtab.FILE, shtab.DIRECTORY)
    text = shtab.complete(parser, shell).rstrip("\n")
    return Result({"shell": shell, "script": text}, text)


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
