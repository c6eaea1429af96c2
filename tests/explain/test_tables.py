"""What an explanation says comes from the tables the hooks decide by, and no name in them leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path

from omo import settings
from omo.hooks import tool_use
from omo.hosts import claude
from omo.state.rows import read_row
from omo.stop import rules
from omo.stop.situation import Situation
from omo.views import explain
from omo.views.session import View

ROOT = Path(__file__).resolve().parents[2]
NOW = 1_771_780_801.0
LIMITS = settings.Settings().limits
ROW = {
    "ulw": {"enabled": True, "stopBlocks": 3, "totalBlocks": 5, "armedAt": "2026-02-22T17:00:01.000Z", "by": "user"},
    "work": {"ulw": {"run": "u1", "state": "active", "open": 1, "total": 2, "next": "tests"}},
}


def test_every_fact_of_every_stop_rule_can_be_told() -> None:
    for rule in (*rules.RULES, rules.BLOCK):
        if rule.facts is rules.OF_THE_EVENT:
            continue
        reads, changes = rule.facts.reads, rule.facts.changes
        assert reads, rule.name
        shown = View("s1", Situation(claude.event_of({"session_id": "s1"}), read_row(ROW), LIMITS, NOW))
        shown.rule = rule
        found = explain.explain_stop(shown, settings.Settings())
        assert len(found.read) >= len(reads.split()) + 1
        assert all(fact.where for fact in found.read)
        assert len(found.change) == len(changes) > 0
        assert not any("{" in one for one in found.change)


def test_the_user_is_told_why_a_run_waits_at_a_gate() -> None:
    assert set(tool_use.WAITS) <= {name for gate in tool_use.GATES for name in gate.names}


def test_the_table_of_gates_in_the_docs_is_the_one_in_the_code() -> None:
    page = (ROOT / "docs" / "hooks.md").read_text(encoding="utf-8").split("## PreToolUse")[1].split("\n#")[0]
    named = dict.fromkeys(re.findall(r"^\| `([a-z-]+)` \|", page, re.M))
    assert list(named) == [name for gate in tool_use.GATES for name in gate.names]
