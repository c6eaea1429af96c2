"""Which program really runs: behind env, timeout, sudo, `sh SCRIPT` and their like."""

from __future__ import annotations

import os

SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "ash", "mksh")

# Programs that run another one: short options that take a value, long ones that do, and operands before its name.
WRAPPERS: dict[str, tuple[str, tuple[str, ...], int]] = {
    "builtin": ("", (), 0),
    "busybox": ("", (), 0),
    "chronic": ("", (), 0),
    "chroot": ("", (), 1),
    "command": ("", (), 0),
    "coproc": ("", (), 0),
    "doas": ("uC", (), 0),
    "env": ("uCS", ("--unset", "--chdir", "--split-string"), 0),
    "exec": ("a", (), 0),
    "flock": ("wE", ("--timeout", "--conflict-exit-code"), 1),
    "gosu": ("", (), 1),
    "ionice": ("cn", ("--class", "--classdata"), 0),
    "nice": ("n", ("--adjustment",), 0),
    "nocorrect": ("", (), 0),
    "noglob": ("", (), 0),
    "nohup": ("", (), 0),
    "npx": ("p", ("--package",), 0),
    "nsenter": ("tSGW", ("--target", "--setuid", "--setgid"), 0),
    "parallel": ("jnaI", ("--jobs", "--arg-file", "--colsep"), 0),
    "repeat": ("", (), 1),
    "setsid": ("", (), 0),
    "ssh-agent": ("at", (), 0),
    "stdbuf": ("ioe", ("--input", "--output", "--error"), 0),
    "strace": ("eopsSPuEbaIOX", (), 0),
    "sudo": ("ughpCrtTDRU", ("--user", "--group", "--host", "--prompt", "--chdir", "--chroot"), 0),
    "taskset": ("", (), 1),
    "time": ("fo", ("--format", "--output"), 0),
    "timeout": ("ks", ("--kill-after", "--signal"), 1),
    "toybox": ("", (), 0),
    "unshare": ("SGRw", (), 0),
    "watch": ("n", ("--interval",), 0),
    "xargs": ("nIPLdEsa", ("--max-args", "--max-procs", "--max-lines", "--delimiter", "--arg-file", "--max-chars"), 0),
}
EXECUTES = ("-exec", "-execdir", "-ok", "-okdir")


def program(words: list[str]) -> list[str]:
    """The words from the program that really runs."""
    while words:
        behind = _behind(words)
        if behind is None:
            return words
        words = behind
    return words


def stages(words: list[str]) -> list[list[str]]:
    """Every command in such a chain, outermost first: `sudo xargs rm` is three."""
    found, left = [], [words]
    while left and (words := left.pop(0)):
        found.append(words)
        behind = _executed(words) if name(words) == "find" else [_behind(words) or []]
        left += [one for one in behind if one]
    return found


def name(words: list[str]) -> str:
    """`/opt/omo/bin/omo` → `omo`"""
    return os.path.basename(words[0]) if words else ""


def shell_call(words: list[str]) -> tuple[str, list[str]]:
    """The letters of a shell's options, and what follows these."""
    letters, rest = "", words[1:]
    while rest and rest[0].startswith(("-", "+")):
        option, rest = rest[0], rest[1:]
        if option in ("-", "--"):
            break
        if option in ("--rcfile", "--init-file") or (option[1:2] != "-" and option[-1] in "oO"):
            rest = rest[1:]
        letters += "" if option.startswith("--") else option
    return letters, rest


def texts(words: list[str]) -> list[str]:
    """The arguments that this program reads as shell text."""
    called = name(words)
    if called == "eval":
        return [" ".join(words[1:])]
    if called == "trap":
        return words[1:2]
    if called in ("su", "runuser", "script", "flock"):
        return [words[at + 1] for at in range(len(words) - 1) if _is_short(words[at], "c")]
    if called in SHELLS:
        letters, operands = shell_call(words)
        return operands[:1] if "c" in letters else []
    return []


def split_string(words: list[str]) -> str:
    """What `env -S` is to take apart into a command."""
    if name(words) != "env":
        return ""
    for at, option in enumerate(words):
        if option.startswith("--split-string="):
            return " ".join([option.partition("=")[2], *words[at + 1 :]])
        if option == "--split-string" or _is_short(option, "S"):
            return " ".join(words[at + 1 :])
        if option.startswith("-S"):
            return " ".join([option[2:], *words[at + 1 :]])
    return ""


def reads_its_program(words: list[str]) -> bool:
    """A shell that is given neither a script nor -c runs what it reads; with -n it only looks."""
    letters, operands = shell_call(words)
    return "c" not in letters and "n" not in letters and (not operands or "s" in letters)


def _is_short(option: str, letter: str) -> bool:
    return option[:1] == "-" and option[1:2] not in ("-", "") and option.endswith(letter)


def _behind(words: list[str]) -> list[str] | None:
    """What a wrapper runs, empty if it names nothing. None: this program is no wrapper."""
    called = name(words)
    if called in WRAPPERS:
        short, long, operands = WRAPPERS[called]
        return _after_options(words[1:], short, long)[operands:]
    if called in SHELLS:
        letters, operands_of_shell = shell_call(words)
        is_script = bool(operands_of_shell) and "c" not in letters and "s" not in letters
        return operands_of_shell if is_script else None
    if called == "find":
        at = next((index for index, word in enumerate(words) if word in EXECUTES), None)
        return None if at is None else words[at + 1 :]
    return None


def _executed(words: list[str]) -> list[list[str]]:
    """What each -exec of a find runs."""
    starts = [at + 1 for at, word in enumerate(words) if word in EXECUTES]
    ends = [at for at, word in enumerate(words) if word in (";", "+")] + [len(words)]
    return [words[start : next(end for end in ends if end >= start)] for start in starts]


def _after_options(words: list[str], short: str, long: tuple[str, ...]) -> list[str]:
    while words and (words[0].startswith("-") or _assigns(words[0])):
        option, words = words[0], words[1:]
        if option == "--":
            break
        if option in long or _wants_value(option, short):
            words = words[1:]
    return words


def _assigns(word: str) -> bool:
    before, sign, _ = word.partition("=")
    return bool(sign) and before.isidentifier()


def _wants_value(option: str, short: str) -> bool:
    """`-n` of nice takes the next word; of `-n5` the value is there already."""
    if option.startswith("--") or _assigns(option):
        return False
    first = next((index for index, letter in enumerate(option) if letter in short), -1)
    return first == len(option) - 1
