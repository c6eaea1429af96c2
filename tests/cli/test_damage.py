"""What a damaged ledger costs, in every workflow, whoever damaged it.

Nothing that counts against a run becomes less, and its end is never called done.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from omo.state import paths
from tests.cli import test_plan_run as plans
from tests.cli import test_ultragoal as goals
from tests.cli import test_verify as verify
from tests.engine.project import Project as LapsProject
from tests.engine.project import criterion
from tests.project import SESSION, Project
from tests.ultraplan.plans import carry_out
from tests.verify.workshop import path_check

pytestmark = pytest.mark.usefixtures("laps")

CANNOT_GO_ON = "cannot go on: "


@dataclass
class Story:
    """A run with something that counts against it, and how it goes on to its end."""

    kind: str
    begin: Callable[[Project], None]
    ledger: Callable[[Project], Path]
    finish: Callable[[Project], None]
    look: tuple[str, ...]
    go_on: tuple[str, ...]  # a command that writes, and ends nothing
    counts: Callable[[Project], dict[str, int]] = lambda project: {}


# Laps: a round that failed, and a verdict that came too early.


def begin_laps(project: Project) -> None:
    project.write("criteria.json", json.dumps({"criteria": [criterion(1), criterion(2)]}))
    project.check("laps", "start", "--criteria", "criteria.json", "--max-iterations", "4")
    for of_second in ("fail", "pass"):
        project.now += 100
        LapsProject(project.root, now=project.now - 90, session=SESSION).judged(C1="fail", C2=of_second)
    project.check("laps", "judge", code=3)


def finish_laps(project: Project) -> None:
    project.write("done-1.txt")
    project.write("done-2.txt")
    for agent in ("omo:planner", "omo:executor", "omo:qa", "omo:critic"):
        project.agent_ends(agent)
    project.check("gate", "add", "there", "--", "test", "-f", "done-1.txt")
    project.agent("laps", "judge", "--no-refine", "a line of text in each")


def counts_of_laps(project: Project) -> dict[str, int]:
    told = project.agent("laps", "status", "--json").json
    counts = {"iteration": told["iteration"], "early": told["circumventions"]}
    counts |= {item["id"]: item["fail_count"] for item in told["criteria"]}
    return counts


# Verify: a goal that failed once.


def begin_verify(project: Project) -> None:
    verify.add(project, verification={"checks": [path_check()]})
    verify.begin(project)
    assert project.agent(*verify.FINISH).code == 3
    verify.begin(project)


def finish_verify(project: Project) -> None:
    project.write("parser.py", "x = 1\n")
    project.agent("verify", "begin", "G1")
    project.agent(*verify.FINISH)


def counts_of_verify(project: Project) -> dict[str, int]:
    told = project.agent("verify", "status", "G1", "--json").json
    return {"failures": told["failures"]}


# Ultraplan: a session that was recovered.


def begin_plan(project: Project) -> None:
    plans.with_a_plan(project.root)
    plans.start(project)
    for number in (1, 2, 4, 5):
        carry_out(project.root, number)
    project.check("plan", "recover")


def finish_plan(project: Project) -> None:
    carry_out(project.root, 3)
    project.agent("plan", "finish")


def counts_of_plan(project: Project) -> dict[str, int]:
    return {"depth": project.agent("plan", "status", "--json").json["depth"]}


# Ultragoal: a goal that has its receipt, and one that failed.


def begin_goals(project: Project) -> None:
    goals.create(project)
    project.check("ultragoal", "complete-goals")
    assert goals.checkpoint(project, "G001").code == 0
    project.check("ultragoal", "complete-goals")
    assert goals.checkpoint(project, "G002", "failed").code == 0


def finish_goals(project: Project) -> None:
    for goal in ("G001", "G002"):
        project.agent("ultragoal", "complete-goals", "--retry-failed")
        goals.checkpoint(project, goal)
    project.agent("goal", "complete")


def newest(home: str) -> Callable[[Project], Path]:
    def ledger(project: Project) -> Path:
        runs = [path for path in Path(project.state, home).iterdir() if path.is_dir() and "." not in path.name]
        return max(runs) / "ledger.jsonl"

    return ledger


NOTE = ("ultragoal", "steer", "--kind", "annotate_ledger", "--evidence", "seen", "--rationale", "noted")
LAPS = Story("laps", begin_laps, newest("laps"), finish_laps, ("laps", "status"), ("laps", "judge"))
VERIFY = Story("verify", begin_verify, verify.ledger_of, finish_verify, ("verify", "status"), ("verify", "begin", "G1"))
PLAN = Story("ultraplan", begin_plan, newest("plans"), finish_plan, ("plan", "status"), ("plan", "recover"))
GOALS = Story("ultragoal", begin_goals, newest("ultragoal"), finish_goals, ("ultragoal", "status"), NOTE)
LAPS.counts, VERIFY.counts, PLAN.counts = counts_of_laps, counts_of_verify, counts_of_plan
STORIES = {story.kind: story for story in (LAPS, VERIFY, PLAN, GOALS)}


def cut(path: Path, rows: int) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-rows]))


def edit(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"actor":"', b'"actor":"x')
    path.write_bytes(b"".join(lines))


def forge(path: Path) -> None:
    last = json.loads(path.read_bytes().splitlines()[-1])
    with path.open("a") as file:
        file.write(json.dumps({**last, "kind": "ended", "how": "pass", "seq": last["seq"] + 1}) + "\n")


def lose_mark(path: Path) -> None:
    (path.parent / "mark.json").unlink()


def cut_and_lose_mark(path: Path) -> None:
    cut(path, 1)
    lose_mark(path)


def write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def conflict(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    half = len(lines) // 2
    marked = [b"<<<<<<< HEAD\n", *lines[half:], b"=======\n", *lines[half:-1], b">>>>>>> other\n"]
    path.write_bytes(b"".join([*lines[:half], *marked]))


# Whose hand it was cannot be seen, so all of them cost the same: an agent's, a merge, a disk, a backup.
DAMAGE: dict[str, Callable[[Path], None]] = {
    "the last row lost": lambda path: cut(path, 1),
    "three rows lost": lambda path: cut(path, 3),
    "an older copy": lambda path: write(path, b"".join(path.read_bytes().splitlines(keepends=True)[:2])),
    "deleted": lambda path: path.unlink(),
    "emptied": lambda path: write(path, b""),
    "its beginning edited": lambda path: write(path, path.read_bytes().replace(b'"seq":1,', b'"seq":1 ,', 1)),
    "a row edited in the middle": edit,
    "a forged row": forge,
    "the mark removed": lose_mark,
    "the mark and the last row removed": cut_and_lose_mark,
    "markers of a merge": conflict,
    "cut in the middle of a row": lambda path: write(path, path.read_bytes()[:-20]),
}


def files_below(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize("harm", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_nothing_counts_less_after_damage_and_nothing_is_called_done(
    project: Project, story: Story, harm: Callable[[Path], None]
) -> None:
    story.begin(project)
    counted, path = story.counts(project), story.ledger(project)
    harm(path)
    left = files_below(path.parent)
    project.check("ledger", "verify", code=3)
    shown = project.agent(*story.look)
    project.agent("next")
    assert files_below(path.parent) == left, "a look changes nothing"
    assert any(words in shown.out + shown.err for words in ("is damaged: it goes on from row", CANNOT_GO_ON))
    project.wait(100)
    project.agent(*story.go_on)
    told = project.summary(story.kind)
    if told["state"] == "ended":
        assert (told["told"], told["outcome"]["verdict"]) == (False, "ended")
        assert "cannot go on" in project.stop().message
    else:
        now = story.counts(project)
        assert all(now[name] >= counted[name] for name in counted), (counted, now)
        project.check("ledger", "verify")
        story.finish(project)
        assert project.summary(story.kind).get("outcome", {}).get("verdict") in (None, "waived")
    kept = [file.read_bytes() for file in path.parent.parent.rglob("ledger.jsonl*") if "damaged-" in str(file)]
    assert not left.get(str(path)) or left[str(path)] in kept, "all bytes are kept"


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_run_that_is_finished_after_damage_ends_with_an_exception_that_says_so(
    project: Project, story: Story
) -> None:
    story.begin(project)
    cut(story.ledger(project), 1)
    story.finish(project)
    ended = project.summary(story.kind)["outcome"]
    assert ended["verdict"] == "waived"
    assert any(each["what"].startswith("its ledger was damaged after row") for each in ended["exceptions"])
    assert "its ledger was damaged after row" in project.stop().message


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_the_user_is_told_once_that_it_went_on(project: Project, story: Story) -> None:
    story.begin(project)
    project.stop()
    cut(story.ledger(project), 1)
    project.wait(100)
    assert "was damaged: omo went on" not in project.stop().message, "a look is no write"
    project.agent(*story.go_on)
    said = []
    for _ in range(2):
        project.wait(100)
        said.append(project.stop().message)
    assert ["was damaged: omo went on after row" in message for message in said] == [True, False], said


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_second_damage_ends_the_run_and_the_user_is_told(project: Project, story: Story) -> None:
    story.begin(project)
    path = story.ledger(project)
    cut(path, 1)
    project.agent(*story.go_on)
    assert path.exists()
    cut(path, 1)
    shown = project.agent(*story.look)
    assert any(words in shown.out + shown.err for words in ("and the next command ends it", CANNOT_GO_ON))
    refused = project.agent(*story.go_on)
    assert (refused.code, refused.says("ledger-run-cannot-go-on")) == (3, True)
    assert not path.exists()
    told = project.summary(story.kind)
    assert (told["state"], told["isLost"], told["outcome"]["verdict"]) == ("ended", True, "ended")
    assert "its ledger was damaged a second time" in project.stop().message
    assert project.row()["givenUp"], "every later end names it"


# The session's ledger, which plain ultrawork rests on


def begin_ultrawork(project: Project) -> Path:
    """A gate that fails, two Stops that were sent back, and work that would be proven."""
    project.write("value", "old\n")
    project.write("test_value.py", "import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n")
    project.commit()
    project.prompt("ulw make it new")
    project.check("gate", "add", "new", "--", "grep", "-q", "new", "value")
    project.check("gate", "run", code=3)
    for _ in range(2):
        project.wait(100)
        assert project.stop().blocks
    project.agent_ends("omo:qa", "seen")
    return Path(paths.events_file(project.state, SESSION))


def forge_after(path: Path) -> None:
    """A last row that gives all blocks back, and does not follow."""
    last = json.loads(path.read_bytes().splitlines()[-1])
    last["after"]["ulw"] |= {"stopBlocks": 0, "totalBlocks": 0}
    with path.open("a") as file:
        file.write(json.dumps({**last, "seq": last["seq"] + 1}) + "\n")


def lose_row_mark(path: Path) -> None:
    file = path.parents[2] / "runtime.local.json"
    stored = json.loads(file.read_text())
    del stored["sessions"][SESSION]["ledger"]
    file.write_text(json.dumps(stored))


OF_A_SESSION = {**DAMAGE, "the mark removed": lose_row_mark, "a forged row that gives blocks back": forge_after}
OF_A_SESSION.pop("the mark and the last row removed")


@pytest.mark.parametrize("by", ["a command", "a hook"])
@pytest.mark.parametrize("harm", OF_A_SESSION.values(), ids=OF_A_SESSION)
def test_no_damage_of_a_sessions_ledger_gives_blocks_back_or_ends_as_done(
    project: Project, harm: Callable[[Path], None], by: str
) -> None:
    path = begin_ultrawork(project)
    harm(path)
    left = path.read_bytes() if path.exists() else b""
    project.agent("ulw", "status")
    project.check("ledger", "verify", code=3)
    assert (path.read_bytes() if path.exists() else b"") == left, "a look changes nothing"
    project.wait(100)
    if by == "a hook":
        project.stop()
    assert project.row()["ulw"]["stopBlocks"] >= 2
    project.write("value", "new\n")
    project.agent("gate", "add", "new", "--", "grep", "-q", "new", "value")
    project.agent("ulw", "done", "--because", "the value is new, and the gate shows it")
    project.check("ledger", "verify")
    assert project.row()["ulw"]["totalBlocks"] >= 2
    assert project.summary("ulw")["outcome"]["verdict"] in ("waived", "ended")
    kept = [file.read_bytes() for file in path.parent.glob("events.jsonl.damaged-*")]
    assert not left or any(content.startswith(left) for content in kept), "all bytes are kept"
    assert "ledger" in project.stop().message


def test_a_second_damage_of_the_sessions_ledger_ends_plain_ultrawork(project: Project) -> None:
    path = begin_ultrawork(project)
    for _ in range(2):
        edit(path)
        project.wait(100)
        project.agent("gate", "run")
    project.write("value", "new\n")
    refused = project.agent("ulw", "done", "--because", "the value is new, and the gate shows it")
    assert (refused.code, "was damaged a second time" in refused.err) == (3, True)
    assert project.summary("ulw")["outcome"]["verdict"] == "ended"
    assert "was damaged a second time" in project.stop().message


def test_a_second_damage_of_the_sessions_ledger_ends_what_rests_on_it(project: Project) -> None:
    begin_laps(project)
    path = Path(paths.events_file(project.state, SESSION))
    for _ in range(2):
        cut(path, 1)
        project.wait(100)
        project.agent("gate", "add", "there", "--", "true")
    refused = project.agent("laps", "judge")
    assert (refused.code, "the ledger of its session was damaged a second time" in refused.err) == (3, True)
    assert project.summary("laps")["outcome"]["verdict"] == "ended"


def test_a_crash_between_ledger_and_mark_is_no_damage(project: Project) -> None:
    begin_goals(project)
    path = GOALS.ledger(project)
    mark = (path.parent / "mark.json").read_bytes()
    project.check(*NOTE)
    (path.parent / "mark.json").write_bytes(mark)
    project.check("ledger", "verify")
    project.check(*NOTE)
    assert b"repaired" not in path.read_bytes()


def test_a_torn_last_line_is_no_damage(project: Project) -> None:
    begin_verify(project)
    path = verify.ledger_of(project)
    with path.open("ab") as file:
        file.write(b'{"seq": 99, "ts": "2026')
    project.check("ledger", "verify")
    finish_verify(project)
    assert project.summary("verify")["outcome"]["verdict"] != "waived"
    assert path.with_name("ledger.jsonl.torn").exists()


def test_an_agent_that_only_reads_is_let_go(project: Project) -> None:
    begin_laps(project)
    cut(LAPS.ledger(project), 1)
    for _ in range(9):
        project.agent("laps", "status")
        project.wait(100)
        answer = project.stop()
    assert not answer.blocks


def test_a_directory_that_git_has_removed_ends_its_run(project: Project) -> None:
    begin_laps(project)
    shutil.rmtree(LAPS.ledger(project).parent)
    assert "cannot go on" in project.check("laps", "judge", code=3).err
    assert project.summary("laps")["outcome"]["verdict"] == "ended"
