"""A cache of the tree's fingerprint as an agent could write it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from omo.proof import tree
from omo.state import paths


def change_unseen(root: Path, state: str, name: str, text: str) -> Path:
    """Change a file, and have the cache say of it what was true before. Whoever asks the cache sees no change."""
    cache, file, before = Path(paths.tree_cache(state)), root / name, tree.fingerprint(root)
    was = _blob(file.read_bytes())
    file.write_text(text, encoding="utf-8")
    os.utime(file, (1, 1))
    cache.unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "SETTLED_SECONDS", -60)
        tree.fingerprint(root, cache=cache)
    forged = cache.read_bytes()[:-20].replace(_blob(file.read_bytes()), was)
    cache.write_bytes(forged + hashlib.sha1(forged).digest())
    assert tree.fingerprint(root, cache=cache) == before != tree.fingerprint(root)
    return cache


def _blob(content: bytes) -> bytes:
    return hashlib.sha1(b"blob %d\0%b" % (len(content), content)).digest()
