"""A run from `ulw` to its end, headless: what the model is told, and what is recorded."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from omo.clock import seconds
from omo.hooks import messages
from tests.e2e.conftest import EIGHT_BLOCKS, Stage
from tests.e2e.scripted_model import bash, call, say

pytestmark = pytest.mark.client

BLOCK = messages.INSTRUCTIONS.strip()
LEAD = "Ultrawork active: continuing until verification gates pass or stop requested."
CHECK = "grep -q mended README.md || { echo still broken; exit 1; }\n"


def test_without_the_word_nothing_happens_and_with_it_an_idle_model_is_sent_back_and_then_let_go(stage: Stage) -> None:
    stage.model.script(bash("true"), say("It is a project."))
    talk = stage.talk()
    run = talk.prompt("what is in the README?")
    assert run.result == "It is a project."
    assert [*stage.times_told("[omo]"), *stage.times_told("Stop hook")] == [0] * 4
    assert [event["stdout"] + event["stderr"] for event in run.hook_events] == [""] * len(run.hook_events)
    assert not (stage.project / ".sisyphus").exists()
    assert messages.NOTHING_TO_CANCEL in talk.prompt("/omo:stop-continuation").stdout
    assert len(stage.model.requests) == 2, "which costs nothing"

    stage.model.script(bash("true"), say("I fixed it, trust me."), say("As I said."))
    session = talk.prompt("ulw fix the flaky tests").session_id
    assert stage.times_told(BLOCK) == [0, 0, 1, 1, 1]
    assert stage.times_told(LEAD) == [0, 0, 0, 0, 1]
    assert stage.times_told("Block 1 of 1.")[-1] == 1
    assert stage.kinds(session) == ["cancelled:cancel-command", "activated:leading", "blocked:block", "allowed:cap"]
    assert (stage.work(session)["state"], stage.blocks(session)) == ("ended", 1)

    stage.model.script(say("It stays released."))
    talk.prompt("what did you do?")
    assert (len(stage.model.turns), stage.blocks(session)) == (6, 1)
    assert stage.kinds(session)[-1] == "allowed:cap"


def test_blocks_are_bounded(stage: Stage) -> None:
    blocks = 8
    for number in range(blocks + 1):
        stage.model.script(say(f"Premature stop {number}."))
    run = stage.prompt("ulw fix the flaky tests", env=EIGHT_BLOCKS)
    assert (run.result, stage.model.overruns) == (f"Premature stop {blocks}.", 0)
    assert stage.kinds(run.session_id) == ["activated:leading", *["blocked:block"] * blocks, "allowed:cap"]
    for number in range(1, blocks + 1):
        assert stage.times_told(f"Block {number} of {blocks}.")[-1] > 0
    assert stage.times_told(f"Block {blocks + 1} of")[-1] == 0
    work = stage.work(run.session_id)
    assert (work["state"], work["endedBy"], stage.row(run.session_id)["ulw"]["enabled"]) == ("ended", "cap", False)


def test_where_the_client_ends_the_turn_first_the_ledger_says_so(stage: Stage) -> None:
    stage.model.script(*(say(f"Premature stop {number}.") for number in range(9)))
    limits = {**EIGHT_BLOCKS, "OMO_MAX_STOP_BLOCKS": "20"}
    talk = stage.talk(env=limits)
    run = talk.prompt("ulw fix the flaky tests")
    assert stage.model.overruns == 0, "the client honours 8 blocks in a row"
    assert stage.work(run.session_id)["state"] == "active"
    talk.set_mode("plan")
    talk.prompt("go slower")
    assert "overridden" in stage.kinds(run.session_id)


def test_done_by_gates(stage: Stage) -> None:
    stage.commit("check.sh", CHECK)
    stage.model.script(
        bash("omo gate add check -- sh check.sh"),
        bash("omo gate run"),
        bash("omo ulw done"),
        bash("echo mended >> README.md"),
        bash("omo gate run"),
        say("The check passes."),
        bash("omo ulw done --because 'the README says mended'"),
        say("Now it is over."),
    )
    run = stage.prompt("ulw fix the check")
    assert (run.result, stage.model.overruns) == ("Now it is over.", 0)
    pinned, failed, refused, _, passed, done = stage.tool_results()
    assert pinned == "Gate check pinned by the agent: sh check.sh"
    assert failed.startswith("Exit code 3\nfail    check (exit 1")
    assert "still broken" in failed
    assert refused.startswith("Exit code 3\n")
    assert "1 of 1 gate does not hold" in refused
    assert passed.startswith("pass    check (exit 0")
    only = "only tests, configuration, data or what the gate starts were changed (README.md)"
    assert done.startswith(f"Finished on the agent's word: gate check passes; {only}")
    assert "; the agent says: “the README says mended”" in done
    ran = ["gate-ran"] * 3  # what failed is run once more by `omo ulw done`
    kinds = ["activated:leading", "gate-added", *ran, "blocked:block", "done", "allowed:done"]
    assert stage.kinds(run.session_id) == kinds, "gates that pass do not end the run by themselves"
    assert stage.times_told("No gate was open when they last ran")[-1] > 0
    assert stage.work(run.session_id)["state"] == "ended"
    assert stage.git_status() == [" M README.md"]


def test_the_agent_may_neither_stop_it_nor_write_the_state_and_finds_omo_everywhere(
    stage: Stage, tmp_path: Path
) -> None:
    (stage.project / "deep down").mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target = stage.state / "runtime.local.json"
    client = shlex.join([str(stage.client.binary), "-p", "--plugin-dir", str(stage.plugin)])
    stage.model.script(
        bash("omo stop-continuation"),
        bash(f"{client} --resume $CLAUDE_CODE_SESSION_ID '/omo:stop-continuation'"),
        call("Read", file_path=str(target)),
        call("Write", file_path=str(target), content='{"version": 1, "live": [], "sessions": {}}'),
        call("Edit", file_path=str(target), old_string='"enabled":true', new_string='"enabled":false'),
        bash("cd 'deep down' && omo ulw status"),
        bash(f"cd {elsewhere} && omo ulw status"),
        say("It holds me."),
    )
    run = stage.prompt("ulw fix the flaky tests")
    refused, as_the_user, _, written, edited, *statuses = stage.tool_results()
    assert refused.startswith("Exit code 3\n")
    assert "the escape hatch belongs to the user" in refused
    assert "this client was started in an agent's shell" in as_the_user
    for denied in (written, edited):
        assert "is omo's own state and is not edited by hand: omo ulw status shows it" in denied
    for status in statuses:
        assert status.startswith(f"session {run.session_id} (this session): ultrawork active")
    assert list(elsewhere.iterdir()) == []
    assert stage.kinds(run.session_id) == ["activated:leading", "denied", "denied", "blocked:block", "allowed:cap"]


def test_the_plugins_options_are_limits_and_a_quick_answer_waits_for_the_cooldown(stage: Stage) -> None:
    """A tool that was used is no progress: it renews no limit. All blocks are given, and the cap alone lets go."""
    stage.limits.clear()  # which would come before the options
    options = {"max_stop_blocks": 2, "cooldown_seconds": 0.7}
    settings = json.dumps({"pluginConfigs": {"omo@inline": {"options": options}}})
    used = bash("true")
    stage.model.script(bash("omo ulw status"), say("One."), used, say("Two."), say("Three."))
    run = stage.prompt("ulw fix the flaky tests", args=["--settings", settings])
    assert (run.result, stage.model.overruns) == ("Three.", 0)
    assert "0 of 2 blocks " in stage.tool_results()[0]
    assert stage.kinds(run.session_id) == ["activated:leading", "blocked:block", "blocked:block", "allowed:cap"]
    first, second = [seconds(row["ts"]) for row in stage.events(run.session_id) if row["kind"] == "blocked"]
    assert second - first >= 0.69


@pytest.mark.parametrize(
    ("prompt", "rule"), [("ulw build it", "leading"), ("/omo:ulw build it", "slash-command")], ids=["word", "command"]
)
def test_it_costs_the_same_prompts_however_it_is_turned_on(stage: Stage, prompt: str, rule: str) -> None:
    """Nothing is allowed beforehand: the host asks about what pins a command, and about a command with more in it."""
    asked = ["omo gate add check -- true", "omo gate list > gates.txt"]
    done = "omo ulw done --because 'it is built'"
    for command in (asked[0], "omo gate list", "omo gate run", asked[1], done):
        stage.model.script(bash(command))
    run = stage.prompt(prompt, allowed_tools=())
    assert [denial["tool_input"]["command"] for denial in run.permission_denials] == asked
    assert stage.times_told(BLOCK)[0] == 1
    assert stage.kinds(run.session_id)[0] == f"activated:{rule}"
    assert stage.work(run.session_id)["state"] == "ended"
    assert stage.times_told("Task: build it")[0] == int(prompt.startswith("/"))
