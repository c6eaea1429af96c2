"""Plans in the real client: steps left out or only looked done are caught, and the end is told in true words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from omo.digest import sha256
from omo.workflows.ultraplan.document import parse
from omo.workflows.ultraplan.flow import DIMENSIONS
from omo.workflows.ultraplan.propose import fill_in
from tests.e2e.conftest import EIGHT_BLOCKS, Stage
from tests.e2e.scripted_model import Request, Turn, bash, call, last_result, say, told
from tests.ultraplan.plans import path_of, plan_text, subject_of

pytestmark = pytest.mark.client

AS = "git -c user.name=Test -c user.email=test@example.invalid"
ASKED = "Read the plan plan.md and hold it against the code base"


def review(request: Request) -> Turn:
    """With the brief that was just printed, which follows a line for whoever sends it."""
    printed = last_result(request)
    brief = printed[printed.index(ASKED) : printed.rindex("```") + 3]
    return call(
        "Agent", description="review the plan", prompt=brief, subagent_type="omo:critic", run_in_background=False
    )


def step(number: int, more: str = "", subject: str = "") -> Turn:
    path = path_of(number)
    text = f"def part{number}():\\n    return {number}\\n{more}"
    commit = f"{AS} commit -q -m '{subject or subject_of(number)}'"
    return bash(f"mkdir -p src && printf '{text}' > {path} && git add {path} && {commit}")


def reviewed(stage: Stage, text: str) -> list[Any]:
    """A plan that is committed, and what a critic of its own says of it once omo has filled it in."""
    stage.commit("plan.md", text)
    judged = dict.fromkeys(DIMENSIONS, "pass")
    digest = sha256(fill_in(parse(text, "plan.md"), stage.project).text.encode())
    verdict = {"verdict": "clean", "plan_digest": digest, "dimensions": judged, "findings": []}
    stage.model.agent(told(ASKED), say(f"Each manifest is strong.\n```json\n{json.dumps(verdict)}\n```"))
    return [
        bash("omo plan critique plan.md"),
        review,
        bash("omo plan start plan.md"),
    ]


SHORT_STEP = """
### Step {0}: feat(part{0}): add part {0}

- Files: `src/part{0}.py`
- Changes: a function `part{0}()` that returns {0}
- Verify: `python3 src/part{0}.py` → expected: no output
"""
SHORT = "# Add parts\n\nplan_version: 1.7\n\n## Scope Fence\n\n- Never touch: `infra/**`\n" + "".join(
    SHORT_STEP.format(number) for number in range(1, 6)
)


def test_a_step_left_out_is_caught_recovered_and_audited(stage: Stage) -> None:
    outside = stage.project / "infra" / "main.tf"
    stage.model.script(
        *reviewed(stage, SHORT),
        call("Write", file_path=str(outside), content="resource {}\n"),
        step(1),
        step(2),
        step(4),
        step(5),
        say("All five steps are done."),
        bash("omo plan finish"),
        bash("omo plan recover"),
        step(3),
        bash("omo plan finish"),
        bash("omo plan audit plan.md --json"),
        say("Now they are."),
    )
    run = stage.prompt("carry out plan.md", env=EIGHT_BLOCKS)
    assert (run.result, stage.model.overruns) == ("Now they are.", 0)
    results = stage.tool_results()
    denied, caught, cost, audited = results[3], results[8], results[9], results[-1]
    assert "infra/main.tf" in denied
    assert not outside.exists()
    assert "Exit code 3" in caught
    assert "Step 3" in caught or "step 3" in caught
    assert "recovery 1 of 2" in cost
    assert json.loads(audited)["verdict"] == "pass"
    kinds = [kind for kind in stage.kinds(run.session_id) if kind.startswith(("blocked", "allowed"))]
    assert (kinds[0], kinds[-1]) == ("blocked:block", "allowed:done")
    assert stage.row(run.session_id)["work"]["ultraplan"]["state"] == "ended"


def test_two_sessions_with_one_lazy_step_end_in_true_words(stage: Stage) -> None:
    stage.model.script(
        *reviewed(stage, plan_text(3, sessions=[[1, 2], [3]])),
        step(1),
        step(2, more='raise NotImplementedError("part 2")\\n'),
        say("Session 1 is done."),
        bash("omo plan finish"),
        bash("omo plan finish --unverified 'part 2 can come later'"),
        step(2, subject="fix: part 2 can be loaded"),
        bash("omo plan finish --handoff 'part1 and part2 can be imported'"),
        bash("omo plan start plan.md"),
        step(3),
        bash("omo plan finish"),
        say("Both sessions are done."),
    )
    run = stage.prompt("carry out plan.md", env=EIGHT_BLOCKS)
    assert (run.result, stage.model.overruns) == ("Both sessions are done.", 0)
    results = stage.tool_results()
    caught, refused, first, second = results[5], results[6], results[8], results[9]
    assert "step 2: python3 src/part2.py: fail (exit 1, 0 needed: NotImplementedError: part 2)" in caught
    assert "--unverified does not go over a Verify command that fails" in refused
    assert "session 2 begins with: omo plan start plan.md" in first
    assert "handed over  session 1: part1 and part2 can be imported" in second
    last_stop = [event["stdout"] for event in run.hook_events if event["hook_event"] == "Stop"][-1]
    assert "omo: finished on the agent's word: ultraplan: plan session" in last_stop
    assert "session 2 of 2 of plan.md" in last_stop
    assert "1 Verify command passed, which the plan's author chose" in last_stop
    assert "of the whole plan, from its first session on, 3 of 3 steps hold" in last_stop
