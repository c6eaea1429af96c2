"""`--out FILE`: what a command made, exactly where the user wants it."""

from __future__ import annotations

import os
from pathlib import Path

from omo import safe_open
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.proof import globs
from omo.state import ownership, store
from omo.text import clip

ANOTHER = "name another file, or leave --out away"
ABOUT = "write it there (default: below the state directory)"


def not_the_agents(fix: str) -> Refused:
    """Return the refusal of --out to an agent."""
    return Refused("--out is the user's: it writes where they say", fix=fix)


def write(context: Context, out: str, text: str, marker: str, what: str) -> str:
    """The path: a new file, or one that is such a thing already, which begins with `marker`. Never in the project, as
    that would change it."""
    path = os.path.join(os.path.realpath(os.path.dirname(os.path.join(context.cwd, out))), os.path.basename(out))
    shown = clip(out, 200)
    if globs.is_inside(os.path.realpath(context.root), path):
        raise Refused(
            f"--out {shown} is in the project: a new file there is a change, and takes back what was proven",
            fix=ANOTHER,
        )
    if os.path.lexists(path) and not _begins_with(path, marker):
        raise Refused(f"--out {shown} is there already, and is no {what} of omo", fix=ANOTHER)
    try:
        Path(path).write_bytes(store.encode(text))
    except OSError as error:
        raise BadInput(f"--out {shown} cannot be written: {error.strerror}", fix=ANOTHER) from None
    return path


def keep(context: Context, home: str, name: str, text: str) -> str:
    """The path: in a directory of this name below the state directory, which git does not see, over the one before."""
    directory = os.path.join(context.state, home)
    ownership.make_state_dir(context.state)
    store.make_dir(directory, context.state)
    path = os.path.join(directory, name)
    with store.Lock(os.path.join(directory, "lock"), store.deadline(store.CLI_WAIT)):
        store.replace(path, text)
    return path


def _begins_with(path: str, marker: str) -> bool:
    wanted = marker.encode()
    try:
        return not os.path.islink(path) and safe_open.read_start(path, len(wanted))[0] == wanted
    except OSError:
        return False
