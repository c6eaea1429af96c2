"""`omo plan validate` and `omo plan critique`, as they are typed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from omo.workflows.ultraplan import critique
from omo.workflows.ultraplan.document import parse
from tests.project import Project
from tests.ultraplan.plans import plan_text


def put(project: Project, text: str) -> None:
    (project.root / "plan.md").write_text(text, encoding="utf-8")


def answer(text: str, **changes: object) -> str:
    said = {
        "verdict": "clean",
        "plan_digest": parse(text, "plan.md").digest,
        "dimensions": dict.fromkeys(critique.DIMENSIONS, "pass"),
        "findings": [],
        **changes,
    }
    return json.dumps(said)


def test_a_sound_plan_is_valid(project: Project) -> None:
    put(project, plan_text())
    ran = project.agent("plan", "validate", "plan.md", "--json")
    assert ran.code == 0
    assert ran.json == {
        "ok": True,
        "plan": "plan.md",
        "digest": parse(plan_text(), "plan.md").digest,
        "version": "1.7",
        "legacy_plan": False,
        "legacy_synthesis": False,
        "steps": 5,
        "defects": [],
        "advisories": [],
    }
    assert project.user("plan", "validate", "plan.md").out == "plan.md: 5 steps, no defect\n"


def test_every_defect_is_shown_with_its_line(project: Project) -> None:
    text = plan_text(2, step1={"On failure": "panic"}, step2={"manifest": {"min_file_count": 9}})
    put(project, text)
    ran = project.agent("plan", "validate", "plan.md", "--json")
    assert ran.code == 3
    sound = {"ok", "plan", "digest", "version", "legacy_plan", "legacy_synthesis", "steps", "defects", "advisories"}
    assert ran.json.keys() == {*sound, "error"}
    assert (ran.json["ok"], ran.json["steps"], ran.json["error"]["code"]) == (False, 2, "refused")
    details = ran.json["error"]["details"]
    assert details == ran.json["defects"]
    assert [(one["code"], text.splitlines()[one["line"] - 1].strip()) for one in details] == [
        ("on-failure", "- On failure: panic"),
        ("count", "min_file_count: 9"),
    ]
    spoken = project.agent("plan", "validate", "plan.md")
    assert spoken.code == 3
    assert spoken.err.splitlines()[0] == "omo: plan.md has 2 defects"
    assert all(spoken.err.count(f"  - line {one['line']}: {one['message']}") == 1 for one in details)
    assert "fix: mend the plan, then omo plan validate plan.md" in spoken.err


def test_an_older_plan_is_valid_and_says_so(project: Project) -> None:
    put(project, plan_text(2, version=None, step1={"manifest": None}, step2={"manifest": None}))
    ran = project.agent("plan", "validate", "plan.md", "--json")
    assert (ran.code, ran.json["legacy_plan"], ran.json["legacy_synthesis"]) == (0, True, True)
    assert ran.json["version"] is None
    assert "legacy" in [one["code"] for one in ran.json["advisories"]]


@pytest.mark.parametrize("name", ["missing.md", "../plan.md", "."])
def test_a_plan_that_cannot_be_read_is_a_usage_error(project: Project, name: str) -> None:
    (project.root.parent / "plan.md").write_text(plan_text())
    assert project.agent("plan", "validate", name).code == 2


def test_validating_writes_nothing(project: Project) -> None:
    put(project, plan_text())
    project.agent("plan", "validate", "plan.md")
    assert not Path(project.state).exists()


def test_the_brief_makes_the_host_listen_until_the_verdict_is_recorded(project: Project) -> None:
    put(project, plan_text())
    ran = project.agent("plan", "critique", "plan.md", "--brief")
    assert ran.out.strip() == critique.brief(parse(plan_text(), "plan.md"))
    assert project.row()["awaits"] == "omo:critic"
    project.agent_ends("omo:critic", answer(plan_text()))
    ran = project.agent("plan", "critique", "plan.md", "--json")
    assert (ran.code, ran.json["clean"]) == (0, True)
    assert not project.row()["awaits"]


def test_a_verdict_with_blocking_findings_exits_3_and_lists_them(project: Project) -> None:
    put(project, plan_text())
    finding = {"line": 7, "dimension": "verify", "severity": "blocking", "text": "it would pass anyway"}
    project.agent("plan", "critique", "plan.md", "--brief")
    project.agent_ends("omo:critic", answer(plan_text(), verdict="findings", findings=[finding]))
    ran = project.agent("plan", "critique", "plan.md")
    assert ran.code == 3
    assert "line 7: blocking, verify: it would pass anyway" in ran.out
    assert "because: 1 blocking finding; the critic's verdict is 'findings'\n" in ran.out
    assert not critique.is_clean(critique.latest(project.state, parse(plan_text(), "plan.md").digest))


def test_without_a_reported_verdict_it_says_how_to_get_one(project: Project) -> None:
    put(project, plan_text())
    ran = project.agent("plan", "critique", "plan.md")
    assert ran.code == 3
    assert "omo plan critique plan.md --brief" in ran.err


def test_a_verdict_on_an_earlier_text_is_refused(project: Project) -> None:
    put(project, plan_text(4))
    project.agent("plan", "critique", "plan.md", "--brief")
    project.agent_ends("omo:critic", answer(plan_text(5)))
    assert project.agent("plan", "critique", "plan.md").code == 3


def test_what_a_plan_needs_is_asked_for_before_it_begins(project: Project) -> None:
    project.write("plan.md", plan_text(needs=["env:DEPLOY_TOKEN", "network", "cmd:git"]))
    project.check("plan", "decompose", "plan.md", "--out", "specs")
    nowhere = {"https_proxy": "http://127.0.0.1:1", "PATH": os.environ["PATH"]}
    ran = project.omo("plan", "preflight", "specs/session-1.md", "--json", env=nowhere)
    assert ran.code == 77
    assert {need["name"]: need["status"] for need in ran.json["needs"]} == {
        "env:DEPLOY_TOKEN": "missing",
        "network": "missing",
        "cmd:git": "ok",
    }
    told = project.omo("plan", "preflight", "specs/session-1.md", env={**nowhere, "DEPLOY_TOKEN": "s3cret"})
    assert "DEPLOY_TOKEN is set" in told.out + told.err
    assert "s3cret" not in told.out + told.err
