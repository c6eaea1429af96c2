"""Which files a command writes, from its words alone. A table by program; what is not in it is not known.

In it is what people change files with by hand. What a script, a formatter, an archive or the program text of awk or sed
writes is left to the audit, which finds it in git.
"""

from __future__ import annotations

from omo.fence import ARRIVES, FILE, IGNORED, REMOVED, REPOSITORY, RESTORED, TREE, UNTRACKED, Write
from omo.shell import name
from omo.shell.programs import before, git_verb, letters, operands, option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COPY_VALUES = ("-t", "--target-directory", "-m", "-o", "-g", "-S", "--mode", "--owner", "--group", "--suffix")
# A find in which one -name does not say it all: `-name 'api.py' -o …` in tests/ultrawork/shell_commands.txt.
MANY_NAMES = {"-o", "-or", "!", "-not", "(", ","}
STATE_NAMES = (".sisyphus", "cc-omo")
LEFT_OUT = (":!", ":^", ":(exclude)")  # how git's words begin for what a command leaves alone
PATCH_READS = {"--check", "--dry-run", "--stat", "--numstat", "--summary", "--abort", "--skip", "--quit", "--help"}


def written(words: list[str]) -> list[Write]:
    if name(words) not in WRITERS:
        return []
    return WRITERS[name(words)](words)


def is_patch(words: list[str]) -> bool:
    """What it writes stands in a patch."""
    is_git = name(words) == "git" and git_verb(words)[1][:1] in (["apply"], ["am"])
    return (is_git or name(words) == "patch") and not PATCH_READS & set(words)


def found_trees(words: list[str]) -> list[Write]:
    """The trees that a find or a grep -l goes through, each with the glob of a find's only -name."""
    if name(words) in ("grep", "rg") and "l" in letters(words):
        return _each(operands(words)[1:], TREE)
    if name(words) != "find":
        return []
    starts = []
    for word in words[1:]:
        if word.startswith(("-", "(", "!")):
            break
        starts.append(word)
    only = ""
    for index, word in enumerate(words[:-1]):
        if word in ("-name", "-iname") and not MANY_NAMES & set(words):
            only = words[index + 1].lower()
    return _each(starts or ["."], TREE, only)


# Programs. Each function is given the words of a command.


def _each(paths: Sequence[str], kind: str = FILE, detail: str = "") -> list[Write]:
    return [Write(path, kind, detail) for path in paths]


def _plain(kind: str, *values: str) -> Callable[[list[str]], list[Write]]:
    """All operands are written; `values` are options whose value is the next word."""
    return lambda words: _each(operands(words, values), kind)


def _copied(words: list[str]) -> list[Write]:
    """To the last operand, or what -t names; each file arrives there under its own name."""
    paths = operands(words, COPY_VALUES)
    into = option(words, "t", "--target-directory")
    if {"-d", "--directory"} & set(words) and name(words) == "install":
        return []
    if into:
        target, sources = into[0] + "/", paths
    elif len(paths) == 1:
        target, sources = "./", paths  # `ln -s /etc/hosts` in tests/ultrawork/shell_commands.txt
    else:
        target, sources = "".join(paths[-1:]), paths[:-1]
    writes = []
    for source in sources:
        if name(words) in ("mv", "git"):
            writes.append(Write(source, TREE))
        writes.append(Write(target, ARRIVES, source))
    return writes


def _edited(words: list[str]) -> list[Write]:
    """`sed -i`, `perl -i`: the files, not the script before them."""
    # Letters that take the rest of the word: `perl -Mstrict -ne …` in tests/ultrawork/shell_commands.txt has no -i.
    ends = "ef" if name(words) != "perl" else "eEMmIrF"
    flags = [word for word in words[1:] if word.startswith("-") and not word.startswith("--")]
    is_in_place = any(word.startswith("--in-place") for word in words)
    if not is_in_place and not any("i" in before(flag[1:], ends) for flag in flags):
        return []
    values = [flag for flag in flags if flag[-1] in ends[:2]]  # which take a script
    paths = operands(words, values)
    if paths[:1] == [""]:
        paths = paths[1:]  # `sed -i '' …`, as on macOS and in tests/ultrawork/shell_commands.txt
    has_script = bool(values) or any(word.startswith(("-e", "-f", "--expression", "--file")) for word in words)
    if not has_script:
        paths = paths[1:]
    return _each(paths)


# git. Each function is given the words from the verb on.


def _git(words: list[str]) -> list[Write]:
    options, verb = git_verb(words)
    if not verb or verb[0] not in GIT:
        return []
    writes = GIT[verb[0]](verb)
    for base in reversed(option(options, "C", "-C")):  # each is relative to the one before
        for write in writes:
            if not write.path.startswith(("/", "~")):
                write.path = f"{base}/{write.path}"
    return writes


def _git_removed(words: list[str]) -> list[Write]:
    if "--cached" in words:
        return []  # the index alone
    return _each(_paths(words), TREE)


def _git_restored(words: list[str]) -> list[Write]:
    if {"--staged", "-S"} & set(words) and not {"--worktree", "-W"} & set(words):
        return []  # the index alone
    revisions = [source for source in option(words, "s", "--source") if source != "HEAD"]
    return _each(_paths(words, ("-s", "--source")), RESTORED, "".join(revisions))


def _git_checked_out(words: list[str]) -> list[Write]:
    """Only behind `--`, or a lone dot: any other word may be a branch."""
    end = words.index("--") if "--" in words else len(words)
    paths = words[end + 1 :] or [word for word in words[:end] if word == "."]
    revisions = [word for word in words[1:end] if word not in ("HEAD", ".")]
    return _each(paths, RESTORED, "".join(revisions))


def _git_cleaned(words: list[str]) -> list[Write]:
    """With -x and -X ignored files go as well; without paths it goes into directories only with -d."""
    # `git clean -fx` leaves our state: test_reading_it_or_writing_beside_it_is_not in tests/hooks/test_fence.py.
    flags = letters(words, "e")
    if "n" in flags or "--dry-run" in words:
        return []
    paths = _paths(words, _ending_in(words, "e", "--exclude"))
    ignored = "".join(sorted(flags & {"x", "X"}))[:1]
    writes = _each(paths or ["."], UNTRACKED, ignored)
    if ignored and (paths or "d" in flags) and not _leaves_state(words):
        writes = _each(paths or ["."], IGNORED, f"clean-{ignored}") + writes
    return writes


def _git_stashed(words: list[str]) -> list[Write]:
    """Tracked files come back; with -a it takes the ignored ones as well, of the whole repository."""
    takes_all = "a" in letters(words, "m") or "--all" in words
    action = "".join(word for word in words[1:2] if not word.startswith("-")) or "push"
    if not takes_all or action not in ("push", "save") or _leaves_state(words):
        return []
    paths = [path for path in _paths(words, _ending_in(words, "m", "--message")) if path != action]
    if action == "save":
        paths = []  # its operands are a message: `git stash save -a before` in tests/ultrawork/shell_commands.txt
    return _each(paths or [REPOSITORY], IGNORED, "stash")


def _ending_in(words: list[str], short: str, long: str) -> list[str]:
    """The options among these whose value is the next word: `-fdxe`, `--exclude`."""
    return [word for word in words if word == long or (word.startswith("-") and word.endswith(short))]


def _paths(words: list[str], values: Sequence[str] = ()) -> list[str]:
    """The paths that a command of git is given, without those that it is to leave out."""
    return [path for path in operands(words, values) if not path.startswith(":")]


def _leaves_state(words: list[str]) -> bool:
    """Whether the words leave omo's state alone: any command by `:!.sisyphus`, a clean with -x by `-e .sisyphus`. With
    -X a clean removes what -e names."""
    # `git clean -fdX -e .sisyphus` takes it: test_own_state_is_kept_from_the_shell_while_work_is_open in
    # tests/hooks/test_fence.py.
    left_out = [word for word in words if word.startswith(LEFT_OUT)]
    if words[0] == "clean" and "X" not in letters(words, "e"):
        left_out += option(words, "e", "--exclude")
    return any(word.removesuffix("/**").rstrip("/").endswith(STATE_NAMES) for word in left_out)


GIT: dict[str, Callable[[list[str]], list[Write]]] = {
    "rm": _git_removed,
    "mv": lambda words: _copied(["git", *words[1:]]),
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
    **dict.fromkeys(("cp", "mv", "install", "ln"), _copied),
    **dict.fromkeys(("sed", "gsed", "perl"), _edited),
    "dd": lambda words: _each([word[3:] for word in words if word.startswith("of=")]),
    "sort": lambda words: _each(option(words, "o", "--output")),
    "find": lambda words: found_trees(words) if "-delete" in words else [],
    "git": _git,
}
