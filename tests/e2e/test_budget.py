"""A budget in the real clients: told, held, raised; what is counted is what the scripted model really sent."""

from __future__ import annotations

import json
import re
import time

import pytest

from bench import budget
from omo.work import spending
from tests.e2e.codex_client import Codex
from tests.e2e.conftest import EIGHT_BLOCKS, Stage
from tests.e2e.copilot_client import Copilot
from tests.e2e.scripted_model import bash, call, say, told

pytestmark = pytest.mark.client

BUDGET = {**EIGHT_BLOCKS, "OMO_BUDGET_TOKENS": "200"}


def tokens(stage: Stage | Codex | Copilot, session: str) -> int:
    """As a look counts them now: at the Stop the last answer may not have been written down."""
    row = spending.Counter(str(stage.state), session, keeps=False).counted(stage.row(session), time.time())
    return int(row["spent"]["tokens"])


def test_it_is_told_refuses_agents_lets_go_and_goes_on_when_it_is_raised(stage: Stage) -> None:
    stage.model.usage = {"input_tokens": 20, "cache_read_input_tokens": 3, "output_tokens": 2}
    stage.model.agent(told("look around"), say("I looked."))
    agent = call("Agent", description="look", prompt="look around", subagent_type="omo:explorer")
    # On a busy machine the client writes down an answer when the next ones are there: one more than the budget takes.
    work = [bash("true"), bash("echo 1"), bash("echo 2"), bash("echo 3")]
    stage.model.script(bash("true"), agent, say("It looks."), say("Done."), *work, agent, say("I stop."))
    run = stage.prompt("ulw look at it", env=BUDGET)
    session = run.session_id
    assert (tokens(stage, session), stage.row(session)["spent"]["agents"]) == (stage.model.sent, 1)
    said = [json.loads(event["stdout"]) for event in run.hook_events if event["stdout"].startswith("{")]
    notes = [answer["systemMessage"] for answer in said if "systemMessage" in answer]
    (half,) = [note for note in notes if "of the budget is spent" in note]
    # On a busy machine the client writes its last answer after the Stop.
    assert re.fullmatch(r"omo: 50 % of the budget is spent: 1(00|25) of 200 tokens\.", half)
    (refused,) = [row for row in stage.events(session) if row["kind"] == "denied"]
    assert "the budget is spent (2" in refused["reason"]
    assert notes[-1].startswith("omo: ended, not proven: budget: 2")
    assert notes[-1].endswith("/omo:budget 400 tokens raises it and goes on.")

    stage.model.script(say("I go on."), say("Still."))
    raised = stage.prompt("/omo:budget 400 tokens", resume=session, env=BUDGET)
    assert stage.times_told("goes on where it was")[-1] == 1
    assert raised.result
    assert stage.work(session)["state"] == "ended"
    assert tokens(stage, session) == stage.model.sent


def test_what_is_counted_is_what_the_model_sent_with_agents_retries_and_a_compaction(stage: Stage) -> None:
    counted = budget.counted(stage)
    assert counted.holds, counted.value
