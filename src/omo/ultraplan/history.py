"""The commits since a base as git has them: what each says and what it changed. Dates and names of refs prove nothing.

Every commit that HEAD has and the base has not is listed, parents before children, the first parent's line before
the lines merged into it. What a merge `changes` is what it brought to its first parent, so that a branch merged
under a step's subject counts. Its `own_changes` are only what differs from every parent: the resolution of a
conflict, or what was slipped in; onto a parent older than the base it changes no more than that. Renames are a
deletion and an addition, always.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from omo.errors import NotEvaluable
from omo.evidence import changes, globs
from omo.shown import clip

LONGEST_BODY = 20_000
_RAW = ("-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--relative", "--ignore-submodules=none")
_SUBMODULE = "160000"
_REVERTS = re.compile(r"\bThis reverts commit ([0-9a-f]{40}(?:[0-9a-f]{24})?)\b")
_NAMES_OF = ("refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
_SINCE_AGAIN = "name the commit the work began at by its full id: --base ID"


@dataclass(frozen=True)
class Change:
    """One path below the project in one commit. `status` is git's letter: A, M, D or T."""

    path: str
    status: str
    is_submodule: bool = False

    @property
    def is_deletion(self) -> bool:
        return self.status == "D"

    def is_about(self, glob: str) -> bool:
        """A submodule that moved may have moved anything in it."""
        return globs.covers(self.path, glob) or (self.is_submodule and glob.startswith(self.path + "/"))


Changes = tuple[Change, ...]


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
        return tuple(one.path for one in self.changes)

    def __str__(self) -> str:
        return f"{self.sha[:12]} {clip(self.subject, 100)}"


def base_of(root: Path, base: str) -> str:
    """The commit a base means. NotEvaluable: no git, no such commit, two of that name, or HEAD is not after it."""
    _require_one_meaning(root, base)
    since = changes.resolve(root, base)
    tip = changes.head(root)
    if changes.commit_of(root, since) is None or since == tip:
        return since
    if tip is None or changes.commit_of(root, tip) is None or not _descends(root, tip, since):
        raise NotEvaluable(
            f"base {since[:12]} is no ancestor of HEAD: history was rewritten, or another branch is checked out",
            fix=f"check out the branch of the work, or {_SINCE_AGAIN}",
        )
    return since


def commits(root: Path, base: str) -> list[Commit]:
    """Oldest first. Raises NotEvaluable where the history between base and HEAD is not all there."""
    since = base_of(root, base)
    tip = changes.commit_of(root, "HEAD")
    if tip is None:
        return []
    span = [tip] if changes.commit_of(root, since) is None else [tip, f"^{since}"]
    said = _messages(root, span)
    _require_whole(root, said)
    brought = _changes(root, [" ".join((one.sha, *one.parents[:1])) for one in said], "--root")
    merged = _changes(root, [one.sha for one in said if one.is_merge], "-c")
    here = {since, *(one.sha for one in said)}
    return [_with_changes(one, brought.get(one.sha, ()), merged.get(one.sha, ()), here) for one in said]


def net(root: Path, base: str) -> list[Change]:
    """What HEAD has otherwise than the base, whatever happened in between."""
    tip = changes.head(root)
    return [] if tip is None else list(_parse(changes.ask(root, "diff-tree", *_RAW, base, tip, "--").split("\0")))


def dirty(root: Path) -> list[str]:
    """Paths that are not as HEAD has them: staged, edited, or new and ignored by no rule of HEAD."""
    tip = changes.head(root)
    if tip is None:
        raise NotEvaluable("not a git repository, or git is missing", fix="git init, and commit before the work")
    staged = _parse(changes.ask(root, "diff-index", "--cached", *_RAW, tip, "--").split("\0"))
    return sorted({*changes.changed(root, tip), *(one.path for one in staged if not globs.is_own(one.path))})


def undone(found: Sequence[Commit]) -> dict[str, int]:
    """Commits that a later one reverts, with that one's place. A revert that was itself reverted undoes nothing."""
    known = {one.sha for one in found}
    undoing: dict[str, int] = {}
    for at in range(len(found) - 1, -1, -1):
        if found[at].sha not in undoing:
            for sha in known.intersection(_REVERTS.findall(found[at].body)):
                undoing.setdefault(sha, at)
    return undoing


def _require_one_meaning(root: Path, base: str) -> None:
    """A full id means one commit. A name can be given to a tag, a branch and the start of an id at once."""
    if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", base):
        return
    refs = [name.format(base) for name in _NAMES_OF]
    meant = {sha for name in refs if (sha := changes.commit_of(root, name)) is not None}
    if (named := changes.commit_of(root, base)) is not None:
        meant.add(named)
    if re.fullmatch(r"[0-9a-f]{4,64}", base):
        ids = changes.ask(root, "rev-parse", f"--disambiguate={base}").split()
        meant.update(sha for sha in ids if changes.commit_of(root, sha) == sha)
    if len(meant) > 1:
        raise NotEvaluable(f"base {clip(base, 80)!r} names {len(meant)} different commits", fix=_SINCE_AGAIN)


def _descends(root: Path, tip: str, since: str) -> bool:
    return not changes.ask(root, "rev-list", "--max-count=1", since, f"^{tip}", "--").strip()


def _messages(root: Path, span: Sequence[str]) -> list[Commit]:
    most = changes.MOST_COMMITS
    listed = changes.ask(
        root, "rev-list", "--topo-order", "--reverse", "--encoding=UTF-8", f"--max-count={most + 1}",
        "--format=tformat:%H%x00%P%x00%s%x00%b%x00", *span, "--",
    )  # fmt: skip
    parts = listed.split("\0")[:-1]
    if len(parts) > 4 * most:
        raise NotEvaluable(f"more than {most} commits since the base", fix="name a later base with --base REV")
    fields = [parts[at : at + 4] for at in range(0, len(parts), 4)]
    return [
        # rev-list puts a line of its own before what was asked for
        Commit(head.rpartition("\n")[2], subject, body[:LONGEST_BODY], tuple(parents.split()))
        for head, parents, subject, body in fields
    ]


def _require_whole(root: Path, found: Sequence[Commit]) -> None:
    """A shallow clone ends somewhere; a commit it ends at shows neither its parents nor what it changed."""
    place = changes.ask(root, "rev-parse", "--path-format=absolute", "--git-path", "shallow").rstrip("\n")
    try:
        ends = set(Path(place).read_text(encoding="ascii", errors="replace").split())
    except FileNotFoundError:
        return
    if cut := next((one for one in found if one.sha in ends), None):
        raise NotEvaluable(f"the history is cut off at {cut.sha[:12]}: a shallow clone", fix="git fetch --unshallow")


def _changes(root: Path, asked: Sequence[str], *options: str) -> dict[str, Changes]:
    if not asked:
        return {}
    lines = "".join(line + "\n" for line in asked).encode("ascii")
    printed = changes.ask(root, "diff-tree", "--stdin", *_RAW, *options, stdin=lines).split("\0")
    found: dict[str, list[str]] = {}
    current: list[str] = []
    at = 0
    while at < len(printed) - 1:
        # A path follows what is said of it and is read with it, so no path can pass for the id of a commit.
        if printed[at].startswith(":"):
            current += printed[at : at + 2]
            at += 2
        else:
            current = found.setdefault(printed[at].strip(), [])
            at += 1
    return {sha: tuple(_parse(parts)) for sha, parts in found.items()}


def _parse(parts: Sequence[str]) -> Iterable[Change]:
    for about, path in zip(parts[::2], parts[1::2], strict=False):
        fields = about.split()
        status = fields[-1]
        modes = [field.lstrip(":") for field in fields]
        # A merge has one letter for each parent; what it deletes is deleted from each.
        yield Change(path, "D" if set(status) == {"D"} else status[:1].replace("D", "M"), _SUBMODULE in modes)


def _with_changes(one: Commit, brought: Changes, merged: Changes, here: Collection[str]) -> Commit:
    own = merged if one.is_merge else brought
    # Seen from a parent older than the base, a merge also brings what the base had long ago.
    is_onto_older = one.is_merge and one.parents[0] not in here
    return replace(one, changes=own if is_onto_older else brought, own_changes=own)
