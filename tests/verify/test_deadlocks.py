"""Whatever an agent has done to a goal: mending the work and answering ends it, or it waits for the user."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.stories.play import HELD, Play, make_project
from tests.stories.verify import NOTES, answered, begun, checklist, doubt, finished, statement, verdict_on

OUTCOME = "it holds"
SHOWN: dict[str, Any] = {
    "outcomes": [{"outcome": OUTCOME, "statement": "It is so that it holds because `NOTES` was read."}]
}
GOALS: list[tuple[list[Any], dict[str, Any]]] = [
    ([NOTES], {}),
    ([NOTES], {"outcomes": [OUTCOME]}),
    (["Is it so?"], {}),
    ([], {"outcomes": [OUTCOME]}),
    ([NOTES, {"id": "whole", "type": "judge", "question": "Is it whole?"}], {"outcomes": [OUTCOME]}),
]
MOVES = 12


class Agent:
    """Somebody who does one thing after another, without a plan."""

    def __init__(self, run: Play, seed: int) -> None:
        self.run = run
        self.chance = random.Random(seed)
        self.brief = ""
        self.moves: list[Callable[[], object]] = [
            lambda: run.omo("verify begin G1"),
            lambda: run.write("NOTES", f"{self.chance.random()}\n"),
            lambda: answered(run, "q1", **statement("`NOTES` was read just now")),
            lambda: answered(run, "q1.5", **checklist()),
            lambda: answered(run, "q2", **doubt(problem=self.chance.choice(["none", "it is broken"]))),
            lambda: answered(run, "outcomes", **SHOWN),
            self.ask_a_judge,
            self.let_the_judge_answer,
            lambda: finished(run),
        ]

    def ask_a_judge(self) -> None:
        if self.run.omo("verify brief G1") == 0:
            self.brief = self.run.printed

    def let_the_judge_answer(self) -> None:
        if self.brief:
            result = self.chance.choice(["pass", "fail", "unknown"])
            self.run.agent_ends("omo:judge", verdict_on(self.brief, result))

    def work_honestly(self) -> None:
        for attempt in range(4):
            self.run.write("NOTES", f"mended {attempt}\n")
            self.run.omo("verify begin G1")
            answered(self.run, "outcomes", **SHOWN)
            answered(self.run, "q1", **statement("`NOTES` was read just now"))
            answered(self.run, "q1.5", **checklist())
            answered(self.run, "q2", **doubt())
            if finished(self.run) == 0:
                return


@pytest.mark.parametrize("seed", range(20))
def test_no_goal_is_stuck(seed: int, tmp_path: Path) -> None:
    run = Play(make_project(tmp_path))
    checks, block = GOALS[seed % len(GOALS)]
    begun(run, *checks, by=("user", "agent")[seed % 2], verification=block)
    agent = Agent(run, seed)
    for _ in range(MOVES):
        agent.chance.choice(agent.moves)()
    agent.work_honestly()
    assert run.stop() != HELD, "\n".join(run.log)
