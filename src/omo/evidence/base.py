"""The base of a run: how the files were when it was armed, and in what they differ from that now.

A hook takes the base, so `take` and what it needs import nothing but `os` and what hooks have loaded anyway.
In git the base is the commit and what differed from it; elsewhere it is every file. Files are told apart by a digest,
so a commit alone changes nothing.
"""

from __future__ import annotations

import os
import stat

from omo.digest import sha256
from omo.errors import OmoError
from omo.evidence import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    Json = dict[str, Any]
    Files = dict[str, str]

MOST_FILES = 500  # that differ when a run is armed, or that a ledger row names; more is said to be unknown
MOST_LOOKED_AT = 20_000
MOST_BYTES = 64 * 1024 * 1024
GIT_SECONDS = 5.0
AT_ONCE = 8  # git processes
GONE = "gone"
LINK_MODE, FILE_MODE, PROGRAM_MODE = "l", "f", "x"
DIFF = (
    *("diff", "--name-only", "-z", "--no-renames", "--relative", "--no-ext-diff", "--no-textconv"),
    "--ignore-submodules=none",
)
OWN_DIRECTORIES = (".sisyphus/cc-omo/", ".sisyphus/evidence/")
# Looked at wherever they are, also where git is told to ignore them: each changes what a test runner does.
ALWAYS_LOOKED_AT = (
    *("Makefile", "makefile", "GNUmakefile", ".npmrc", "conftest.py", "pytest.ini", "tox.ini", "setup.cfg"),
    *("sitecustomize.py", "usercustomize.py", "unittest.py", "pytest.py", "node_modules/.bin/node"),
)
# What tests and servers leave behind, by convention: untracked, such a file is neither work nor a change of the tree.
LEFTOVER_DIRECTORIES = frozenset(
    (
        *("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".nyc_output", ".tox", ".nox"),
        *("htmlcov", "coverage", "cov", "lcov-report", "test-results", ".cache"),
    )
)
LEFTOVER_NAMES = (".coverage", "coverage.xml", "coverage.json", "lcov.info", "junit.xml", "nohup.out", ".DS_Store")
LEFTOVER_ENDS = (".log", ".pid", ".pyc", ".tmp", ".swp", ".junit.xml")


class Look:
    """What differs from the base now. `changed` is None where that cannot be told, and `unknown` says why."""

    __slots__ = ("changed", "tree", "unknown", "untracked")

    def __init__(self, tree: str, changed: Files | None, untracked: frozenset[str], unknown: str = "") -> None:
        self.tree = tree
        self.changed = changed
        self.untracked = untracked
        self.unknown = unknown

    def without(self, paths: Iterable[str]) -> Look:
        """The same without files that do not count."""
        if self.changed is None:
            return self
        kept = dict(self.changed)
        for path in paths:
            kept.pop(path, None)
        return Look(tree_of(kept), kept, self.untracked, self.unknown)


def take(root: str, environ: Mapping[str, str]) -> Json:
    """The base of a run that begins now."""
    exclude = _exclude_file(root)
    base: Json = {"head": None, "files": {}, "unknown": "", "home": home_of(environ), "exclude": _rules_in(exclude)}
    try:
        listed = _list(root, "HEAD", exclude)
        base["head"], base["view"] = listed.head, listed.view
        base["files"] = _digests(root, listed.paths, MOST_FILES)
    except (_Unknown, OmoError, OSError) as error:  # whatever is odd about the files, the run is armed
        base["unknown"] = str(error)
    return base


def home_of(environ: Mapping[str, str]) -> str:
    """Which home directory a command would run with; not its name, which is nobody's business."""
    home = environ.get("HOME", "")
    return sha256(os.fsencode(home))[:16] if home else ""


def _exclude_file(root: str) -> str:
    """Rules of git that only this clone has."""
    path = os.path.join(root, ".git", "info", "exclude")
    return path if os.path.isfile(path) else ""


def _rules_in(path: str) -> str:
    try:
        return sha256(_content(path))[:16] if path else ""
    except OSError:
        return ""


def look(root: str, base: Json | None) -> Look:
    """The files as they are now against the base. Where that is unknown, a fingerprint of them all."""
    unknown = "no base was recorded for this run" if base is None else str(base.get("unknown") or "")
    if base is not None and not unknown:
        try:
            return _look(root, base)
        except _Unknown as error:
            unknown = str(error)
    from pathlib import Path

    from omo.evidence import tree

    return Look(tree.fingerprint(Path(root)), None, frozenset(), unknown)


def _look(root: str, base: Json) -> Look:
    head, before = base.get("head"), base["files"]
    if head and (setting := _rewriting_filter(root)):
        raise _Unknown(f"git's setting {setting} rewrites what git sees of files")
    exclude = _exclude_file(root)
    # What was agreed on when the run began hides what it hid then; a rule that was written since hides nothing.
    is_as_before = _rules_in(exclude) == base.get("exclude")
    listed = _list(root, head, exclude if is_as_before else "")
    if listed.head != head:
        raise _Unknown(f"the commit {str(head)[:12]} that the run began on is gone")
    if listed.view != base.get("view"):
        raise _Unknown("what git looks at in this clone was changed: a sparse checkout, or core.fileMode")
    paths = set(listed.paths)
    if head and any(os.path.basename(path) == ".gitignore" for path in paths | set(before)):
        paths.update(_hidden_by_new_rules(root, head))
    now = _digests(root, sorted(paths), MOST_LOOKED_AT)
    changed = {}
    for path in sorted({*now, *before}):
        if now.get(path) == before.get(path):
            continue
        # A path that no longer differs from the commit went back to what it was there.
        changed[path] = now.get(path, "as committed" if head else GONE)
    return Look(tree_of(changed), changed, frozenset(listed.untracked))


def digest_of(root: str, path: str) -> str:
    """As `changed` has it for a file."""
    return _digest(root, path)[0]


def tree_of(changed: Files) -> str:
    rows = "".join(f"{path}\0{digest}\n" for path, digest in sorted(changed.items()))
    return "diff1:" + sha256(rows.encode("utf-8", "surrogateescape"))


def differing(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The paths in which two looks differ."""
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))


def is_leftover(path: str) -> bool:
    parts = path.split("/")
    name = parts[-1]
    if LEFTOVER_DIRECTORIES.intersection(parts[:-1]):
        return True
    return name in LEFTOVER_NAMES or name.startswith(".coverage.") or name.endswith(LEFTOVER_ENDS)


def committed(root: str, head: str, paths: Sequence[str]) -> dict[str, bytes]:
    """What files held in a commit; those that were not in it are left out."""
    contents = {}
    for first in range(0, len(paths), AT_ONCE):
        few = paths[first : first + AT_ONCE]
        answers = _ask_git(root, [["cat-file", "blob", f"{head}:./{path}"] for path in few])
        for path, answer in zip(few, answers, strict=True):
            if answer is not None:
                contents[path] = os.fsencode(answer)
    return contents


def names(root: str, head: str) -> list[str]:
    """The files of a commit below the root."""
    listed = _ask_git(root, [["ls-tree", "-r", "-z", "--name-only", head]])[0] or ""
    return [name for name in listed.split("\0") if name]


class _Unknown(Exception):
    """Why the base, or what differs from it, cannot be told."""


class _Listed:
    """`view` is the same while git looks at the same files in the same way."""

    __slots__ = ("head", "paths", "untracked", "view")

    def __init__(self, head: str | None, paths: list[str], untracked: list[str], view: str = "") -> None:
        self.head = head
        self.paths = paths
        self.untracked = untracked
        self.view = view


def _list(root: str, head: str | None, exclude: str) -> _Listed:
    """The paths that may differ from a commit; without one, every path that counts."""
    if not _has_repository(root):
        return _Listed(None, *_every_path(root))
    commands = [["ls-files", "-v", "-z", "--cached", "--others", "--exclude-per-directory=.gitignore"]]
    if exclude:
        commands[0].append(f"--exclude-from={exclude}")
    commands.append(["config", "--bool", "--default", "true", "core.fileMode"])
    if head:
        commands.append(["rev-parse", "--verify", "--quiet", f"{head}^{{commit}}"])
        commands.append([*DIFF, head, "--"])
    every, modes, commit, differing = [*_ask_git(root, commands), None, None][:4]
    if every is None:
        return _Listed(None, *_every_path(root))
    tracked, untracked, flagged = _sorted_out(root, every)
    if commit is None or differing is None:
        return _Listed(None, sorted(path for path in {*tracked, *untracked} if not _is_own(path)), untracked)
    paths = {*differing.split("\0"), *untracked, *_edited(root, commit.strip(), flagged)} - {""}
    left_out = [path for path in flagged if not os.path.lexists(os.path.join(root, path))]
    view = sha256(os.fsencode("\0".join([str(modes).strip(), *sorted(left_out)])))[:16]
    return _Listed(commit.strip(), sorted(path for path in paths if not _is_own(path)), untracked, view)


def _sorted_out(root: str, listed: str) -> tuple[list[str], list[str], list[str]]:
    """What git lists: tracked, not tracked, and tracked but not to be looked at."""
    tracked, untracked, flagged = [], [], []
    ignored = {path for path in ALWAYS_LOOKED_AT if os.path.lexists(os.path.join(root, path))}
    for line in filter(None, listed.split("\0")):
        flag, path = line[0], line[2:].rstrip("/")
        ignored.discard(path)
        if flag != "?":
            tracked.append(path)
        elif not is_leftover(path):
            untracked.append(path)
        if flag.islower() or flag == "S":
            flagged.append(path)
    return tracked, [*untracked, *ignored], flagged


def _edited(root: str, commit: str, paths: list[str]) -> list[str]:
    """Of paths that git may not look at, those that differ from the commit."""
    edited = []
    for path in paths:
        if not os.path.lexists(os.path.join(root, path)):
            continue  # left out by a sparse checkout
        commands = [["rev-parse", "--verify", "--quiet", f"{commit}:./{path}"], ["hash-object", "--", path]]
        committed, now = _ask_git(root, commands)
        if committed is None or committed != now:
            edited.append(path)
    return edited


def _has_repository(root: str) -> bool:
    directory = os.path.abspath(root)
    while not os.path.lexists(os.path.join(directory, ".git")):
        parent = os.path.dirname(directory)
        if parent == directory:
            return False
        directory = parent
    return True


def _every_path(root: str) -> tuple[list[str], list[str]]:
    """Every file below a directory that git does not know, but what belongs to nobody's work."""
    paths: list[str] = []
    for directory, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in (".git", "node_modules", ".venv"))
        below = os.path.relpath(directory, root)
        for name in files:
            path = os.path.normpath(os.path.join(below, name)).replace(os.sep, "/")
            if not _is_own(path) and not is_leftover(path):
                paths.append(path)
        if len(paths) > MOST_LOOKED_AT:
            raise _Unknown(f"there are more than {MOST_LOOKED_AT} files, and git does not keep them")
    return sorted(paths), paths


def _is_own(path: str) -> bool:
    return f"{path}/".startswith(OWN_DIRECTORIES)


def _digests(root: str, paths: list[str], most: int) -> Files:
    if len(paths) > most:
        raise _Unknown(f"more than {most} files would have to be told apart")
    digests: Files = {}
    left = MOST_BYTES
    for path in paths:
        digests[path], size = _digest(root, path)
        left -= size
        if left < 0:
            raise _Unknown(f"the files that differ hold more than {MOST_BYTES // 2**20} MB")
    return digests


def _digest(root: str, path: str) -> tuple[str, int]:
    """Mode and content of a file; of a link also where it leads, and what is there."""
    full = os.path.join(root, path)
    try:
        status = os.lstat(full)
        if stat.S_ISDIR(status.st_mode):
            return _nested(full), 0
        mode, target = FILE_MODE, b""
        if stat.S_ISLNK(status.st_mode):
            mode, target = LINK_MODE, os.fsencode(os.readlink(full)) + b"\0"
        elif status.st_mode & stat.S_IXUSR:
            mode = PROGRAM_MODE
        content = _content(full)
    except (FileNotFoundError, NotADirectoryError):
        return GONE, 0
    except OSError as error:
        return f"unreadable: {error.strerror}", 0
    return mode + sha256(target + content)[:24], len(content)


def _content(full: str) -> bytes:
    """Nothing of what is no regular file: a pipe or a device is never waited for."""
    descriptor = os.open(full, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return b""
        if status.st_size > MOST_BYTES:
            raise _Unknown(f"{full} is larger than {MOST_BYTES // 2**20} MB")
        pieces = []
        while piece := os.read(descriptor, 1 << 20):
            pieces.append(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def _nested(directory: str) -> str:
    """A repository inside this one."""
    from pathlib import Path

    from omo.evidence import tree

    return tree.fingerprint(Path(directory))


def _rewriting_filter(root: str) -> str:
    from pathlib import Path

    from omo.evidence import changes

    rewriting = changes.rewriting_filter(Path(root))
    return rewriting[0] if rewriting else ""


def _hidden_by_new_rules(root: str, head: str) -> list[str]:
    from pathlib import Path

    from omo.evidence import changes

    return [path for path in changes.hidden_since(Path(root), head) if not is_leftover(path)]


def _ask_git(root: str, commands: list[list[str]]) -> list[str | None]:
    """What each git command prints, all of them started at once; None for one that failed or took too long."""
    environ = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TMPDIR") if name in os.environ}
    environ.update(git.ENVIRONMENT)
    own = os.path.join(os.path.abspath(root), ".git")
    if os.path.lexists(own):  # git would take an outer repository where this one is damaged
        environ.update(GIT_DIR=own, GIT_WORK_TREE=os.path.abspath(root))
    argvs = [[git.COMMAND[0], "-C", root, *git.COMMAND[1:], *arguments] for arguments in commands]
    if not hasattr(os, "posix_spawnp"):
        return [_run(argv, root, environ) for argv in argvs]
    import time

    deadline = time.monotonic() + GIT_SECONDS
    started = [_start(argv, environ) for argv in argvs]
    return [_finish(process, pipe, deadline) for process, pipe in started]


def _start(argv: list[str], environ: dict[str, str]) -> tuple[int, int]:
    """A process and the pipe it prints to; the library for it would cost a hook 8 ms to load."""
    reading, writing = os.pipe()
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, writing, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_RDWR, 0),
    ]
    try:
        return os.posix_spawnp(argv[0], argv, environ, file_actions=actions), reading
    except OSError:
        return 0, reading
    finally:
        os.close(writing)


def _finish(process: int, pipe: int, deadline: float) -> str | None:
    import time

    output: list[bytes] = []
    os.set_blocking(pipe, False)
    try:
        while process and time.monotonic() < deadline:
            try:
                piece = os.read(pipe, 1 << 16)
            except BlockingIOError:
                time.sleep(0.0005)
                continue
            if not piece:
                _, status = os.waitpid(process, 0)
                return os.fsdecode(b"".join(output)) if status == 0 else None
            output.append(piece)
    finally:
        os.close(pipe)
    if process:
        os.kill(process, 9)
        os.waitpid(process, 0)
    return None


def _run(argv: list[str], root: str, environ: dict[str, str]) -> str | None:
    from pathlib import Path

    from omo.evidence import run

    outcome = run.run(argv, cwd=Path(root), timeout=GIT_SECONDS, output_limit=MOST_BYTES, env=environ)
    return outcome.stdout if outcome.ok else None
