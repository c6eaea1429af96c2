"""Its row in the table of workflows."""

from __future__ import annotations

from collections.abc import Mapping

from omo.table import EngineWorkflow


class TodoWorkflow(EngineWorkflow):
    kind = "todo"
    commands: Mapping[str, tuple[str, str]] = {"todo": ("flow", "a to-do list: start, judge, status")}
    home = "todo"
    words = "todo"
    says_so_again = "omo todo judge"
