"""Whose work is looked at, where and when."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omo.context import Context
from omo.errors import NotEvaluable
from omo.state import paths, store
from omo.work.status import UNKNOWN_TREE

Row = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """Whose work is looked at, where and when. All that looking may leave is the cache of the tree's fingerprint."""

    context: Context
    session: str
    row: Row = field(default_factory=dict)
    kept: str = ""  # where a plan of goals lies that was archived or cleared; empty for the session's own
    trees: dict[str, str] = field(default_factory=dict, compare=False)  # shared where many sessions are looked at
    reads_all: bool = False  # every file, and nothing rests on the cache, which an agent could write

    @property
    def given(self) -> Row:
        """What every run of a workflow is made with."""
        return {
            "state": self.context.state,
            "root": self.context.root,
            "session": self.session,
            "by": self.context.actor,
            "now": self.context.now,
            "wait": store.CLI_WAIT,
            "limits": self.context.limits,
        }

    @property
    def tree(self) -> str:
        """The project's files as they are; empty where nobody can tell."""
        if "now" not in self.trees:
            self.trees["now"] = self._fingerprint()
        return self.trees["now"]

    def _fingerprint(self) -> str:
        from omo.evidence import tree

        cache = Path(paths.tree_cache(self.context.state))
        is_cached = not self.reads_all and cache.parent.is_dir()
        try:
            return tree.fingerprint(Path(self.context.root), cache=cache if is_cached else None)
        except NotEvaluable:
            return ""

    def changed_since(self, proven_on: object) -> str:
        """Why something that was proven on a tree may not hold any more; empty while it is the same."""
        if not self.tree:
            return UNKNOWN_TREE
        return "" if self.tree == proven_on else "the tree has changed since"
