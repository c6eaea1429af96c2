"""The journal of swapped files: every original, written before the first change and checked in full when it is read.

A journal is a file that anybody may have put there: a clone, an agent, a disk. What is not exactly what omo would have
written for this project, now, is not a journal: nothing of it is done, and its bytes are kept.
"""

from __future__ import annotations

import errno
import os

from omo import safe_open
from omo.digest import sha256
from omo.errors import NotMade
from omo.json_text import Json, dumps, loads
from omo.proof import git_hold, swap_files
from omo.proof.git import FILE_MODE, LINK_MODE, PROGRAM_MODE
from omo.proof.swap_files import MOST_BYTES, File, Listed, Tree
from omo.state import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION = 2
ID_BYTES = 6
LONGEST_LINK = 4096
DIGEST_LENGTH = 64
HEX = frozenset("0123456789abcdef")
MOST_PERMISSIONS = 0o1777  # a file that runs as its owner is not swapped
MOST_DIRECTORY_PERMISSIONS = 0o7777
LARGEST_NUMBER = 2**63
LARGEST_OWNER = 2**32 - 1


class BadJournal(ValueError):
    """It is not what omo would have written for this project."""


def write(tree: Tree, git_directory: str) -> None:
    """One file, synced once. Contents follow the first line, one after the other."""
    rows = []
    for listed in tree.files:
        content = listed.original.content
        row: Json = {"path": listed.path, "mode": listed.original.mode, "permissions": listed.permissions}
        row |= {"inode": listed.inode, "owner": list(listed.owner), "ours": sorted(listed.ours)}
        row |= {"modified": listed.modified, "stage": tree.named(listed.stage)}
        row["size"] = None if content is None else len(content)
        row["digest"] = "" if content is None else sha256(content)
        rows.append(row)
    head: Json = {"version": VERSION, "id": tree.identity, "root": tree.root, "state": tree.named(tree.state)}
    head |= {"git": tree.named(git_directory) if git_directory else ""}
    head |= {"directories": tree.directories, "files": rows}
    aside = paths.swap_unfinished(tree.state)
    swap_files.remove(aside)
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        swap_files.write_all(descriptor, dumps(head).encode("utf-8", "surrogateescape") + b"\n")
        for listed in tree.files:
            swap_files.write_all(descriptor, listed.original.content or b"")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.replace(aside, paths.swap_journal(tree.state))
    directory = os.open(tree.state, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def read(state: str, root: str) -> tuple[Tree, str]:
    """Return the tree to be put back, and the git directory that was locked for it, as the journal names it.

    Raises BadJournal for anything that omo would not have written here, and OSError if the file cannot be read.
    """
    head, contents = _parts(state)
    identity = _text(head, "id")
    if len(identity) != 2 * ID_BYTES or not HEX.issuperset(identity):
        raise BadJournal("its id is none of omo's")
    _require_own_place(head, state, root)
    tree = Tree(root, state, identity)
    tree.directories = _directories(head.get("directories"))
    rows = head.get("files")
    if not isinstance(rows, list):
        raise BadJournal("it has no list of files")
    start = 0
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise BadJournal(f"its file {number} is not an object")
        listed = _listed(row, number, tree)
        start += _read_original(listed, row, contents, start)
        tree.files.append(listed)
    if start != len(contents):
        raise BadJournal("it holds more than the files that it names")
    _require_consistent(tree)
    try:
        tree.require_real_stages()
    except OSError as error:
        raise BadJournal(f"{error.filename} is a link") from None
    return tree, _text(head, "git")


def _parts(state: str) -> tuple[Json, bytes]:
    try:
        raw = safe_open.read_file(paths.swap_journal(state), 2 * MOST_BYTES)
    except (safe_open.NotAFile, safe_open.TooLarge) as error:
        raise BadJournal(str(error.strerror)) from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise BadJournal("it is a link") from None
        raise
    line, _, contents = raw.partition(b"\n")
    try:
        head = loads(line.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError) as error:
        raise BadJournal(f"its first line is not JSON: {error}") from None
    if not isinstance(head, dict):
        raise BadJournal("its first line is not an object")
    if head.get("version") != VERSION:
        raise BadJournal(f"its version is not {VERSION}")
    return head, contents


def _require_own_place(head: Json, state: str, root: str) -> None:
    """A project that was moved or copied with its state speaks of itself. A state elsewhere names its project."""
    named = _text(head, "state")
    if not os.path.isabs(named):
        if os.path.normpath(os.path.join(root, named)) != os.path.normpath(state):
            raise BadJournal(f"it was written for the state {named[:200]}")
        return
    for name, own in (("state", state), ("root", root)):
        if os.path.realpath(_text(head, name)) != os.path.realpath(own):
            raise BadJournal(f"it was written for {_text(head, name)[:200]}")


def _listed(row: Json, number: int, tree: Tree) -> Listed:
    path = _text(row, "path")
    _require_ordinary(path, tree)
    listed = Listed(path, tree.root, _stage(_text(row, "stage"), path, tree), number)
    listed.permissions = _number(row, "permissions", 0, MOST_PERMISSIONS)
    listed.inode = _number(row, "inode", 0, 2 * LARGEST_NUMBER)
    listed.modified = _number(row, "modified", -LARGEST_NUMBER, LARGEST_NUMBER)
    listed.owner = _owner(row.get("owner"), has_owner=row.get("size") is not None)
    listed.ours = _digests(row.get("ours"))
    return listed


def _stage(named: str, path: str, tree: Tree) -> str:
    """The place in which the original waits, if omo would choose it: see `swap_files.stage_for`."""
    place = os.path.normpath(os.path.join(tree.root, named))
    own = paths.swap_dir(tree.state)
    if os.path.realpath(place) == os.path.realpath(own):
        return own  # a state elsewhere may have been named by another way to it
    for directory in ["", *swap_files.above(path)]:
        if place == os.path.join(tree.root, directory, f".omo-swap-{tree.identity}"):
            return place
    raise BadJournal(f"{path[:200]} would wait in {named[:200]}, which omo would not choose")


def _read_original(listed: Listed, row: Json, contents: bytes, start: int) -> int:
    """Take the original from the contents; how many bytes it has there."""
    mode, digest, size = _text(row, "mode"), _text(row, "digest"), row.get("size")
    if size is None:
        if mode or digest:
            raise BadJournal(f"{listed.path[:200]} was no file, and has a mode or a digest")
        return 0
    if mode not in (FILE_MODE, PROGRAM_MODE, LINK_MODE):
        raise BadJournal(f"{listed.path[:200]} has the mode {mode[:20]!r}")
    content = contents[start : start + _number(row, "size", 0, MOST_BYTES)]
    if len(content) != size:
        raise BadJournal("it was cut off")
    if sha256(content) != digest:
        raise BadJournal(f"what it holds of {listed.path[:200]} was changed")
    if mode == LINK_MODE and (not content or b"\0" in content or len(content) > LONGEST_LINK):
        raise BadJournal(f"{listed.path[:200]} is no link that can be")
    listed.original = File(content, mode)
    return len(content)


def _directories(named: object) -> dict[str, list[int] | None]:
    if not isinstance(named, dict):
        raise BadJournal("it has no directories")
    directories: dict[str, list[int] | None] = {}
    for path, about in named.items():
        if about is None:
            directories[path] = None
            continue
        if not isinstance(about, list) or len(about) != 3:
            raise BadJournal(f"it does not say what the directory {path[:200]} was")
        row = dict(zip(("permissions", "user", "group"), about, strict=True))
        permissions = _number(row, "permissions", 0, MOST_DIRECTORY_PERMISSIONS)
        owners = [_number(row, name, 0, LARGEST_OWNER) for name in ("user", "group")]
        directories[path] = [permissions, *owners]
    return directories


def _require_consistent(tree: Tree) -> None:
    listed_paths = [listed.path for listed in tree.files]
    if len(set(listed_paths)) != len(listed_paths):
        raise BadJournal("it names a file twice")
    for path in tree.directories:
        _require_ordinary(path, tree, is_directory=True)
    for path in [*listed_paths, *tree.directories]:
        for directory in swap_files.above(path):
            if directory not in tree.directories:
                raise BadJournal(f"it does not name the directory {directory[:200]}")
            # Where the swap itself has put a link, the link is on the list, and goes first.
            if directory not in listed_paths and os.path.islink(os.path.join(tree.root, directory)):
                raise BadJournal(f"{directory[:200]} is a link now, and {path[:200]} would lie behind it")
    try:
        swap_files.require_possible(tree, {})
    except NotMade as error:
        raise BadJournal(error.message) from None


def _require_ordinary(path: str, tree: Tree, *, is_directory: bool = False) -> None:
    try:
        os.fsencode(path)
        swap_files.require_ordinary(path, tree.root, tree.state, is_directory=is_directory)
    except UnicodeEncodeError:
        raise BadJournal(f"{path!r:.200} is no name of a file") from None
    except NotMade as error:
        raise BadJournal(error.message) from None


def _text(row: Json, name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        raise BadJournal(f"its {name} is no text")
    return value


def _number(row: Json, name: str, least: int, most: int) -> int:
    value: Any = row.get(name)
    if type(value) is not int or not least <= value <= most:
        raise BadJournal(f"its {name} is no number that can be")
    return value


def _owner(value: object, *, has_owner: bool) -> tuple[int, int]:
    if not has_owner and value == [-1, -1]:
        return -1, -1
    if not isinstance(value, list) or len(value) != 2:
        raise BadJournal("a file has no owner")
    row = dict(zip(("user", "group"), value, strict=True))
    return _number(row, "user", 0, LARGEST_OWNER), _number(row, "group", 0, LARGEST_OWNER)


def _digests(value: object) -> set[str]:
    digests = value if isinstance(value, list) else [None]
    for digest in digests:
        if not isinstance(digest, str) or len(digest) != DIGEST_LENGTH or not HEX.issuperset(digest):
            raise BadJournal("what omo put there is not named by a digest")
    return set(digests)


def is_same_git(tree: Tree, named: str, hold: git_hold.Hold) -> bool:
    """Whether the git directory that a journal names is the one that git of this project uses now."""
    return os.path.realpath(os.path.join(tree.root, named)) == os.path.realpath(hold.directory)
