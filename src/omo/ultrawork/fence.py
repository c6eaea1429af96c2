"""The fence of a plan session: which paths may be changed while it is open, and why another may not."""

from __future__ import annotations

import os

from omo.shown import clip
from omo.ultrawork import guarded
from omo.ultrawork.path_globs import covers, leads_to

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

FILE, DIRECTORY, TREE = "file", "directory", "tree"  # what is written; a tree goes with everything below it
MOST_BELOW = 20_000  # entries of a tree that are looked at
LONGEST_SHOWN = 200
SCRATCH = ("/tmp", "/var/tmp")
DEVICES = tuple(f"/dev/{name}" for name in guarded.DEVICES)
SECURITY = "No plan may change that: if the step needs it, stop and report it to the user."
REMEDY = "Keep to the fence; if the step cannot be done within it, stop, report it and let the user change the plan."


class Fence:
    """`touch` empty: the plan names no limits, so the project is the fence."""

    __slots__ = ("home", "never", "root", "scratch", "spec", "touch")

    def __init__(self, touch: list[str], never: list[str], root: str, spec: str, environ: Mapping[str, str]) -> None:
        self.touch = touch
        self.never = [glob.lower() for glob in never]
        self.root = os.path.realpath(root)
        self.spec = os.path.realpath(os.path.join(root, spec)) if spec else ""
        self.home = environ.get("HOME") or environ.get("USERPROFILE") or ""
        own = [environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")]
        self.scratch = [os.path.realpath(one) for one in (*SCRATCH, *own) if one.strip("/")]

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
        below = _below(entry) if what == TREE and os.path.isdir(entry) and not os.path.islink(entry) else ()
        reasons = (self._refusal_of(one, what) for one in (*places, *below))
        reason = next((one for one in reasons if one), "")
        return f"{shown(path)} {reason}. {REMEDY}" if reason else ""

    def _refusal_of(self, real: str, what: str) -> str:
        if real == self.spec:
            return "is the contract this session was started with"
        if real != self.root and not real.startswith(os.path.join(self.root, "")):
            is_scratch = any(real.startswith(os.path.join(one, "")) for one in self.scratch)
            return "" if is_scratch else f"is outside the project {shown(self.root)}"
        path = real[len(self.root) :].strip("/") or "."
        if hit := next((glob for glob in self.never if covers(path.lower(), glob)), ""):
            return f"is under what the plan's fence says never to touch ({shown(hit)})"
        if self._is_touchable(path, what):
            held = guarded.kind(path) if what == TREE else ""
            return f"holds {held}" if held else ""
        return f"is outside the plan's fence (touch: {shown(', '.join(self.touch))})"

    def _is_touchable(self, path: str, what: str) -> bool:
        if not self.touch or any(covers(path, glob) for glob in self.touch):
            return True
        return what == DIRECTORY and (path == "." or any(leads_to(path, glob) for glob in self.touch))


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
    return Fence(lists[0], lists[1], root, spec if isinstance(spec, str) else "", environ)


def shown(text: str) -> str:
    return clip(text, LONGEST_SHOWN)


def _globs(value: object) -> list[str] | None:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return None
    parts = [[part for part in one.split("/") if part not in ("", ".")] for one in value]
    return ["/".join(one) for one in parts if one]


def _below(directory: str) -> Iterator[str]:
    seen = 0
    for top, directories, files in os.walk(directory):
        for name in (*directories, *files):
            seen += 1
            if seen > MOST_BELOW:
                return
            yield os.path.join(top, name)
