"""What files held at the base: from the commit, and from what was copied when the run was armed."""

from __future__ import annotations

import os
from collections.abc import Sequence

from omo.errors import NotMade
from omo.proof import base, git
from omo.proof.project_files import commit_at
from omo.proof.swap_files import NOTHING, File, file_at, unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Base

LINK = "120000"
MODES = {"100644": git.FILE_MODE, "100755": git.PROGRAM_MODE, LINK: git.LINK_MODE}  # the others are no files


def at_base(root: str, state: str, began: Base, wanted: Sequence[str]) -> dict[str, File]:
    """What each of the paths held when the run began. Raises NotMade where that was not kept."""
    held: dict[str, File] = {}
    committed = []
    for path in wanted:
        digest = began["files"].get(path)
        if digest is not None:
            held[path] = NOTHING
            if digest != base.GONE:
                held[path] = File(base.copied(state, path, digest), digest[:1])
        elif began.get("head"):
            committed.append(path)
        else:
            held[path] = NOTHING
    if committed:
        held.update(_committed(root, str(began["head"]), committed))
    return held


def now(root: str, path: str) -> File:
    """What is at a path now."""
    held = file_at(os.path.join(root, path))
    if held.content is None and held.mode:
        raise unreadable(path)
    return held


def own_repository(path: str) -> NotMade:
    return NotMade(f"{path} is a repository of its own")


def _committed(root: str, head: str, paths: Sequence[str]) -> dict[str, File]:
    """The files as git would check them out, with its line ends. Raises NotMade for one that is stored through a
    filter, since no program of a filter is started."""
    tree = commit_at(root, head).entries
    if tree is None:
        raise NotMade(f"git does not tell what the commit {head[:12]} holds")
    held = dict.fromkeys(paths, NOTHING)
    present = [path for path in paths if path in tree]
    if not present:
        return held
    modes = {path: tree[path].partition(" ")[0] for path in present}
    for path, mode in modes.items():
        if mode not in MODES:
            raise own_repository(path)
    as_they_are = git.settings(root).as_they_are
    if as_they_are and (filtered := base.filtered(root, present)):
        raise NotMade(f"{filtered[0]} is stored through a filter of git's, which omo does not start")
    # The size that git names is that in the repository, which line ends change, so each file ends at a line that nobody
    # could have foreseen.
    mark = os.urandom(16).hex()
    for path in [path for path in present if "\n" in path]:  # which ends a question
        command = ["cat-file", "--filters", f"--path={path}", tree[path].split(" ")[2]]
        content = git.require(git.run(root, *as_they_are, *command), "cat-file").output
        held[path] = File(content, MODES[modes[path]])
        present.remove(path)
    if not present:
        return held
    question = b"".join(os.fsencode(f"{tree[path].split(' ')[2]} {path}\n") for path in present)
    command = ["cat-file", "--filters", f"--batch={mark}"]
    output = git.require(git.run(root, *as_they_are, *command, stdin=question), "cat-file").output
    contents = (b"\n" + output).removesuffix(b"\n").split(f"\n{mark}\n".encode())[1:]
    if len(contents) != len(present):
        raise NotMade("git does not tell what the changed files held when the run began")
    for path, content in zip(present, contents, strict=True):
        held[path] = File(content, MODES[modes[path]])
    return held
