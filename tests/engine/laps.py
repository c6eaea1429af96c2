"""The workflow `laps` of tests/engine/workflows: what tests of the engine, and of all that stands on it, begin.

So none of them needs a workflow that users have, and each of those can be taken out.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path

import pytest

import omo.workflows
from omo import table
from omo.cli import main
from omo.engine.flow import Flow
from omo.hooks import keyword

omo.workflows.__path__.append(str(Path(__file__).resolve().parent / "workflows"))
FLOW: Flow = importlib.import_module("omo.workflows.laps.flow").FLOW


class LapsWorkflow(table.EngineWorkflow):
    kind = "laps"
    commands: Mapping[str, tuple[str, str]] = {"laps": ("flow", "rounds of work: start, judge, status")}
    home = "laps"
    words = "laps"
    keeps = ("base", "fingerprint")
    says_so_again = "omo laps judge"
    cannot_go_on = "omo laps abandon REASON"
    may_ask = True
    briefs: Mapping[str, str] = {
        "omo:judge": "omo laps brief",
        "omo:qa": "omo laps brief qa",
        "omo:critic": "omo laps brief critic",
    }


def put_in_table(patch: pytest.MonkeyPatch) -> None:
    """Put its row where commands, views and the reading of a prompt look for one."""
    row = LapsWorkflow()
    rows = (row, *table.ROWS)  # it speaks for a session before ultrawork does
    patch.setattr(table, "ROWS", rows)
    patch.setattr(table, "BY_KIND", {each.kind: each for each in rows})
    patch.setattr(table, "BY_TYPED", {name: each for each in rows for name in each.typed})
    patch.setattr(keyword, "WORKFLOWS", [*keyword.WORKFLOWS, row.name])
    for name, command in row.commands.items():
        patch.setitem(main.COMMANDS, name, command)
