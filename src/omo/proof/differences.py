"""Lists the tracked files that differ from a commit: the one place that asks git for them. It writes nothing.

`git diff` of touched files either names them all or writes the index, which is the user's. `git status` compares what
they hold once, in memory. Hooks ask too, so only what they have loaded anyway is imported here.

Git's answer is right about each file that it names, and may leave one out: a file is unchanged to it while size,
inode, modification time and the second of the status change are those that the index has, and an edit can leave all of
them so (tests/stories/contents.py). `with_other_content` therefore reads files that git has not named. The system
stamps the status change (ctime) of a file with each write to it, and no call sets it, so one whose stamp is older than
a moment has held the same since, and only the others are read.
"""

from __future__ import annotations

import os
import stat

from omo.proof import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

STATUS = (
    *("status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--untracked-files=no", "--no-renames"),
    *("--ignore-submodules=none", "--", "."),
)
BETWEEN_COMMITS = ("diff-tree", "-r", "-z", "--no-renames", "--ignore-submodules=none")
AS_STORED = ("hash-object", "--stdin-paths")
BYTES = (*AS_STORED, "--no-filters")
HEAD_LINE = "# branch.oid "
UNBORN = "(initial)"
CHANGED, UNMERGED = "1", "u"
FIELDS_BEFORE_PATH = {CHANGED: 8, UNMERGED: 10}
ABSENT, LINK, SUBMODULE = "000000", "120000", "160000"
# How much older than the clock said a stamp may be: file systems round it, by two seconds at most, and that of a server
# has a clock of its own.
MARGIN = 10.0


class _Version:
    """A file's mode and the id of what it holds, empty where that has to be read."""

    def __init__(self, mode: str, content: str) -> None:
        self.mode = mode
        self.content = content


def paths(root: str | os.PathLike[str], commit: str, as_they_are: Sequence[str] = ()) -> list[str] | None:
    """Return the tracked files below the root that are not as in a commit; None if git does not have the commit.

    A file that was only touched does not differ. `as_they_are` are git's options by which it starts no filter.
    """
    top = os.fspath(root)
    answer = git.start(top, [*as_they_are, *STATUS]).answer()
    if not answer.ok:
        return None
    head, changes = "", {}
    for line in answer.lines:
        if line.startswith(HEAD_LINE):
            head = line.removeprefix(HEAD_LINE)
        elif line[0] in FIELDS_BEFORE_PATH:
            *fields, path = line.split(" ", FIELDS_BEFORE_PATH[line[0]])
            changes[path] = fields
    in_commit = _between(top, commit, head)
    if in_commit is None:
        return None
    differing = [path for path in in_commit if path not in changes]
    unread = {}
    for path, fields in changes.items():
        was = in_commit.get(path) or _Version(fields[3], fields[6])
        now = _in_work_tree(fields)
        if now.mode != was.mode or (now.content and now.content != was.content):
            differing.append(path)
        elif not now.content:
            unread[path] = was
    prefix = _prefix(top)
    differing = [path.removeprefix(prefix) for path in differing]
    unread = {path.removeprefix(prefix): was for path, was in unread.items()}
    return sorted([*differing, *_with_other_content(top, as_they_are, unread)])


def with_other_content(
    root: str | os.PathLike[str],
    commit: str,
    names: Iterable[str],
    as_they_are: Sequence[str] = (),
    since: float = 0.0,
) -> list[str]:
    """Return the tracked files that hold something else than in a commit, of those that may have been written since a
    moment. Git itself says which are gone, and which have another mode."""
    top = os.fspath(root)
    oldest = since - MARGIN
    written, readable = [], []
    for name in names:
        try:
            status = os.lstat(f"{top}/{name}")
        except OSError:
            continue
        if status.st_ctime < oldest or stat.S_ISDIR(status.st_mode):
            continue
        written.append(name)
        if stat.S_ISREG(status.st_mode) and os.access(f"{top}/{name}", os.R_OK):
            readable.append(name)
    if not written:
        return []
    in_commit = git.entries(top, commit)
    # A file that was committed with line ends which git would convert today is unchanged while its bytes are.
    ids = _ids(top, [*as_they_are, *BYTES], readable)
    wanted = {}
    for name in written:
        mode, _, content = in_commit.get(name, "  ").split(" ")
        if content and ids.get(name) != content:
            wanted[name] = _Version(mode, content)
    return sorted(_with_other_content(top, as_they_are, wanted))


def _between(root: str, commit: str, head: str) -> dict[str, _Version] | None:
    """The files that HEAD has otherwise than the commit, each as in the commit; None if git does not have it."""
    if head == UNBORN:
        head = git.empty_tree(commit)
    if commit == head:
        return {}
    answer = git.start(root, [*BETWEEN_COMMITS, commit, head, "--", "."]).answer()
    if not answer.ok:
        return None
    versions = {}
    for about, path in zip(answer.lines[0::2], answer.lines[1::2], strict=True):
        mode, _, content, _, _ = about.removeprefix(":").split(" ")
        versions[path] = _Version(mode, content)
    return versions


def _in_work_tree(fields: Sequence[str]) -> _Version:
    """What lies there now, by a line of STATUS."""
    if fields[0] == UNMERGED:
        return _Version(UNMERGED, "")
    state = fields[1][1]
    if state == ".":
        return _Version(fields[4], fields[7])
    if state == "D":
        return _Version(ABSENT, "")
    if fields[5] == SUBMODULE:
        return _Version(SUBMODULE, "changed")
    return _Version(fields[5], "")


def _with_other_content(root: str, as_they_are: Sequence[str], wanted: Mapping[str, _Version]) -> list[str]:
    """Those that do not hold what they should. Line ends count as git counts them, so git reads the files."""
    files, different = [], []
    links = {}
    for path, version in wanted.items():
        full = os.path.join(root, path)
        try:
            status = os.lstat(full)
            if stat.S_ISLNK(status.st_mode):
                links[path] = os.fsencode(os.readlink(full))
            elif stat.S_ISREG(status.st_mode) and os.access(full, os.R_OK):
                files.append(path)
            else:
                different.append(path)
        except OSError:
            if version.mode != ABSENT:
                different.append(path)
    targets = git.blobs(root, [wanted[path].content for path in links])
    for path, target in zip(links, targets, strict=True):
        if links[path] != target or wanted[path].mode != LINK:
            different.append(path)
    ids = _ids(root, [*as_they_are, *AS_STORED], files)
    for path in files:
        if ids.get(path) != wanted[path].content:
            different.append(path)
    return different


def _ids(root: str, question: Sequence[str], paths: Sequence[str]) -> dict[str, str]:
    """What git calls the contents of files; none from the first on that went away meanwhile."""
    if not paths:
        return {}
    prefix = _prefix(root)  # git reads these paths from the top, wherever it is called
    names = b"".join(_quoted(prefix + path) for path in paths)
    answer = git.start(root, question, stdin=names).answer()
    return dict(zip(paths, answer.text.split(), strict=False))


def _quoted(path: str) -> bytes:
    """The path as git reads it in a line: as it is, or in octal where it would not be read so."""
    name = os.fsencode(path)
    if name.startswith(b'"') or b"\n" in name or b"\r" in name:
        name = b'"' + b"".join(b"\\%03o" % letter for letter in name) + b'"'
    return name + b"\n"


def _prefix(root: str) -> str:
    """Where the root lies in its repository, as paths of git begin; empty for the top."""
    place = git.place_of_repository(root)
    if place in ("", "."):
        return ""
    real = os.path.realpath(root)
    return os.path.relpath(real, os.path.join(real, place)) + "/"
