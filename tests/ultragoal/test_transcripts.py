"""Automation transcripts: what they must say, and that everything wrong is told at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omo.workflows.ultragoal.gate import media
from tests import texts

GOOD: dict[str, Any] = {
    "schemaVersion": 1,
    "surface": "web",
    "tool": "playwright",
    "actions": [
        {"type": "goto", "url": "http://localhost:3000", "timestamp": "2026-01-05T10:00:00Z"},
        {"type": "click", "selector": "#save", "timestamp": "2026-01-05T10:00:01.250Z"},
        {"type": "wait", "timestamp": "2026-01-05T10:00:01.250Z"},
    ],
    "assertions": [{"selector": ".toast", "status": "passed", "timestamp": "2026-01-05T10:00:02+00:00"}],
}


def check(tmp_path: Path, document: object, family: str = "web") -> list[str]:
    path = tmp_path / "run.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return media.transcript_defects(path, family)


def with_action(**fields: object) -> dict[str, Any]:
    return {**GOOD, "actions": [GOOD["actions"][1], {"timestamp": "2026-01-05T10:00:01.5Z", **fields}]}


@pytest.mark.parametrize(
    ("document", "family"),
    [
        (GOOD, "web"),
        ({**GOOD, "surface": "gui"}, "web"),
        ({key: value for key, value in GOOD.items() if key != "surface"}, "cli"),
        ({key: value for key, value in GOOD.items() if key != "assertions"}, "web"),
        ({**GOOD, "surface": "tui"}, "native"),
        (with_action(type="custom", target="window"), "web"),
        (with_action(type="custom", selector="#a"), "web"),
        (with_action(type="anything"), "web"),
        ({**GOOD, "assertions": [{"status": "passed", "timestamp": 1_893_456_000_000}]}, "web"),
        ({**GOOD, "assertions": [{"status": "passed", "timestamp": "1893456000"}]}, "web"),
    ],
)
def test_a_transcript_that_counts(tmp_path: Path, document: dict[str, Any], family: str) -> None:
    assert check(tmp_path, document, family) == []


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "must be an object"),
        ({**GOOD, "schemaVersion": 2}, "schemaVersion: must be less than or equal to 1, got 2"),
        ({**GOOD, "schemaVersion": True}, "schemaVersion"),
        ({**GOOD, "tool": " "}, "tool: must not be blank, got ' '"),
        ({**GOOD, "surface": "native"}, "is a native surface; here web"),
        ({**GOOD, "surface": "browser window"}, "surface: must be 'gui', 'web'"),
        ({**GOOD, "actions": []}, "actions: needs at least 1, has 0"),
        ({**GOOD, "actions": {"type": "click"}}, "actions"),
        ({**GOOD, "assertions": []}, "assertions: needs at least 1, has 0"),
        ({**GOOD, "actions": ["click"]}, "actions[0]: must be an object"),
        (with_action(type=""), "actions[1].type"),
        (with_action(type="goto"), "actions[1]: goto must say url"),
        (with_action(type="goto", url=" "), "actions[1]: goto must say url"),
        (with_action(type="custom"), "actions[1]: custom must say selector or target"),
        (with_action(type="wait", timestamp=None), "actions[1].timestamp"),
        (with_action(type="wait", timestamp="soon"), "actions[1].timestamp: is no time"),
        (with_action(type="wait", timestamp=True), "actions[1].timestamp"),
        (with_action(type="wait", timestamp="nan"), "actions[1].timestamp"),
        (with_action(type="wait", timestamp=-5), "actions[1].timestamp"),
        (with_action(type="wait", timestamp="2026-01-05T09:00:00Z"), "earlier than that of actions[0]"),
        (with_action(type="wait", timestamp="2026-01-05T10:00:03Z"), "assertions[0].timestamp: is earlier"),
        (
            {**GOOD, "assertions": [{**GOOD["assertions"][0], "status": "failed"}]},
            "must be 'passed', got 'failed'",
        ),
        ({**GOOD, "assertions": [{"timestamp": 1_893_456_000}]}, "assertions[0].status"),
        (
            {**GOOD, "actions": GOOD["actions"][:1], "assertions": [{"status": "passed", "timestamp": 1_893_456_000}]},
            "none names a selector",
        ),
        ('{"schemaVersion": 1, "schemaVersion": 1}', "there twice"),
        ('{"schemaVersion": NaN}', "not valid JSON"),
        ("{" * 5000, "not valid JSON"),
    ],
)
def test_a_transcript_that_does_not(tmp_path: Path, document: object, said: str) -> None:
    assert any(said in defect for defect in check(tmp_path, document)), check(tmp_path, document)


@pytest.mark.parametrize("kind", ["click", "fill", "press", "assert", "screenshot", "observe"])
def test_what_touches_the_product_names_what_it_touches(tmp_path: Path, kind: str) -> None:
    assert check(tmp_path, with_action(type=kind, selector="#ok")) == []
    for selector in (None, "", "  ", 7):
        told = "\n".join(check(tmp_path, with_action(type=kind, selector=selector)))
        assert texts.says(told, "ultragoal-action-must-say", place="actions[1]", action=kind)


def test_everything_is_told_at_once_and_within_bounds(tmp_path: Path) -> None:
    found = check(tmp_path, {"schemaVersion": 0, "surface": "cli", "actions": [{}] * 2000, "assertions": [{}]})
    assert len(found) == media.MOST_DEFECTS + 1
    assert found[-1].startswith("and ")
    assert all(defect.startswith("run.json: ") for defect in found[:-1])


def test_a_missing_file_is_a_defect(tmp_path: Path) -> None:
    told = media.transcript_defects(tmp_path / "missing.json", "web")[0]
    assert texts.says(told, "check-file-unread", file=tmp_path / "missing.json")
