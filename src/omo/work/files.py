"""The project's files as one command sees them: their fingerprint, and in what they differ from an earlier moment."""

from __future__ import annotations

import os
from functools import cached_property

from omo.errors import NotEvaluable
from omo.proof import base
from omo.work.status import UNKNOWN_TREE

CHANGED_SINCE = "the tree has changed since"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.proof.base import Look
    from omo.state.rows import Base


class Files:
    """Looked at once."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._looks: list[tuple[Base | None, Look]] = []

    def look(self, began: Base | None) -> Look:
        """Return what differs from a base."""
        for known, look in self._looks:
            if known == began:
                return look
        look = base.look(self.root, began)
        self._looks.append((began, look))
        return look

    @cached_property
    def tree(self) -> str:
        """Their fingerprint."""
        return base.fingerprint(self.root)

    @cached_property
    def _tree_if_known(self) -> str:
        try:
            return self.tree
        except NotEvaluable:
            return ""

    def why_lapsed(self, proven_on: object) -> str:
        """Why something that was proven on a tree may not hold any more; empty while it is the same."""
        if not proven_on or not self._tree_if_known:
            return UNKNOWN_TREE
        return "" if self._tree_if_known == proven_on else CHANGED_SINCE

    @cached_property
    def now(self) -> Base:
        """As rows keep it."""
        return base.take(self.root, os.environ)

    def changed_since(self, then: Base | None) -> list[str] | None:
        """The files that are others than they were then; None where nobody can tell."""
        changed = self.look(then).changed
        return None if changed is None else sorted(changed)
