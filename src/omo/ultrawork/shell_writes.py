"""Which files a command writes, from its words alone. A table by program; what is not in it is not known."""

from __future__ import annotations

from omo.shell import name
from omo.ultrawork.arguments import before, letters, operands, option
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
)
from omo.ultrawork.tool_writes import GIT_OUTPUT, TOOLS, git_output, sed_scripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Writes = list[tuple[str, str]]  # path, and what of it

PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")
CURL_TAKES = "HdXAbcDeEFKmPQrtTuUwxyYzC"  # options with a value
STARTS_OF_FIND = ("-", "(", "!")
MANY_NAMES = ("-o", "-or", "!", "-not", "(", ",")  # a find in which one -name does not say it all
LEAVES_STATE = (".sisyphus", "/.sisyphus", OWN_STATE, "/" + OWN_STATE, "cc-omo")  # left out, it stays
LEFT_OUT = (":!", ":^", ":(exclude)")
PATCH_READS = ("--check", "--dry-run", "--stat", "--numstat", "--summary", "--help", "--version")
AM_READS = ("--abort", "--skip", "--quit", "--show-current-patch")


def written(words: list[str]) -> Writes:
    """A destination that ends in / or is a directory stands for the files that come to lie in it."""
    read = WRITERS.get(name(words))
    return read(words) if read else []


def patched(text: str) -> Writes:
    """The files an apply_patch names."""
    found = [line[len(mark) :].strip() for line in text.splitlines() for mark in PATCHED if line.startswith(mark)]
    return [(path, FILE) for path in found]


def _files(*values: str) -> Callable[[list[str]], Writes]:
    return lambda words: [(one, FILE) for one in operands(words, values)]


def _removed(words: list[str]) -> Writes:
    return [(one, REMOVED) for one in operands(words)]


def _trees(words: list[str]) -> Writes:
    return [(one, TREE) for one in operands(words)]


def _made(words: list[str]) -> Writes:
    return [(one, NEW_DIRECTORY) for one in operands(words, ("-m", "--mode"))]


def _emptied(words: list[str]) -> Writes:
    return [(one, DIRECTORY) for one in operands(words)]


def _copied(words: list[str]) -> Writes:
    """The last operand, or what -t names; each file arrives there under its own name."""
    values = ("-t", "--target-directory", "-m", "-o", "-g", "-S", "--mode", "--owner", "--group", "--suffix", "-e")
    paths = operands(words, values)
    into = option(words, "t", "--target-directory") if name(words) != "rsync" else []
    if name(words) == "install" and any(one == "-d" or one == "--directory" for one in words):
        return [(one, NEW_DIRECTORY) for one in paths]
    if name(words) == "rsync" and ("n" in letters(words, "e") or "--dry-run" in words):
        return []
    sources, target = (paths, into[0]) if into else (paths[:-1], paths[-1] if paths else "")
    if not sources or ":" in target.partition("/")[0]:
        return []  # nothing, or another machine
    return [arriving(source, target, is_into=bool(into)) for source in sources]


def _moved(words: list[str]) -> Writes:
    paths = operands(words, ("-t", "--target-directory", "-S", "--suffix"))
    sources = paths if option(words, "t", "--target-directory") else paths[:-1]
    return [*((one, TREE) for one in sources), *_copied(words)]


def link_sources(words: list[str]) -> list[str]:
    paths = operands(words, ("-t", "--target-directory", "-S"))
    return paths if len(paths) < 2 or option(words, "t", "--target-directory") else paths[:-1]


def _linked(words: list[str]) -> Writes:
    paths = operands(words, ("-t", "--target-directory", "-S"))
    return _copied(words) if len(paths) > 1 else [(arriving(one, ".", is_into=True)) for one in paths]


def arriving(source: str, target: str, *, is_into: bool) -> tuple[str, str]:
    """Marked by a / at its end where the target is surely a directory; whether it is one, the disk says."""
    base = source.rstrip("/").rpartition("/")[2]
    return (f"{target.rstrip('/') or '/'}/{base}" if is_into or target.endswith("/") else f"{target}\0{base}", FILE)


def _sed(words: list[str]) -> Writes:
    return [*_in_place(words), *sed_scripts(words)]


def _in_place(words: list[str]) -> Writes:
    """`sed -i`, `perl -i`: the files, not the script before them."""
    ends = "ef" if name(words) in ("sed", "gsed") else "eEMmIrF"  # letters that take the rest of the word
    flags = [one for one in words[1:] if one.startswith("-") and not one.startswith("--")]
    in_place = any("i" in before(one[1:], ends) for one in flags) or any(one.startswith("--in-place") for one in words)
    if not in_place:
        return []
    values = [one for one in flags if one[-1] in "eEf"]
    is_given = bool(values) or any(one.startswith(("-e", "-f", "--expression", "--file")) for one in words)
    paths = operands(words, values)
    paths = paths[1:] if paths[:1] == [""] else paths  # sed -i '' …, as on macOS
    return [(one, FILE) for one in (paths if is_given else paths[1:])]


def _dd(words: list[str]) -> Writes:
    return [(one[3:], FILE) for one in words[1:] if one.startswith("of=")]


def _sorted(words: list[str]) -> Writes:
    return [(one, FILE) for one in option(words, "o", "--output", "kStT")]


def _fetched(words: list[str]) -> Writes:
    """What -o names; without it curl prints, wget keeps the name that the address ends with."""
    if name(words) == "curl":
        named = option(words, "o", "--output", CURL_TAKES)
        flags = [before(one[1:], CURL_TAKES) for one in words[1:] if one[:1] == "-" and one[1:2] != "-"]
        keeps = "--remote-name" in words or any("O" in one for one in flags)
    else:
        named = option(words, "O", "--output-document", "aeoPtTwQUi")
        keeps = not named and not {"--spider", "-P"} & set(words)
    addresses = [one for one in words[1:] if "://" in one] if keeps else []
    kept = [one.partition("?")[0].rstrip("/").rpartition("/")[2] for one in addresses]
    return [(one, FILE) for one in (*named, *kept) if one != "-"]


def _moded(words: list[str]) -> Writes:
    """chmod, chown: the first operand is the mode or the owner; `-x` may be a mode as well."""
    paths = operands(words)
    is_mode_an_option = name(words) == "chmod" and any(
        one[:1] == "-" and one[1:2] != "-" and set(one[1:]) <= set("rwxXst") for one in words[1:]
    )
    deep = TREE if any(one in ("-R", "--recursive") for one in words) else FILE
    is_by_reference = any(one.startswith("--reference") for one in words)
    return [(one, deep) for one in (paths if is_mode_an_option or is_by_reference else paths[1:])]


def _find(words: list[str]) -> Writes:
    prints = [at for at, one in enumerate(words[:-1]) if one in ("-fprint", "-fls", "-fprintf")]
    named = [(words[at + 1], FILE) for at in prints]
    return [*named, *found_by(words)] if "-delete" in words else named


def found_by(words: list[str]) -> Writes:
    """The trees a find goes through; where one -name says which of it, that goes along."""
    starts = []
    for word in words[1:]:
        if word.startswith(STARTS_OF_FIND) and word not in ("-L", "-P", "-H"):
            break
        starts += [] if word.startswith("-") else [word]
    names = [words[at + 1] for at, one in enumerate(words[:-1]) if one in ("-name", "-iname")]
    is_narrow = bool(names) and not set(MANY_NAMES) & set(words)
    return [(one, f"{TREE} {names[0].lower()}" if is_narrow else TREE) for one in starts or ["."]]


def git_verb(words: list[str]) -> tuple[list[str], list[str]]:
    """The options before git's verb, and the rest from the verb on."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env") else 1
    return words[1:at], words[at:]


def _git(words: list[str]) -> Writes:
    options, verb = git_verb(words)
    base = options[options.index("-C") + 1] if "-C" in options[:-1] else ""
    read = GIT.get(verb[0]) if verb else None
    found = read(verb) if read else []
    return [(path if not base or path.startswith(("/", "~")) else f"{base}/{path}", what) for path, what in found]


def _git_paths(words: list[str]) -> Writes:
    return [(one, TREE) for one in operands(words, ("-s", "--source")) if not one.startswith(":")]


def _git_removed(words: list[str]) -> Writes:
    return [] if "--cached" in words else _git_paths(words)


def _git_restored(words: list[str]) -> Writes:
    is_index_only = ("--staged" in words or "-S" in words) and not {"--worktree", "-W"} & set(words)
    if is_index_only:
        return []
    others = [source for source in option(words, "s", "--source") if source != "HEAD"]
    return [(path, " ".join([RESTORED, *others])) for path, _ in _git_paths(words)]


def _git_checked_out(words: list[str]) -> Writes:
    """Only behind `--`, or a lone dot: any other word may be a branch."""
    at = words.index("--") if "--" in words else len(words)
    named = words[at + 1 :] or [one for one in words[:at] if one == "."]
    others = [one for one in words[1:at] if one not in ("HEAD", ".")]
    return [(one, " ".join([RESTORED, *others])) for one in named]


def _git_cleaned(words: list[str]) -> Writes:
    """Without paths it goes into directories only with -d; with -x and -X ignored files go as well."""
    flags = letters(words, "e")
    if "n" in flags or any(len(one) > 3 and "--dry-run".startswith(one) for one in words):
        return []
    paths, left_out = _pathspecs(words, "e", "--exclude")
    if "X" not in flags:
        left_out += option(words, "e", "--exclude")
    what = UNTRACKED
    if flags & {"x", "X"} and not _leaves_state(left_out):
        what = f"{IGNORED} clean-{'X' if 'X' in flags else 'x'}"
    if paths:
        return [(one, what) for one in paths]
    return [*([(OWN_STATE, what)] if what != UNTRACKED and "d" in flags else []), (".", UNTRACKED)]


def _git_stashed(words: list[str]) -> Writes:
    """Tracked files come back; with -a it takes the ignored ones as well, of the whole repository."""
    is_push = not words[1:] or words[1] in ("push", "save") or words[1].startswith("-")
    takes_all = "a" in letters(words, "m") or any(len(one) > 2 and "--all".startswith(one) for one in words[1:])
    if not is_push or not takes_all:
        return []
    verb = words[1:] if words[1] == "push" else words
    paths, left_out = _pathspecs(verb, "m", "--message") if words[1] != "save" else ([], [])
    if _leaves_state(left_out):
        return []
    what = f"{IGNORED} stash"
    return [(one, what) for one in paths] or [(OWN_STATE, what)]


def _pathspecs(words: list[str], short: str, long: str) -> tuple[list[str], list[str]]:
    """The paths a command of git is given, and those it is to leave out. The option named takes a value."""
    values = [word for word in words if word == long or (word.startswith("-") and word.endswith(short))]
    named = operands(words, values)
    left_out = []
    for path in named:
        left_out += [path[len(sign) :] for sign in LEFT_OUT if path.startswith(sign)]
    return [path for path in named if not path.startswith(":")], left_out


def _leaves_state(patterns: list[str]) -> bool:
    return any(pattern.removesuffix("/**").rstrip("/") in LEAVES_STATE for pattern in patterns)


def is_patch(words: list[str]) -> bool:
    """What it writes stands in a patch."""
    verb = git_verb(words)[1] if name(words) == "git" else words
    if not verb or name(verb) not in ("apply", "am", "patch") or (verb is words and name(words) != "patch"):
        return False
    return not {*PATCH_READS, *(AM_READS if verb[0] == "am" else ())} & set(verb)


GIT: dict[str, Callable[[list[str]], Writes]] = {
    "rm": _git_removed,
    "mv": _moved,
    "restore": _git_restored,
    "checkout": _git_checked_out,
    "clean": _git_cleaned,
    "stash": _git_stashed,
    **dict.fromkeys(GIT_OUTPUT, git_output),
}
WRITERS: dict[str, Callable[[list[str]], Writes]] = {
    "tee": _files(),
    "touch": _files("-d", "-t", "-r", "--date", "--reference"),
    "truncate": _files("-s", "-r", "--size", "--reference"),
    "unlink": _files(),
    "rm": _removed,
    "shred": _trees,
    "mkdir": _made,
    "rmdir": _emptied,
    **dict.fromkeys(("cp", "install", "rsync"), _copied),
    "mv": _moved,
    "ln": _linked,
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("perl", "ruby"), _in_place),
    "dd": _dd,
    **dict.fromkeys(("curl", "wget"), _fetched),
    "sort": _sorted,
    **dict.fromkeys(("chmod", "chown", "chgrp"), _moded),
    "find": _find,
    "git": _git,
    "sponge": _files(),
    **TOOLS,
}
