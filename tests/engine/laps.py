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
from omo.hooks import keyword, own_calls, tool_use, wordlists
from omo.work import briefs

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
    looks: Mapping[tuple[str, ...], tuple[str, ...]] = {("laps", "status"): ("--run=",), ("laps", "brief"): ("--run=",)}
    leaders: Mapping[str, tuple[str, ...]] = {"laps": ("start", "judge", "abandon")}
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
    # What is made of the table when a module is loaded.
    patch.setattr(keyword, "WORKFLOWS", [*keyword.WORKFLOWS, row.name])
    patch.setitem(wordlists.NAMES, row.words, row.kind)
    for call, options in row.looks.items():
        patch.setitem(own_calls.CALLS, call, options)
    for command, verbs in row.leaders.items():
        patch.setitem(tool_use.LEADERS, command, verbs)
    patch.setattr(tool_use, "BRIEFS", [*tool_use.BRIEFS, f"omo {row.name} brief"])
    for agent, line in row.briefs.items():
        patch.setitem(briefs.COMMANDS, agent, {row.kind: line, **briefs.COMMANDS.get(agent, {})})
    for name, module in row.commands.items():
        patch.setitem(main.COMMANDS, name, module)
