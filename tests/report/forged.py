"""A cache of the tree's fingerprint as an agent could write it."""

from __future__ import annotations

import os
from pathlib import Path

from omo.evidence import tree
from omo.state import paths


def change_unseen(root: Path, state: str, name: str, text: str) -> Path:
    """Change a file, and have the cache say of it what was true before. Whoever asks the cache sees no change."""
    cache, path, before = Path(paths.tree_cache(state)), name.encode(), tree.fingerprint(root)
    row = tree._read(os.fsencode(os.path.realpath(root)), path)
    assert row is not None
    (root / name).write_text(text, encoding="utf-8")
    os.utime(root / name, (1, 1))
    known = row._replace(status=os.lstat(root / name))
    cache.write_bytes(tree._render({path: tree._entry(path, known)}, {path: row.row}))
    assert tree.fingerprint(root, cache=cache) == before != tree.fingerprint(root)
    return cache
