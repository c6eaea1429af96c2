"""PowerShell text against the rules of a plan, as far as it can be read without PowerShell: commands, words, quotes."""

from __future__ import annotations

from omo.shell import Unknown
from omo.ultrawork import guarded
from omo.ultrawork.fence import DIRECTORY, FILE, NEW_DIRECTORY, SECURITY, TREE, shown
from omo.ultrawork.shell_forms import NEVER_RUN, PIPE_TO_SHELL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from omo.ultrawork.fence import Fence

REMOVERS = ("remove-item", "ri", "rm", "del", "erase", "rd", "rmdir")
LISTERS = ("get-childitem", "gci", "ls", "dir", "get-item", "gi")
PROFILE = "$profile"
RUNS_TEXT = ("invoke-expression", "iex")
FETCHES = ("iwr", "irm", "invoke-webrequest", "invoke-restmethod", "downloadstring", "curl", "wget", "frombase64string")
NEVER = {
    **dict.fromkeys(("format-volume", "clear-disk", "initialize-disk"), "loses what is on the disk"),
    **dict.fromkeys(("stop-computer", "restart-computer", "shutdown"), "the machine is not the plan's to stop"),
    **dict.fromkeys(("register-scheduledtask", "schtasks"), "scheduled jobs are not the plan's to change"),
}
SHELLS = ("pwsh", "powershell")
# Which operands, counted from the first, are written, and as what.
WRITERS: dict[str, tuple[int, str]] = {
    **dict.fromkeys(("set-content", "sc", "add-content", "ac", "clear-content", "clc", "out-file"), (0, FILE)),
    **dict.fromkeys(("tee-object", "tee", "export-csv", "epcsv", "export-clixml"), (0, FILE)),
    **dict.fromkeys(("new-item", "ni"), (0, FILE)),
    **dict.fromkeys(("mkdir", "md"), (0, NEW_DIRECTORY)),
    **dict.fromkeys(REMOVERS, (0, TREE)),
    **dict.fromkeys(("copy-item", "copy", "cp", "cpi"), (1, FILE)),
    **dict.fromkeys(("move-item", "move", "mv", "mi"), (1, FILE)),
}
NAMES_A_PATH = ("-path", "-literalpath", "-filepath", "-destination", "-pspath")
SWITCHES = ("-recurse", "-force", "-append", "-noclobber", "-passthru", "-nonewline", "-confirm", "-whatif", "-verbose")
HOMES = ("$home", "$env:home", "$env:userprofile", "${home}")
NOWHERE = ("$null", "nul", "&1", "&2")
DEEPEST = 3


def refusals(text: str, fence: Fence, directory: str) -> list[str]:
    return list(dict.fromkeys(_read(text, fence, directory, DEEPEST)))


def _read(text: str, fence: Fence, directory: str, depth: int) -> Iterator[str]:
    for pipeline in _pipelines(text):
        knows_all = not any("$" in word for words in pipeline for word in words)
        for at, words in enumerate(pipeline):
            command = _command(words)
            if command == "omo":
                continue
            if reason := _form(command, words, text.lower(), knows_all):
                yield f"`{shown(' '.join(words))}`: {reason}. {NEVER_RUN}"
            if command in SHELLS and depth:
                yield from _read(_inner(words), fence, directory, depth - 1)
            for path, what in (*_written(command, words), *_piped(command, words, pipeline[:at])):
                yield from _judged(path, what, fence, directory)


def _command(words: list[str]) -> str:
    return words[0].lower().removesuffix(".exe").replace("\\", "/").rpartition("/")[2]


def _piped(command: str, words: list[str], before: list[list[str]]) -> list[tuple[str, str]]:
    """What a listing at the head of the pipe hands to a command that names nothing itself."""
    if command not in WRITERS or WRITERS[command][0] or any(_arguments(words)):
        return []
    if not before or _command(before[0]) not in LISTERS:
        return []
    named, operands = _arguments(before[0])
    names = [before[0][at + 1] for at, one in enumerate(before[0][:-1]) if one.lower() in ("-filter", "-include")]
    what = f"{TREE} {names[0].lower()}" if names else TREE
    return [(one, what) for one in named or operands[:1] or ["."]]


def _of_cmd(words: list[str]) -> list[str]:
    """The words behind `cmd /c`."""
    at = next((index for index, one in enumerate(words) if one.lower() in ("/c", "/k")), len(words))
    return " ".join(words[at + 1 :]).split()


def _form(command: str, words: list[str], text: str, knows_all: bool) -> str:
    options = [one.lower() for one in words[1:] if one.startswith("-")]
    if command == "cmd" and words[1:]:
        inner = _of_cmd(words)
        switches = {one.lower() for one in inner}
        is_tree = inner[:1] and inner[0].lower() in REMOVERS and {"/s", "/q"} <= switches
        return "removes a whole tree by force: name the files" if is_tree else ""
    if command in NEVER:
        return NEVER[command]
    if command in REMOVERS and _has(options, "-recurse", "r") and _has(options, "-force", "f"):
        return "removes a whole tree by force: name the files"
    if command in RUNS_TEXT and (not knows_all or any(one in text for one in FETCHES)):
        return PIPE_TO_SHELL
    if command in SHELLS and any(len(one) > 1 and "-encodedcommand".startswith(one) for one in options):
        return PIPE_TO_SHELL
    return ""


def _has(options: list[str], long: str, letter: str) -> bool:
    """Any beginning of the name, or the letter in a cluster as the Unix program takes it."""
    return any(len(one) > 1 and (long.startswith(one) or (len(one) < 4 and letter in one)) for one in options)


def _inner(words: list[str]) -> str:
    for at, one in enumerate(words):
        if len(one) > 1 and "-command".startswith(one.lower()):
            return " ".join(words[at + 1 :])
    return ""


def _written(command: str, words: list[str]) -> Iterator[tuple[str, str]]:
    for at, one in enumerate(words):
        if one.lstrip("0123456789*") in (">", ">>"):
            yield from ((target, FILE) for target in words[at + 1 : at + 2] if target.lower() not in NOWHERE)
    if command == "cmd" and (inner := _of_cmd(words)) and inner[0].lower() in REMOVERS:
        yield from ((one, TREE) for one in inner[1:] if not one.startswith("/"))
    if command not in WRITERS:
        return
    place, what = WRITERS[command]
    what = NEW_DIRECTORY if "directory" in (one.lower() for one in words) else what
    named, operands = _arguments(words)
    if place and (command[0] == "m"):
        yield from ((one, TREE) for one in operands[:1])  # a move takes it away from there
    yield from ((one, what) for one in named or operands[place : place + 1])


def _arguments(words: list[str]) -> tuple[list[str], list[str]]:
    """The values of options that name a path, and what is no option."""
    named, operands, at = [], [], 1
    while at < len(words):
        one = words[at].lower()
        if one.lstrip("0123456789*") in (">", ">>"):
            at += 1
        elif one.startswith("-") and any(len(one) > 2 and name.startswith(one) for name in NAMES_A_PATH):
            named += words[at + 1 : at + 2]
            at += 1
        elif one.startswith("-"):
            at += 0 if any(name.startswith(one) for name in SWITCHES) else 1
        else:
            operands.append(words[at])
        at += 1
    return named, operands


def _judged(path: str, what: str, fence: Fence, directory: str) -> Iterator[str]:
    if path.lower().startswith((PROFILE, "${profile")):
        yield f"{shown(path)} is a shell profile. {SECURITY}"
        return
    for variable in HOMES:
        if path.lower().startswith(variable):
            path = "~" + path[len(variable) :]
    path = path.replace("\\", "/")
    start = Unknown(path).known_start
    if start != path:
        kind = guarded.kind(path)
        path, what = start.rpartition("/")[0] + "/" if "/" in start else "", DIRECTORY
        if kind or not path:
            yield from [f"{shown(path)}… is {kind}. {SECURITY}"] if kind else []
            return
    if reason := fence.refusal(path, directory, what):
        yield reason


def _pipelines(text: str) -> Iterator[list[list[str]]]:
    """Statements, each a list of commands, each a list of words with its quotes gone."""
    pipeline: list[list[str]] = []
    words: list[str] = []
    for token in _tokens(text):
        if token == "|" or token == ";":
            if words:
                pipeline.append(words)
            words = []
            if token == ";" and pipeline:
                yield pipeline
                pipeline = []
        else:
            words.append(token[1:])
    if words:
        pipeline.append(words)
    if pipeline:
        yield pipeline


def _tokens(text: str) -> Iterator[str]:
    """`|` and `;`, and words behind a mark. Blocks, groups and lines end a statement like a `;` does."""
    word, at, has_word = "", 0, False
    while at < len(text):
        letter = text[at]
        if letter in "'\"":
            end = text.find(letter, at + 1)
            end = len(text) if end < 0 else end
            word, has_word, at = word + text[at + 1 : end], True, end
        elif letter == "`" and at + 1 < len(text):
            word, has_word, at = word + text[at + 1].strip("\n"), True, at + 1
        elif letter in " \t\r\n|;&(){}#>" and not (letter == "{" and word.endswith("$")):
            if letter == ">":
                follows = text[at : at + 2] if text[at + 1 : at + 2] == ">" else ">"
                kept = word if word.isdigit() or word == "*" else ""
                yield from ["=" + word] if has_word and not kept else []
                yield "=" + kept + follows
                word, has_word, at = "", False, at + len(follows) - 1
                if text[at + 1 : at + 3] in ("&1", "&2"):
                    word, has_word, at = text[at + 1 : at + 3], True, at + 2
            elif letter == "#" and has_word:
                word += letter
            else:
                yield from ["=" + word] if has_word else []
                word, has_word = "", False
                if letter == "#":
                    at = text.find("\n", at) - 1 if "\n" in text[at:] else len(text)
                elif letter not in " \t\r":
                    yield "|" if letter == "|" and text[at + 1 : at + 2] != "|" else ";"
        else:
            word, has_word = word + letter, True
        at += 1
    if has_word:
        yield "=" + word
