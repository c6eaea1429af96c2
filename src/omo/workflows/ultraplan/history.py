"""What git shows since a base: the commits, what each changed, and what is not committed.

Dates and names of refs prove nothing. Every commit that HEAD has and the base has not is listed, parents before
children, the first parent's line before the lines merged into it. What a merge `changes` is what it brought to its
first parent, so that a branch merged under a step's subject counts. Its `own_changes` are only what differs from every
parent: the resolution of a conflict, or what was slipped in; onto a parent older than the base it changes no more than
that. Renames are a deletion and an addition, always.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from omo.errors import NotEvaluable
from omo.proof import changes, git, globs
from omo.text import clip

LONGEST_BODY = 20_000
_RAW = ("-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--relative", "--ignore-submodules=none")
_SUBMODULE = "160000"
_REVERTS = re.compile(r"\bThis reverts commit ([0-9a-f]{40}(?:[0-9a-f]{24})?)\b")


@dataclass(frozen=True)
class PathChange:
    """One path below the project in one commit. `status` is git's letter: A, M, D or T."""

    path: str
    status: str
    is_submodule: bool = False

    @property
    def is_deletion(self) -> bool:
        return self.status == "D"

    def is_about(self, patterns: Sequence[str]) -> bool:
        """Whether one of the globs covers it. A submodule that moved may have moved anything in it."""
        for glob in patterns:
            if globs.covers(self.path, glob) or (self.is_submodule and glob.startswith(self.path + "/")):
                return True
        return False


Changes = tuple[PathChange, ...]


@dataclass(frozen=True)
class Commit:
    sha: str
    subject: str
    body: str = ""
    parents: tuple[str, ...] = ()
    changes: Changes = ()
    own_changes: Changes = ()

    @property
    def is_merge(self) -> bool:
        return len(self.parents) > 1

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(change.path for change in self.changes)

    def __str__(self) -> str:
        return f"{self.sha[:12]} {clip(self.subject, 100)}"


@dataclass(frozen=True)
class WorkTree:
    """What is not as HEAD has it. `dirty`: staged, edited, or new and ignored by no rule of HEAD. `hidden`: ignored
    now, and not by the rules of the base. `untracked`: everything that git does not have, ignored or not."""

    dirty: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    untracked: frozenset[str] = frozenset()

    def is_untracked(self, path: str) -> bool:
        """Also where a directory that it lies in is, as a whole."""
        while path:
            if path in self.untracked:
                return True
            path = path.rpartition("/")[0]
        return False


@dataclass(frozen=True)
class History:
    """`net` is what the head has otherwise than the base, whatever happened in between. `is_over`: it ended at the
    head, and what is not committed now is none of it. `is_past`: the files have gone on since, and say nothing of it.
    """

    root: Path
    base: str
    head: str
    commits: tuple[Commit, ...] = ()
    net: Changes = ()
    prefix: str = ""  # where the project lies in its repository
    exclude: str = ""  # the file of rules that only this clone has
    is_over: bool = False
    is_past: bool = False

    @cached_property
    def tree(self) -> WorkTree:
        """Raises NotEvaluable for a file that git is told not to look at."""
        return WorkTree() if self.is_over else _work_tree(self)

    @cached_property
    def changed(self) -> list[PathChange]:
        """Every path that HEAD or the files have otherwise than the base."""
        paths = {*self.tree.dirty, *self.tree.hidden}
        paths.update(change.path for change in self.net)
        submodules: set[str] = set()
        for commit in self.commits:
            submodules.update(change.path for change in commit.changes if change.is_submodule)
        return [PathChange(path, "M", path in submodules) for path in sorted(paths) if not globs.is_own(path)]

    def until(self, head: str, *, is_past: bool) -> History:
        """The same up to an earlier commit: what came after it, committed or not, is left out."""
        parents = {commit.sha: commit.parents for commit in self.commits}
        kept = {head}
        waiting = [head]
        while waiting:
            new = set(parents.get(waiting.pop(), ())) - kept
            kept |= new
            waiting += new
        commits = tuple(commit for commit in self.commits if commit.sha in kept)
        if not commits:
            return self
        net = self.net if head == self.head else _changes(self.root, [f"{head} {self.base}"])[0]
        return replace(self, head=head, commits=commits, net=net, is_over=True, is_past=is_past)


def history_since(root: Path, base: str) -> History:
    """Of a full id. Raises NotEvaluable: no git, no such base, HEAD not after it, or a history that is cut off."""
    paths = ("--show-prefix", "--path-format=absolute", "--git-path", "shallow", "--git-path", "info/exclude")
    answer = git.run(root, "rev-parse", *paths, "HEAD^{commit}", f"{base}^{{commit}}")
    if not answer.ok:
        changes.resolve(root, base)  # raises where there is no git, or no such commit
        raise NotEvaluable("HEAD is no commit", fix="check out the branch of the work")
    prefix, shallow, exclude, head, since = os.fsdecode(answer.output).split("\n")[:5]
    history = History(root, since, head, prefix=prefix, exclude=exclude)
    if head == since:
        return history
    commits = _commits(root, head, since)
    try:
        # A commit that a shallow clone ends at shows neither its parents nor what it changed.
        ends = Path(shallow).read_text(encoding="ascii", errors="replace").split()
    except FileNotFoundError:
        ends = []
    for commit in commits:
        if commit.sha in ends:
            message = f"the history is cut off at {commit.sha[:12]}: a shallow clone"
            raise NotEvaluable(message, fix="git fetch --unshallow")
    return _with_changes(history, commits)


def undone(commits: Sequence[Commit]) -> dict[str, int]:
    """Commits that a later one reverts, with that one's index. A revert that was itself reverted undoes nothing."""
    known = {commit.sha for commit in commits}
    undoing: dict[str, int] = {}
    for index in range(len(commits) - 1, -1, -1):
        if commits[index].sha not in undoing:
            for sha in known.intersection(_REVERTS.findall(commits[index].body)):
                undoing.setdefault(sha, index)
    return undoing


def _commits(root: Path, head: str, since: str) -> list[Commit]:
    """Oldest first. The list goes both ways, so a base that HEAD does not descend from shows at once."""
    most = changes.MOST_COMMITS
    listed = git.ask(
        root, "rev-list", "--topo-order", "--reverse", "--left-right", "--encoding=UTF-8", f"--max-count={most + 1}",
        "--format=tformat:%m%x00%H%x00%P%x00%s%x00%b%x00", f"{head}...{since}", "--",
    )  # fmt: skip
    parts = listed.split("\0")[:-1]
    if len(parts) > 5 * most:
        raise NotEvaluable(f"more than {most} commits since the base", fix="omo plan finish, and a new plan")
    commits = []
    for index in range(0, len(parts), 5):
        mark, sha, parents, subject, body = parts[index : index + 5]
        if mark.endswith(">"):  # rev-list puts a line of its own before what was asked for
            raise NotEvaluable(
                f"base {since[:12]} is no ancestor of HEAD: history was rewritten, or another branch is checked out",
                fix="check out the branch of the work; git reflog has what was rewritten",
            )
        commits.append(Commit(sha, subject, body[:LONGEST_BODY], tuple(parents.split())))
    return commits


def _with_changes(history: History, commits: Sequence[Commit]) -> History:
    root, known = history.root, {history.base}
    pairs = [f"{history.head} {history.base}"]
    for commit in commits:
        known.add(commit.sha)
        pairs.append(" ".join((commit.sha, *commit.parents[:1])))
    merges = [commit.sha for commit in commits if commit.is_merge]
    net, *brought = _changes(root, pairs)
    merged = dict(zip(merges, _changes(root, merges, "-c"), strict=True))
    whole = []
    for commit, changed in zip(commits, brought, strict=True):
        own = merged.get(commit.sha, changed)
        if commit.is_merge and commit.parents[0] not in known:
            changed = own  # seen from a parent older than the base, a merge also brings what the base had long ago
        whole.append(replace(commit, changes=changed, own_changes=own))
    return replace(history, commits=tuple(whole), net=net)


def _changes(root: Path, asked: Sequence[str], *options: str) -> list[Changes]:
    """What changed by each line that is asked: a commit, and the one that counts as its parent."""
    if not asked:
        return []
    lines = "\n".join([*asked, ""]).encode("ascii")
    printed = git.lines(root, "diff-tree", "--stdin", "--root", "--always", *_RAW, *options, stdin=lines)
    answers: list[list[str]] = []
    index = 0
    while index < len(printed):
        # A path follows what is said of it and is read with it, so no path can pass for the id of a commit.
        if printed[index].startswith(":"):
            answers[-1] += printed[index : index + 2]
            index += 2
        else:
            answers.append([])
            index += 1
    return [tuple(_parse(parts)) for parts in answers]


def _parse(parts: Sequence[str]) -> Iterator[PathChange]:
    for about, path in zip(parts[::2], parts[1::2], strict=False):
        fields = [field.lstrip(":") for field in about.split()]
        letters = fields[-1]
        # A merge has one letter for each parent; what it deletes is deleted from each.
        status = "D" if set(letters) == {"D"} else letters[:1].replace("D", "M")
        yield PathChange(path, status, _SUBMODULE in fields)


def _work_tree(history: History) -> WorkTree:
    root = history.root
    untracked_now = changes.untracked(root)
    edited, new, ignored = _status(root, history.prefix)
    rules = ""
    if os.path.exists(history.exclude):
        rules = Path(history.exclude).read_text(encoding="utf-8", errors="replace")
    changed = [*edited, *new, *ignored]
    for commit in history.commits:
        changed += commit.paths
    hidden: list[str] = []
    has_rules = any(path.rpartition("/")[2] == ".gitignore" for path in changed)
    if history.prefix or has_rules or re.search(r"^(?!#).*\S", rules, re.MULTILINE):
        # A rule may be at work that HEAD does not have, or the base had not.
        new = untracked_now + changes.hidden_since(root, history.head)
        hidden = changes.hidden_since(root, history.base)
    untracked = frozenset(path.rstrip("/") for path in (*new, *ignored))
    return WorkTree(tuple(sorted({*edited, *new})), tuple(hidden), untracked)


def _status(root: Path, prefix: str) -> tuple[list[str], list[str], list[str]]:
    """Paths below the project: tracked and not as HEAD has them, new, ignored."""
    printed = git.lines(
        root, "status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignored=matching",
        "--ignore-submodules=none", "--no-renames", "--", ".",
    )  # fmt: skip
    spaces = {"1": 8, "u": 10, "?": 1, "!": 1}
    by_mark: dict[str, list[str]] = {mark: [] for mark in spaces}
    for entry in printed:
        mark = entry[:1]
        if mark in by_mark:
            path = entry.split(" ", spaces[mark])[-1].removeprefix(prefix)
            if not globs.is_own(path.rstrip("/")):
                by_mark[mark].append(path.rstrip("/") if mark == "?" else path)
    return by_mark["1"] + by_mark["u"], by_mark["?"], by_mark["!"]
