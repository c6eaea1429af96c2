"""Which files a command writes, from its words alone. A table by program; what is not in it is not known.

In it is what people change files with by hand. What a script, a formatter, an archive or the program text of awk or sed
writes is left to the audit, which finds it in git.
"""

from __future__ import annotations

from omo.shell import Unknown, name
from omo.shell.programs import before, git_verb, letters, operands, option
from omo.ultrawork.fence import (
    DIRECTORY,
    FILE,
    IGNORED,
    NEW_DIRECTORY,
    OWN_STATE,
    REMOVED,
    RESTORED,
    TREE,
    UNTRACKED,
    Write,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omo.shell import Call

PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")
COPY_VALUES = ("-t", "--target-directory", "-m", "-o", "-g", "-S", "--mode", "--owner", "--group", "--suffix")
MANY_NAMES = {"-o", "-or", "!", "-not", "(", ","}  # a find in which one -name does not say it all
LEAVES_STATE = (".sisyphus", "/.sisyphus", OWN_STATE, "/" + OWN_STATE, "cc-omo")  # left out, it stays
LEFT_OUT = (":!", ":^", ":(exclude)")
PATCH_READS = {"--check", "--dry-run", "--stat", "--numstat", "--summary", "--abort", "--skip", "--quit", "--help"}
FEEDS = ("xargs", "find")  # what gives its operands to the command it runs
FILTERS = ("head", "tail", "sort", "uniq")
UNSEEN = Unknown("…")  # an operand that comes out of a pipe and stands nowhere


class Given(str):
    """An operand that stands for the tree it is found in."""

    only: str  # the names that are meant, as a glob


def written(words: list[str]) -> list[Write]:
    """A destination that may be a directory has, behind a NUL, the name that a file would have in it."""
    read = WRITERS.get(name(words))
    writes = read(words) if read else []
    for write in writes:
        if isinstance(write.path, Given):
            write.kind, write.detail = TREE, write.path.only
    return writes


def patched(text: str) -> list[Write]:
    """The files an apply_patch names."""
    return [Write(line[len(mark) :].strip()) for line in text.splitlines() for mark in PATCHED if line.startswith(mark)]


def is_patch(words: list[str]) -> bool:
    """What it writes stands in a patch."""
    verb = git_verb(words)[1][:1] if name(words) == "git" else [name(words)]
    return verb in (["patch"], ["apply"], ["am"]) and not PATCH_READS & set(words)


def fill_operands(words: list[str], outer: list[str], upstream: Sequence[Call]) -> list[list[str]]:
    """The command once for each operand that xargs or find gives it; as it stands where neither runs it."""
    if name(outer) not in FEEDS:
        return [words]
    hole, given = "{}", _printed_by(outer)
    if name(outer) == "xargs":
        hole = "".join(option(outer[: -len(words)], "I", "--replace", "nPLdEsa")[:1])
        sources = [call.words for call in upstream if name(call.words) not in FILTERS]
        given = _printed_by(sources[-1]) if sources else []
    filled = []
    for operand in given or [UNSEEN]:
        if hole:
            filled.append([operand if word == hole else word.replace(hole, operand) for word in words])
        else:
            filled.append([*words, operand])
    return filled


def _printed_by(words: list[str]) -> list[str]:
    """The paths that a command prints, as far as its words say."""
    if name(words) in ("grep", "rg") and "l" in letters(words):
        return [_given(path) for path in operands(words)[1:]]
    if name(words) == "find":
        return [_given(write.path, write.detail) for write in _found(words)]
    return []


def _given(path: str, only: str = "") -> Given:
    operand = Given(path)
    operand.only = only
    return operand


def _found(words: list[str]) -> list[Write]:
    """The trees a find goes through; where one -name says which of it, that goes along."""
    starts = []
    for word in words[1:]:
        if word.startswith(("-", "(", "!")):
            break
        starts.append(word)
    names = [words[index + 1] for index in range(len(words) - 1) if words[index] in ("-name", "-iname")]
    only = ""
    if names and not MANY_NAMES & set(words):
        only = names[0].lower()
    return [Write(start, TREE, only) for start in starts or ["."]]


# Programs. Each function is given the words of a command.


def _plain(kind: str, *values: str) -> Callable[[list[str]], list[Write]]:
    """All operands are written; `values` are options whose value is the next word."""
    return lambda words: [Write(path, kind) for path in operands(words, values)]


def _copied(words: list[str]) -> list[Write]:
    """The last operand, or what -t names; each file arrives there under its own name."""
    paths = operands(words, COPY_VALUES)
    into = option(words, "t", "--target-directory")
    if name(words) == "install" and {"-d", "--directory"} & set(words):
        return [Write(path, NEW_DIRECTORY) for path in paths]
    target = "".join(into[:1] or paths[-1:])
    if name(words) == "ln" and len(paths) == 1:
        target = "./"
    writes = []
    for source in sources_of(words):
        base = source.rstrip("/").rpartition("/")[2]
        path = f"{target.rstrip('/')}/{base}" if into or target.endswith("/") else f"{target}\0{base}"
        is_unknown = isinstance(paths[-1], Unknown)
        writes.append(Write(Unknown(path) if is_unknown else path))
    return writes


def sources_of(words: list[str]) -> list[str]:
    """What is copied, moved or linked to."""
    paths = operands(words, COPY_VALUES)
    is_all = option(words, "t", "--target-directory") or (name(words) == "ln" and len(paths) == 1)
    return paths if is_all else paths[:-1]


def _moved(words: list[str]) -> list[Write]:
    return [*(Write(source, TREE) for source in sources_of(words)), *_copied(words)]


def _edited(words: list[str]) -> list[Write]:
    """`sed -i`, `perl -i`: the files, not the script before them."""
    ends = "ef" if name(words) == "sed" else "eEMmIrF"  # letters that take the rest of the word
    flags = [word for word in words[1:] if word.startswith("-") and not word.startswith("--")]
    is_in_place = any(word.startswith("--in-place") for word in words)
    if not is_in_place and not any("i" in before(flag[1:], ends) for flag in flags):
        return []
    values = [flag for flag in flags if flag[-1] in "eEf"]
    paths = operands(words, values)
    if paths[:1] == [""]:
        paths = paths[1:]  # sed -i '' …, as on macOS
    has_script = bool(values) or any(word.startswith(("-e", "-f", "--expression", "--file")) for word in words)
    return [Write(path) for path in (paths if has_script else paths[1:])]


def _dumped(words: list[str]) -> list[Write]:
    return [Write(word[3:]) for word in words if word.startswith("of=")]


def _deleted(words: list[str]) -> list[Write]:
    return _found(words) if "-delete" in words else []


# git. Each function is given the words from the verb on.


def _git(words: list[str]) -> list[Write]:
    options, verb = git_verb(words)
    read = GIT.get(verb[0]) if verb else None
    writes = read(verb) if read else []
    for base in option(options, "C", "-C"):
        for write in writes:
            if not write.path.startswith(("/", "~")):
                write.path = f"{base}/{write.path}"
    return writes


def _git_removed(words: list[str]) -> list[Write]:
    return [] if "--cached" in words else [Write(path, TREE) for path in operands(words) if not path.startswith(":")]


def _git_restored(words: list[str]) -> list[Write]:
    if {"--staged", "-S"} & set(words) and not {"--worktree", "-W"} & set(words):
        return []  # the index alone
    revisions = [source for source in option(words, "s", "--source") if source != "HEAD"]
    paths = operands(words, ("-s", "--source"))
    return [Write(path, RESTORED, "".join(revisions)) for path in paths if not path.startswith(":")]


def _git_checked_out(words: list[str]) -> list[Write]:
    """Only behind `--`, or a lone dot: any other word may be a branch."""
    end = words.index("--") if "--" in words else len(words)
    paths = words[end + 1 :] or [word for word in words[:end] if word == "."]
    revisions = [word for word in words[1:end] if word not in ("HEAD", ".")]
    return [Write(path, RESTORED, "".join(revisions)) for path in paths]


def _git_cleaned(words: list[str]) -> list[Write]:
    """Without paths it goes into directories only with -d; with -x and -X ignored files go as well."""
    flags = letters(words, "e")
    if "n" in flags or any(len(word) > 3 and "--dry-run".startswith(word) for word in words):
        return []
    paths, left_out = _pathspecs(words, "e", "--exclude")
    if "X" not in flags:
        left_out += option(words, "e", "--exclude")
    kind, keeps = UNTRACKED, ""
    if flags & {"x", "X"} and not _leaves_state(left_out):
        kind, keeps = IGNORED, "clean-X" if "X" in flags else "clean-x"
    if paths:
        return [Write(path, kind, keeps) for path in paths]
    everything = Write(".", UNTRACKED)
    return [Write(OWN_STATE, kind, keeps), everything] if keeps and "d" in flags else [everything]


def _git_stashed(words: list[str]) -> list[Write]:
    """Tracked files come back; with -a it takes the ignored ones as well, of the whole repository."""
    action = words[1] if len(words) > 1 else "push"
    takes_all = "a" in letters(words, "m") or any(len(word) > 2 and "--all".startswith(word) for word in words[1:])
    if not takes_all or not (action in ("push", "save") or action.startswith("-")):
        return []
    paths: list[str] = []
    if action != "save":
        paths, left_out = _pathspecs(words[1:] if action == "push" else words, "m", "--message")
        if _leaves_state(left_out):
            return []
    return [Write(path, IGNORED, "stash") for path in paths or [OWN_STATE]]


def _pathspecs(words: list[str], short: str, long: str) -> tuple[list[str], list[str]]:
    """The paths a command of git is given, and those it is to leave out. The option named takes a value."""
    values = [word for word in words if word == long or (word.startswith("-") and word.endswith(short))]
    paths, left_out = [], []
    for path in operands(words, values):
        for sign in LEFT_OUT:
            if path.startswith(sign):
                left_out.append(path[len(sign) :])
        if not path.startswith(":"):
            paths.append(path)
    return paths, left_out


def _leaves_state(patterns: list[str]) -> bool:
    return any(pattern.removesuffix("/**").rstrip("/") in LEAVES_STATE for pattern in patterns)


GIT: dict[str, Callable[[list[str]], list[Write]]] = {
    "rm": _git_removed,
    "mv": _moved,
    "restore": _git_restored,
    "checkout": _git_checked_out,
    "clean": _git_cleaned,
    "stash": _git_stashed,
}
WRITERS: dict[str, Callable[[list[str]], list[Write]]] = {
    "tee": _plain(FILE),
    "touch": _plain(FILE, "-d", "-t", "-r", "--date", "--reference"),
    "truncate": _plain(FILE, "-s", "-r", "--size", "--reference"),
    "unlink": _plain(FILE),
    "rm": _plain(REMOVED),
    "mkdir": _plain(NEW_DIRECTORY, "-m", "--mode"),
    "rmdir": _plain(DIRECTORY),
    **dict.fromkeys(("cp", "install", "ln"), _copied),
    "mv": _moved,
    **dict.fromkeys(("sed", "perl"), _edited),
    "dd": _dumped,
    "find": _deleted,
    "git": _git,
}
