"""Forms of shell commands that no plan may run, each with its reason. A table by program; a mention is not a call."""

from __future__ import annotations

from omo.shell import SHELLS, Unknown, name, shell_call
from omo.shell.wrappers import reads_its_program, stages
from omo.ultrawork.shell_feeds import READS_PIPE, hole_of
from omo.ultrawork.shell_writes import git_verb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omo.shell import Call

FETCHERS = ("curl", "wget", "fetch", "http", "https", "aria2c", "lynx", "nc", "ncat", "iwr", "irm")
DECODERS = ("base64", "base32", "openssl", "xxd", "uudecode", "gunzip", "zcat")
INTERPRETERS = ("python", "perl", "ruby", "node", "nodejs", "php", "deno", "bun", "lua")
INLINE = set("cemprn")  # letters of options that give an interpreter its program, or make it a filter
SOURCES = ("source", ".")
POWER = ("shutdown", "reboot", "halt", "poweroff")
MKFS = ("mkfs", "mke2fs", "newfs")
EVERYTHING = (".", ".*", "", "*", "^")
TELLS_ONLY = ("--help", "--version")
NARROWS = (
    *("-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"),
    *("-empty", "-newer", "-mtime", "-size"),
)
FULL = {"u", "g", "o"}

PIPE_TO_SHELL = "runs what it has just fetched, decoded or been piped: save it, read it, then run the file"
NEVER_RUN = "No plan may run that: if the step needs it, stop and report it to the user."
RM_RF = "rm -rf: name the files, or remove them with rm -r inside the fence"


def reasons(call: Call, upstream: Sequence[Call]) -> list[str]:
    """Everything that is wrong with one call. `upstream`: the calls whose output it reads through a pipe."""
    chain = stages(call.words)
    if any(name(words) == "omo" for words in chain):
        return []
    found = [reason for words in chain for reason in (_form(words, call),) if reason]
    by_xargs = any(name(words) in READS_PIPE for words in chain)
    from_pipe = [] if by_xargs else upstream
    if (by_xargs and _is_given_its_text(chain, upstream)) or any(
        _runs_unread_text(words, call, from_pipe) for words in chain
    ):
        found.append(PIPE_TO_SHELL)
    return found


def _form(words: list[str], call: Call) -> str:
    called = name(words).removesuffix(".exe")
    if called == "eval":
        return "eval of what only the running shell knows" if call.has_variables else ""
    if isinstance(words[0], Unknown) and called not in FORMS:
        return _rm(words) or (_chmod(words) if len(words) > 2 else "")  # its arguments tell
    if called.startswith("mkfs."):
        called = "mkfs"
    form = FORMS.get(called)
    return form(words) if form and not set(TELLS_ONLY).issuperset(words[1:] or ["x"]) else ""


def _letters(words: list[str]) -> set[str]:
    """The letters of the short options, up to a `--`."""
    options = words[1 : words.index("--")] if "--" in words else words[1:]
    return {letter for one in options if one.startswith("-") and not one.startswith("--") for letter in one[1:]}


def _has_long(words: list[str], option: str) -> bool:
    """In full or abbreviated, as GNU programs accept it."""
    options = words[1 : words.index("--")] if "--" in words else words[1:]
    return any(len(one) > 3 and option.startswith(one) for one in options)


def _rm(words: list[str]) -> str:
    letters = _letters(words)
    if name(words) != "rm" and not letters <= set("rRfvidI"):
        return ""  # an unknown program whose options are not those of rm
    recursive = bool(letters & {"r", "R"}) or _has_long(words, "--recursive")
    return RM_RF if recursive and ("f" in letters or _has_long(words, "--force")) else ""


def _chmod(words: list[str]) -> str:
    mode = next((one for one in words[1:] if not one.startswith("-")), "")
    return f"chmod {mode}: everybody may write; name the narrowest mode that works" if _opens_all(mode) else ""


def _opens_all(mode: str) -> bool:
    if mode.isdigit():
        return mode[-3:] == "777"
    full: set[str] = set()
    for clause in mode.split(","):
        sign = "=" if "=" in clause else "+"
        who, _, what = clause.partition(sign)
        if set("rwx") <= set(what):
            full |= FULL if who == "a" or (not who and sign == "=") else set(who) & FULL
    return full == FULL


def _power(words: list[str]) -> str:
    return "" if words[1:] == ["-c"] else f"{name(words)}: the machine is not the plan's to stop"


def _init(words: list[str]) -> str:
    return _power(words) if words[1:2] in (["0"], ["6"]) else ""


def _systemctl(words: list[str]) -> str:
    return _power(words) if {*POWER, "kexec", "rescue", "emergency"} & set(words[1:]) else ""


def _mkfs(words: list[str]) -> str:
    return f"{name(words)}: makes a new file system and loses the old one"


def _crontab(words: list[str]) -> str:
    return "" if "l" in _letters(words) else "crontab: only -l is allowed, scheduled jobs are not the plan's to change"


def _kill(words: list[str]) -> str:
    at = 1
    if words[1:2] and words[1].startswith("-"):
        at = 3 if words[1] in ("-s", "-n", "--signal") else 2
    return "kill of every process: name the one that is meant" if "-1" in words[at:] else ""


def _killall(words: list[str]) -> str:
    patterns = [one for one in words[1:] if not one.startswith("-")]
    is_every_of_user = "u" in _letters(words) and len(patterns) < 2
    is_all = is_every_of_user or name(words) == "killall5" or any(one in EVERYTHING for one in patterns)
    return "a kill of everything: name the process that is meant" if is_all else ""


def _git(words: list[str]) -> str:
    options, verb = git_verb(words)
    once = any("core.hookspath=" in one.lower() for one in options)
    if once or (verb[:1] == ["config"] and _sets_hooks([one.lower() for one in verb[1:]])):
        return "git's core.hooksPath: which hooks run is not the plan's to change"
    return ""


def _sets_hooks(words: list[str]) -> bool:
    if "core.hookspath" not in words or {"--get", "--get-all", "get", "--list", "-l"} & set(words):
        return False
    after = words[words.index("core.hookspath") + 1 :]
    return bool(after) or any(one.startswith(("--unset", "unset")) for one in words)


def _find(words: list[str]) -> str:
    if "-delete" not in words:
        return ""
    return "" if set(NARROWS) & set(words) else "find -delete of everything there: name what is meant (-name, -path)"


FORMS: dict[str, Callable[[list[str]], str]] = {
    "rm": _rm,
    "chmod": _chmod,
    **dict.fromkeys(POWER, _power),
    **dict.fromkeys(("init", "telinit"), _init),
    "systemctl": _systemctl,
    **dict.fromkeys(MKFS, _mkfs),
    "crontab": _crontab,
    "kill": _kill,
    **dict.fromkeys(("killall", "pkill", "killall5"), _killall),
    "git": _git,
    "find": _find,
}


def _runs_unread_text(words: list[str], call: Call, upstream: Sequence[Call]) -> bool:
    called = name(words)
    if any(_fetches(one) for one in call.inner) and any(isinstance(one, Unknown) for one in _programs(words, call)):
        return True
    if not upstream or call.fed:
        return False
    if called in SHELLS:
        return reads_its_program(words) and not all(_is_readable(one) for one in upstream)
    return _reads_program(words) and any(_fetches(one.words) for one in upstream)


def _is_given_its_text(chain: list[list[str]], upstream: Sequence[Call]) -> bool:
    """`curl … | xargs sh -c`: the text that the shell is to run comes out of the pipe."""
    at = next((index for index, words in enumerate(chain) if name(words) in SHELLS), 0)
    flags, rest = shell_call(chain[at])
    if not at or "c" not in flags or all(_is_readable(one) for one in upstream):
        return False
    hole = hole_of(chain[at - 1][: -len(chain[at])])
    return not rest or bool(hole and rest[0].strip() == hole)


def _programs(words: list[str], call: Call) -> list[str]:
    """The words, or what is fed, that this command runs as a program."""
    called = name(words)
    if called == "eval":
        return words[1:]
    if called in SOURCES:
        return words[1:2]
    if called in SHELLS:
        return [*shell_call(words)[1][:1], *(Unknown(one) for one in call.fed if "$(" in one or "`" in one)]
    if _is_interpreter(called):
        inline = [words[at + 1] for at in range(len(words) - 1) if _is_inline(words[at])]
        return inline[:1] or [one for one in words[1:] if not one.startswith("-")][:1]
    return []


def _is_interpreter(called: str) -> bool:
    return called.rstrip("0123456789.") in INTERPRETERS


def _is_inline(option: str) -> bool:
    return option[:1] == "-" and (option == "--eval" or (option[1:2] != "-" and bool(INLINE & set(option.lower()))))


def _fetches(words: list[str]) -> bool:
    return any(name(stage) in FETCHERS or name(stage) in DECODERS for stage in stages(words))


def _is_readable(call: Call) -> bool:
    """What it prints stands in the text: read as a script of its own."""
    called = name(call.words)
    if any(isinstance(one, Unknown) for one in call.words):
        return False
    return called in ("echo", "printf", ":", "true") or (called == "cat" and bool(call.fed) and len(call.words) == 1)


def _reads_program(words: list[str]) -> bool:
    """An interpreter that was given no program of its own, or something that only the shell knows to be one."""
    called = name(words)
    if called in SOURCES and words[1:2] in (["/dev/stdin"], ["-"]):
        return True
    if isinstance(words[0], Unknown):
        return "sh" in called.lower()
    operands = [one for one in words[1:] if not one.startswith("-") or one == "-"]
    is_given = any(_is_inline(one) for one in words[1:]) or operands[:1] not in ([], ["-"], ["/dev/stdin"])
    return _is_interpreter(called) and not is_given


def piped_text(upstream: Sequence[Call]) -> str:
    """The text that reaches a shell through a pipe, as far as it stands there."""
    parts = [
        " ".join(one.words[1:]) if name(one.words) in ("echo", "printf") else "\n".join(one.fed) for one in upstream
    ]
    return "\n".join(parts).replace("\\n", "\n")


def is_shell_in_pipe(call: Call) -> bool:
    chain = stages(call.words)
    return bool(chain) and name(chain[-1]) in SHELLS and "c" not in shell_call(chain[-1])[0]
