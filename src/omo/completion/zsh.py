"""The script for zsh."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from omo.completion.table import Command
from omo.completion.words import INSTALL, LOOKUPS, argument_cases, described, filled, value_cases

# compadd quotes what it inserts, so an id stays one word whatever is in it.
SCRIPT = r"""#compdef omo
# omo completion for zsh, made by `omo completion zsh`
# @INSTALL@

@LOOKUPS@

_omo_ids() {
    local program=${commands[omo]:-@PROGRAM@}
    local -a ids
    ids=("${(@f)$("$program" completion ids "$1" --session "$session" 2>/dev/null </dev/null)}")
    ids=("${(@)ids:#}")
    compadd -a ids
}

_omo_offer() {
    local -a choices
    case $1 in
    files) _files ;;
    directories) _files -/ ;;
    choice\ *)
        choices=(${(s: :)1#choice })
        compadd -a choices
        ;;
    ids\ *) _omo_ids "${1#ids }" ;;
    *) _message 'no completion' ;;
    esac
}

_omo() {
    local at='' session='' option='' over='' value='' word
    local -i i seen=1
    local -a found names
    for ((i = 2; i < CURRENT; i++)); do
        word=${(Q)words[i]}
        if [[ -n $option ]]; then
            [[ $option == --session* ]] && session=$word
            option=''
        elif [[ -z $over && $word == -- ]]; then
            over=yes
        elif [[ -z $over && $word == -?* ]]; then
            _omo_value "$at" "$word" && option=$word
        else
            _omo_commands "$at"
            names=("${(@)found%%:*}")
            if (( $#found == 0 )); then
                seen+=1
            elif (( ${names[(Ie)$word]} )); then
                at=${at:+$at }$word
            else
                return 1
            fi
        fi
    done
    if [[ -n $option ]]; then
        _omo_value "$at" "$option"
        _omo_offer "$value"
    elif [[ -z $over && $PREFIX == --*=* ]]; then
        option=${PREFIX%%=*}
        compset -p $(( $#option + 1 ))
        _omo_value "$at" "$option" && _omo_offer "$value"
    elif [[ -z $over && $PREFIX == -* ]]; then
        _omo_options "$at"
        _describe -o option found
    else
        _omo_commands "$at"
        if (( $#found )); then
            _describe -t commands command found
        elif _omo_argument "$at" "$seen"; then
            _omo_offer "$value"
        elif [[ -z $over ]]; then
            _omo_options "$at"
            _describe -o option found
        fi
    fi
}

# From a file of $fpath the text runs as the function itself; sourced, it says what it is for.
if [[ ${funcstack[1]-} == _omo ]]; then
    _omo "$@"
elif (( $+functions[compdef] )); then
    compdef _omo omo
fi
"""


def script(commands: Sequence[Command], program: str) -> str:
    parts = {
        "LOOKUPS": LOOKUPS,
        "INSTALL": INSTALL["zsh"],
        "COMMANDS": "\n".join(_list(one.path, list(one.commands)) for one in commands if one.commands),
        "OPTIONS": "\n".join(_list(one.path, described(one.options)) for one in commands),
        "VALUES": value_cases(commands),
        "ARGUMENTS": argument_cases(commands),
        "PROGRAM": quote(program),
    }
    return filled(SCRIPT, parts)


def _list(path: str, pairs: list[tuple[str, str]]) -> str:
    words = [quote(f"{name}:{about}" if about else name) for name, about in pairs]
    return f"    {quote(path)}) found=({' '.join(words)}) ;;"
