"""What the scripts of all shells are made from: the table, turned into the branches of a case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from shlex import quote

from omo.completion.table import Command, Option

INSTALL = {
    "bash": "omo completion bash > ~/.local/share/bash-completion/completions/omo, "
    "or in ~/.bashrc: source <(omo completion bash)",
    "zsh": "in ~/.zshrc, after compinit: source <(omo completion zsh)",
    "fish": "omo completion fish > ~/.config/fish/completions/omo.fish",
}

# What may follow what, as bash and zsh both look it up.
LOOKUPS = """\
_omo_commands() {
    case $1 in
@COMMANDS@
    *) found=() ;;
    esac
}

_omo_options() {
    case $1 in
@OPTIONS@
    *) found=() ;;
    esac
}

# What follows an option; fails for one that takes nothing.
_omo_value() {
    case "$1 $2" in
@VALUES@
    *) return 1 ;;
    esac
}

# What stands at a place; fails where nothing more is taken.
_omo_argument() {
    case "$1 $2" in
@ARGUMENTS@
    *) return 1 ;;
    esac
}"""


def values_by_place(commands: Sequence[Command]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Each kind of value with the (command, option) that take it; command `*` where the option is the same in all."""
    found: dict[str, dict[str, str | None]] = {}
    for command in commands:
        for option in command.options:
            found.setdefault(option.name, {})[command.path] = option.value
    by_value: dict[str, list[tuple[str, str]]] = {}
    for name, places in found.items():
        kinds = set(places.values())
        told = {"*": kinds.pop()} if len(kinds) == 1 else places
        for path, value in told.items():
            if value is not None:
                by_value.setdefault(value, []).append((path, name))
    return sorted(by_value.items())


def arguments_by_place(commands: Sequence[Command]) -> list[tuple[str, list[str]]]:
    """Each kind of argument with the places it stands at, `gate run 1`; `gate add *` for all that follow."""
    found: dict[str, list[str]] = {}
    for command in commands:
        for number, value in enumerate(command.arguments, start=1):
            is_rest = command.rest and number == len(command.arguments)
            found.setdefault(value, []).append(f"{command.path} {'*' if is_rest else number}")
    # The numbered places first: a star would take them too.
    return sorted(found.items(), key=lambda pair: any(place.endswith("*") for place in pair[1]))


def described(options: Iterable[Option]) -> list[tuple[str, str]]:
    return [(option.name, option.about) for option in options]


def filled(script: str, parts: Mapping[str, str]) -> str:
    for name, part in parts.items():
        script = script.replace(f"@{name}@", part)
    return script


def value_cases(commands: Sequence[Command]) -> str:
    """The branches of a case on "COMMAND OPTION", for bash and zsh."""
    return "\n".join(
        _case([f"*{quote(f' {name}')}" if path == "*" else quote(f"{path} {name}") for path, name in places], value)
        for value, places in values_by_place(commands)
    )


def argument_cases(commands: Sequence[Command]) -> str:
    """The branches of a case on "COMMAND NUMBER", for bash and zsh."""
    return "\n".join(
        _case([quote(place.removesuffix("*")) + ("*" if place.endswith("*") else "") for place in places], value)
        for value, places in arguments_by_place(commands)
    )


def _case(patterns: list[str], value: str) -> str:
    return f"    {' | '.join(patterns)}) value={quote(value)} ;;"
