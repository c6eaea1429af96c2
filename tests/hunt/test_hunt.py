"""From wherever a walk got to there is a way on: for each workflow alone, for two at once, and after damage.

The walks are the same each time. To hunt for more, with what is found made as short as it gets:

    OMO_TEST_HUNT=100:400 pytest tests/hunt       the seeds from 100 to 400, of each
"""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from tests.hunt.joints import begin_project
from tests.hunt.moves import COMMON, DAMAGE, ONE, TWO, USER, WORKFLOWS, fill, react
from tests.hunt.walk import Move, Walk
from tests.kept import copied

Script = list[tuple[str, int]]

FIRST, LAST = (int(seed) for seed in os.environ.get("OMO_TEST_HUNT", "0:1").split(":"))
MOST_WRITES = 60
IS_LONG = "OMO_TEST_HUNT" in os.environ
PAIRS = (("ultragoal", "ultrawork"), ("ralph", "ultrawork"), ("ultraplan", "verify"), ("ultragoal", "verify"))
ALL: dict[str, Move] = COMMON | USER | DAMAGE
for _workflow in WORKFLOWS.values():
    ALL |= _workflow.moves


def hunt(root: Path, names: tuple[str, ...], start: int, script: Script) -> Walk:
    """Raises where there is no way on."""
    shutil.rmtree(root, ignore_errors=True)
    copied(root, begin_project)
    known = tuple(WORKFLOWS[name] for name in dict.fromkeys([*names, "ultrawork"]))  # the user may type ulw any time
    walk = Walk(root, session=ONE, workflows=known, fill=fill, react=react)
    try:
        walk.play(*((WORKFLOWS[name].begin, start) for name in names))
        walk.play(*((ALL[name], number) for name, number in script))
        walk.dies_after = None
        for session in (ONE, TWO):
            walk.session = session
            walk.can_be_stopped()
            walk.reach_the_end()
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(walk.report(f"raised {error!r}")) from error
    return walk


def script_of(seed: int, names: tuple[str, ...], *, is_damaged: bool) -> tuple[int, Script]:
    chance = random.Random(f"{seed} {names} {is_damaged}")
    own = {move: None for name in names for move in WORKFLOWS[name].moves}
    tables = [list(COMMON), list(USER), *([list(own)] * 3 if own else [])]
    script = [(chance.choice(chance.choice(tables)), chance.randrange(12)) for _ in range(chance.randrange(3, 13))]
    if is_damaged:
        for _ in range(chance.randrange(1, 3)):
            script.insert(chance.randrange(len(script) + 1), (chance.choice(list(DAMAGE)), chance.randrange(24)))
    return chance.randrange(4), script


def shortest(root: Path, names: tuple[str, ...], start: int, script: Script) -> Script:
    """The same finding without whatever can be left out."""
    place = 0
    while place < len(script):
        shorter = script[:place] + script[place + 1 :]
        try:
            hunt(root, names, start, shorter)
            place += 1
        except AssertionError:
            script = shorter
    return script


@pytest.mark.parametrize("seed", range(FIRST, LAST))
@pytest.mark.parametrize("is_damaged", [False, True], ids=["whole", "damaged"])
@pytest.mark.parametrize("names", [*((name,) for name in WORKFLOWS), *PAIRS], ids="+".join)
def test_every_state_has_a_way_on(tmp_path: Path, names: tuple[str, ...], is_damaged: bool, seed: int) -> None:
    start, script = script_of(seed, names, is_damaged=is_damaged)
    try:
        hunt(tmp_path / "a project", names, start, script)
    except AssertionError:
        if not IS_LONG:
            raise
        script = shortest(tmp_path / "a project", names, start, script)
        print(f"FOUND {names} {start} {script}")
        hunt(tmp_path / "a project", names, start, script)


# What hunts have found: the work, how it begins, what happened to it.
FAILED = "plan finish --failed STEP --error TEXT --tried TEXT"
HUMAN = "ultragoal classify-blocker --classification human_blocked --evidence TEXT"
NEXT_GOAL = "ultragoal complete-goals"
FOUND: dict[str, tuple[tuple[str, ...], int, Script]] = {
    "a run that was given up kept ultrawork from ever being done": (
        ("ralph",),
        1,
        [("ulw", 1), ("ralph abandon TEXT", 1)],
    ),
    "a session reported as failed had nothing to recover, and no other way on": (
        ("ultraplan",),
        3,
        [("step done", 8), (FAILED, 8)],
    ),
    "a session reported as failed could not be recovered from a history that was rewritten": (
        ("ultraplan", "verify"),
        3,
        [("rewrite history", 19)],
    ),
    "the spec of a recovery was refused": (("ultraplan",), 1, [(FAILED, 9)]),
    "no way on was named from a damaged journal of goals": (
        ("ultragoal", "verify"),
        3,
        [("drops verify/goals/G1/ledger.jsonl", 1)],
    ),
    "no way on was named where the journal of goals was gone": (
        ("ultragoal", "verify"),
        1,
        [("removes_all_beside", 22)],
    ),
    "a plan that was marked for handoff was sent there again and again": (
        ("ultragoal",),
        1,
        [("hand-off", 0), ("hand-on", 0)],
    ),
    "a damaged journal of the goal was met only by the refusal of what status named": (
        ("ultragoal",),
        1,
        [(NEXT_GOAL, 0), ("drops goal/ledger.jsonl", 0)],
    ),
    "the user's command did not say of which session, and none was live": (
        ("ultragoal",),
        1,
        [("stop", 0), (NEXT_GOAL, 0), ("drops ultragoal/ledger.jsonl", 1)],
    ),
    "status sent the agent on in a project that was moved": (
        ("ultragoal",),
        1,
        [(NEXT_GOAL, 0), ("moves the project", 0)],
    ),
    "a gate was refused because the runtime file could not be read": (
        ("ultragoal",),
        1,
        [(NEXT_GOAL, 0), ("garbles runtime", 0)],
    ),
    "a pending goal was next while Stop had let go of a paused run": (
        ("ultragoal",),
        1,
        [(HUMAN, 0), ("goal pause", 0)],
    ),
    "a goal was started by a command that a damaged ledger of evidence refused": (
        ("ultragoal",),
        1,
        [(NEXT_GOAL, 0), ("garbles evidence/ledger.jsonl", 0), (NEXT_GOAL, 0)],
    ),
}


@pytest.mark.parametrize("what", FOUND)
def test_found(tmp_path: Path, what: str) -> None:
    hunt(tmp_path / "a project", *FOUND[what])


CHECKPOINT = "ultragoal checkpoint --goal-id {goal} --status complete --evidence TEXT --quality-gate-json FILE"
MORTAL: dict[str, tuple[str, Script]] = {
    NEXT_GOAL: ("ultragoal", []),
    CHECKPOINT: ("ultragoal", [(NEXT_GOAL, 0)]),
    "user clears": ("ultragoal", [(NEXT_GOAL, 0), ("drops ultragoal/ledger.jsonl", 1)]),
    "user takes up": ("ultragoal", [(NEXT_GOAL, 0)]),
    "plan finish": ("ultraplan", [("step done", 0), ("step done", 1)]),
    "ralph judge": ("ralph", [("round", 0)]),
    "verify finish G1 --summary TEXT": ("verify", [("edit", 2), ("verify begin G1", 1)]),
    "ulw because": ("ultrawork", [("edit", 0), ("gate run", 1)]),
}


@pytest.mark.parametrize("command", MORTAL)
def test_a_command_killed_at_any_of_its_writes_leaves_a_way_on(tmp_path: Path, command: str) -> None:
    name, before = MORTAL[command]
    for write in range(0, MOST_WRITES, 1 if IS_LONG else 3):
        walk = hunt(tmp_path / "a project", (name,), 0, [*before, ("dies", write), (command, 4)])
        if not any("killed at write" in line for line in walk.log):
            assert write > 0
            return
    raise AssertionError(f"more than {MOST_WRITES} writes")
