"""The programs that are installed in the project (`.venv/bin`, `node_modules/.bin`), and which are others than when a
run began. Git ignores them, so no look at the files tells.

A hook notes them when a run is armed, and most are a few lines that name a module. So of each the place where a link
leads, the size and the first bytes are noted: installed anew, it is the same program.
"""

from __future__ import annotations

import os
import stat

from omo.digest import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

DIRECTORIES = (".venv/bin", "venv/bin", "env/bin", "node_modules/.bin", "vendor/bin")
MOST_PROGRAMS = 1000
FIRST_BYTES = 65_536


def programs(root: str) -> dict[str, str]:
    """Return the programs by their paths, each with a digest."""
    found: dict[str, str] = {}
    for directory in DIRECTORIES:
        try:
            names = sorted(os.listdir(os.path.join(root, directory)))
        except OSError:
            continue
        for name in names[: MOST_PROGRAMS - len(found)]:
            if digest := digest_of(os.path.join(root, directory, name)):
                found[f"{directory}/{name}"] = digest
    return found


def digest_of(program: str) -> str | None:
    """Return the digest of a program; None where there is none."""
    try:
        target = os.readlink(program) if os.path.islink(program) else ""
        status = os.stat(program)
        if not stat.S_ISREG(status.st_mode):
            return None
        with open(program, "rb", buffering=0) as file:
            first = file.read(FIRST_BYTES)
    except OSError:
        return None
    return sha256(os.fsencode(f"{target}\0{status.st_size}\0") + first)[:16]


def noted(root: str) -> bytes:
    """Return the programs as they are kept for `replaced`; nothing where none is installed."""
    return "".join(f"{path}\0{digest}\n" for path, digest in programs(root).items()).encode("utf-8", "surrogateescape")


def replaced(root: str, before: bytes) -> list[str]:
    """Return the paths of the programs that were there before, and are others now."""
    paths = []
    for line in before.decode("utf-8", "surrogateescape").splitlines():
        path, _, digest = line.partition("\0")
        now = digest_of(os.path.join(root, path))
        if now is not None and now != digest:
            paths.append(path)
    return paths


def new_since(before: Collection[str], root: str) -> dict[str, str]:
    """Return the programs that were not there before."""
    return {path: digest for path, digest in programs(root).items() if path not in before}


def is_one_of(program: str, root: str, known: Mapping[str, str]) -> bool:
    """Return whether a program is one of these, by its path and its digest."""
    digest = digest_of(program)
    return digest is not None and known.get(os.path.relpath(program, root)) == digest
