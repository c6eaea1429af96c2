"""States of all five workflows as the real commands and hooks leave them: what the tests of every view look at."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from omo.context import Context
from omo.state import paths, runtime
from omo.views import project
from omo.views.project import ProjectView
from tests.engine import project as laps_project
from tests.kept import copied
from tests.project import Answer, Project, begin_repository, believe
from tests.ultragoal import project as goals
from tests.ultraplan import project as ultraplan
from tests.ultraplan.plans import carry_out, plan_text
from tests.ultraplan.plans import project as plan_project

HERE = "3f6c1a52-8d0e-4b6b-9a2f-5f1f0c7e2d10"
ELSEWHERE = "9b1d77c0-1f43-4c9e-8d51-0a6f4be3c2aa"
THIRD = "c0ffee00-5e55-4a11-b00b-1234567890ab"
FOURTH = "c0ffee00-feed-4a11-b00b-1234567890ab"


@dataclass
class Scene(Project):
    """A project at a moment. `here` is the session that asks for its status."""

    session: str = HERE
    here: str = HERE

    def stop(self, **fields: Any) -> Answer:
        """A minute later, with a new last word."""
        self.now += 60
        return super().stop(**{"last_assistant_message": f"done at {self.now}", **fields})

    def context(self, **environ: str) -> Context:
        mine = {"OMO_SESSION_ID": self.here} if self.here else {}
        return Context({**mine, **self.environ, **environ}, str(self.root), self.now, has_terminal=True)

    def view(self, closely: str = "", **environ: str) -> ProjectView:
        return project.project_view(self.context(**environ), closely=closely)

    def edit_row(self, change: Callable[[dict[str, Any]], None], session: str = HERE) -> None:
        """By hand, as anybody could."""
        path = Path(paths.runtime_file(self.state))
        read = json.loads(path.read_text(encoding="utf-8"))
        change(read["sessions"].setdefault(session, {}))
        path.write_text(runtime.render(read), encoding="utf-8")


def begin(root: Path) -> Scene:
    copied(root, begin_repository)
    return Scene(root)


def nothing(root: Path) -> Scene:
    return begin(root)


def without_gates(root: Path) -> Scene:
    scene = begin(root)
    scene.prompt("ulw fix the flaky tests")
    scene.stop()
    scene.stop()
    scene.now += 240
    return scene


def with_gates(root: Path) -> Scene:
    """One passes on the tree as it is, one passed before it changed, one fails, one was never run."""
    scene = begin(root)
    scene.prompt("ulw fix the flaky tests")
    scene.check("gate", "add", "tests", "--", "true", by="user")
    for name, command in (("lint", "true"), ("types", "false"), ("docs", "true")):
        scene.check("gate", "add", name, "--", command, "of", name)
    scene.write("value", "new\n")
    scene.check("gate", "run", "lint")
    scene.check("gate", "run", "types", code=3)
    scene.write("value", "newer\n")
    scene.check("gate", "run", "tests")
    scene.stop()
    scene.now += 90
    return scene


def done_by_ulw(root: Path) -> Scene:
    scene = begin(root)
    scene.prompt("ulw fix the flaky tests")
    scene.check("gate", "add", "docs", "--", "make", "docs")
    scene.check("ulw", "done", "--skip-verification", "nothing here can be checked by a command")
    return scene


GOALS = {
    "Parse": "Read the file.",
    "Check": "Check each row.",
    "Write": "Write the report.",
    "Mail": "Send the report by mail.",
    "Tidy": "Remove what is no longer used.",
}


def five_goals(root: Path) -> Scene:
    """G001 proven, G002 by who did the work and what it rested on is gone, G003 failed, G004 under way."""
    shop = goals.make(root)
    shop.session = HERE
    shop.create("Keep the API.\n" + "\n".join(f"@goal: {title}\n{text}" for title, text in GOALS.items()))
    shop.hand_out()
    shop.reviewed()
    shop.complete("G001")
    shop.complete("G002")
    (shop.root / "artifacts" / "G002" / "api-report.txt").unlink()
    shop.set_back("G003", "failed")
    shop.hand_out()
    shop.run().publish()
    return Scene(root, now=shop.now + 120)


def goals_done(root: Path) -> Scene:
    shop = goals.make(root)
    shop.session = HERE
    shop.create(goals.THREE)
    shop.finish()
    scene = Scene(root, now=shop.now)
    scene.check("goal", "complete")
    scene.stop()
    scene.now += 3600
    return scene


def plan_session(root: Path) -> Scene:
    """Step 2 was left out; a file outside the fence waits to be committed."""
    desk = ultraplan.Project(plan_project(root, plan_text(4)))
    desk.start(session=HERE)
    carry_out(desk.root, 1)
    carry_out(desk.root, 3)
    (desk.root / "notes.txt").write_text("not committed\n")
    desk.status(session=HERE)
    return Scene(desk.root, now=desk.now + 120)


def laps_run(root: Path) -> Scene:
    """In its second round of five, C1 no longer holds."""
    root.mkdir(parents=True)
    desk = laps_project.make_project(root)
    desk.session = HERE
    desk.start(*[laps_project.criterion(number) for number in (1, 2, 3)])
    desk.judged(C1="pass", C2="fail", C3="fail")
    desk.judged(C1="fail", C2="pass", C3="fail")
    return Scene(desk.root, now=desk.now + 120)


def goal_with_checks(root: Path) -> Scene:
    scene = begin(root)
    check = {"id": "there", "type": "path", "path": "parser.py"}
    goal = {"id": "G1", "title": "Parser handles quotes", "verification": {"checks": [check]}}
    (root.parent / "goal.json").write_text(json.dumps(goal), encoding="utf-8")
    scene.check("verify", "add", "--file", str(root.parent / "goal.json"))
    scene.check("verify", "begin", "G1")
    return scene


def several(root: Path) -> Scene:
    """This one works, one waits for an answer, one was cancelled, one nobody has used for three days."""
    scene = begin(root)
    scene.prompt("ulw tidy up", session=FOURTH)
    scene.now += 3 * 24 * 3600
    scene.prompt("ulw fix the parser", session=ELSEWHERE)
    scene.check("gate", "add", "tests", "--", "true", session=ELSEWHERE)
    scene.check(
        *("ulw", "blocked", "--evidence", "the staging key is missing", "--question", "Where is the key?"),
        session=ELSEWHERE,
    )
    scene.prompt("ulw write the docs", session=THIRD)
    scene.prompt("/omo:stop-continuation", session=THIRD)
    scene.now += 1200
    scene.prompt("ulw fix the flaky tests")
    scene.check("gate", "add", "tests", "--", "true")
    return scene


def cancelled(root: Path) -> Scene:
    scene = with_gates(root)
    scene.prompt("/omo:stop-continuation")
    return scene


def exhausted(root: Path) -> Scene:
    scene = begin(root)
    scene.prompt("ulw fix the flaky tests")
    for _ in range(9):
        scene.stop()
    return scene


def paused(root: Path) -> Scene:
    scene = begin(root)
    scene.prompt("ulw fix the flaky tests")
    scene.prompt("stop")
    return scene


def waiting(root: Path) -> Scene:
    scene = begin(root)
    scene.prompt("ulw fix the flaky tests")
    scene.check("ulw", "blocked", "--evidence", "the staging key is missing", "--question", "Where is the key?")
    return scene


def damaged(root: Path) -> Scene:
    """Somebody changed a row of the session's ledger."""
    scene = with_gates(root)
    path = Path(paths.events_file(scene.state, HERE))
    path.write_text(path.read_text(encoding="utf-8").replace('"exit":1', '"exit":0').replace("false", "true"))
    return scene


HOSTILE = "\x1b[31m\x1b]0;pwn\x07[red]bold[/red] \u202eesrever\u202c \u200b:smile: <b>&amp;\n\rnext" + "A" * 10_000


def hostile(root: Path) -> Scene:
    """Every text that an agent can write says what would hurt a terminal."""
    scene = with_gates(root)

    def spoil(row: dict[str, Any]) -> None:
        row["work"]["ulw"] |= {"run": HOSTILE, "next": HOSTILE}
        row["work"]["laps"] = {"state": "waiting", "why": HOSTILE, "question": HOSTILE, "open": 1, "total": 2}
        row["work"]["[red]kind\x1b[2J"] = {"state": "active", "how": HOSTILE, "open": 1, "total": 2, "next": HOSTILE}

    scene.edit_row(spoil)
    scene.edit_row(spoil_other, "\x1b[2J[bold]other" + "B" * 300)
    return scene


def spoil_other(row: dict[str, Any]) -> None:
    row |= {
        "ulw": {"enabled": True, "stopBlocks": "many"},
        "lastUsedAt": "\x1b[2J",
        "work": {"ulw": {"state": HOSTILE, "open": 1, "total": 1}},
    }


SCENES: dict[str, Callable[[Path], Scene]] = {
    "nothing-on": nothing,
    "ulw-without-gates": without_gates,
    "ulw-with-gates": with_gates,
    "ultragoal-five-goals": five_goals,
    "ultragoal-done": goals_done,
    "ultraplan-missing-step": plan_session,
    "laps-regression": laps_run,
    "verify-goal": goal_with_checks,
    "several-sessions": several,
    "cancelled": cancelled,
    "exhausted": exhausted,
    "paused": paused,
    "waiting": waiting,
    "damaged-ledger": damaged,
    "hostile": hostile,
    "skipped-verification": done_by_ulw,
}


def scene(name: str) -> Scene:
    """Built once for all tests that only look: looking changes nothing."""
    made = _built(name)
    believe(made.state)
    return made


@cache
def _built(name: str) -> Scene:
    directory = tempfile.mkdtemp(prefix="omo-scene-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return SCENES[name](Path(directory) / "p")


@cache
def view(name: str) -> ProjectView:
    return scene(name).view()
