"""The project's files as one command sees them: their fingerprint, and in what they differ from an earlier moment."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any

from omo.proof import base, tree
from omo.state import paths

Row = dict[str, Any]


class Files:
    """Looked at once. `cached_in` is the state directory, where they are only shown: what is decided on them is proof,
    and anybody could write the cache there.
    """

    def __init__(self, root: str, *, cached_in: str = "") -> None:
        self.root = root
        self._cached_in = cached_in

    @cached_property
    def tree(self) -> str:
        """Their fingerprint."""
        cache = None
        if self._cached_in and os.path.isdir(self._cached_in):
            cache = Path(paths.tree_cache(self._cached_in))
        return tree.fingerprint(Path(self.root), cache=cache)

    @cached_property
    def now(self) -> Row:
        """As rows keep it."""
        return base.take(self.root, os.environ)

    def changed_since(self, row: Row) -> list[str] | None:
        """The files that are others than when that row was written; None where nobody can tell."""
        changed = base.look(self.root, row.get("files")).changed
        return None if changed is None else sorted(changed)
