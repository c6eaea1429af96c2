"""`omo explain`: the rule that decides, what it read and what would change it; and nothing is written by asking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from omo.clock import stamp
from omo.state.rows import read_row
from omo.stop import rules
from omo.work import session
from tests import texts
from tests.project import SESSION, Project

PARTS = ("decision", "rule", "why", "read", "change", "trail")


def facts(told: dict[str, Any]) -> dict[str, Any]:
    return {fact["what"]: (fact["value"], fact["where"]) for fact in told["read"]}


def files(project: Project) -> dict[str, bytes]:
    root = Path(project.state)
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def put(project: Project, **changes: Any) -> None:
    project.now -= 1  # at the moment that the test has reached
    project.change_row(lambda row: read_row({**row, **changes}), actor="agent")


def explain(project: Project, *argv: str) -> dict[str, Any]:
    """Both ways of asking agree, and neither leaves a byte behind."""
    before = files(project)
    ran = project.agent("explain", *argv)
    assert ran.code == 0, ran.err
    project.now -= 1  # the same moment
    told = project.agent("explain", argv[0], "--json", *argv[1:]).json
    assert files(project) == before
    assert set(PARTS) <= set(told)
    assert told["rule"] in ran.out
    for fact in told["read"]:
        assert set(fact) == {"what", "where", "value"}
    for line in told["change"]:
        assert line in ran.out
    return told


# stop


def test_stop_tells_what_it_read_and_where_it_came_from(project: Project) -> None:
    project.agent("ulw", "start")
    told = explain(project, "stop")
    assert (told["session"], told["decision"], told["rule"]) == (SESSION, "block", "block")
    known = facts(told)
    assert known["ulw.stopBlocks"] == (0, "runtime.local.json")
    assert known["limits.max_stop_blocks"][0] == 8
    assert "armed with" in known["limits.max_stop_blocks"][1]
    assert "assumed" in known["event"][1]
    assert told["limits"]["max_stop_blocks"] == 8
    assert [one["rule"] for one in told["trail"]] == [rule.name for rule in rules.RULES]
    lines = project.agent("explain", "stop").out.splitlines()
    assert texts.says(lines[1], "explain-asked-in-this-order-until"), "else the next would say that it is so"
    assert lines[2].split(maxsplit=1) == ["switched-off", "OMO_DISABLE is set"]
    assert texts.says("\n".join(told["change"]), "stop-without-verified-progress-and-cap", blocks_left="8 more blocks")
    assert "/omo:stop-continuation" in told["change"]


def test_what_would_change_a_stop_counts_down(project: Project) -> None:
    project.user("ulw", "start", "--session", SESSION)
    blocked = {**project.row()["ulw"], "stopBlocks": 3, "totalBlocks": 3, "lastStopAt": stamp(project.now)}
    put(project, ulw=blocked)
    told = explain(project, "stop")
    assert told["rule"] == "block"
    assert texts.says("\n".join(told["change"]), "explain-stop-within-of-block-waits", number=3)
    put(project, ulw={**blocked, "limits": {**blocked["limits"], "cooldown_seconds": 60}})
    told = explain(project, "stop")
    assert (told["decision"], told["rule"]) == ("allow", "cooldown")
    assert texts.says(told["change"][0], "explain-later-cooldown-is-over", number="58.0")
    put(project, ulw=blocked)
    project.now += 10
    told = explain(project, "stop")
    assert told["change"][1].startswith("5 more blocks")
    assert facts(told)["limits.max_stop_blocks"] == (8, "armed with the run, runtime.local.json")


def test_where_a_limit_was_set_is_told(project: Project) -> None:
    project.environ["OMO_MAX_STOP_BLOCKS"] = "2"
    put(project, ulw={"enabled": True, "stopBlocks": 2})
    told = explain(project, "stop")
    assert told["rule"] == "cap"
    assert facts(told)["limits.max_stop_blocks"] == (2, "OMO_MAX_STOP_BLOCKS")


def ultragoal(project: Project, **more: Any) -> None:
    deny = {"ask": "Ultragoal G001 is open.", "pause": "A pause needs a blocker.", "complete": "Not proven."}
    summary: Any = {"run": "g1", "state": "active", "open": 1, "total": 1, "next": "G001", "deny": deny, **more}
    put(project, **session.put_work(None, "ultragoal", summary, limits={}, now=project.now))


# what an agent could have written


def test_nothing_of_the_state_reaches_the_terminal_as_it_is(project: Project) -> None:
    hostile = "\x1b[2J\u202e" + "x" * 5000
    ultragoal(project, next=hostile, deny={"ask": hostile})
    ran = project.agent("explain", "stop")
    assert all(letter.isprintable() or letter == "\n" for letter in ran.out)
    assert max(map(len, ran.out.splitlines())) < 800
