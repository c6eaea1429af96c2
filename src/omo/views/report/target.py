"""Where a report may be written, and the writing of it: whole or not at all."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from omo import safe_open
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.fence import guarded
from omo.proof import globs
from omo.state import paths, store
from omo.text import clip

ENDINGS = {"html": (".html", ".htm"), "md": (".md", ".markdown")}
ANOTHER = "name another file with --out, or leave it out"
HOME = "reports"


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
    top, state = os.path.realpath(context.root), os.path.realpath(context.state)
    why = ""
    if globs.is_inside(state, real):
        why = "is inside omo's own state"
    elif globs.is_inside(top, real) or globs.is_inside(top, named):
        why = "is in the project: a new file there is a change, and takes back what the report calls proven"
    elif of_others := guarded.kind(real) or guarded.kind(named):
        why = f"is {of_others}"
    if why:
        raise Refused(f"--out {_shown(out)} {why}", fix=ANOTHER)
    _require_replaceable(real, out, kind)
    return real


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
