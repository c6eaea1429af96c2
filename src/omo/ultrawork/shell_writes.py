"""Which files a command writes, from its words alone. A table by program; what is not in it is not known."""

from __future__ import annotations

from omo.shell import name
from omo.ultrawork.fence import DIRECTORY, FILE, TREE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Writes = list[tuple[str, str]]  # path, and what of it

PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")
CURL_TAKES = "HdXAbcDeEFKmPQrtTuUwxyYzC"  # options with a value
STARTS_OF_FIND = ("-", "(", "!")


def written(words: list[str]) -> Writes:
    """A destination that ends in / or is a directory stands for the files that come to lie in it."""
    read = WRITERS.get(name(words))
    return read(words) if read else []


def patched(text: str) -> Writes:
    """The files an apply_patch names."""
    found = [line[len(mark) :].strip() for line in text.splitlines() for mark in PATCHED if line.startswith(mark)]
    return [(path, FILE) for path in found]


def operands(words: Sequence[str], values: Sequence[str] = ()) -> list[str]:
    """What is no option. `values`: options whose value is the next word."""
    found: list[str] = []
    is_over = False
    skip = False
    for word in words[1:]:
        if skip:
            skip = False
        elif not is_over and word == "--":
            is_over = True
        elif is_over or not word.startswith("-") or word == "-":
            found.append(word)
        else:
            skip = word in values
    return found


def option(words: Sequence[str], short: str, long: str, takes: str = "") -> list[str]:
    """The values of an option: `-o x`, `-ox`, `-so x`, `--output x`, `--output=x`.

    `takes`: other letters with a value, after which the rest of the word is theirs.
    """
    found = []
    for at, word in enumerate(words):
        following = list(words[at + 1 : at + 2])
        letters = word[1:] if word.startswith("-") and not word.startswith("--") else ""
        end = next((index for index, letter in enumerate(letters) if letter in takes or letter == short), -1)
        if word.startswith(long + "="):
            found.append(word[len(long) + 1 :])
        elif word == long:
            found += following
        elif end >= 0 and letters[end] == short:
            found += [letters[end + 1 :]] if letters[end + 1 :] else following
    return found


def _files(*values: str) -> Callable[[list[str]], Writes]:
    return lambda words: [(one, FILE) for one in operands(words, values)]


def _trees(words: list[str]) -> Writes:
    letters = {letter for one in words[1:] if one.startswith("-") for letter in one}
    is_deep = bool(letters & {"r", "R"}) or name(words) in ("mv", "shred")
    return [(one, TREE if is_deep else FILE) for one in operands(words)]


def _directories(words: list[str]) -> Writes:
    return [(one, DIRECTORY) for one in operands(words, ("-m", "--mode"))]


def _copied(words: list[str]) -> Writes:
    """The last operand, or what -t names; each file arrives there under its own name."""
    values = ("-t", "--target-directory", "-m", "-o", "-g", "-S", "--mode", "--owner", "--group", "--suffix", "-e")
    paths = operands(words, values)
    into = option(words, "t", "--target-directory") if name(words) != "rsync" else []
    if name(words) == "install" and any(one == "-d" or one == "--directory" for one in words):
        return [(one, DIRECTORY) for one in paths]
    sources, target = (paths, into[0]) if into else (paths[:-1], paths[-1] if paths else "")
    if not sources or ":" in target.partition("/")[0]:
        return []  # nothing, or another machine
    return [arriving(source, target, is_into=bool(into)) for source in sources]


def _moved(words: list[str]) -> Writes:
    paths = operands(words, ("-t", "--target-directory", "-S", "--suffix"))
    sources = paths if option(words, "t", "--target-directory") else paths[:-1]
    return [*((one, TREE) for one in sources), *_copied(words)]


def _linked(words: list[str]) -> Writes:
    paths = operands(words, ("-t", "--target-directory", "-S"))
    return _copied(words) if len(paths) > 1 else [(arriving(one, ".", is_into=True)) for one in paths]


def arriving(source: str, target: str, *, is_into: bool) -> tuple[str, str]:
    """Marked by a / at its end where the target is surely a directory; whether it is one, the disk says."""
    base = source.rstrip("/").rpartition("/")[2]
    return (f"{target.rstrip('/') or '/'}/{base}" if is_into or target.endswith("/") else f"{target}\0{base}", FILE)


def _in_place(words: list[str]) -> Writes:
    """`sed -i`, `perl -i`: the files, not the script before them."""
    ends = "ef" if name(words) in ("sed", "gsed") else "eEMmIrF"  # letters that take the rest of the word
    flags = [one for one in words[1:] if one.startswith("-") and not one.startswith("--")]
    in_place = any("i" in _before(one[1:], ends) for one in flags) or any(one.startswith("--in-place") for one in words)
    if not in_place:
        return []
    values = [one for one in flags if one[-1] in "eEf"]
    is_given = bool(values) or any(one.startswith(("-e", "-f", "--expression", "--file")) for one in words)
    paths = operands(words, values)
    paths = paths[1:] if paths[:1] == [""] else paths  # sed -i '' …, as on macOS
    return [(one, FILE) for one in (paths if is_given else paths[1:])]


def _before(text: str, letters: str) -> str:
    return text[: next((at for at, letter in enumerate(text) if letter in letters), len(text))]


def _dd(words: list[str]) -> Writes:
    return [(one[3:], FILE) for one in words[1:] if one.startswith("of=")]


def _sorted(words: list[str]) -> Writes:
    return [(one, FILE) for one in option(words, "o", "--output", "kStT")]


def _fetched(words: list[str]) -> Writes:
    """What -o names; without it curl prints, wget keeps the name that the address ends with."""
    if name(words) == "curl":
        named = option(words, "o", "--output", CURL_TAKES)
        flags = [_before(one[1:], CURL_TAKES) for one in words[1:] if one[:1] == "-" and one[1:2] != "-"]
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
    if "-delete" not in words:
        return named
    starts = []
    for word in words[1:]:
        if word.startswith(STARTS_OF_FIND):
            break
        starts.append(word)
    return [*named, *((one, TREE) for one in starts or ["."])]


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
    return [] if is_index_only else _git_paths(words)


def _git_checked_out(words: list[str]) -> Writes:
    """Only behind `--`, or a lone dot: any other word may be a branch."""
    named = words[words.index("--") + 1 :] if "--" in words else [one for one in words if one == "."]
    return [(one, TREE) for one in named]


def _git_cleaned(words: list[str]) -> Writes:
    letters = {letter for one in words[1:] if one[:1] == "-" and one[:2] != "--" for letter in one}
    if "n" in letters or "--dry-run" in words:
        return []
    return _git_paths([*words, "."] if not operands(words, ("-e",)) else words)


GIT: dict[str, Callable[[list[str]], Writes]] = {
    "rm": _git_removed,
    "mv": _moved,
    "restore": _git_restored,
    "checkout": _git_checked_out,
    "clean": _git_cleaned,
}
WRITERS: dict[str, Callable[[list[str]], Writes]] = {
    "tee": _files(),
    "touch": _files("-d", "-t", "-r", "--date", "--reference"),
    "truncate": _files("-s", "-r", "--size", "--reference"),
    "unlink": _files(),
    **dict.fromkeys(("rm", "shred"), _trees),
    **dict.fromkeys(("mkdir", "rmdir"), _directories),
    **dict.fromkeys(("cp", "install", "rsync"), _copied),
    "mv": _moved,
    "ln": _linked,
    **dict.fromkeys(("sed", "gsed", "perl", "ruby"), _in_place),
    "dd": _dd,
    **dict.fromkeys(("curl", "wget"), _fetched),
    "sort": _sorted,
    **dict.fromkeys(("chmod", "chown", "chgrp"), _moded),
    "find": _find,
    "git": _git,
    "sponge": _files(),
}
