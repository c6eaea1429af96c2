"""The script for bash, from 3.2 on."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from omo.completion.table import Command
from omo.completion.words import INSTALL, LOOKUPS, argument_cases, filled, value_cases

# No candidate is ever expanded: they are compared, quoted with %q, and put into an array. compgen -W would run them.
SCRIPT = r"""# omo completion for bash, made by `omo completion bash`
# @INSTALL@

@LOOKUPS@

_omo_ids() {
    local program
    program=$(type -P omo) || program=@PROGRAM@
    "$program" completion ids "$1" --session "$session" 2>/dev/null </dev/null
}

_omo_add() {
    local quoted
    case $cur in
    [\"\']*)
        # Inside quotes only what needs none is offered.
        [[ $1 == "${cur#?}"* && $1 != *[!A-Za-z0-9_.,/+-]* ]] && COMPREPLY+=("$1")
        return 0
        ;;
    esac
    [[ $1 == "${cur//\\/}"* ]] || return 0
    printf -v quoted %q "$1"
    # Readline would take these for the end of a word.
    [[ $quoted == \$* ]] || { quoted=${quoted//:/\\:} && quoted=${quoted//=/\\=} && quoted=${quoted//@/\\@}; }
    COMPREPLY+=("$prefix$quoted")
}

_omo_add_found() {
    local one
    for one in ${found[@]+"${found[@]}"}; do
        _omo_add "$one"
    done
}

_omo_offer() {
    local one
    case $1 in
    files) compopt -o default 2>/dev/null ;;
    directories) compopt -o dirnames 2>/dev/null ;;
    choice\ *)
        read -ra found <<<"${1#choice }"
        _omo_add_found
        ;;
    ids\ *)
        while IFS= read -r one; do
            [[ $one ]] && _omo_add "$one"
        done <<<"$(_omo_ids "${1#ids }")"
        ;;
    esac
    return 0
}

_omo_is_found() {
    local one
    for one in "${found[@]}"; do
        [[ $one == "$1" ]] && return 0
    done
    return 1
}

_omo() {
    local IFS=$' \t\n' cur=${COMP_WORDS[COMP_CWORD]-} at='' session='' option='' prefix='' over='' value='' word
    local -i i seen=1
    local -a found
    found=() COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $option ]]; then
            [[ $word == = ]] && continue
            [[ $option == --session* ]] && session=${word//[\\\"\']/}
            option=''
        elif [[ ! $over && $word == -- ]]; then
            over=yes
        elif [[ ! $over && $word == -?* ]]; then
            _omo_value "$at" "$word" && option=$word
        else
            _omo_commands "$at"
            if ((${#found[@]} == 0)); then
                seen+=1
            elif _omo_is_found "$word"; then
                at=${at:+$at }$word
            else
                return 0
            fi
        fi
    done
    if [[ $option ]]; then
        [[ $cur == = ]] && cur=''
        _omo_value "$at" "$option"
        _omo_offer "$value"
    elif [[ ! $over && $cur == --*=* ]]; then
        prefix=${cur%%=*}= cur=${cur#*=}
        _omo_value "$at" "${prefix%=}" && _omo_offer "$value"
    elif [[ ! $over && $cur == -* ]]; then
        _omo_options "$at"
        _omo_add_found
    else
        _omo_commands "$at"
        if ((${#found[@]})); then
            _omo_add_found
        elif _omo_argument "$at" "$seen"; then
            _omo_offer "$value"
        elif [[ ! $over ]]; then
            _omo_options "$at"
            _omo_add_found
        fi
    fi
    return 0
}

complete -F _omo omo
"""


def script(commands: Sequence[Command], program: str) -> str:
    parts = {
        "LOOKUPS": LOOKUPS,
        "INSTALL": INSTALL["bash"],
        "COMMANDS": "\n".join(_list(one.path, [name for name, _ in one.commands]) for one in commands if one.commands),
        "OPTIONS": "\n".join(_list(one.path, [option.name for option in one.options]) for one in commands),
        "VALUES": value_cases(commands),
        "ARGUMENTS": argument_cases(commands),
        "PROGRAM": quote(program),
    }
    return filled(SCRIPT, parts)


def _list(path: str, names: list[str]) -> str:
    return f"    {quote(path)}) found=({' '.join(map(quote, names))}) ;;"
