"""What happens between conversations, two things after each other, and then the user types the workflow again: they
are heard, and from there, and from every conversation that was left behind, there is a way on."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.hunt.moves import ONE, WORKFLOWS, fill, react
from tests.hunt.walk import Move, Walk
from tests.kept import copied
from tests.ultraplan.plans import begin_repository

Place = tuple[Path, str]  # where a conversation is, and its name

TYPED = {
    "ultrawork": "ulw make value new",
    "ultragoal": "/omo:ultragoal go on with the goals",
    "ultraplan": "/omo:ultraexecute plan.md",
    "ralph": "/omo:ralph write down in NOTES why value is old",
    "verify": "/omo:verify the goal",
}


def begin_project(root: Path) -> None:
    (root / "value").write_text("old\n")
    (root / ".gitignore").write_text("*.json\n")
    begin_repository(root)


def converse(walk: Walk, source: str) -> None:
    """Another conversation begins in the same place."""
    walk.session = walk.new("talk").replace(", number ", "-")
    walk.hook("session-start", source=source)


def cancel(walk: Walk, number: int) -> None:
    walk.prompt("/omo:stop-continuation")


def pause(walk: Walk, number: int) -> None:
    walk.prompt("stop")


def breaker(walk: Walk, number: int) -> None:
    for _ in range(10):
        walk.stop()


def clear(walk: Walk, number: int) -> None:
    converse(walk, "clear")


def kill(walk: Walk, number: int) -> None:
    """In the middle of what comes next, and the client with it."""
    view = walk.view()
    walk.dies_after = 2
    if view.leading is not None:
        walk.carry_out(view.next, view.leading.kind)
    walk.dies_after = None
    converse(walk, "startup")


def resume(walk: Walk, number: int) -> None:
    if walk.row():
        converse(walk, "startup")
    walk.prompt("/omo:resume")


def worktree(walk: Walk, number: int) -> None:
    """Off into a new one, or home again with what was done there."""
    if walk.root.name.startswith("branch"):
        walk.commit("chore: done elsewhere")
        branch = walk.root.name
        walk.root = walk.root.parent / "a project"
        walk.commit("chore: done here")
        walk.git("merge", "-q", "-X", "theirs", "-m", "chore: join", branch)
    else:
        branch = f"branch{walk.count}"
        walk.git("worktree", "add", "-q", "-b", branch, f"../{branch}")
        walk.root = walk.root.parent / branch
    converse(walk, "startup")


def conversation(walk: Walk, number: int) -> None:
    converse(walk, "startup")


JOINTS: dict[str, Move] = {
    "cancel": cancel,
    "pause": pause,
    "breaker": breaker,
    "/clear": clear,
    "kill": kill,
    "resume": resume,
    "worktree": worktree,
    "conversation": conversation,
}


def cross(root: Path, name: str, joints: tuple[str, ...]) -> Walk:
    """Raises where a word of the user's is lost, or where there is no way on."""
    shutil.rmtree(root.parent, ignore_errors=True)
    root.parent.mkdir(parents=True)
    copied(root, begin_project)
    known = tuple(WORKFLOWS[known] for known in dict.fromkeys([name, "ultrawork"]))
    walk = Walk(root, session=ONE, workflows=known, fill=fill, react=react)
    places: list[Place] = [(root, ONE)]
    try:
        walk.prompt(TYPED[name])
        walk.play((WORKFLOWS[name].begin, 1))
        for joint in joints:
            walk.play((JOINTS[joint], 0))
            if (walk.root, walk.session) not in places:
                places.append((walk.root, walk.session))
        type_again(walk, name)
        walk.reach_the_end()
        for walk.root, walk.session in places:
            walk.can_be_stopped()
            walk.reach_the_end()
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(walk.report(f"raised {error!r}")) from error
    return walk


def type_again(walk: Walk, name: str) -> None:
    answer = walk.prompt(TYPED[name])
    stopped = walk.stop()
    assert stopped.blocks or answer.message, walk.report("what the user typed is not on, and nobody says so")
    if walk.view().leading is None and stopped.blocks:
        step = walk.omo("next").json["next"]
        walk.follow(step["ways"][0]["command"].split(), "agent")
