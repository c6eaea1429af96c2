"""What git says happened since a base: paths that differ, committed or not, and the subjects of commits."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from omo.errors import NotEvaluable
from omo.evidence import git, globs
from omo.evidence.run import Outcome, child_environment, run

SECONDS = 60.0
OUTPUT_LIMIT = 32_000_000
MOST_COMMITS = 10_000
BASES = ("origin/dev", "dev", "origin/main", "origin/master", "main", "master")
_RULES = "--exclude-per-directory=.gitignore"
_OWN_FILES = ("--ignore-submodules=all",)
_NAMES = (
    "--name-only", "-z", "--no-renames", "--relative", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none",
)  # fmt: skip


def head(root: Path) -> str | None:
    """Where the repository stands: a commit, git's empty tree before the first one, None outside git."""
    commit = _object(root, "HEAD^{commit}")
    if commit or not _git(root, "rev-parse", "--git-dir").ok:
        return commit
    return _empty_tree(root)


def resolve(root: Path, base: str) -> str:
    """The commit a revision names, or the empty tree where that is what a repository without commits was pinned at."""
    if not _git(root, "rev-parse", "--git-dir").ok:
        raise NotEvaluable("not a git repository, or git is missing", fix="git init, and commit before the work")
    found = _object(root, base + "^{commit}")
    if found is None and base == _empty_tree(root):
        return base
    if found is None:
        raise NotEvaluable(f"base {base!r} is not a revision of this repository", fix="name one with --base REV")
    return found


def changed(root: Path, base: str) -> list[str]:
    """Paths below `root` that differ from the base: committed, staged, only edited, or new.

    What is new does not count where the base's own `.gitignore` files ignore it. A rule written since can hide
    nothing, nor can `info/exclude`, of which nobody knows when it was written.
    """
    _require_nothing_hidden(root)
    since = resolve(root, base)
    differing = _list(root, "diff", *_NAMES, since, "--")
    new = {*untracked(root), *hidden_since(root, since)}
    return sorted({path for path in differing if not globs.is_own(path)} | new)


def commit_of(root: Path, name: str) -> str | None:
    """The commit a name stands for; None where it stands for none."""
    return _object(root, name + "^{commit}")


def current_branch(root: Path) -> str:
    """Empty where none is checked out."""
    return _git(root, "symbolic-ref", "--quiet", "--short", "HEAD").stdout.strip()


def branch_base(root: Path, tip: str, *, own: str) -> tuple[str, str] | None:
    """The branch that the commit `tip` left last, by the fewest commits since, and the commit where it did.

    The branch that `tip` is on, `own`, is not its base, unless there is no other.
    """
    found = {name: left for name in BASES if (left := _left_at(root, name, tip)) is not None}
    others = {name: left for name, left in found.items() if name != own} or found
    if not others:
        return None
    nearest = min(others, key=lambda name: others[name][0])
    return nearest, others[nearest][1]


def _left_at(root: Path, name: str, tip: str) -> tuple[int, str] | None:
    """How many commits ago, and where."""
    if commit_of(root, name) is None:
        return None
    joint = _git(root, "merge-base", name, tip)
    if not joint.ok:
        return None
    at = joint.stdout.strip()
    return int(_git(root, "rev-list", "--count", f"{at}..{tip}", "--").stdout), at


def changed_between(root: Path, base: str, tip: str) -> list[str]:
    """Paths below `root` that two commits have differently."""
    differing = _list(root, "diff", *_NAMES, resolve(root, base), resolve(root, tip), "--")
    return sorted(path for path in differing if not globs.is_own(path))


def untracked(root: Path) -> list[str]:
    """New, and ignored by no `.gitignore`; a nested repository is one path, its directory."""
    listed = _list(root, "ls-files", "-z", "--others", _RULES)
    return [path for path in (one.rstrip("/") for one in listed) if path and not globs.is_own(path)]


def loose(root: Path, *, whole_directories: bool = False) -> list[str]:
    """All that git does not track, ignored or not; a nested repository is one path, its directory. With
    `whole_directories` so is every directory in which nothing is tracked."""
    as_one = ["--directory"] if whole_directories else []
    return [path for path in _list(root, "ls-files", "-z", "--others", *as_one) if not globs.is_own(path)]


def edited(root: Path) -> list[str]:
    """Tracked files that may differ from HEAD, also where git is told not to look. Starts no filter."""
    since = head(root)
    if since is None:
        raise NotEvaluable("not a git repository, or git is missing", fix="git init")
    differing = _list(root, "diff-index", "-z", "--name-only", "--no-renames", "--relative", *_OWN_FILES, since, "--")
    flags = [(line[:1], line[2:]) for line in _list(root, "ls-files", "-v", "-z")]
    return [*differing, *(path for flag, path in flags if flag.islower() or flag == "S")]


def submodules(root: Path) -> list[str]:
    entries = _list(root, "ls-files", "-z", "--stage")
    return [entry.partition("\t")[2] for entry in entries if entry.startswith("160000 ")]


def hidden_since(root: Path, base: str) -> list[str]:
    """What is ignored now and would not be by the rules of the base. A directory ignored as a whole is one question."""
    ignored = _list(root, "ls-files", "-z", "--others", "--ignored", "--directory", _RULES)
    ignored = [path for path in ignored if not globs.is_own(path.rstrip("/"))]
    if not ignored:
        return []
    prefix = _git(root, "rev-parse", "--show-prefix").stdout.strip()
    with tempfile.TemporaryDirectory() as empty:
        rules = Path(empty)
        _lay_out_rules(root, base, rules)
        suspect = _not_ignored(rules, prefix, ignored)
        inside = [path for one in suspect if one.endswith("/") for path in _files_below(root, one)]
        return _not_ignored(rules, prefix, [one for one in suspect if not one.endswith("/")] + inside)


def _lay_out_rules(root: Path, base: str, rules: Path) -> None:
    """A repository that holds the `.gitignore` files of the base and nothing else: git itself applies them."""
    _list(rules, "init", "-q", "--template=")
    for entry in _list(root, "ls-tree", "-r", "-z", "--full-tree", base):
        about, _, path = entry.partition("\t")
        mode, _, blob = about.split()
        if os.path.basename(path) == ".gitignore" and mode.startswith("100"):
            content = _git(root, "cat-file", "blob", blob)
            if not content.ok:
                raise NotEvaluable(f"{path} of the base cannot be read", fix="git fsck")
            (rules / path).parent.mkdir(parents=True, exist_ok=True)
            (rules / path).write_text(content.stdout, encoding="utf-8")


def _not_ignored(rules: Path, prefix: str, paths: Sequence[str]) -> list[str]:
    if not paths:
        return []
    for path in paths:
        if path.endswith("/"):  # a rule such as build/ is about directories only, so it must be one
            (rules / prefix / path).mkdir(parents=True, exist_ok=True)
    # It takes no literal pathspecs; ./ keeps a name such as :x from being read as anything but a name.
    asked = "".join(f"./{prefix}{path}\0" for path in paths).encode("utf-8", "replace")
    outcome = _git(rules, "--no-literal-pathspecs", "check-ignore", "-z", "--no-index", "--stdin", stdin=asked)
    if outcome.exit_code not in (0, 1) or outcome.stdout_truncated:
        raise NotEvaluable(f"git check-ignore failed: {outcome.stderr.strip() or 'no answer'}", fix="git status")
    known = set(outcome.stdout.split("\0"))
    return [path for path in paths if f"./{prefix}{path}" not in known]


def _files_below(root: Path, directory: str) -> list[str]:
    below = globs.find(root, directory + "**")
    return [path for path in below.paths if not os.path.isdir(os.path.join(root, path))] + below.strays


def subjects(root: Path, base: str) -> list[str]:
    """Subjects of the commits since the base, newest first."""
    since = resolve(root, base)
    if _object(root, "HEAD^{commit}") is None:
        return []
    is_commit = _object(root, since + "^{commit}") is not None
    if is_commit and not _git(root, "merge-base", "--is-ancestor", since, "HEAD").ok:
        raise NotEvaluable(
            f"base {since[:12]} is no ancestor of HEAD: history was rewritten", fix="name a base with --base REV"
        )
    span = f"{since}..HEAD" if is_commit else "HEAD"
    return _list(root, "log", "-z", "--format=%s", "--no-show-signature", f"--max-count={MOST_COMMITS}", span, "--")


def was_committed_before(root: Path, path: str, moment: float) -> bool:
    """Whether a commit made before `moment`, on any branch or in the reflog, has what the file holds, at any path."""
    blob = _blob_in_git(root, path)
    if not blob:
        return False
    holding = _git(
        root, "log", "--all", "--reflog", "-m", "--no-show-signature", "--format=%H", "--max-count=1",
        f"--before=@{int(moment)} +0000", f"--find-object={blob}", "--",
    )  # fmt: skip
    return bool(holding.stdout.strip())


def _blob_in_git(root: Path, path: str) -> str:
    """The id under which git has what the file holds, empty where it has not. Hashed here: that saves a process."""
    try:
        with open(os.path.join(root, path), "rb") as file:
            header = b"blob %d\0" % os.fstat(file.fileno()).st_size
            digests = [hashlib.sha1(header, usedforsecurity=False), hashlib.sha256(header)]
            while chunk := file.read(1 << 20):
                for digest in digests:
                    digest.update(chunk)
    except OSError:
        return ""
    ids = "\n".join(digest.hexdigest() for digest in digests)
    answer = _git(root, "cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=ids.encode()).stdout
    for line in answer.splitlines():
        kind, _, name = line.partition(" ")
        if kind == "blob":
            return name
    return ""


def _require_nothing_hidden(root: Path) -> None:
    """Flags in the index and filters in the configuration can make git overlook an edit."""
    is_sparse = _git(root, "config", "--bool", "core.sparseCheckout").stdout.strip() == "true"
    for line in _list(root, "ls-files", "-v", "-z"):
        flag, path = line[:1], line[2:]
        is_left_out = is_sparse and not os.path.lexists(os.path.join(root, path))
        if flag.islower() or (flag == "S" and not is_left_out):
            raise NotEvaluable(
                f"git is told not to look at {path}",
                fix=f"git update-index --no-assume-unchanged --no-skip-worktree -- {path}",
            )
    if rewriting := rewriting_filter(root):
        name, command = rewriting
        raise NotEvaluable(
            f"{name} rewrites what git sees of files: {command}", fix=f"git config --unset {name}, then try again"
        )


def rewriting_filter(root: Path) -> tuple[str, str] | None:
    """A setting by which git does not see files as they are, and the command in it."""
    filters = _git(root, "config", "-z", "--get-regexp", r"^filter\..*\.(clean|process)$").stdout
    for entry in filter(None, filters.split("\0")):
        name, _, command = entry.partition("\n")
        if command.split()[:1] not in ([], ["git-lfs"]):
            return name, command
    return None


def ask(root: Path, *arguments: str, stdin: bytes = b"") -> str:
    """What git prints, whole. Raises NotEvaluable where it fails or prints more than is kept."""
    outcome = _git(root, *arguments, stdin=stdin)
    if not outcome.ok:
        raise NotEvaluable(f"git {arguments[0]} failed: {outcome.stderr.strip() or 'no answer'}", fix="git status")
    if outcome.stdout_truncated:
        raise NotEvaluable(f"git {arguments[0]} lists more than {OUTPUT_LIMIT} bytes", fix="name a later base")
    return outcome.stdout


def _list(root: Path, *arguments: str) -> list[str]:
    return [part for part in ask(root, *arguments).split("\0") if part]


def _empty_tree(root: Path) -> str:
    return _git(root, "hash-object", "-t", "tree", "--stdin").stdout.strip()


def _object(root: Path, name: str) -> str | None:
    outcome = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
    return outcome.stdout.strip() if outcome.ok else None


def _git(root: Path, *arguments: str, stdin: bytes = b"") -> Outcome:
    environment = {**child_environment(os.environ), **git.ENVIRONMENT, **_own(root)}
    argv = [*git.COMMAND, *arguments]
    outcome = run(argv, cwd=root, timeout=SECONDS, output_limit=OUTPUT_LIMIT, env=environment, stdin=stdin)
    if outcome.timed_out:
        raise NotEvaluable(f"git {arguments[0]} gave no answer within {SECONDS:g} s", fix="git status")
    return outcome


def _own(root: Path) -> dict[str, str]:
    """Holds git to the project's own repository, whatever its configuration says of another work tree."""
    own = os.path.join(root, ".git")
    return {"GIT_DIR": own, "GIT_WORK_TREE": str(root)} if os.path.lexists(own) else {}
