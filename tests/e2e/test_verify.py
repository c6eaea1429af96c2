"""An agent verifies a goal from its Bash tool, and Stop holds it until `finish` passes."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import EIGHT_BLOCKS, Stage
from tests.e2e.scripted_model import Turn, bash, say

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
    return [bash(f"omo verify add --file '{goal}'"), bash("omo verify begin G1")]


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
    assert [times > 0 for times in stage.times_told(" open, next G1 ")].index(True) == 3
    failed, passed = stage.tool_results()[2], stage.tool_results()[-1]
    assert "Exit code 3" in failed
    assert '"goal_completed": true' in passed
    assert [kind for kind in stage.kinds(run.session_id) if kind.startswith(("blocked", "allowed"))] == [
        *["blocked:block"] * 2,
        "allowed:done",
    ]
    assert stage.row(run.session_id)["work"]["verify"]["state"] == "done"
    assert stage.git_status() == [" M README.md"]


def test_the_escape_hatch_ends_it_too(stage: Stage) -> None:
    stage.model.script(*filed(stage), say("I stop early."), say("And again."))
    run = stage.prompt("document the installation")
    stage.prompt("/omo:stop-continuation", resume=run.session_id)
    before = len(stage.model.turns)
    stage.model.script(bash("omo verify begin G1"), say("Let me go."))
    assert stage.prompt("go on", resume=run.session_id).result == "Let me go."
    assert len(stage.model.turns) == before + 2
