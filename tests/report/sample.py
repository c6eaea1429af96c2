"""A project in which work was really done, with something of everything a report shows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from omo.context import Context
from omo.proof.base import fingerprint
from omo.work import gates
from tests.engine.project import Project, criterion
from tests.project import Project as AnyProject
from tests.project import believe
from tests.ultragoal.gates import add_surface, artifact, surface, terminal, transcript
from tests.ultragoal.project import NOW, SESSION
from tests.ultragoal.project import Project as GoalProject
from tests.ultraplan import plans
from tests.ultraplan import project as ultraplan
from tests.verify import workshop as verify_workshop

BRIEF = """\
Keep the importer's public functions as they are.
@goal: Show the import page
A page lists every file that was imported, with its rows and what was refused.
@goal: Refuse malformed rows
A malformed row is refused, and the user is told its file and number.
@goal: Export the audit report
One line for each row, as CSV.
"""
CLEAN = '```json\n{"status": "passed", "e2eStatus": "passed", "redTeamStatus": "passed", "blockers": []}\n```'
APPROVED = (
    '```json\n{"requestStatus": "MET", "architectureStatus": "CLEAR", "productStatus": "CLEAR", "codeStatus": "CLEAR", '
    '"recommendation": "APPROVE", "blockers": []}\n```'
)


class Sample(AnyProject):
    def context(self, **environ: str) -> Context:
        believe(str(self.root / ".sisyphus" / "cc-omo"))
        return Context(environ, str(self.root), self.now, has_terminal=True)


def everything(directory: Path, session: str = SESSION) -> Sample:
    """All five kinds of work in one session of one project, each asked for by the user after the one before."""
    root = plans.project(directory, plans.plan_text(3))
    made = work(GoalProject(root, session))
    plans.commit(root, "chore: the importer and its evidence")
    plan = ultraplan.Project(root, now=made.now)
    asked_for(made, "ultraexecute")
    plan.start(session=session, unreviewed="the critic was not asked in this sample")
    plans.carry_out(root, 1)
    plan.status(session=session)
    goal = verify_workshop.Workshop(root, now=plan.now, session=session)
    goal.add(verification={"checks": [verify_workshop.path_check("src/app.py")]}, guard=True)
    asked_for(made, "verify")
    goal.begin()
    goal.publish("G1")
    goal.claim("src/app.py contains 'debug'", "contains", "src/app.py", "debug", override="the user said so")
    asked_for(made, "laps")
    desk = rounds(root, session, goal.now, begin=False)
    return Sample(root, session, desk.now + 60)


def asked_for(shop: Sample, name: str) -> None:
    """As a prompt with the command of the workflow leaves it."""
    shop.change_row(lambda row: {**row, "asked": name})


def work(shop: GoalProject) -> Sample:
    """Goals with pictures, a gate that fails first, steering, a review that stops a goal, and what was let through."""
    root = shop.root
    os.makedirs(root / "src", exist_ok=True)
    (root / "src" / "importer.py").write_text("def rows(path):\n    return path.read_text().splitlines()\n")
    shop.note(kind="activated", rule="keyword ulw", actor="hook")
    shop.create(BRIEF)
    shop.hand_out()
    gate_runs(shop, "fail", exit_code=1, tail="FAILED tests/test_rows.py::test_short_row\n1 failed, 11 passed")
    blocked(shop, "3 goals are open (G001, G002, G003); the gate tests fails. Go on with G001.")
    shop.now += 1260
    gate_runs(shop, "pass", tail="12 passed in 0.41s")
    agents(shop)
    shop.complete("G001", "the page was opened, and every file is listed with its rows", gate=web_gate(shop))
    shop.now += 340
    shop.steer("annotate_ledger", evidence="the CSV has no header", rationale="the first line is taken as a row")
    shop.review("G002", "Rows with a date of 31 February must be refused too.")
    shop.now += 2100
    blocked(shop, "2 goals are open; the review of G002 asks for G004.")
    while (goal := shop.hand_out()) is not None and goal.id != "G004":
        shop.set_back(goal.id, "failed", "the export loses the last row when the file has no newline at its end")
    shop.now += 420
    shop.complete("G004", "31 February is refused, by file and number", gate=cli_gate(shop))
    shop.run().publish()
    return Sample(root, shop.session, shop.now + 90)


def blocked(shop: GoalProject, reason: str) -> None:
    shop.note(kind="blocked", rule="block", reason=reason)


def gate_runs(shop: GoalProject, result: str, *, exit_code: int = 0, tail: str = "") -> None:
    if not len(gates.current(shop.state, shop.session, None)):
        users = gates.SessionGates(shop.state, shop.session, "user", shop.now, 5.0)
        users.add("tests", ["echo", "12 passed in 0.41s"], cwd=".", program=None)
    row: Any = {
        "name": "tests",
        "result": result,
        "exit": exit_code,
        "why": "",
        "timed_out": False,
        "seconds": 2.4,
        "tail": tail,
    }
    agents_gates = gates.SessionGates(shop.state, shop.session, "agent", shop.now, 5.0)
    row["tree"] = fingerprint(str(shop.root))
    agents_gates.record_results([row])


def agents(shop: GoalProject) -> None:
    for agent, said in (("omo:architect", APPROVED), ("omo:qa", CLEAN)):
        shop.agent_ends(agent, f"I looked at every lane and ran it myself.\n\n{said}")


def web_gate(shop: GoalProject) -> dict[str, Any]:
    gate = shop.gate("G001")
    folder = shop.root / "artifacts" / "G001"
    page(folder / "page.png", "Imported files")
    page(folder / "refused.png", "Refused rows")
    transcript(folder / "drive.json")
    terminal(folder / "session.txt")
    files = [
        artifact("page", "screenshot", "artifacts/G001/page.png"),
        artifact("refused", "screenshot", "artifacts/G001/refused.png"),
        artifact("drive", "browser-automation", "artifacts/G001/drive.json"),
        artifact("session", "terminal-capture", "artifacts/G001/session.txt"),
    ]
    add_surface(gate, surface("surface-web", "web", "page", "refused", "drive"), *files[:3])
    return add_surface(gate, surface("surface-tui", "tui", "session"), files[3])


def cli_gate(shop: GoalProject) -> dict[str, Any]:
    """A command that was run again, and one that could not be."""
    gate = shop.gate("G004")
    folder = shop.root / "artifacts" / "G004"
    terminal(folder / "run.txt")
    record = {"schemaVersion": 1, "kind": "cli-replay", "replaySafe": True, "command": ["true"], "recordedStdout": ""}
    exempt = {
        "reasonCode": "requires_network",
        "reason": "The upload talks to the customer's server, which only they can reach.",
        "approvedBy": "the user, in the chat",
        "fallbackArtifactRefs": ["run"],
    }
    rows = [
        artifact("upload", "cli-replay", replay={**record, "command": ["./upload"]}, replayExempt=exempt),
        artifact("run", "terminal-capture", "artifacts/G004/run.txt"),
    ]
    return add_surface(gate, surface("surface-cli", "cli", "upload"), *rows)


def page(path: Path, title: str) -> None:
    """A picture of a small application."""
    from PIL import Image, ImageDraw

    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.new("RGB", (960, 540), "#f4f6f8")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, 960, 64), fill="#1f3a5f")
    draw.text((24, 18), title, fill="white", font_size=26)
    for row in range(9):
        top = 90 + row * 46
        draw.rectangle((24, top, 936, top + 38), fill="white", outline="#cfd6dd")
        draw.text((40, top + 8), f"intake-{row + 1:02}.csv", fill="#20262d", font_size=18)
        draw.text((420, top + 8), f"{(row * 37) % 90 + 12} rows", fill="#20262d", font_size=18)
        colour = "#a4262c" if row % 4 == 2 else "#1a7f37"
        draw.text((700, top + 8), "2 refused" if row % 4 == 2 else "all accepted", fill=colour, font_size=18)
    image.save(path)


def rounds(root: Path, session: str = SESSION, now: float = NOW, *, begin: bool = True) -> Project:
    """A run of laps with a criterion that broke again and one that nobody could judge."""
    desk = Project(root, session=session, now=now)
    if begin:
        desk.write("README.md", "# importer\n")
        desk.git("init", "-q")
        desk.commit("begin")
    named = [
        criterion(1, description="the importer refuses a malformed row"),
        criterion(2, description="the audit report lists every row"),
        criterion(3, description="the manual names every option"),
    ]
    desk.start(*named)
    desk.judged(C1="pass", C2="fail", C3="fail")
    desk.now += 900
    desk.judged(C1="fail", C2="pass", C3="fail")
    desk.now += 1500
    desk.judged(C1="pass", C2="pass", C3="unknown")
    return desk
