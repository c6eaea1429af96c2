"""A plan of five steps in the real client: one is left out, the audit catches it, a recovery makes it good."""

from __future__ import annotations

import json

import pytest

from omo.digest import sha256
from omo.workflows.ultraplan.critique import DIMENSIONS
from tests.e2e.conftest import EIGHT_BLOCKS, Stage
from tests.e2e.scripted_model import Turn, bash, call, say, told
from tests.ultraplan.plans import path_of, plan_text, subject_of

pytestmark = pytest.mark.client

AS = "git -c user.name=Test -c user.email=test@example.invalid"
SPEC, RECOVERY = "specs/session-1.md", ".sisyphus/cc-omo/plans/p*/recovery-1.md"
REVIEW = {
    "description": "review the plan",
    "prompt": "judge the manifests of plan.md",
    "subagent_type": "omo:critic",
    "run_in_background": False,
}


def step(number: int) -> Turn:
    path = path_of(number)
    text = f"def part{number}():\\n    return {number}\\n"
    commit = f"{AS} commit -q -m '{subject_of(number)}'"
    return bash(f"mkdir -p src && printf '{text}' > {path} && python3 {path} && git add {path} && {commit}")


def reviewed(stage: Stage) -> list[Turn]:
    """A plan that is committed, and what a critic of its own says of it."""
    text = plan_text()
    stage.commit("plan.md", text)
    judged = dict.fromkeys(DIMENSIONS, "pass")
    verdict = {"verdict": "clean", "plan_digest": sha256(text.encode()), "dimensions": judged, "findings": []}
    stage.model.agent(
        told("judge the manifests"), say(f"Each manifest is strong.\n```json\n{json.dumps(verdict)}\n```")
    )
    return [
        bash("omo plan validate plan.md"),
        bash("omo plan critique plan.md --brief"),
        call("Agent", **REVIEW),
        bash("omo plan critique plan.md"),
        bash("omo plan decompose plan.md --out specs"),
        bash(f"omo plan start {SPEC}"),
    ]


def test_a_step_left_out_is_caught_recovered_and_audited(stage: Stage) -> None:
    outside = stage.project / "infra" / "main.tf"
    stage.model.script(
        *reviewed(stage),
        call("Write", file_path=str(outside), content="resource {}\n"),
        step(1),
        step(2),
        step(4),
        step(5),
        say("All five steps are done."),
        bash("omo plan finish"),
        bash("omo plan recover"),
        bash(f"omo plan start {RECOVERY}"),
        step(3),
        bash("omo plan finish"),
        bash(f"omo plan audit {SPEC} --json"),
        say("Now they are."),
    )
    run = stage.prompt("carry out plan.md", env=EIGHT_BLOCKS)
    assert (run.result, stage.model.overruns) == ("Now they are.", 0)
    results = stage.tool_results()
    denied, caught, audited = results[6], results[11], results[-1]
    assert "infra/main.tf" in denied
    assert not outside.exists()
    assert "Exit code 3" in caught
    assert "Step 3" in caught or "step 3" in caught
    assert json.loads(audited)["verdict"] == "pass"
    kinds = [kind for kind in stage.kinds(run.session_id) if kind.startswith(("blocked", "allowed"))]
    assert (kinds[0], kinds[-1]) == ("blocked:block", "allowed:done")
    assert stage.row(run.session_id)["work"]["ultraplan"]["state"] == "done"
