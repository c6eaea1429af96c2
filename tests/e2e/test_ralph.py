"""Ralph in the real client: success is claimed twice, the judge says otherwise, a regression is mended."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from omo.engine.runs import kind_of
from omo.state.journal import Journal
from omo.workflows.ralph.flow import FLOW
from tests.e2e.conftest import EIGHT_BLOCKS, Stage
from tests.e2e.scripted_model import Request, Turn, bash, call, last_result, say, texts_of, told

pytestmark = pytest.mark.client

CRITERIA = """\
criteria:
  - id: C1
    description: the README has a section named Install
    checks:
      - {id: install, type: content, path: README.md, regex: "^## Install$"}
  - id: C2
    description: the README has a section named Use
    checks:
      - {id: use, type: content, path: README.md, regex: "^## Use$"}
      - {id: order, type: judge, question: "Does the section Use say which command to run first?"}
"""
TASK = "document the project: how to install it, and which command to run first"
NONCE = re.compile(r'"nonce": "([0-9a-f]{16,})"')
# All that a person is asked about: the work itself, and what pins commands. Looking and judging needs nobody.
ASKED_ABOUT = ("Agent", "Bash(printf *)", "Bash(tee *)", "Bash(omo ralph start *)", "Bash(omo gate add *)")
# What each is started with, or begins with.
ROLES = {"planner": "plan the work", "qa": "omo ralph brief qa", "critic": "Read what was changed for the criteria"}


def agent(name: str, prompt: str) -> Turn:
    return call("Agent", description=name, prompt=prompt, subagent_type=f"omo:{name}", run_in_background=False)


def critic(request: Request) -> Turn:
    """With the brief that was just printed."""
    return agent("critic", last_result(request))


def judged(result: str) -> Callable[[Request], Turn]:
    def answer(request: Request) -> Turn:
        found = NONCE.search("\n".join(texts_of(request)))
        assert found, "the judge was given no brief"
        order = {"criterion": "C2", "check": "order", "result": result, "evidence": "README.md, the section Use"}
        request = {"criterion": "C0", "check": "request", "result": result, "evidence": "README.md has two sections"}
        return say("```json\n" + json.dumps({"nonce": found[1], "answers": [order, request]}) + "\n```")

    return answer


def iteration(work: str, claim: str) -> list[Any]:
    """Work in all five phases, then a claim, which Stop answers, and the judge's word."""
    return [
        agent("planner", ROLES["planner"]),
        bash(work),
        agent("qa", ROLES["qa"]),
        bash("omo ralph brief critic"),
        critic,
        say(claim),
        bash("omo next"),
        bash("omo ralph judge"),
        agent("judge", "omo ralph brief"),
        bash("omo ralph judge --json"),
    ]


def ledger(stage: Stage, session: str) -> list[dict[str, Any]]:
    state = str(stage.state)
    journal = Journal(kind_of(FLOW).directory(state, stage.row(session)["work"]["ralph"]["run"]), state)
    assert journal.problems() == []
    return journal.rows()


def test_two_claims_are_caught_and_the_third_iteration_holds(stage: Stage) -> None:
    criteria = stage.home / "criteria.yaml"
    criteria.write_text(CRITERIA, "utf-8")
    for name, prompt in ROLES.items():
        stage.model.agent(told(prompt), *[say(f"The {name} is done.")] * 3)
    reads = bash("omo ralph brief")
    answers: list[Any] = [reads, judged("fail"), reads, judged("pass"), reads, judged("pass")]
    stage.model.agent(told("You judge whether criteria hold"), *answers)
    install, use = "printf '\\n## Install\\n\\nCopy it.\\n'", "printf '\\n## Use\\n\\nFirst run omo.\\n'"
    stage.model.script(
        bash(f"omo ralph start --criteria '{criteria}'"),
        bash("omo gate add readme -- test -s README.md"),
        *iteration(f"{install} | tee -a README.md", "Both sections are there."),
        *iteration(f"{use} | tee README.md", "Now they really are."),
        *iteration(f"{install} | tee -a README.md", "At last."),
        say("It is proven."),
    )
    run = stage.prompt(f"/omo:ralph {TASK}", env=EIGHT_BLOCKS, allowed_tools=ASKED_ABOUT)
    assert run.permission_denials == []
    assert (run.result, stage.model.overruns) == ("It is proven.", 0)
    assert stage.model.times_told("start a new omo:judge with this as its whole prompt: omo ralph brief") >= 3
    rows = ledger(stage, run.session_id)
    assert rows[0]["request"] == {"text": TASK, "by": "user"}
    verdicts = [row for row in rows if row["kind"] == "judged"]
    assert [row["verdict"] for row in verdicts] == ["fail", "fail", "pass"]
    assert [[row["marks"][name]["status"] for name in ("C0", "C1", "C2")] for row in verdicts] == [
        ["FAIL", "PASS", "FAIL"],
        ["PASS", "REGRESSED", "PASS"],
        ["PASS", "PASS", "PASS"],
    ]
    assert [row["independence"] for row in verdicts] == ["full"] * 3
    assert rows[-1]["kind"] == "ended"
    assert rows[-1]["receipt"]["verdict"] == "pass"
    assert rows[-1]["outcome"]["verdict"] == "judged"
    kinds = [kind for kind in stage.kinds(run.session_id) if kind.startswith(("blocked", "allowed"))]
    assert (kinds.count("blocked:block"), kinds[-1]) == (3, "allowed:done")
