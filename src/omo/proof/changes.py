"""What git says happened since a base: paths that differ, committed or not, and the subjects of commits."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from omo.errors import NotEvaluable
from omo.proof import differences, git, globs

MOST_COMMITS = 10_000
BASES = ("origin/dev", "dev", "origin/main", "origin/master", "main", "master")
# Where the default branch is, by whole names: a tag may be called main, too, and comes with a fetch.
DEFAULTS = (
    "refs/remotes/origin/HEAD",
    *(f"refs/remotes/origin/{name}" for name in ("main", "master", "trunk", "develop", "dev")),
    *(f"refs/heads/{name}" for name in ("main", "master", "trunk", "develop", "dev")),
)
_RULES = "--exclude-per-directory=.gitignore"


def head(root: Path) -> str | None:
    """Where the repository stands: a commit, git's empty tree before the first one, None outside git."""
    commit, empty_tree = _named(root, "HEAD")
    return commit or empty_tree


def resolve(root: Path, base: str) -> str:
    """The commit a revision names, or the empty tree where that is what a repository without commits was pinned at."""
    commit, empty_tree = _named(root, base)
    if commit:
        return commit
    if empty_tree is None:
        raise NotEvaluable("not a git repository, or git is missing", fix="git init, and commit before the work")
    if base != empty_tree:
        raise NotEvaluable(f"base {base!r} is not a revision of this repository", fix="name one with --base REV")
    return base


def commit_of(root: Path, name: str) -> str | None:
    """The commit a name stands for; None where it stands for none."""
    return _named(root, name)[0]


def _named(root: Path, name: str) -> tuple[str | None, str | None]:
    """The commit a name stands for, and what the repository calls a tree without files; None where there is none."""
    question = ("rev-parse", "--show-object-format", "--verify", "--quiet", "--end-of-options", name + "^{commit}")
    match git.run(root, *question).text.split():
        case [kind, commit]:
            return commit, git.EMPTY_TREES.get(kind)
        case [kind]:
            return None, git.EMPTY_TREES.get(kind)
    return None, None


def changed(root: Path, base: str) -> list[str]:
    """Paths below `root` that differ from the base: committed, staged, only edited, or new.

    What is new does not count where the base's own `.gitignore` files ignore it. A rule written since can hide
    nothing, nor can `info/exclude`, of which nobody knows when it was written.
    """
    since = resolve(root, base)
    tracked, new = _listed(root)
    edited = tracked_changes(root, since, tracked)
    if edited is None:
        raise NotEvaluable(f"git cannot compare the files with {since[:12]}", fix="git status")
    paths = {*edited, *new, *hidden_since(root, since)}
    return sorted(_not_own(paths))


def tracked_changes(root: str | os.PathLike[str], commit: str, tracked: Iterable[str]) -> list[str] | None:
    """Return the tracked files that differ from a commit, by what they hold; None if git does not have the commit."""
    as_they_are = git.settings(root).as_they_are  # so that no filter is started, or hides an edit
    named = differences.paths(root, commit, as_they_are)
    if named is None:
        return None
    unnamed = set(tracked).difference(named)
    return sorted([*named, *differences.with_other_content(root, commit, unnamed, as_they_are)])


def _not_own(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if not globs.is_own(path.rstrip("/"))]


def untracked(root: Path) -> list[str]:
    """New files that no `.gitignore` ignores; a nested repository is one path, its directory. Raises NotEvaluable where
    flags in the index can make git overlook an edit."""
    return _listed(root)[1]


def _listed(root: Path) -> tuple[list[str], list[str]]:
    """What git tracks, and what `untracked` returns."""
    listed = git.run(root, "ls-files", "-v", "-z", "--cached", "--others", _RULES)
    tracked, new, flagged = git.sorted_out(git.require(listed, "ls-files"))
    is_sparse = bool(flagged) and git.run(root, "config", "--bool", "core.sparseCheckout").text.strip() == "true"
    for path in flagged:
        # A sparse checkout leaves files out; one that is there all the same can be edited.
        if not is_sparse or os.path.lexists(os.path.join(root, path)):
            raise NotEvaluable(
                f"git is told not to look at {path}",
                fix=f"git update-index --no-assume-unchanged --no-skip-worktree -- {path}",
            )
    return tracked, _not_own(new)


def current_branch(root: Path) -> str:
    """Empty where none is checked out."""
    return git.run(root, "symbolic-ref", "--quiet", "--short", "HEAD").text.strip()


def branch_base(root: Path, tip: str, *, own: str) -> tuple[str, str] | None:
    """The branch that the commit `tip` left last, which is the one with the fewest commits since, and where it left it.

    The branch `own`, which `tip` is on, counts only if there is no other.
    """
    left_at = {}
    for name in BASES:
        if commit_of(root, name) is None:
            continue
        if commit := merge_base(root, name, tip):
            since = int(git.ask(root, "rev-list", "--count", f"{commit}..{tip}", "--"))
            left_at[name] = (since, commit)
    if len(left_at) > 1:
        left_at.pop(own, None)
    if not left_at:
        return None
    nearest = min(left_at, key=lambda name: left_at[name][0])
    return nearest, left_at[nearest][1]


def default_branch(root: Path) -> str:
    """Return the ref of the default branch: what origin says, else what it is usually called; or an empty string."""
    for ref in DEFAULTS:
        if commit_of(root, ref) is not None:
            # What origin/HEAD stands for, so that it is told by its name.
            return git.run(root, "symbolic-ref", "--quiet", ref).text.strip() or ref
    return ""


def merge_base(root: Path, first: str, second: str) -> str:
    """The last commit that both have; empty where there is none."""
    return git.run(root, "merge-base", first, second).text.strip()


def changed_between(root: Path, base: str, tip: str) -> list[str]:
    """Paths below `root` that two commits have differently."""
    return sorted(_not_own(git.lines(root, *git.DIFF, resolve(root, base), resolve(root, tip), "--")))


def untracked_or_ignored(root: Path, *, whole_directories: bool = False) -> list[str]:
    """All that git does not track, ignored or not; a nested repository is one path, its directory. With
    `whole_directories` so is every directory in which nothing is tracked."""
    as_one = ["--directory"] if whole_directories else []
    return _not_own(git.lines(root, "ls-files", "-z", "--others", *as_one))


def hidden_since(root: Path, base: str) -> list[str]:
    """What is ignored now and would not be by the rules of the base."""
    return _hidden(root, base, _ignored(root), {})


def hidden_by_work(root: Path, base: str, changed: Mapping[str, str]) -> list[str]:
    """The same where some rules were `changed` before the work began. A directory that the base has not and that hides
    itself is a tool's: "rules changed beside an environment that hides itself"."""
    ignored = _ignored(root)
    hiding = [os.path.dirname(path) for path in ignored if path.endswith("/.gitignore")]
    if hiding:
        known = git.lines(root, "ls-tree", "-z", "--name-only", base, "--", *hiding)
        of_tools = tuple(f"{path}/" for path in hiding if path not in known)
        ignored = [path for path in ignored if not path.startswith(of_tools)]
    return _hidden(root, base, ignored, changed)


def _ignored(root: Path) -> list[str]:
    """A directory as one path, where nothing in it is tracked and all is ignored."""
    return _not_own(git.lines(root, "ls-files", "-z", "--others", "--ignored", "--directory", _RULES))


def _hidden(root: Path, base: str, ignored: Sequence[str], changed: Mapping[str, str]) -> list[str]:
    if not ignored:
        return []
    prefix = _prefix(root)
    with tempfile.TemporaryDirectory() as empty:
        rules = Path(empty)
        _lay_out_rules(root, base, rules)
        for path, text in changed.items():
            place = Path(os.path.normpath(rules / prefix / path))
            if place.name != ".gitignore" or not globs.is_inside(empty, str(place)):  # the ledger may be edited by hand
                raise NotEvaluable(f"{path} is no file of rules for git, as which it was noted")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        files, inside = [], []
        for path in _not_ignored(rules, prefix, ignored):
            if not path.endswith("/"):
                files.append(path)
                continue
            below = globs.find(root, path + "**")  # a directory that is ignored as a whole
            inside += [name for name in below.paths if not os.path.isdir(os.path.join(root, name))] + below.strays
        return files + _not_ignored(rules, prefix, inside)


def newly_ignored(root: str, base: str, paths: Sequence[str], has_same_rules: bool) -> list[str]:
    """Of paths of the base, those that are ignored now and were not by its rules. `has_same_rules` says that
    `info/exclude` is as it was."""
    visible = set(_not_ignored(Path(root), "", paths))
    ignored = [path for path in paths if path not in visible]
    if not ignored or not base:
        return ignored
    with tempfile.TemporaryDirectory() as empty:
        rules = Path(empty)
        _lay_out_rules(Path(root), base, rules)
        exclude = Path(root, ".git", "info", "exclude")
        if has_same_rules and exclude.is_file():
            (rules / ".git" / "info").mkdir(exist_ok=True)
            (rules / ".git" / "info" / "exclude").write_bytes(exclude.read_bytes())
        return _not_ignored(rules, _prefix(Path(root)), ignored)


def _prefix(root: Path) -> str:
    if os.path.lexists(os.path.join(root, ".git")):
        return ""
    printed = git.require(git.run(root, "rev-parse", "--show-prefix"), "rev-parse").output
    return os.fsdecode(printed).removesuffix("\n")


def _lay_out_rules(root: Path, base: str, rules: Path) -> None:
    """A repository that holds the `.gitignore` files of the base and nothing else: git itself applies them."""
    git.make_repository(os.path.join(rules, ".git"))
    ids = {}
    for entry in git.lines(root, "ls-tree", "-r", "-z", "--full-tree", base):
        about, _, path = entry.partition("\t")
        mode, _, blob = about.split()
        if os.path.basename(path) == ".gitignore" and mode.startswith("100"):
            ids[path] = blob
    for path, content in zip(ids, git.blobs(root, list(ids.values())), strict=True):
        if content is None:
            raise NotEvaluable(f"{path} of the base cannot be read", fix="git fsck")
        if not globs.is_inside(str(rules), os.path.normpath(rules / path)):  # a tree of git's that was made by hand
            raise NotEvaluable(f"{path} of the base lies outside of it", fix="git fsck")
        (rules / path).parent.mkdir(parents=True, exist_ok=True)
        (rules / path).write_bytes(content)


def _not_ignored(rules: Path, prefix: str, paths: Sequence[str]) -> list[str]:
    if not paths:
        return []
    for path in paths:
        if path.endswith("/"):  # a rule such as build/ is about directories only, so it must be one
            if not globs.is_inside(str(rules), os.path.normpath(rules / prefix / path)):
                raise NotEvaluable(f"{path} lies outside of the project")
            (rules / prefix / path).mkdir(parents=True, exist_ok=True)
    # It takes no literal pathspecs; ./ keeps a name such as :x from being read as anything but a name.
    names = [f"./{prefix}{path}" for path in paths]
    arguments = ("--no-literal-pathspecs", "check-ignore", "-z", "--no-index", "--stdin")
    answer = git.run(rules, *arguments, stdin=os.fsencode("\0".join(names)))
    if answer.code not in (0, 1):
        git.require(answer, "check-ignore")
    ignored = set(answer.lines)
    return [path for path, name in zip(paths, names, strict=True) if name not in ignored]


def subjects(root: Path, base: str) -> list[str]:
    """Subjects of the commits since the base, newest first."""
    since = resolve(root, base)
    if commit_of(root, "HEAD") is None:
        return []
    is_commit = commit_of(root, since) is not None
    if is_commit and not git.run(root, "merge-base", "--is-ancestor", since, "HEAD").ok:
        raise NotEvaluable(
            f"base {since[:12]} is no ancestor of HEAD: history was rewritten", fix="name a base with --base REV"
        )
    span = f"{since}..HEAD" if is_commit else "HEAD"
    printed = git.ask(
        root, "log", "-z", "--format=%s", "--no-show-signature", f"--max-count={MOST_COMMITS}", span, "--"
    )
    return [subject for subject in printed.split("\0") if subject]


def was_committed_before(root: Path, path: str, moment: float) -> bool:
    """Whether a commit made before `moment`, on any branch or in the reflog, has what the file holds, at any path."""
    blob = git.run(root, "hash-object", "--no-filters", "--", path).text.strip()
    holding = git.run(
        root, "log", "--all", "--reflog", "-m", "--no-show-signature", "--format=%H", "--max-count=1",
        f"--before=@{int(moment)} +0000", f"--find-object={blob}", "--",
    )  # fmt: skip
    return bool(holding.output.strip())
