"""The script for fish, from 3.1 on."""

from __future__ import annotations

from collections.abc import Sequence

from omo.completion.table import Command
from omo.completion.words import INSTALL, arguments_by_place, described, filled, values_by_place

# fish takes the lines a function prints as they are, and escapes what it inserts.
SCRIPT = r"""# omo completion for fish, made by `omo completion fish`
# @INSTALL@

# The commands below one, each with a tab and what it does.
function __omo_commands
    switch $argv[1]
@COMMANDS@
    end
end

function __omo_options
    switch $argv[1]
@OPTIONS@
    end
end

# What follows an option; fails for one that takes nothing.
function __omo_value
    switch "$argv[1] $argv[2]"
@VALUES@
        case '*'
            return 1
    end
end

# What stands at a place; fails where nothing more is taken.
function __omo_argument
    switch "$argv[1] $argv[2]"
@ARGUMENTS@
        case '*'
            return 1
    end
end

function __omo_ids
    set -l program (command -s omo)
    or set program @PROGRAM@
    $program completion ids $argv[1] --session "$argv[2]" 2>/dev/null </dev/null
end

# A kind, what is typed of the value, the session, and the option before an equals sign.
function __omo_offer
    switch $argv[1]
        case files
            __fish_complete_path $argv[2]
        case directories
            __fish_complete_directories $argv[2]
        case 'choice *'
            string split ' ' -- (string replace 'choice ' '' -- $argv[1])
        case 'ids *'
            __omo_ids (string replace 'ids ' '' -- $argv[1]) "$argv[3]"
    end | while read -l line
        printf '%s%s\n' "$argv[4]" $line
    end
end

function __omo_complete
    set -l words (commandline -opc)
    set -l cur (commandline -ct)
    set -l at ''
    set -l session ''
    set -l option ''
    set -l over ''
    set -l seen 1
    for word in $words[2..-1]
        if test -n "$option"
            string match -q -- '--session*' $option; and set session $word
            set option ''
        else if test -z "$over" -a "$word" = --
            set over yes
        else if test -z "$over"; and string match -q -- '-?*' $word
            __omo_value $at $word >/dev/null; and set option $word
        else
            set -l names (__omo_commands $at | string replace -r '\t.*' '')
            if test (count $names) -eq 0
                set seen (math $seen + 1)
            else if contains -- $word $names
                set at (string trim -- "$at $word")
            else
                return
            end
        end
    end
    if test -n "$option"
        __omo_offer (__omo_value $at $option) "$cur" "$session" ''
    else if test -z "$over"; and string match -q -- '--*=*' $cur
        set option (string replace -r '=.*' '' -- $cur)
        set -l value (__omo_value $at $option)
        and __omo_offer $value (string replace -r '^[^=]*=' '' -- $cur) "$session" $option=
    else if test -z "$over"; and string match -q -- '-*' $cur
        __omo_options $at
    else if test (count (__omo_commands $at)) -gt 0
        __omo_commands $at
    else if set -l value (__omo_argument $at $seen)
        __omo_offer $value "$cur" "$session" ''
    else if test -z "$over"
        __omo_options $at
    end
end

complete -c omo -e
complete -c omo -f -a '(__omo_complete)'
"""


def script(commands: Sequence[Command], program: str) -> str:
    parts = {
        "INSTALL": INSTALL["fish"],
        "COMMANDS": "\n".join(_list(one.path, list(one.commands)) for one in commands if one.commands),
        "OPTIONS": "\n".join(_list(one.path, described(one.options)) for one in commands),
        "VALUES": "\n".join(
            _case([f"{path} {name}" for path, name in places], value) for value, places in values_by_place(commands)
        ),
        "ARGUMENTS": "\n".join(_case(places, value) for value, places in arguments_by_place(commands)),
        "PROGRAM": quoted(program),
    }
    return filled(SCRIPT, parts)


def quoted(text: str) -> str:
    """One word of fish, whatever is in it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _list(path: str, pairs: list[tuple[str, str]]) -> str:
    words = " ".join(f"{quoted(name)} {quoted(about)}" for name, about in pairs)
    return f"        case {quoted(path)}\n            printf '%s\\t%s\\n' {words}"


def _case(patterns: list[str], value: str) -> str:
    return f"        case {' '.join(map(quoted, patterns))}\n            echo {quoted(value)}"
