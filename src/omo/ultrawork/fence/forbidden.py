"""Commands that no plan may run, each with its reason. A table by program; a mention is not a call."""

from __future__ import annotations

from omo.shell import Unknown, name
from omo.shell.programs import SHELLS, git_verb, letters, operands, option, reads_its_program, shell_call, stages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omo.shell import Call

NEVER_RUN = "No plan may run that: if the step needs it, stop and report it to the user."
PIPE_TO_SHELL = "runs what it has just fetched, decoded or been piped: save it, read it, then run the file"
RM_RF = "rm -rf: name the files, or remove them with rm -r inside the fence"
BOMB = "a function that pipes into itself: a fork bomb"

FETCHERS = ("curl", "wget", "fetch", "http", "https", "aria2c", "lynx", "nc", "ncat")
DECODERS = ("base64", "base32", "openssl", "xxd", "uudecode", "gunzip", "zcat")
INTERPRETERS = ("python", "perl", "ruby", "node", "nodejs", "php", "deno", "bun", "lua")
POWER = ("shutdown", "reboot", "halt", "poweroff")
NARROWS = {"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-empty", "-newer", "-mtime", "-size"}


def reasons(call: Call, upstream: Sequence[Call]) -> list[str]:
    """Everything that is wrong with one call. `upstream`: the calls whose output it reads through a pipe."""
    chain = stages(call.words)
    if any(name(words) == "omo" for words in chain):
        return []
    found = []
    for words in chain:
        if reason := _form(words, call):
            found.append(reason)
    if any(_runs_unread_text(words, call, upstream) for words in chain) or _xargs_runs_text(chain, upstream):
        found.append(PIPE_TO_SHELL)
    return found


def _form(words: list[str], call: Call) -> str:
    called = name(words).removesuffix(".exe")
    if called == "eval":
        return "eval of what only the running shell knows" if call.has_variables else ""
    if isinstance(words[0], Unknown) and called not in FORMS:
        return _rm(words) or (_chmod(words) if len(words) > 2 else "")  # its arguments tell
    form = FORMS.get("mkfs" if called.startswith("mkfs.") else called)
    if form is None or words[1:] in (["--help"], ["--version"]):
        return ""
    return form(words)


def _rm(words: list[str]) -> str:
    flags = letters(words)
    if name(words) != "rm" and not flags <= set("rRfvidI"):
        return ""  # an unknown program whose options are not those of rm
    for word in words[: words.index("--")] if "--" in words else words:
        for long in ("--recursive", "--force"):
            if len(word) > 3 and long.startswith(word):  # abbreviated, as GNU programs accept it
                flags.add(long[2])
    return RM_RF if flags & {"r", "R"} and "f" in flags else ""


def _chmod(words: list[str]) -> str:
    mode = "".join(operands(words)[:1])
    opened: set[str] = set()
    for clause in mode.split(","):
        sign = "=" if "=" in clause else "+"
        who, _, what = clause.partition(sign)
        if set("rwx") <= set(what):
            opened |= set("ugo") if who == "a" or (not who and sign == "=") else set(who)
    if (mode.isdigit() and mode.endswith("777")) or set("ugo") <= opened:
        return f"chmod {mode}: everybody may write; name the narrowest mode that works"
    return ""


def _power(words: list[str]) -> str:
    if name(words) == "systemctl" and not set(POWER) & set(words):
        return ""
    return f"{name(words)}: the machine is not the plan's to stop"


def _mkfs(words: list[str]) -> str:
    return f"{name(words)}: makes a new file system and loses the old one"


def _crontab(words: list[str]) -> str:
    return "" if "l" in letters(words) else "crontab: only -l is allowed, scheduled jobs are not the plan's to change"


def _kill(words: list[str]) -> str:
    first = 1
    if words[1:2] and words[1].startswith("-"):
        first = 3 if words[1] in ("-s", "-n", "--signal") else 2
    return "kill of every process: name the one that is meant" if "-1" in words[first:] else ""


def _killall(words: list[str]) -> str:
    patterns = operands(words)
    if ("u" in letters(words) and len(patterns) < 2) or {".", ".*", "*", "^"} & set(patterns):
        return "a kill of everything: name the process that is meant"
    return ""


def _git(words: list[str]) -> str:
    options, verb = git_verb(words)
    is_set = any("core.hookspath=" in word.lower() for word in options)
    arguments = [word.lower() for word in verb[1:]]
    if verb[:1] == ["config"] and "core.hookspath" in arguments and not {"--get", "--get-all", "get"} & set(arguments):
        is_set = arguments[-1] != "core.hookspath" or any("unset" in word for word in arguments)
    return "git's core.hooksPath: which hooks run is not the plan's to change" if is_set else ""


def _find(words: list[str]) -> str:
    if "-delete" in words and not NARROWS & set(words):
        return "find -delete of everything there: name what is meant (-name, -path)"
    return ""


FORMS: dict[str, Callable[[list[str]], str]] = {
    "rm": _rm,
    "chmod": _chmod,
    **dict.fromkeys((*POWER, "systemctl"), _power),
    **dict.fromkeys(("mkfs", "mke2fs", "newfs"), _mkfs),
    "crontab": _crontab,
    "kill": _kill,
    **dict.fromkeys(("killall", "pkill"), _killall),
    "git": _git,
    "find": _find,
}

# What was just fetched, decoded or piped, and is run unread.


def _runs_unread_text(words: list[str], call: Call, upstream: Sequence[Call]) -> bool:
    called = name(words)
    is_interpreter = called.rstrip("0123456789.") in INTERPRETERS
    program = operands(words)[:1]
    if is_interpreter or called in (*SHELLS, "eval", "source", "."):
        fed = [Unknown(text) for text in call.fed if "$(" in text or "`" in text]
        is_unknown = any(isinstance(text, Unknown) for text in (*program, *fed))
        if is_unknown and any(_fetches(inner) for inner in call.inner):
            return True
    if not upstream or call.fed or name(call.words) == "xargs":
        return False
    if called in SHELLS:
        return reads_its_program(words) and not all(_stands_in_text(source) for source in upstream)
    is_shell = isinstance(words[0], Unknown) and "sh" in called.lower()
    reads_pipe = is_shell or (is_interpreter and not program) or program in (["-"], ["/dev/stdin"])
    return reads_pipe and (is_shell or is_interpreter or called in ("source", ".")) and _is_fetched(upstream)


def _xargs_runs_text(chain: list[list[str]], upstream: Sequence[Call]) -> bool:
    """`curl … | xargs sh -c`: the text that the shell is to run comes out of the pipe."""
    for index, words in enumerate(chain[1:]):
        outer = chain[index]
        if name(outer) == "xargs" and name(words) in SHELLS and "c" in shell_call(words)[0]:
            text = shell_call(words)[1][:1]
            is_given = not text or text[0].strip() in option(outer[: -len(words)], "I", "--replace")
            return is_given and not all(_stands_in_text(source) for source in upstream)
    return False


def _is_fetched(upstream: Sequence[Call]) -> bool:
    return any(_fetches(source.words) for source in upstream)


def _fetches(words: list[str]) -> bool:
    return any(name(stage) in FETCHERS or name(stage) in DECODERS for stage in stages(words))


def _stands_in_text(call: Call) -> bool:
    """What it prints can be read as a script of its own."""
    if any(isinstance(word, Unknown) for word in call.words):
        return False
    called = name(call.words)
    return called in ("echo", "printf", ":", "true") or (called == "cat" and bool(call.fed) and len(call.words) == 1)


def piped_text(upstream: Sequence[Call]) -> str:
    """The text that reaches a shell through a pipe, as far as it stands there."""
    parts = []
    for call in upstream:
        if name(call.words) in ("echo", "printf"):
            parts.append(" ".join(call.words[1:]).replace("\\n", "\n"))
        else:
            parts += call.fed
    return "\n".join(parts)
