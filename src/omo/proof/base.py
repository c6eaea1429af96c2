"""The base of a run: how the files were when it was armed, and in what they differ from that now.

A hook takes the base, so `take` and what it needs import nothing but `os` and what hooks have loaded anyway.
In git the base is the commit and what differed from it; elsewhere it is every file. Files are told apart by a digest,
so a commit alone changes nothing. What the commit does not hold is copied into the state, under its digest, so that
the experiment can put it back (`contents.py`).
"""

from __future__ import annotations

import os
import stat
import time

from omo import safe_open
from omo.digest import sha256
from omo.errors import NotEvaluable, NotMade, OmoError
from omo.proof import differences, git, installed
from omo.state import paths
from omo.state.copies import Copies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import NoReturn

    from omo.state.rows import Base, FilesAtEnd

    Files = dict[str, str]

MOST_FILES = 500  # that a ledger row names
MOST_NAMED = 20  # of those that changed after an end
MOST_LOOKED_AT = 20_000
MOST_BYTES = 64 * 1024 * 1024  # read and kept of all that differs from the commit
LARGEST_FILE = 8 * 1024 * 1024  # a larger one is told apart by its size and times, and its content is not kept
GONE = "gone"
RULES = ".gitignore"
UNREADABLE = "unreadable: "
BY_TIMES = "t"  # begins the digest of a file that was not read
MAKE_READABLE = "make it readable, or have git ignore it"
LISTED = ("ls-files", "-v", "-z", "--cached", "--others", "--exclude-per-directory=.gitignore")
OWN_DIRECTORIES = (".sisyphus/cc-omo/", ".sisyphus/cc-omo.aside/", ".sisyphus/evidence/")
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
LEFTOVER_ENDS = (".log", ".pid", ".tmp", ".swp", ".junit.xml")
CONVERTS = ("text", "eol", "crlf", "encoding", "ident")  # attributes of git's
COLLECTED_ENDS = (".js", ".cjs", ".mjs", ".ts")
SOURCE_ENDS = (".py", ".go", ".rs", ".rb", ".java", ".kt", ".php", ".cs", ".ts", ".tsx")


class Look:
    """What differs from the base now. `changed` is None where that cannot be told, and `unknown` says why.

    `now` is what differs from the commit alone, and `base` what was compared with, for `mark`.
    """

    def __init__(self, tree: str, changed: Files | None, untracked: frozenset[str], unknown: str = "") -> None:
        self.tree = tree
        self.changed = changed
        self.untracked = untracked
        self.unknown = unknown
        self.now: Files = {}
        self.base: Base | None = None
        self.moment = 0.0  # before it began, by the clock of files

    @property
    def unknown_in_words(self) -> str:
        return f"what was changed is not known ({self.unknown})"

    def without(self, paths: Iterable[str]) -> Look:
        """The same without files that do not count."""
        if self.changed is None:
            return self
        kept = _without(self.changed, paths)
        look = Look(tree_of(kept), kept, self.untracked, self.unknown)
        look.now, look.base, look.moment = self.now, self.base, self.moment
        return look


class Since:
    """What became of the files of an end: the names of those that `changed`, or why that is `unknown`."""

    def __init__(self, changed: list[str], unknown: str = "") -> None:
        self.changed = changed
        self.unknown = unknown


def take(root: str, environ: Mapping[str, str], state: str = "") -> Base:
    """The base of a run that begins now. With `state`, what differs from the commit is kept there."""
    base: Base = {"head": None, "files": {}, "unknown": ""}
    moment = time.time()  # by the clock that stamps files: of what is older nothing has to be read again
    try:
        base, listing = _as_committed(root, "HEAD", reads=False)
        base["moment"] = moment
        copies = Copies(state)
        base["files"] = _digests(root, listing.paths, {}, copies)
        if programs := installed.noted(root):
            base["programs"] = name_of(git.FILE_MODE, programs)
            copies.keep(base["programs"], programs)
        if rules := {path: _text(root, path) for path in listing.paths if _is_rules(path)}:
            base["rules"] = rules
    except (OmoError, OSError) as error:  # whatever is odd about the files, the run is armed
        base["unknown"] = str(error)
    base["home"] = home_of(environ)
    return base


def why_no_commit(began: Base) -> str:
    """Say why a run has no commit that it began on."""
    if unknown := began.get("unknown"):
        return f"the files that the run began with are not known ({unknown})"
    return "there is no commit"


def of_commit(root: str, commit: str) -> Base:
    """The base for whoever asks what differs from a commit, which has to be here, and not from what stood there when a
    run was armed."""
    try:
        return _as_committed(root, commit)[0]
    except (OmoError, OSError) as error:
        return {"head": None, "files": {}, "unknown": str(error)}


def _as_committed(root: str, commit: str, *, reads: bool = True) -> tuple[Base, _Listing]:
    """A base from which no file differed, and what differs from it now. `reads` says whether contents decide; where a
    run begins, git's own answer is enough, since nobody has worked yet."""
    exclude = _exclude_file(root)
    listing = _list(root, commit, exclude, since=0.0 if reads else None)
    rules = _rules_in(exclude)
    return {"head": listing.head, "view": listing.view, "exclude": rules, "files": {}, "unknown": ""}, listing


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


def has_same_rules(root: str, base: Base) -> bool:
    return _rules_in(_exclude_file(root)) == base.get("exclude")


def look(root: str, base: Base | None) -> Look:
    """The files as they are now against the base. Where that is unknown, a fingerprint of them all."""
    unknown = "no base was recorded for this run" if base is None else str(base.get("unknown") or "")
    if base is not None and not unknown:
        try:
            return _look(root, base)
        except NotEvaluable as error:
            unknown = str(error)
    return Look(fingerprint(root), None, frozenset(), unknown)


def fingerprint(root: str) -> str:
    """One id for what all files hold that are tracked or not ignored, a repository inside this one included. Raises
    NotEvaluable where one cannot be read: a tree that we cannot see is not one that we know."""
    held = {}
    for path in _list(root, None, _exclude_file(root), is_whole=True).paths:
        # tests/stories: "done, then committed", with what nothing ignores
        if path.endswith(".pyc") and "/__pycache__/" in f"/{path}":
            continue
        digest, _ = _digest(root, path, Copies())
        if digest.startswith(UNREADABLE):
            raise NotEvaluable(f"{path} is {digest}", fix=MAKE_READABLE)
        if digest != GONE:  # the index may still have it
            held[path] = digest
    return tree_of(held)


def _look(root: str, base: Base, known: Iterable[str] = ()) -> Look:
    """`known` are more files that differ from the commit: git need not name one that was written before the base."""
    head = base.get("head")
    exclude = _exclude_file(root)
    # What was agreed on when the run began hides what it hid then; a rule that was written since hides nothing.
    since = base.get("moment", 0.0)
    listing = _list(root, head, exclude if has_same_rules(root, base) else "", since=since)
    if listing.head != head:
        raise NotEvaluable(f"the commit {str(head)[:12]} that the run began on is gone")
    if listing.view != base.get("view"):
        raise NotEvaluable(
            "what git looks at in this clone was changed: a sparse checkout, core.fileMode, how it converts contents, "
            "or .git itself"
        )
    listing.paths = sorted({*listing.paths, *known})
    return _compare(root, base, listing)


def _compare(root: str, base: Base, listing: _Listing) -> Look:
    head, before = base.get("head"), base["files"]
    paths = set(listing.paths)
    has_rules_above = not os.path.lexists(os.path.join(root, ".git"))
    if head and (has_rules_above or any(map(_is_rules, paths | set(before)))):
        paths.update(_hidden_by_new_rules(root, head, base.get("rules", {})))
    now = _digests(root, sorted(paths), before, Copies())
    # A path that no longer differs from the commit went back to what it was there.
    went_back = "as committed" if head else GONE
    changed = {path: now.get(path, went_back) for path in differing(before, now)}
    look = Look(tree_of(changed), changed, frozenset(listing.untracked))
    look.now, look.base, look.moment = now, base, listing.moment
    return look


def mark(root: str, left_out: Iterable[str] = (), seen: Look | None = None) -> FilesAtEnd:
    """Which files an end speaks of, for `changed_since`: in what they differ from the commit now, by digests alone.

    `left_out` are files that do not count. Of more than MOST_FILES only one digest of them all is kept. `seen` is a
    look that was made just now, at the base of the run.
    """
    # A file that was not read at the base was not read in that look either.
    if seen is None or seen.base is None or any(map(_is_by_times, seen.base["files"].values())):
        try:
            seen = _compare(root, *_as_committed(root, "HEAD"))
        except (OmoError, OSError) as error:
            return {"unknown": str(error)}
    assert seen.base is not None
    now = _without_leftovers(root, seen.base.get("head"), seen.now, left_out)
    marked: FilesAtEnd = {
        "head": seen.base.get("head"),
        "view": seen.base.get("view"),
        "exclude": seen.base.get("exclude"),
        "files": {},
        "moment": seen.moment,
        "tree": tree_of(now),
        "count": len(now),
        "left_out": sorted(set(left_out)),
    }
    if rules := seen.base.get("rules"):
        marked["rules"] = rules
    if len(now) <= MOST_FILES:
        marked["changed"] = now
    return marked


def changed_since(root: str, marked: FilesAtEnd) -> Since:
    """The files that are others than when they were marked. A commit alone changes nothing.

    Nothing but these files is read: a hook asks.
    """
    if why := marked.get("unknown"):
        return Since([], str(why))
    try:
        look = _look(root, marked, marked.get("changed", ()))
        now = _without_leftovers(root, marked.get("head"), look.changed or {}, marked["left_out"])
    except (OmoError, OSError) as error:
        return Since([], str(error))
    except (KeyError, TypeError, AttributeError):
        return Since([], "what was noted of them is not as omo wrote it")
    if tree_of(now) == marked.get("tree"):
        return Since([])
    if "changed" not in marked:
        return Since([f"some of {marked.get('count')} files that differ from the commit"])
    return Since(differing(marked["changed"], now)[:MOST_NAMED])


def is_changed(root: str, moment: float) -> bool:
    """Whether any file that counts was changed after a moment, by the clock of files; also where nobody can tell.

    One that is gone counts by the directory it was in; where git does not know it, its removal is not seen. The moment
    was written down in whole milliseconds.
    """
    command = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = git.run(root, *command)
        paths = listed.lines if listed.ok else _list_without_git(root).paths
        for path in paths:
            counts = not _is_own(path) and not is_leftover(path)
            if counts and _changed_at(os.path.join(root, path)) >= moment + 0.001:
                return True
    except (OmoError, OSError):
        return True
    return False


def _changed_at(full: str) -> float:
    while not os.path.lexists(full) and full != os.path.dirname(full):
        full = os.path.dirname(full)
    return os.lstat(full).st_ctime


def changed_at_end(root: str, began: Base | str, marked: FilesAtEnd) -> list[str] | None:
    """The files in which an end that was marked differs from what it began with; None where nobody can tell."""
    head, before = (began, {}) if isinstance(began, str) else (began.get("head"), began.get("files"))
    changed = marked.get("changed")
    if not head or not marked.get("head") or not isinstance(before, dict) or not isinstance(changed, dict):
        return None
    committed_since = git.run(root, *git.DIFF, str(head), str(marked["head"]), "--")
    if not committed_since.ok:
        return None
    paths = {path for path in changed if changed[path] != before.get(path)}
    paths.update(path for path in committed_since.lines if path not in changed)
    return sorted(path for path in paths if not _is_own(path))


def _without_leftovers(root: str, head: str | None, changed: Files, left_out: Iterable[str]) -> Files:
    """Also those that git tracks: `git add -A` after an end would otherwise be a change. Not those that the commit has:
    "all mended, in a directory that is called coverage, and put back"."""
    leftovers = list(filter(is_leftover, changed))
    if leftovers and head:
        command = ["ls-tree", "-z", "--name-only", head, "--", *leftovers]
        committed = git.run(root, *command).lines
        leftovers = [path for path in leftovers if path not in committed]
    return _without(changed, [*left_out, *leftovers])


class Untracked:
    """Lists the files that git does not know and does not ignore; outside of git all. What tests leave behind is none.

    Called again it asks in the same way, or raises NotEvaluable: for a git that has lost its configuration, its index
    or its directory every file would be one that nobody knows. What git knew the first time is never in a later list.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self._place: str | None = None  # of the repository that answered first; empty for none
        self._known: frozenset[str] = frozenset()

    def __call__(self) -> frozenset[str]:
        place = git.place_of_repository(self.root)
        if self._place is None:
            answer = git.run(self.root, *LISTED)
            self._place = place if answer.ok else ""
        elif self._place:
            if place != self._place:
                raise NotEvaluable("git's directory is not where it was", fix="git status")
            answer = git.require(git.run(self.root, *LISTED), LISTED[0])
        if self._place:
            tracked, paths, _ = git.sorted_out(answer)
            self._known = self._known or frozenset(tracked)
        else:
            paths = _list_without_git(self.root).paths
        found = {path for path in paths if not _is_own(path) and not is_leftover(path)}
        return frozenset(path for path in found - self._known if not _is_mask(self.root, path))


def _is_mask(root: str, path: str) -> bool:
    """A sandbox lays a device over names that its programs shall not write, also where there is no file. Git takes it
    for one: tests/e2e/test_evals.py, `.bashrc` and some twenty more in every project."""
    try:
        return stat.S_ISCHR(os.lstat(os.path.join(root, path)).st_mode)
    except OSError:
        return False


def digest_of(root: str, path: str) -> str:
    """As `changed` has it for a file."""
    return _digest(root, path, Copies())[0]


def tree_of(changed: Files) -> str:
    rows = "".join(f"{path}\0{digest}\n" for path, digest in sorted(changed.items()))
    return "diff1:" + sha256(rows.encode("utf-8", "surrogateescape"))


def differing(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The paths in which two looks differ."""
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))


def _without(files: Files, paths: Iterable[str]) -> Files:
    left_out = set(paths)
    return {path: digest for path, digest in files.items() if path not in left_out}


def is_leftover(path: str) -> bool:
    parts = path.split("/")
    name = parts[-1]
    if LEFTOVER_DIRECTORIES.intersection(parts[:-1]):
        # No tool leaves such files there where people see them: "a new module in a package called coverage".
        is_source = name.endswith(SOURCE_ENDS) and not _is_hidden(path)
        return not is_source and not _is_collected(path)
    return name in LEFTOVER_NAMES or name.startswith(".coverage.") or name.endswith(LEFTOVER_ENDS)


def _is_collected(path: str) -> bool:
    """A test that its runner finds wherever it lies. Those of Python leave hidden directories out, node does not."""
    name = os.path.basename(path).lower()
    if "test" not in name and "spec" not in name:
        return False
    return name.endswith(COLLECTED_ENDS) or (name.endswith(".py") and not _is_hidden(path))


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))


def copied(state: str, path: str, digest: str) -> bytes:
    """What a file held that `take` copied, of a link where it led. Raises NotMade where that was not kept."""
    if _is_by_times(digest):
        raise NotMade(f"{path} was too large to be kept when the run began")
    try:
        held = safe_open.read_file(os.path.join(paths.copies_dir(state), digest), MOST_BYTES)
    except OSError:
        raise NotMade(f"what {path} held when the run began was not kept") from None
    if name_of(digest[:1], held) != digest:  # anybody could write there
        raise NotMade(f"the copy of {path} from when the run began was changed")
    return held.partition(b"\0")[0] if digest[:1] == git.LINK_MODE else held


def replaced_programs(root: str, state: str, began: Base) -> list[str]:
    """Return the programs of the project's environment that were there when the run began, and are others now. Where
    that was not kept, nobody can tell, and none is named."""
    name = began.get("programs")
    if not name:
        return []
    try:
        return installed.replaced(root, copied(state, "what was installed", name))
    except NotMade:
        return []


class _Listing:
    """The paths that may differ from a commit; without one, every path that counts.

    `view` is the same while git looks at the same files in the same way.
    """

    def __init__(self, paths: Iterable[str], untracked: list[str]) -> None:
        self.moment = 0.0
        self.head: str | None = None
        self.paths = sorted(path for path in paths if path and not _is_own(path))
        self.untracked = untracked
        self.view = ""


def _list(root: str, head: str | None, exclude: str, *, is_whole: bool = False, since: float | None = None) -> _Listing:
    """`is_whole`: however many there are, and NotEvaluable where a directory cannot be read. `since` is a moment before
    which no file counts as written; without one what git has noted of them decides."""
    moment = time.time()
    place = git.place_of_repository(root)
    if not place:
        return _list_without_git(root, is_whole=is_whole)
    every = ["ls-files", "-v", "-z", "--cached", "--others", "--exclude-per-directory=.gitignore"]
    if exclude:
        every.append(f"--exclude-from={exclude}")
    settings = git.settings(root)
    as_they_are = settings.as_they_are
    listing_files = git.start(root, every)  # meanwhile:
    try:
        commit = git.head(root) if head == "HEAD" else head or ""
        differing = differences.paths(root, commit, as_they_are) if commit else None
        listed = listing_files.answer()
    finally:
        listing_files.end()
    # A repository above that ignores all of this (dotfiles kept in HOME) has nothing to say about it.
    if not listed.ok or (place != "." and not listed.output):
        return _list_without_git(root, is_whole=is_whole)
    if is_whole and b"could not open directory" in listed.errors:
        raise NotEvaluable(os.fsdecode(listed.errors).strip(), fix=MAKE_READABLE)
    tracked, loose, flagged = git.sorted_out(listed)
    untracked = [path for path in loose if not is_leftover(path) and not _is_mask(root, path)]
    known = {*tracked, *loose}
    # Rules may hide themselves: "half, the other test left out behind rules that hide themselves".
    looked_at = {*ALWAYS_LOOKED_AT, *(path[: path.rfind("/") + 1] + RULES for path in {*tracked, *(differing or ())})}
    looked_at -= known
    untracked += sorted(path for path in looked_at if os.path.lexists(os.path.join(root, path)))
    if differing is None:
        return _Listing({*tracked, *untracked}, untracked)
    # What git has noted of files that a filter rewrites was noted through it, so they are all looked at.
    overlooked = [*flagged, *(filtered(root, tracked) if as_they_are else ())]
    differing += edited(root, commit, overlooked)
    if since is not None:
        unnamed = {*tracked}.difference(differing, overlooked)
        differing += differences.with_other_content(root, commit, unnamed, as_they_are, since)
    listing = _Listing({*differing, *untracked}, untracked)
    listing.moment = moment
    listing.head = commit
    listing.view = _view(root, place, settings, flagged)
    return listing


def _view(root: str, place: str, settings: git.GitSettings, flagged: Sequence[str]) -> str:
    """One id for how git looks at the files, and at which."""
    left_out = [path for path in flagged if not os.path.lexists(os.path.join(root, path))]
    seen_so = [settings.file_mode, *sorted(left_out), *settings.conversions, *_conversions(root)]
    if place != ".":  # in another repository, or another part of one, the commit's paths stand for other files
        seen_so.append(place)
    return sha256(os.fsencode("\0".join(seen_so)))[:16]


def _conversions(root: str) -> list[str]:
    """The lines by which this clone alone has contents converted; filters are looked through."""
    try:
        lines = _content(os.path.join(root, ".git", "info", "attributes")).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    return [line for line in lines if any(word in line for word in CONVERTS)]


def edited(root: str, commit: str, paths: list[str], *, line_end: bytes = b"\n") -> list[str]:
    """Of paths that git may not look at, those that are there and differ from the commit with such line ends."""
    present = [path for path in paths if os.path.lexists(os.path.join(root, path))]  # others: a sparse checkout
    held = {path: text.replace(b"\n", line_end) for path, text in git.committed(root, commit, present).items()}
    return [path for path in present if path not in held or not _holds(os.path.join(root, path), held[path])]


def _holds(full: str, content: bytes) -> bool:
    """No more is read than it takes to know: behind a filter a file may be large."""
    try:
        return safe_open.read_file(full, len(content)) == content
    except OSError:
        return False


def filtered(root: str, paths: Iterable[str]) -> list[str]:
    """Those that a filter rewrites."""
    question = os.fsencode("".join(f"{path}\0" for path in paths))
    command = ["check-attr", "-z", "--stdin", "filter"]
    fields = git.run(root, *command, stdin=question).lines
    pairs = zip(fields[0::3], fields[2::3], strict=False)
    return [path for path, value in pairs if value not in ("unspecified", "unset")]


def _list_without_git(root: str, *, is_whole: bool = False) -> _Listing:
    """Every file below a directory that git does not know, but what belongs to nobody's work."""
    paths: list[str] = []
    for directory, names, files in os.walk(root, onerror=_refuse_unread if is_whole else None):
        names[:] = sorted(name for name in names if name not in (".git", "node_modules", ".venv"))
        files += [name for name in names if os.path.islink(os.path.join(directory, name))]
        below = os.path.relpath(directory, root)
        for name in files:
            path = os.path.normpath(os.path.join(below, name))
            if not _is_own(path) and not is_leftover(path):
                paths.append(path)
        if not is_whole and len(paths) > MOST_LOOKED_AT:
            raise NotEvaluable(f"there are more than {MOST_LOOKED_AT} files, and git does not keep them")
    return _Listing(paths, paths)


def _refuse_unread(error: OSError) -> NoReturn:
    raise NotEvaluable(f"{error.filename} cannot be read: {error.strerror}", fix=MAKE_READABLE)


def _is_own(path: str) -> bool:
    return f"{path}/".startswith(OWN_DIRECTORIES) and not _is_collected(path)


def _digests(root: str, paths: list[str], before: Files, copies: Copies) -> Files:
    """`before` says which files were not read at the base; they are not read now either."""
    if len(paths) > MOST_LOOKED_AT:
        raise NotEvaluable(
            f"more than {MOST_LOOKED_AT} files would have to be told apart: have git ignore what is no work, such as "
            "packages, and type ulw again"
        )
    digests: Files = {}
    left = MOST_BYTES
    for path in paths:
        is_read = left > 0 and not _is_by_times(before.get(path, ""))
        digests[path], size = _digest(root, path, copies, is_read=is_read)
        left -= size
    return digests


def _digest(root: str, path: str, copies: Copies, *, is_read: bool = True) -> tuple[str, int]:
    """Mode and content of a file, and how much of it was read; of a link also where it leads, and what is there."""
    full = os.path.join(root, path)
    try:
        status = os.lstat(full)
        if stat.S_ISDIR(status.st_mode):  # a repository inside this one, or a directory where the index has a file
            return fingerprint(full) if os.path.lexists(os.path.join(full, ".git")) else GONE, 0
        mode, target = git.FILE_MODE, b""
        if stat.S_ISLNK(status.st_mode):
            mode, target = git.LINK_MODE, os.fsencode(os.readlink(full)) + b"\0"
        elif status.st_mode & stat.S_IXUSR:
            mode = git.PROGRAM_MODE
        if mode != git.LINK_MODE and (not is_read or status.st_size > LARGEST_FILE):
            return f"{BY_TIMES}{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}", 0
        held = target + _content(full)
    except (FileNotFoundError, NotADirectoryError):
        return GONE, 0
    except OSError as error:
        return f"{UNREADABLE}{error.strerror}", 0
    digest = name_of(mode, held)
    copies.keep(digest, held)
    return digest, len(held)


def _is_by_times(digest: str) -> bool:
    return digest.startswith(BY_TIMES)


def name_of(mode: str, held: bytes) -> str:
    return mode + sha256(held)[:24]


def _content(full: str) -> bytes:
    try:
        return safe_open.read_file(full, LARGEST_FILE, follow_link=True)
    except (safe_open.NotAFile, safe_open.TooLarge, FileNotFoundError, NotADirectoryError):
        return b""  # behind a link; there may be nothing at all


def _is_rules(path: str) -> bool:
    return os.path.basename(path) == RULES


def _text(root: str, path: str) -> str:
    return _content(os.path.join(root, path)).decode("utf-8", "replace")


def _hidden_by_new_rules(root: str, head: str, at_base: Mapping[str, str]) -> list[str]:
    """Seldom needed, and slow to load for a hook: hashlib, tempfile and pathlib are behind it. `at_base` are the rules
    that were not as in the commit when the run began."""
    from pathlib import Path

    from omo.proof import changes

    return [path for path in changes.hidden_by_work(Path(root), head, at_base) if not is_leftover(path)]
