"""The words of a command: which program really runs, behind env, sudo and their like, and what it is given."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "ash")
# Programs that run another one: their options whose value is the next word, and the operands before its name.
WRAPPERS: dict[str, tuple[tuple[str, ...], int]] = {
    **dict.fromkeys(("builtin", "command", "coproc", "nohup", "setsid"), ((), 0)),
    "env": (("-u", "-C", "--unset", "--chdir"), 0),
    "exec": (("-a",), 0),
    "nice": (("-n", "--adjustment"), 0),
    "npx": (("-p", "--package"), 0),
    "stdbuf": (("-i", "-o", "-e", "--input", "--output", "--error"), 0),
    "sudo": (("-u", "-g", "-h", "-p", "-D", "--user", "--group", "--host", "--prompt", "--chdir"), 0),
    "time": (("-f", "-o", "--format", "--output"), 0),
    "timeout": (("-k", "-s", "--kill-after", "--signal"), 1),
    "xargs": (("-n", "-I", "-P", "-L", "-d", "-a", "--max-args", "--max-procs", "--delimiter", "--arg-file"), 0),
}
GIT_VALUES = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env")
EXECUTES = ("-exec", "-execdir", "-ok", "-okdir")


def name(words: list[str]) -> str:
    """`/opt/omo/bin/omo` → `omo`"""
    return os.path.basename(words[0]) if words else ""


def stages(words: list[str]) -> list[list[str]]:
    """Every command in a chain of them, outermost first: `sudo xargs rm` is three."""
    chain, pending = [], [words]
    while pending:
        words = pending.pop(0)
        if words:
            chain.append(words)
            pending += _behind(words)
    return chain


def program(words: list[str]) -> list[str]:
    """The words from the program that really runs; empty where a wrapper is given none."""
    while words and (behind := _behind(words)):
        words = behind[0]
    return words


def _behind(words: list[str]) -> list[list[str]]:
    """What this command starts in its turn; empty for a program that starts none."""
    called = name(words)
    if called in WRAPPERS:
        values, count = WRAPPERS[called]
        rest = words[1:]
        while rest and (rest[0].startswith("-") or (rest[0].partition("=")[0].isidentifier() and "=" in rest[0])):
            option, rest = rest[0], rest[1:]
            if option in values:
                rest = rest[1:]
        return [rest[count:]]
    if called in SHELLS:
        letters, rest = shell_call(words)
        if rest and "c" not in letters and "s" not in letters:
            return [rest]
    if called == "find":
        return _executed(words)
    return []


def _executed(words: list[str]) -> list[list[str]]:
    """What each -exec of a find runs."""
    commands: list[list[str]] = []
    current: list[str] | None = None
    for word in words:
        if word in EXECUTES:
            current = []
            commands.append(current)
        elif word in (";", "+"):
            current = None
        elif current is not None:
            current.append(word)
    return commands


def shell_call(words: list[str]) -> tuple[str, list[str]]:
    """The letters of a shell's options, and what follows these."""
    letters, rest = "", words[1:]
    while rest and rest[0].startswith(("-", "+")):
        option, rest = rest[0], rest[1:]
        if option in ("-", "--"):
            break
        # Their value is no script: `bash --rcfile src/rc -c …` in tests/ultrawork/shell_commands.txt, `bash -o …` in
        # tests/test_shell.py.
        if option in ("--rcfile", "--init-file") or (option[1:2] != "-" and option[-1] in "oO"):
            rest = rest[1:]
        if not option.startswith("--"):
            letters += option
    return letters, rest


def runs_what_it_is_fed(words: list[str]) -> bool:
    """Whether a here-document is a program to this command."""
    words = program(words)
    return name(words) in SHELLS and "c" not in shell_call(words)[0]


def texts(words: list[str]) -> list[str]:
    """The arguments that this program reads as shell text."""
    called = name(words)
    if called == "eval":
        return [" ".join(words[1:])]
    if called == "trap":
        return words[1:2]
    if called in SHELLS:
        letters, rest = shell_call(words)
        if "c" in letters:
            return rest[:1]
    return []


def git_verb(words: list[str]) -> tuple[list[str], list[str]]:
    """The options before git's verb, and the rest from the verb on."""
    index = 1
    while index < len(words) and words[index].startswith("-"):
        index += 2 if words[index] in GIT_VALUES else 1
    return words[1:index], words[index:]


def operands(words: Sequence[str], values: Sequence[str] = ()) -> list[str]:
    """What is no option. `values`: options whose value is the next word."""
    rest: list[str] = []
    is_value = False
    for index, word in enumerate(words[1:], 1):
        if is_value:
            is_value = False
        elif word == "--":
            return rest + list(words[index + 1 :])
        elif word.startswith("-") and word != "-":
            is_value = word in values
        else:
            rest.append(word)
    return rest


def option(words: Sequence[str], short: str, long: str) -> list[str]:
    """The values of an option: `-o x`, `-ox`, `-so x`, `--output x`, `--output=x`."""
    values: list[str] = []
    for index, word in enumerate(words):
        following = words[index + 1 : index + 2]
        if word.startswith(long + "="):
            values.append(word[len(long) + 1 :])
        elif word == long:
            values += following
        elif word.startswith("-") and not word.startswith("--") and short in word:
            value = word.partition(short)[2]
            values += [value] if value else following
    return values


def letters(words: Sequence[str], takes: str = "") -> set[str]:
    """The letters of short options, up to a `--`; `takes`: those after which the rest of the word is a value."""
    flags: set[str] = set()
    for word in words[1:]:
        if word == "--":
            break
        if word.startswith("-") and not word.startswith("--"):
            flags.update(before(word[1:], takes))
    return flags


def before(text: str, ends: str) -> str:
    for index, letter in enumerate(text):
        if letter in ends:
            return text[:index]
    return text
