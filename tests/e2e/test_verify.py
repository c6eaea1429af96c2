"""An agent verifies a goal from its Bash tool, and Stop holds it until `finish` passes."""

from __future__ import annotations

import json
import re

import pytest

from tests.e2e.conftest import EIGHT_BLOCKS, Stage
from tests.e2e.scripted_model import Request, Turn, bash, call, say, texts_of, told

pytestmark = pytest.mark.client

GOAL = """\
id: G1
title: The project says how to install it
verification:
  outcomes: [the README has an installation section]
  checks:
    - {id: says, type: content, path: README.md, regex: "^## Install"}
    - {id: shell, type: command, argv: [grep, -c, Install, README.md], stdout: "1"}
"""
SHOWN = """omo verify answer G1 --question outcomes --file - <<'END'
{"outcomes": [{"outcome": "the README has an installation section",
               "statement": "The section is there because `grep -c Install README.md` exits 0."}]}
END"""
FINISH = 'omo verify finish G1 --summary "README.md has an installation section"'


def filed(stage: Stage) -> list[Turn]:
    goal = stage.home / "goal.yaml"
    goal.write_text(GOAL, "utf-8")
    return [bash(f"omo verify begin --file '{goal}'")]


def test_stop_holds_from_begin_until_finish_passes(stage: Stage) -> None:
    stage.model.script(
        *filed(stage),
        say("It is documented."),
        bash(FINISH),
        say("Surely now."),
        bash("printf '\\n## Install\\n\\nCopy it.\\n' >> README.md"),
        bash("omo verify begin G1"),
        bash(SHOWN),
        bash(FINISH + " --json"),
        say("Now it is."),
    )
    run = stage.prompt("document the installation", env=EIGHT_BLOCKS)
    assert (run.result, stage.model.overruns) == ("Now it is.", 0)
    assert [times > 0 for times in stage.times_told(" looked at, next G1 ")].index(True) == 2
    failed, passed = stage.tool_results()[1], stage.tool_results()[-1]
    assert "Exit code 3" in failed
    assert '"goal_completed": true' in passed
    assert [kind for kind in stage.kinds(run.session_id) if kind.startswith(("blocked", "allowed"))] == [
        *["blocked:block"] * 2,
        "allowed:done",
    ]
    after_tools = [event["stdout"] for event in run.hook_events if event["hook_event"] == "PostToolUse"]
    assert "".join(after_tools).count("omo: verify is on: ") == 1
    assert stage.row(run.session_id)["work"]["verify"]["state"] == "ended"
    assert stage.git_status() == [" M README.md"]


def test_the_user_can_start_it_and_the_escape_hatch_ends_it(stage: Stage) -> None:
    stage.model.script(*filed(stage), say("I stop early."), say("And again."))
    talk = stage.talk()
    talk.prompt("/omo:verify the README has an installation section")
    assert stage.times_told("in the words of the user: the README has an installation section")[0] == 1
    assert stage.times_told(" looked at, next G1 ")[-1] > 0
    talk.prompt("/omo:stop-continuation")
    before = len(stage.model.turns)
    stage.model.script(bash("omo verify begin G1"), say("Let me go."))
    assert talk.prompt("go on").result == "Let me go."
    assert len(stage.model.turns) == before + 2


def judge(request: Request) -> Turn:
    nonce = re.search(r'"nonce": "([0-9a-f]{32})"', "\n".join(texts_of(request)))
    assert nonce, "the judge was given no brief"
    answer = {"criterion": "G1", "check": "check-1", "result": "pass", "evidence": "README.md ends in `Hello.`"}
    return say(json.dumps({"nonce": nonce[1], "answers": [answer]}))


def test_a_judge_is_asked_and_heard(stage: Stage) -> None:
    goal = stage.home / "goal.yaml"
    goal.write_text('id: G1\ntitle: Say hello\nverification: {checks: ["Does the README greet?"]}\n', "utf-8")
    asks = "omo verify brief G1"
    stage.model.script(
        bash(f"omo verify begin --file '{goal}'"),
        bash("printf 'Hello.\\n' >> README.md"),
        call("Agent", description="judge", prompt=asks, subagent_type="omo:judge", run_in_background=False),
        bash('omo verify finish --summary "the README greets" --json'),
        say("It greets."),
    )
    stage.model.agent(told("You judge whether criteria hold"), bash(asks), judge)
    run = stage.prompt("greet", env=EIGHT_BLOCKS)
    assert (run.result, stage.model.overruns) == ("It greets.", 0)
    assert "omo:judge was seen to answer 1 question with pass" in stage.tool_results()[-1]
