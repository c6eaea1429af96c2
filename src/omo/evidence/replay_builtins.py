"""What may be replayed without asking the user: commands that only read, with the flags that are known to."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from omo.evidence import git
from omo.evidence.run import run

ASK_USER = "or let the user allow it by typing /omo:pin NAME -- COMMAND"
_OPERATOR = re.compile(r"\d*(?:[<>|;&]|\$\(|`)")
# Also the bounds of git's own grammar: nothing absolute, nothing above, so that no file outside can be compared.
_REF = re.compile(r"(?![-/])(?!.*(?:^|/)\.\.(?:/|$))[\w@][\w./@^~:{}+-]*|\.")
_LITERAL = r"""(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`\\$]*`)"""
_SAYS = re.compile(rf"(?:\s*console\.log\(\s*{_LITERAL}\s*\)\s*;?)+\s*")


class Verb(NamedTuple):
    """A git verb: flags it may have, how many refs it needs, and flags we add so that it starts no program."""

    flags: str
    fewest: int = 0
    takes_refs: bool = True
    added: tuple[str, ...] = ()


_SHOWN = r"--stat|--shortstat|--numstat|--name-only|--name-status|--no-ext-diff|--no-textconv|--no-color|--no-renames"
_LISTED = rf"{_SHOWN}|--oneline|--no-decorate|--no-merges|--reverse|-\d{{1,4}}|--max-count=\d{{1,4}}"
_TAME = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
VERBS = {
    "status": Verb(
        r"--short|-s|--porcelain(?:=v[12])?|--branch|-b", takes_refs=False, added=("--ignore-submodules=dirty",)
    ),
    "rev-parse": Verb(r"--short(?:=\d{1,2})?|--verify|--abbrev-ref", fewest=1),
    "merge-base": Verb(r"--is-ancestor|--all", fewest=1),
    "diff": Verb(rf"{_SHOWN}|--cached|--staged|--exit-code|--quiet", added=_TAME),
    "show": Verb(_LISTED, added=(*_TAME, "--no-show-signature")),
    "log": Verb(_LISTED, added=(*_TAME, "--no-show-signature")),
}
# Settings of a repository that make git start a program, or another git that would.
_SETTINGS = ("status.submoduleSummary=false", "diff.submodule=short", "format.pretty=medium", "color.ui=false")
_FILTERS = r"^filter\..*\.(clean|process)$"


def problem(argv: Sequence[str]) -> str:
    """Why the command is no built-in, or the empty string."""
    program, arguments = argv[0], list(argv[1:])
    if program not in PROGRAMS:
        names = ", ".join(PROGRAMS)
        return f"{program!r} is none of the programs that may be replayed by themselves (bare names: {names})"
    for argument in arguments:
        if not argument or argument != argument.strip() or _OPERATOR.match(argument):
            return f"argument {argument!r} of {program} is empty, padded, or shell syntax; nothing here goes to a shell"
    return PROGRAMS[program](program, arguments)


def needs_project(argv: Sequence[str]) -> bool:
    """Whether it speaks of the project at all. What does not is run where no file of the project can sway it."""
    return (argv[0] == "git" and argv[1] != "--version") or list(argv[:2]) == ["npm", "list"]


def hardened(argv: Sequence[str], root: Path, environment: Mapping[str, str]) -> tuple[list[str], dict[str, str], str]:
    """The command as it is started, what that adds to its environment, and why it must not be started after all."""
    if argv[0] != "git" or argv[1] == "--version":
        quiet = {"npm_config_update_notifier": "false", "npm_config_offline": "true"}
        return list(argv), quiet if argv[0] == "npm" else {}, ""
    own = root / ".git"
    added = {**git.ENVIRONMENT, "GIT_ALLOW_PROTOCOL": "none", "HOME": environment["HOME"]}
    if os.path.lexists(own):
        added |= {"GIT_DIR": str(own), "GIT_WORK_TREE": str(root)}
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    command = [*git.COMMAND, "--no-pager", *settings, argv[1], *VERBS[argv[1]].added, *argv[2:]]
    return command, added, _filter(root, {**environment, **added})


def _filter(root: Path, environment: Mapping[str, str]) -> str:
    """A filter is a program in the repository's configuration, started by status and diff alike."""
    asked = run([*git.COMMAND, "config", "-z", "--get-regexp", _FILTERS], cwd=root, timeout=10.0, env=environment)
    for entry in filter(None, asked.stdout.split("\0")):
        name, _, command = entry.partition("\n")
        if command.split()[:1] not in ([], ["git-lfs"]):
            return f"git would start {command!r}, as {name} says; remove it: git config --unset {name}"
    return ""


def _git(program: str, arguments: list[str]) -> str:
    if arguments == ["--version"]:
        return ""
    verb = VERBS.get(arguments[0]) if arguments else None
    if verb is None:
        return f"git {' '.join(arguments[:1])} may not be replayed; these may: --version, {', '.join(VERBS)}"
    before, after = _split(arguments[1:])
    flags = [one for one in before if one.startswith("-")]
    refs = [one for one in before if not one.startswith("-")]
    for flag in flags:
        if not re.fullmatch(verb.flags, flag):
            return f"git {arguments[0]} {flag} may not be replayed; flags that may: {verb.flags.replace('|', ' ')}"
    if refs and not verb.takes_refs:
        return f"git {arguments[0]} takes no {refs[0]!r} here; paths come after --"
    for ref in (*refs, *after):
        if not _REF.fullmatch(ref):
            return f"{ref!r} is no plain revision or path inside the project"
    return "" if len(refs) >= verb.fewest else f"git {arguments[0]} needs a revision, such as HEAD"


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:at], arguments[at + 1 :]


def _version(program: str, arguments: list[str]) -> str:
    return "" if arguments == ["--version"] else f"{program} may be replayed with --version only"


def _script(program: str, arguments: list[str]) -> str:
    if arguments == ["--version"]:
        return ""
    if len(arguments) == 2 and arguments[0] == "-e" and _SAYS.fullmatch(arguments[1]):
        return ""
    return f"{program} may be replayed with --version, or -e and console.log of one plain string each"


def _npm(program: str, arguments: list[str]) -> str:
    if arguments[:1] == ["list"] and all(re.fullmatch(r"--all|--json|--depth=\d{1,2}", one) for one in arguments[1:]):
        return ""
    return _version(program, arguments) and "npm may be replayed with --version or list (--all --json --depth=N)"


# pnpm and yarn list nothing here: both load code of the project before they do anything.
PROGRAMS: Mapping[str, Callable[[str, list[str]], str]] = {
    "git": _git,
    "node": _script,
    "bun": _script,
    "npm": _npm,
    **dict.fromkeys(("pnpm", "yarn", "python3", "python", "pip", "uv"), _version),
}
