"""What files held at the base: from the commit, and from what was copied when the run was armed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from omo import safe_open
from omo.proof import base, git
from omo.proof.swap import NOTHING, File

GITLINK = "160000"
MODES = {"100644": base.FILE_MODE, "100755": base.PROGRAM_MODE, "120000": base.LINK_MODE}


class Unknown(Exception):
    """Why nobody can tell what a file held: a sentence that names it."""


def at_base(root: str, state: str, began: Mapping[str, Any], paths: Sequence[str]) -> dict[str, File]:
    """What each of the paths held when the run began. Raises Unknown where that was not kept."""
    held: dict[str, File] = {}
    committed = []
    for path in paths:
        digest = began["files"].get(path)
        if digest is not None:
            held[path] = _kept(state, path, digest)
        elif began.get("head"):
            committed.append(path)
        else:
            held[path] = NOTHING
    if committed:
        held.update(_committed(root, str(began["head"]), committed))
    return held


def now(root: str, path: str) -> File:
    """What stands at a path as it is."""
    full = os.path.join(root, path)
    try:
        if os.path.islink(full):
            return File(os.fsencode(os.readlink(full)), base.LINK_MODE)
        content = safe_open.read_file(full, base.MOST_BYTES)
        is_program = bool(os.lstat(full).st_mode & 0o100)
        return File(content, base.PROGRAM_MODE if is_program else base.FILE_MODE)
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING
    except OSError as error:
        raise Unknown(f"{path} cannot be read: {error.strerror}") from None


def _kept(state: str, path: str, digest: str) -> File:
    if digest == base.GONE:
        return NOTHING
    if digest.startswith(base.BY_TIMES):
        raise Unknown(f"{path} was too large to be kept when the run began")
    mode = digest[:1]
    try:
        held = safe_open.read_file(os.path.join(base.kept_dir(state), digest), base.MOST_BYTES)
    except OSError:
        raise Unknown(f"what {path} held when the run began was not kept") from None
    if base.name_of(mode, held) != digest:  # anybody could write there
        raise Unknown(f"the copy of {path} from when the run began was changed")
    if mode == base.LINK_MODE:
        held = held.partition(b"\0")[0]
    return File(held, mode)


def _committed(root: str, head: str, paths: Sequence[str]) -> dict[str, File]:
    """As git would check them out: line ends too. No program of a filter is started, so such files are unknown."""
    settings, listed = git.run_all(root, [git.SETTINGS, ["ls-tree", "-r", "-z", head]])
    as_they_are = git.without_filters(settings)
    entries = {}
    for line in git.require(listed, "ls-tree").lines:
        about, _, path = line.partition("\t")
        mode, _, name = about.split(" ")
        entries[path] = (mode, name)
    held = {}
    for path in paths:
        mode, name = entries.get(path, ("", ""))
        if not mode:
            held[path] = NOTHING
        elif mode == GITLINK:
            raise Unknown(f"{path} is a repository of its own")
        elif as_they_are and _is_filtered(root, path):
            raise Unknown(f"{path} is stored through a filter of git's, which omo does not start")
        else:
            command = ["cat-file", "--filters", f"--path={path}", name]
            if mode == "120000":
                command = ["cat-file", "blob", name]
            content = git.require(git.run(root, *as_they_are, *command), "cat-file").output
            held[path] = File(content, MODES[mode])
    return held


def _is_filtered(root: str, path: str) -> bool:
    fields = git.run(root, "check-attr", "-z", "filter", "--", path).lines
    return len(fields) == 3 and fields[2] not in ("unspecified", "unset")
