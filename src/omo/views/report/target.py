"""Where a report may be written, by whom, and the writing of it: whole or not at all."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from omo import safe_open
from omo.context import Context
from omo.errors import BadInput, OmoError, Refused
from omo.fence import guarded, open_fence
from omo.proof import git, globs
from omo.state import paths, runtime, store
from omo.text import clip

ENDINGS = {"html": (".html", ".htm"), "md": (".md", ".markdown")}
CLOSED = (".sisyphus", ".git")
ANOTHER = "name another file with --out, or leave it out"
HOME = "reports"
READ_BY_AGENTS = ("skills", "agents", "commands")
LISTED = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--")
COUNTS = (
    "the report is now one of the project's files, so what was proven on the files before is stale; "
    "write it outside the project, have git ignore it, or leave --out away"
)


@dataclass(frozen=True)
class Kind:
    """`marker` is what a report of ours begins with: nothing else is ever written over."""

    name: str
    marker: str


def write_at(context: Context, kind: Kind, out: str, text: str) -> str:
    """Exactly there. Refused where a file could be planted or overwritten that is no report."""
    real = checked(context, kind, out)
    aside = os.path.join(os.path.dirname(real), f".{os.path.basename(real)}.{os.urandom(4).hex()}.tmp")
    try:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o644)
        with os.fdopen(descriptor, "wb") as file:
            file.write(store.encode(text))
        os.replace(aside, real)
    except OSError as error:
        if os.path.lexists(aside):
            os.unlink(aside)
        raise BadInput(f"--out {_shown(out)} cannot be written: {error.strerror}", fix=ANOTHER) from None
    return real


def write_at_home(context: Context, kind: Kind, name: str, text: str) -> str:
    """Below the state directory, which git does not see; the newest report of a session replaces the one before."""
    directory = os.path.join(context.state, HOME)
    store.make_state_dir(context.state)
    store.make_dir(directory, context.state)
    path = os.path.join(directory, f"{paths.file_name_of(name)}.{kind.name}")
    with store.Lock(os.path.join(directory, "report.lock"), store.Deadline(store.CLI_WAIT)):
        store.replace(path, text)
    return path


def checked(context: Context, kind: Kind, out: str) -> str:
    """The place itself, its directory free of links. Every refusal comes before the first write."""
    if "\0" in out or not out.strip():
        raise BadInput(f"--out {_shown(out)!r} is no path", fix=ANOTHER)
    if not out.lower().endswith(ENDINGS[kind.name]):
        ending = "Markdown is printed with --md" if kind.name == "html" else "without --md the report is a page"
        raise BadInput(f"--out {_shown(out)} does not end in {' or '.join(ENDINGS[kind.name])}", fix=ending)
    named = os.path.abspath(os.path.join(context.cwd, out))
    directory = os.path.realpath(os.path.dirname(named))
    if not os.path.isdir(directory):
        raise BadInput(f"--out {_shown(out)}: {_shown(directory)} is not a directory", fix="make it first")
    real = os.path.join(directory, os.path.basename(named))
    if why := _closed(context, named) or _closed(context, real) or _not_for_agents(context, real):
        raise Refused(f"--out {_shown(out)} {why}", fix=ANOTHER)
    _require_replaceable(real, out, kind)
    return real


def _closed(context: Context, path: str) -> str:
    """What is nobody's to write a report into, whoever asks."""
    parts = path.lower().replace("\\", "/").split("/")
    for name in CLOSED:
        if name in parts:
            return f"is inside {name}"
    state = os.path.realpath(context.state)
    if globs.is_inside(state, os.path.realpath(path)):
        return "is inside omo's own state"
    kind = guarded.kind(path)
    return f"is {kind}" if kind else ""


def _not_for_agents(context: Context, real: str) -> str:
    """An agent writes inside the project, and inside the fence of every plan session that is open there."""
    if not context.is_agent:
        return ""
    root = os.path.realpath(context.root)
    if not globs.is_inside(root, real):
        return f"is outside the project {_shown(root)}"
    if why := _could_be_read_as_orders(os.path.relpath(real, root)):
        return why
    try:
        rows = runtime.read(context.state)["sessions"].values()
    except OmoError:
        return "may be outside a plan's fence: the state cannot be read"
    for row in rows:
        fence = open_fence(row, context.environ) if isinstance(row, dict) else None
        if fence is not None and fence.root == root and (why := fence.refusal(real, root)):
            return f"is refused by a plan's fence: {why}"
    return ""


def _could_be_read_as_orders(name: str) -> str:
    """A file that tools or agents read by themselves, by its name or place, is nothing an agent may plant."""
    *folders, file = name.lower().replace("\\", "/").split("/")
    if "report" not in file or file.startswith("."):
        return "is not named as a report: an agent's is called report or something-report"
    for folder in folders:
        if folder.startswith(".") or folder in READ_BY_AGENTS:
            return f"is inside {folder}, which an agent does not write a report into"
    return ""


def stale_note(context: Context, real: str) -> str:
    """Where the report is one of the files that a proof is about: what its being there does to that."""
    root = os.path.realpath(context.root)
    if not globs.is_inside(root, real):
        return ""
    try:
        is_listed = bool(git.ask(Path(root), *LISTED, os.path.relpath(real, root)))
    except OmoError:
        is_listed = True  # without a repository every file counts
    return COUNTS if is_listed else ""


def _require_replaceable(real: str, out: str, kind: Kind) -> None:
    try:
        mode = os.lstat(real).st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise BadInput(f"--out {_shown(out)} cannot be looked at: {error.strerror}", fix=ANOTHER) from None
    if not stat.S_ISREG(mode):
        what = "a link" if stat.S_ISLNK(mode) else "not a regular file"
        raise Refused(f"--out {_shown(out)} is {what}", fix=ANOTHER)
    if not _begins_with(real, kind.marker):
        raise Refused(f"--out {_shown(out)} is there already, and is no report of omo", fix=ANOTHER)


def _begins_with(path: str, marker: str) -> bool:
    wanted = marker.encode("utf-8")
    try:
        return safe_open.read_start(path, len(wanted))[0] == wanted
    except OSError:
        return False


def _shown(text: str) -> str:
    return clip(text, 200)
