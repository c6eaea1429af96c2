"""Commands that no plan may run, each with its reason. A table by program; a mention is not a call."""

from __future__ import annotations

from omo.shell import Unknown, name
from omo.shell.programs import SHELLS, git_verb, letters, operands, shell_call, stages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omo.shell import SimpleCommand

NEVER_RUN = "No plan may run that: if the step needs it, stop and report it to the user."
UNREAD_TEXT = "runs what it has just fetched, decoded or been piped: save it, read it, then run the file"
BOMB = "a function that pipes into itself: a fork bomb"
NO_STOP = "the machine is not the plan's to stop"
FETCHERS = ("curl", "wget", "fetch", "http", "https", "aria2c", "lynx", "nc", "ncat")
DECODERS = ("base64", "base32", "openssl", "xxd", "uudecode", "gunzip", "zcat")
INTERPRETERS = ("python", "perl", "ruby", "node", "nodejs", "php", "deno", "bun", "lua")
RUNS_TEXT = (*SHELLS, "eval", "source", ".")
# Unlike `eval "$(ssh-agent -s)"`, which tests/ultrawork/shell_commands.txt lets through.
PRINTERS = ("cat", "head", "tail", "echo", "printf", "sed", "awk", "tr")
OPEN_MODES = ("a+rwx", "a=rwx", "ugo+rwx", "ugo=rwx", "+rwx")
# What is forbidden however it is called, but for --help and --version.
ALWAYS = {
    **dict.fromkeys(("shutdown", "reboot", "halt", "poweroff"), NO_STOP),
    "mkfs": "makes a new file system and loses the old one",
}


def reasons(call: SimpleCommand, upstream: Sequence[SimpleCommand]) -> list[str]:
    """Everything that is wrong with one call. `upstream`: the calls whose output it reads through a pipe."""
    found = []
    for words in stages(call.words):
        if reason := _forbidden(words, call):
            found.append(reason)
        if _runs_unread_text(words, call, upstream):
            found.append(UNREAD_TEXT)
    return found


def _forbidden(words: list[str], call: SimpleCommand) -> str:
    called = name(words)
    program = called.partition(".")[0]  # `mkfs.ext4 /dev/sdb1` in tests/ultrawork/shell_commands.txt
    if _runs_unknown_text(words, call):
        return f"{called} of what only the running shell knows"
    if program in ALWAYS and words[1:] not in (["--help"], ["--version"]):
        return f"{called}: {ALWAYS[program]}"
    if called in FORMS:
        return FORMS[called](words)
    if isinstance(words[0], Unknown):  # which program it is, its arguments may tell
        return _rm(words) or _chmod(words)
    return ""


def _runs_unknown_text(words: list[str], call: SimpleCommand) -> bool:
    """Whether it runs a text that stands in a variable or that a command prints. After the text of `sh -c` such a word
    is only an argument."""
    is_printed = any(name(inner) in PRINTERS for inner in call.inner)
    if name(words) == "eval":
        return call.has_variables or is_printed
    flags, rest = shell_call(words)
    if name(words) not in SHELLS or "c" not in flags or not rest or not isinstance(rest[0], Unknown):
        return False
    # `sh -c $CMD` and `bash -c "ls $(cat src/list)"` in tests/ultrawork/shell_commands.txt: only the first is unknown.
    is_variable = rest[0].strip('"${}').isidentifier()
    return is_variable or (is_printed and not rest[0].known_start)


def _rm(words: list[str]) -> str:
    flags = letters(words)
    if name(words) != "rm" and not flags <= set("rRfvidI"):
        return ""  # `"$PYTHON" -m pytest -rf` in tests/ultrawork/shell_commands.txt
    is_recursive = bool(flags & {"r", "R"}) or "--recursive" in words
    if is_recursive and ("f" in flags or "--force" in words):
        return "rm -rf: name the files, or remove them with rm -r inside the fence"
    return ""


def _chmod(words: list[str]) -> str:
    mode = "".join(operands(words)[:1])
    if mode in OPEN_MODES or (mode.isdigit() and mode.endswith("777")):
        return f"chmod {mode}: everybody may write; name the narrowest mode that works"
    return ""


def _crontab(words: list[str]) -> str:
    if "l" in letters(words):
        return ""
    return "crontab: only -l is allowed, scheduled jobs are not the plan's to change"


def _kill(words: list[str]) -> str:
    if "-1" in words[2:]:  # the first word may be a signal: `kill -1 123` in tests/ultrawork/shell_commands.txt
        return "kill of every process: name the one that is meant"
    return ""


def _systemctl(words: list[str]) -> str:
    return f"systemctl: {NO_STOP}" if ALWAYS.get("".join(operands(words)[:1])) == NO_STOP else ""


def _init(words: list[str]) -> str:
    return f"{name(words)}: {NO_STOP}" if operands(words)[:1] in (["0"], ["6"]) else ""


def _git(words: list[str]) -> str:
    if _sets_hooks_path(*git_verb(words)):
        return "git's core.hooksPath: which hooks run is not the plan's to change"
    return ""


def _sets_hooks_path(options: list[str], verb: list[str]) -> bool:
    arguments = [word.lower() for word in verb[1:]]
    if verb[:1] == ["config"] and "core.hookspath" in arguments and not {"--get", "--get-all", "get"} & set(arguments):
        has_value = arguments[-1] != "core.hookspath"
        return has_value or any("unset" in word for word in arguments)
    return any("core.hookspath=" in word.lower() for word in options)


FORMS: dict[str, Callable[[list[str]], str]] = {
    "rm": _rm,
    "chmod": _chmod,
    "crontab": _crontab,
    "kill": _kill,
    "git": _git,
    "systemctl": _systemctl,
    **dict.fromkeys(("init", "telinit"), _init),
}


def _runs_unread_text(words: list[str], call: SimpleCommand, upstream: Sequence[SimpleCommand]) -> bool:
    """A shell that is piped its program, and any interpreter that runs what was just fetched or decoded."""
    called = name(words)
    is_interpreter = called.rstrip("0123456789.") in INTERPRETERS
    program = operands(words)[:1]
    if (is_interpreter or called in RUNS_TEXT) and any(_fetches(inner) for inner in call.inner):
        is_fed = any("$(" in text or "`" in text for text in call.fed)
        return is_fed or any(isinstance(text, Unknown) for text in program)
    # `ls src/*.sh | xargs -n 1 bash` in tests/ultrawork/shell_commands.txt: the pipe names files, and is no program.
    if not upstream or name(call.words) == "xargs":
        return False
    if called in SHELLS:
        flags, rest = shell_call(words)
        # With -n it only reads: `cat src/a.sh | bash -n` in tests/ultrawork/shell_commands.txt.
        return "n" not in flags and (rest[:1] in ([], ["/dev/stdin"]) or "s" in flags)
    if isinstance(words[0], Unknown) and "sh" in called.lower():
        takes_program = True  # $SHELL
    elif is_interpreter:
        takes_program = program in ([], ["-"], ["/dev/stdin"])
    else:
        takes_program = called in RUNS_TEXT and program == ["/dev/stdin"]
    # Last: "pipes" in tests/ultrawork/test_shell_fence.py has two hundred commands before each of its own.
    return takes_program and any(_fetches(source.words) for source in upstream)


def _fetches(words: list[str]) -> bool:
    return any(name(stage) in FETCHERS or name(stage) in DECODERS for stage in stages(words))
