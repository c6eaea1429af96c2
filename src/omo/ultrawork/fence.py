"""The fence of a plan session: which paths may be changed while it is open, and why another may not."""

from __future__ import annotations

import os

from omo.shown import clip
from omo.ultrawork import guarded
from omo.ultrawork.path_globs import covers, leads_to, name_matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

# What is written. A tree goes with everything below it, `tree *.pyc` with what is called so.
FILE, DIRECTORY, TREE = "file", "directory", "tree"
NEW_DIRECTORY = "new-directory"  # empty, so git does not see it
REMOVED = "removed"  # by rm, below it as well
UNTRACKED = "untracked"  # what git clean removes below it: our own state is ignored, and stays
IGNORED = "ignored"  # the same with what git ignores; behind it a word of KEEPS
RESTORED = "restored"  # to what HEAD or the index has; behind it another revision
DEEP = (TREE, REMOVED, UNTRACKED, IGNORED, RESTORED)
OWN_STATE = ".sisyphus/cc-omo"  # what git ignores, and goes where git takes ignored files
# How the same is done without omo's own state, which git ignores.
KEEPS = {
    "clean-x": "git clean -fdx -e .sisyphus",
    "clean-X": "git clean -fdX -- . ':!.sisyphus'",
    "stash": "git stash -u",
}
MOST_BELOW = 20_000  # entries of a tree that are looked at
LONGEST_SHOWN = 200
SCRATCH = ("/tmp", "/var/tmp", "/dev/shm")
# A project may lie in memory too, and is fenced there as anywhere.
DEVICES = tuple(f"/dev/{name}" for name in guarded.DEVICES if name != "shm")
SECURITY = "No plan may change that: if the step needs it, stop and report it to the user."
UNLISTED = "What was there before the session began is not known (too much to be listed), so nothing is removed. "
POSIX_ONLY = (
    "The plan's fence reads POSIX shell only, so PowerShell and cmd are not run while it is up: "
    "use Bash, where omo plan finish takes the fence down."
)
REMEDY = "Keep to the fence; if the step cannot be done within it, stop, report it and let the user change the plan."


class Fence:
    """`touch` empty: the plan names no limits, so the project is the fence."""

    __slots__ = ("home", "never", "root", "scratch", "spec", "state", "touch", "uncommitted", "unlisted")

    def __init__(self, touch: list[str], never: list[str], root: str, spec: str, environ: Mapping[str, str]) -> None:
        self.touch = touch
        self.never = [glob.lower() for glob in never]
        self.root = os.path.realpath(root)
        self.spec = os.path.realpath(os.path.join(root, spec)) if spec else ""
        self.home = environ.get("HOME") or environ.get("USERPROFILE") or ""
        kept = environ.get("OMO_STATE_DIR", "")
        self.state = os.path.realpath(kept) if os.path.isabs(kept) else ""
        own = [environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")]
        self.scratch = [os.path.realpath(one) for one in (*SCRATCH, *own) if one.strip("/")]
        self.uncommitted: list[str] | None = None  # what HEAD did not have when the session began, None: not known
        self.unlisted = ""

    def absolute(self, path: str, directory: str) -> str:
        """`~` is the home directory; nobody knows another's, so that is outside."""
        if path == "~" or path.startswith("~/"):
            path = os.path.join(self.home or "/", path[2:])
        elif path.startswith("~"):
            path = "/" + path
        directory = self.absolute(directory, self.root) if directory.startswith("~") else directory
        return os.path.abspath(os.path.join(self.root, directory, path))

    def refusal(self, path: str, directory: str, what: str = FILE) -> str:
        """Why this may not be written, empty if it may. By name and by where links lead."""
        if "\0" in path:
            return ""  # no file can be called so
        named = self.absolute(path, directory)
        if named.startswith(DEVICES):
            return ""
        entry = os.path.join(os.path.realpath(os.path.dirname(named)), os.path.basename(named))
        for one in dict.fromkeys((named, entry, os.path.realpath(named))):
            if is_guarded := guarded.kind(one):
                return f"{shown(path)} is {is_guarded}. {SECURITY}"
        places = dict.fromkeys((entry, os.path.realpath(named)))
        how, _, only = what.partition(" ")
        of = TREE if how in DEEP else how
        reason = next((one for place in places if (one := self._refusal_of(place, of))), "")
        if not reason and of == TREE and os.path.isdir(entry) and not os.path.islink(entry):
            reason = self._refusal_below(entry, only if how == TREE else "")
        is_through_link = path.endswith("/") and os.path.islink(entry)
        if not reason or (not is_through_link and self._is_taken_back(entry, what)):
            return ""
        return f"{shown(path)} {reason}. {self._way_back(entry, how)}{REMEDY}"

    def _is_taken_back(self, entry: str, what: str) -> bool:
        """What the session left outside the fence may be removed, and what it changed there restored."""
        if what in (REMOVED, UNTRACKED):
            return self._is_leftover(entry)
        return what == RESTORED and is_inside(entry, self.root) and self._is_of_session(entry)

    def _way_back(self, entry: str, how: str) -> str:
        """The command that mends it, or why there is none; empty where nothing is there to be mended."""
        if not is_inside(entry, self.root) or not os.path.lexists(entry):
            return ""
        if self._is_leftover(entry):
            remove = "rm -r" if os.path.isdir(entry) and not os.path.islink(entry) else "rm"
            return f"It is new since the session began: `{remove} {_quoted(entry[len(self.root) + 1 :])}` removes it. "
        if how not in (REMOVED, UNTRACKED, RESTORED):
            return ""
        if self.uncommitted is None:
            return self.unlisted
        return "" if self._is_of_session(entry) else "It was there before the session began. "

    def _is_leftover(self, entry: str) -> bool:
        """Whether this is in the project, not tracked by git, and was not there when the session began."""
        from omo.ultrawork import git_index

        if entry == self.root or not is_inside(entry, self.root) or not os.path.lexists(entry):
            return False
        return self._is_of_session(entry) and not git_index.tracks(self.root, entry)

    def _is_of_session(self, entry: str) -> bool:
        """Whether HEAD had all of this as it was when the session began."""
        if self.uncommitted is None:
            return False
        path = entry[len(self.root) :].strip("/").lower()
        for listed in self.uncommitted:
            before = listed.lower()
            if not path or is_inside(path, before) or is_inside(before, path):
                return False
        return True

    def _refusal_below(self, directory: str, only: str) -> str:
        for seen, one in enumerate(_below(directory)):
            if seen >= MOST_BELOW:
                return f"holds more than {MOST_BELOW} entries, too many to be looked at: name a smaller part"
            if not only or name_matches(os.path.basename(one).lower(), only):
                reason = self._refusal_of(one, TREE)
                if reason:
                    return reason
        return ""

    def _refusal_of(self, real: str, what: str) -> str:
        if self.state and is_inside(real, self.state):
            return f"is {guarded.STATE}"
        if real == self.spec:
            return "is the contract this session was started with"
        if not is_inside(real, self.root):
            is_scratch = any(real != one and is_inside(real, one) for one in self.scratch)
            return "" if is_scratch else f"is outside the project {shown(self.root)}"
        path = real[len(self.root) :].strip("/") or "."
        if hit := next((glob for glob in self.never if covers(path.lower(), glob)), ""):
            return f"is under what the plan's fence says never to touch ({shown(hit)})"
        if self._is_touchable(path, what):
            held = guarded.kind(path) if what == TREE else ""
            return f"holds {held}" if held else ""
        return f"is outside the plan's fence (touch: {shown(', '.join(self.touch))})"

    def _is_touchable(self, path: str, what: str) -> bool:
        if what == NEW_DIRECTORY or not self.touch or any(covers(path, glob) for glob in self.touch):
            return True
        return what == DIRECTORY and (path == "." or any(leads_to(path, glob) for glob in self.touch))


class StateFence(Fence):
    """Around these paths alone, for a session with work open: whatever else is written is none of its business."""

    __slots__ = ("kept",)

    def __init__(self, kept: Sequence[str], root: str, environ: Mapping[str, str]) -> None:
        super().__init__([], [], root, "", environ)
        self.kept = [form for one in kept for form in dict.fromkeys((os.path.abspath(one), os.path.realpath(one)))]

    def refusal(self, path: str, directory: str, what: str = FILE) -> str:
        how, _, form = what.partition(" ")
        if "\0" in path or how == UNTRACKED:
            return ""
        named = self.absolute(path, directory)
        if how == IGNORED:
            return state_refusal(path, what) if self._goes_with_ignored(named, form) else ""
        goes_below = how in (TREE, REMOVED)
        for one in dict.fromkeys((named, os.path.realpath(named))):
            for kept in self.kept:
                if is_inside(one.lower(), kept.lower()) or (goes_below and is_inside(kept.lower(), one.lower())):
                    return state_refusal(path, what)
        return ""

    def _goes_with_ignored(self, named: str, form: str) -> bool:
        """Whether the state lies where git takes what it ignores: below a directory; of a stash, in its repository."""
        top = named.removesuffix(OWN_STATE)
        if form == "stash" and top != named:
            from omo.ultrawork import git_index

            top = git_index.top_of(top) or top
        return is_inside(self.kept[0], os.path.realpath(top)) or is_inside(self.kept[0], os.path.abspath(top))


def state_refusal(path: str, what: str) -> str:
    how, _, form = what.partition(" ")
    rests = "and work is open that rests on it"
    if how == IGNORED:
        return f"this takes all that git ignores, {guarded.STATE} with it, {rests}: {KEEPS[form]} leaves it there"
    listed = "omo --help lists the commands that change it"
    return f"{shown(path)} is {guarded.STATE} or holds it, {rests}: {listed}"


def fence_for(touch: Sequence[str], never: Sequence[str], root: str, environ: Mapping[str, str] | None = None) -> Fence:
    """The fence a plan asks for, before any session has opened it."""
    return Fence(_globs(list(touch)) or [], _globs(list(never)) or [], root, "", environ or {})


def open_fence(row: Mapping[str, Any], environ: Mapping[str, str]) -> Fence | None:
    """The fence of a session's row, None where there is none or it makes no sense."""
    value: Any = row
    for key in ("work", "ultraplan", "fence"):
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, dict):
        return None
    touch, never, root, spec = (value.get(key) for key in ("touch", "never", "root", "spec"))
    lists = [_globs(touch), _globs(never if never is not None else [])]
    if lists[0] is None or lists[1] is None or not isinstance(root, str) or not os.path.isabs(root):
        return None
    fence = Fence(lists[0], lists[1], root, spec if isinstance(spec, str) else "", environ)
    fence.uncommitted = _globs(value.get("uncommitted"))
    fence.unlisted = UNLISTED
    return fence


def shown(text: str) -> str:
    return clip(text, LONGEST_SHOWN)


def _quoted(path: str) -> str:
    """As shlex does it, without what that imports."""
    if path.isascii() and path.replace("/", "").replace(".", "").replace("-", "").replace("_", "").isalnum():
        return path
    return "'" + path.replace("'", "'\"'\"'") + "'"


def is_inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(os.path.join(directory, ""))


def _globs(value: object) -> list[str] | None:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return None
    parts = [[part for part in one.split("/") if part not in ("", ".")] for one in value]
    return ["/".join(one) for one in parts if one]


def _below(directory: str) -> Iterator[str]:
    for top, directories, files in os.walk(directory):
        yield from (os.path.join(top, name) for name in (*directories, *files))
