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

from tests.hunt.moves import COMMON, DAMAGE, ONE, TWO, USER, WORKFLOWS, fill, react
from tests.hunt.walk import Move, Walk
from tests.kept import copied
from tests.ultraplan.plans import begin_repository

Script = list[tuple[str, int]]

FIRST, LAST = (int(seed) for seed in os.environ.get("OMO_TEST_HUNT", "0:3").split(":"))
IS_LONG = "OMO_TEST_HUNT" in os.environ
PAIRS = (("ultragoal", "ultrawork"), ("ralph", "ultrawork"), ("ultraplan", "verify"), ("ultragoal", "verify"))
ALL: dict[str, Move] = COMMON | USER | DAMAGE
for _workflow in WORKFLOWS.values():
    ALL |= _workflow.moves


def begin(root: Path) -> None:
    (root / "value").write_text("old\n")
    (root / ".gitignore").write_text("*.json\n")
    begin_repository(root)


def hunt(root: Path, names: tuple[str, ...], start: int, script: Script) -> Walk:
    """Raises where there is no way on."""
    shutil.rmtree(root, ignore_errors=True)
    copied(root, begin)
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
