"""What may happen: for each workflow the commands of the agent, well and badly used, and what agents say; for all of
them edits, gates, the user's words, a process that dies, and damage to what is kept."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from omo.digest import sha256
from omo.work.status import NextStep
from omo.workflows.ultraplan.flow import DIMENSIONS
from tests.hunt.walk import Move, Walk, Workflow
from tests.project import Ran
from tests.stories.ultragoal import CLEAN
from tests.stories.verify import checklist, doubt, statement, verdict_on
from tests.ultragoal.gates import valid_gate
from tests.ultraplan.plans import carry_out, plan_text

ONE, TWO = "one", "two"
STEPS = (1, 2)
NEVER = "never"  # a gate that no work can make pass
OUTCOME = "the notes say why"
NOTES = {"id": "notes", "type": "path", "path": "NOTES"}
QUESTION = {"id": "whole", "type": "judge", "question": "Is it whole?"}
BRIEFS = ("@goal: Parse\nRead the file.", "@goal: Parse\nRead it.\n@goal: Check\nCheck it.")
GOALS: tuple[dict[str, Any], ...] = (
    {"checks": [NOTES]},
    {"checks": [NOTES], "outcomes": [OUTCOME]},
    {"checks": [NOTES, QUESTION]},
    {"checks": ["Are the notes there?"]},
)
ANSWERS: dict[str, dict[str, Any]] = {
    "q1": statement("`NOTES` was read just now"),
    "q1.5": checklist(),
    "q2": doubt(),
    "q3": {"scope": "integration", "statement": "It is covered because `NOTES` was read."},
    "outcomes": {"outcomes": [{"outcome": OUTCOME, "statement": "It is so because `NOTES` was read."}]},
    "agent-leg": {"outcomes": [{"outcome": OUTCOME, "statement": "It is so because `NOTES` was read."}]},
}


def omo(line: str, *more: str, by: str = "agent") -> Move:
    """A command; its placeholders are filled in as for one that omo names, `{goal}` is some goal of the plan."""

    def move(walk: Walk, number: int) -> Ran:
        words = [word.replace("{goal}", f"G00{number % 2 + 1}") for word in (*line.split(), *more)]
        argv, stdin = fill(walk, words)
        ran = walk.omo(*argv, by=by, stdin=stdin, session=walk.session)
        react(walk, argv, ran, "pass" if number % 3 else "fail")
        return ran

    move.__name__ = f"omo {line}"
    return move


def says(text: str) -> Move:
    return _named(f"says {text}", lambda walk, number: walk.prompt(text))


def _named(name: str, move: Move) -> Move:
    move.__name__ = name
    return move


def fill(walk: Walk, argv: list[str]) -> tuple[list[str], str | None]:
    """What stands for something is replaced by it; what is read from stdin comes with it."""
    filled, stdin = [], None
    for word, before in zip(argv, ["", *argv], strict=False):
        if before == "--brief-file":
            word = str(walk.write("brief.json", BRIEFS[0]))  # a name that git ignores here
        elif word == "FILE" or (before == "--file" and word == "GOAL"):
            word = FILES[argv[0]](walk, argv)
        elif word == "-" and before == "--file":
            stdin = json.dumps(ANSWERS[argv[argv.index("--question") + 1]])
        elif word in ("TEXT", "WHY", "REASON", "why", "…"):
            word = walk.new()
        elif word in NAMES:
            word = NAMES[word]
        filled.extend(["grep", "-q", "new", "value"] if word == "COMMAND" else [word.replace("…", "Note")])
    return filled, stdin


def _quality_gate(walk: Walk, argv: list[str]) -> str:
    """One that passes, with evidence nobody has seen before, after reviewers who found nothing."""
    goal = argv[argv.index("--goal-id") + 1] if "--goal-id" in argv else "G001"
    path = walk.write("gate.json", json.dumps(valid_gate(walk.root, goal, salt=walk.new())))
    return str(path)


def _criteria(walk: Walk, argv: list[str]) -> str:
    criteria = [{"id": "C1", "description": "the notes are there", "checks": [NOTES]}]
    return str(walk.write("criteria.json", json.dumps({"criteria": criteria})))


def _goal_file(walk: Walk, argv: list[str]) -> str:
    number = walk.facts.get("goal", 0)
    goal = {"id": "G1", "title": "Write notes", "verification": GOALS[number % len(GOALS)]}
    return str(walk.write("goal.json", json.dumps(goal)))


FILES: dict[str, Callable[[Walk, list[str]], str]] = {
    "ultragoal": _quality_gate,
    "ralph": _criteria,
    "verify": _goal_file,
}
NAMES = {"NAME": "check", "GOAL": "G1", "ID": "G001", "PLAN": "plan.md", "SPEC": "plan.md", "PATH": "value", "N": "3"}
NAMES |= {"STEP": "1", "SESSION": ONE}


def react(walk: Walk, argv: list[str], ran: Ran, result: str = "pass") -> None:
    """An agent that a command prepares to be asked is asked, and answers."""
    if ran.code == 0 and argv[1:2] == ["brief"] and ran.json.get("brief"):
        walk.facts["judge"] = result
        walk.agent_ends("omo:judge", verdict_on(ran.json["brief"], result))
    elif argv[:2] == ["plan", "critique"] and (walk.root / "plan.md").exists():
        clean = result == "pass"
        finding = {"line": 1, "dimension": "size", "severity": "blocking", "text": "too large"}
        verdict = {
            "verdict": "clean" if clean else "findings",
            "plan_digest": sha256((walk.root / "plan.md").read_bytes()),
            "dimensions": dict.fromkeys(DIMENSIONS, "pass" if clean else "fail"),
            "findings": [] if clean else [finding],
        }
        walk.agent_ends("omo:critic", json.dumps(verdict))


# For all of them


def edit(walk: Walk, number: int) -> None:
    name, text = (("value", "new\n"), ("value", "old\n"), ("NOTES", "why\n"), ("infra/main.tf", "x\n"))[number % 4]
    walk.write(name, walk.new(text) if name == "NOTES" else text)
    walk.facts["reviewed"] = set()


def take_away(walk: Walk, number: int) -> None:
    (walk.root / "NOTES").unlink(missing_ok=True)


def commit(walk: Walk, number: int) -> None:
    walk.commit(("chore: work", "feat(part1): add part 1")[number % 2])


def rewrite_history(walk: Walk, number: int) -> None:
    walk.git("checkout", "-q", "--orphan", f"anew-{walk.count}-{number}")
    walk.count += 1
    walk.commit("chore: begin again")


def stops(walk: Walk, number: int) -> None:
    for _ in range((1, 2, 10)[number % 3]):
        walk.stop()


def asks(walk: Walk, number: int) -> None:
    for _ in range(number % 3 + 1):
        walk.tool_use("AskUserQuestion", questions=[{"question": "?"}])


def agent_ends(walk: Walk, number: int) -> None:
    agent = ("omo:planner", "omo:executor", "omo:qa", "omo:critic", "omo:architect", "omo:judge")[number % 6]
    walk.agent_ends(agent, ("", "done", '{"verdict": "clean"}')[number % 3])


def takes_up(by: str) -> Move:
    def move(walk: Walk, number: int) -> None:
        """From now on the work goes on in the other conversation."""
        mine = walk.session
        walk.session = TWO if mine == ONE else ONE
        walk.omo("resume", mine, by=by, session=walk.session)

    return _named(f"takes up by {by}", move)


def time_passes(walk: Walk, number: int) -> None:
    walk.now += (60.0, 3600.0, 9 * 3600.0, 30 * 86400.0)[number % 4]


def pins(walk: Walk, number: int) -> None:
    name, text = (("check", "grep -q new value"), (NEVER, "false"), ("always", "true"))[number % 3]
    walk.prompt(f"/omo:pin {name} -- {text}")
    walk.facts.setdefault("pins", {})[name] = text


def dies(walk: Walk, number: int) -> None:
    """The next command is killed."""
    walk.dies_after = number


def clears(by: str) -> Move:
    def move(walk: Walk, number: int) -> None:
        for workflow in walk.workflows:
            if workflow.kind != "ulw":
                force = ("--force",) * (number % 4 < 2)
                walk.omo("state", "clear", "--mode", workflow.kind, *force, by=by, session=walk.session)

    return _named(f"clears by {by}", move)


COMMON: dict[str, Move] = {
    "edit": edit,
    "take away": take_away,
    "commit": commit,
    "stops": stops,
    "asks": asks,
    "agent ends": agent_ends,
    "gate add": omo("gate add NAME -- COMMAND"),
    "gate run": omo("gate run"),
    "gate record": omo("gate record NAME --pre-existing --evidence TEXT"),
    "gate remove": omo("gate remove NAME"),
    "clear": clears("agent"),
    "take up": takes_up("agent"),
    "ulw start": omo("ulw start"),
    "ulw done": omo("ulw done"),
    "ulw because": omo("ulw done --because", "it is done as asked"),
    "ulw skip": omo("ulw done --skip-verification", "it cannot be run here"),
    "ulw blocked": omo("ulw blocked --evidence TEXT --question TEXT"),
    "resume": omo("resume"),
}
USER: dict[str, Move] = {
    "pins": pins,
    "unpins": says("/omo:unpin never"),
    "allows": says("/omo:allow check"),
    "allows never": says("/omo:allow never"),
    "ulw": says("ulw go on"),
    "pause": says("pause"),
    "continue": says("continue"),
    "something": says("and the other thing?"),
    "stop": says("/omo:stop-continuation"),
    "user clears": clears("user"),
    "user takes up": takes_up("user"),
    "time": time_passes,
}


# Damage


def damages(spoil: Callable[[Path, int], None], file: str = "") -> Move:
    """To one of the files of the state: the number says which, if none is named."""
    name = spoil.__name__

    def move(walk: Walk, number: int) -> None:
        kept = []
        for path in sorted(Path(walk.state).rglob("*.json*")):
            if path.suffix in (".json", ".jsonl") and str(path).endswith(file):
                kept.append(path)
        if kept:
            path = kept[number % len(kept)]
            walk.log.append(f"{name} {path.relative_to(walk.state)}")
            walk.facts["damaged"] = True
            spoil(path, number)

    return _named(f"{name} {file}", move)


def tears(path: Path, number: int) -> None:
    """The last line was being written when its writer died."""
    path.write_bytes(path.read_bytes()[: -5 * (number % 7 + 1)])


def drops_a_row(path: Path, number: int) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for place, line in enumerate(lines) if place != number % len(lines)))


def reworks(path: Path, number: int) -> None:
    path.write_bytes(path.read_bytes().replace(b"agent", b"user", 1).replace(b"G001", b"G009", 1))


def removes(path: Path, number: int) -> None:
    path.unlink()


def removes_all_beside(path: Path, number: int) -> None:
    shutil.rmtree(path.parent)


def garbles(path: Path, number: int) -> None:
    path.write_bytes((b"{", b"", b"\xff\n", b"[1]\n", b"{}\n")[number % 5])


def moves_the_project(walk: Walk, number: int) -> None:
    place = walk.root.with_name(f"moved {walk.new()}")
    shutil.rmtree(place, ignore_errors=True)
    walk.root.rename(place)
    walk.root = place


DAMAGE: dict[str, Move] = {"dies": dies, "rewrite history": rewrite_history, "moves the project": moves_the_project}
for _spoil in (tears, drops_a_row, reworks, removes, removes_all_beside, garbles):
    DAMAGE[_spoil.__name__] = damages(_spoil)
for _file in ("ultragoal/ledger.jsonl", "goal/ledger.jsonl", "evidence/ledger.jsonl", "verify/goals/G1/ledger.jsonl"):
    DAMAGE[f"drops {_file}"] = damages(drops_a_row, _file)
    DAMAGE[f"garbles {_file}"] = damages(garbles, _file)
DAMAGE["garbles runtime"] = damages(garbles, "runtime.local.json")


# Ultrawork


def _ultrawork_begins(walk: Walk, number: int) -> None:
    walk.prompt("ulw make value new")
    (pins if number % 2 else COMMON["gate add"])(walk, 0)


def _ultrawork_works(walk: Walk, step: NextStep) -> None:
    walk.write("value", "new\n")


def _ultrawork_lacks(walk: Walk) -> list[str]:
    lacks = []
    for name, text in walk.facts.get("pins", {}).items():
        fails = name == NEVER or (name == "check" and (walk.root / "value").read_text() != "new\n")
        if fails and name in {item.id for view in walk.view().works or [] for item in view.items}:
            lacks.append(f"{name} fails: {text}")
    return lacks


# Ultragoal


def _ultragoal_begins(walk: Walk, number: int) -> None:
    mode = ("aggregate", "per-story")[number // 2 % 2]
    walk.omo("ultragoal", "create-goals", "--brief", BRIEFS[number % 2], "--goal-mode", mode)


def reviewed(walk: Walk, number: int) -> None:
    """Both reviewers, clean or not."""
    for agent, clean in CLEAN.items():
        spoilt = number % 4 == 0 and agent == "omo:architect"
        walk.agent_ends(agent, json.dumps({**clean, "codeStatus": "BLOCK"} if spoilt else clean))


def _ultragoal_works(walk: Walk, step: NextStep) -> None:
    """It is built, somebody tries to break it, and both reviewers find nothing."""
    if step.action in ("execute-goal", "verify-again"):
        walk.write("value", "new\n")
        omo("evidence replay --attack TEXT --expect TEXT -- COMMAND")(walk, 1)
        reviewed(walk, 1)


def _ultragoal_lacks(walk: Walk) -> list[str]:
    goals = [view for view in walk.view().works or [] if view.kind == "ultragoal"]
    return [f"{item.id} is {item.status}" for view in goals for item in view.items if item.is_open]


# Ultraplan


def _plan(walk: Walk, **changes: Any) -> None:
    """Written, committed, and looked at by a critic who finds nothing."""
    steps = {f"step{step}": {"Verify": f"`test -s src/part{step}.py` → expected: exit 0"} for step in STEPS}
    steps["step2"]["On failure"] = "skip — it can be left out"
    walk.write("plan.md", plan_text(len(STEPS), **changes, **steps))
    walk.commit("docs: a plan")
    omo("plan critique plan.md")(walk, 1)


def _ultraplan_begins(walk: Walk, number: int) -> None:
    sessions = [[1], [2]] if number % 2 else None
    _plan(walk, sessions=sessions)
    walk.omo("plan", "start", "plan.md")


def step_done(walk: Walk, number: int) -> None:
    carry_out(walk.root, STEPS[number % len(STEPS)])


def step_undone(walk: Walk, number: int) -> None:
    for path in walk.root.glob("src/part*.py"):
        path.write_text("# later\n")
    walk.commit("chore: later")


def _ultraplan_works(walk: Walk, step: NextStep) -> None:
    if step.action == "start":
        walk.commit("chore: what lay about")
    if step.action in ("clean", "escalate", "start-recovery"):
        walk.git("checkout", "-q", "--", ".")
        walk.git("clean", "-fdq", "-e", ".sisyphus")
    if step.action == "escalate" and step.who == "user" and "recover" not in step.command:
        _plan(walk, touch=("src/**", "NOTES", "value", "infra/**", f"more-{walk.new()[-1]}/**"), never=())
        walk.omo("plan", "start", "plan.md")
    elif step.action in ("execute", "mend"):
        for number in STEPS:
            if step.item in ("", str(number)):
                carry_out(walk.root, number)


def _ultraplan_lacks(walk: Walk) -> list[str]:
    plans = [view for view in walk.view().works or [] if view.kind == "ultraplan"]
    wanted = [item.id for view in plans for item in view.items if item.counts]
    return [f"step {name}" for name in wanted if not (walk.root / f"src/part{name}.py").exists()]


# Ralph


def _ralph_begins(walk: Walk, number: int) -> None:
    if number % 2:
        walk.prompt("/omo:ralph write down in NOTES why value is old")
    walk.prompt("/omo:pin check -- test -f value")
    omo("ralph start --criteria FILE --max-iterations", "2")(walk, 1)


def round_done(walk: Walk, number: int) -> None:
    """All phases in order; the lazy leave some out."""
    agents = (("omo:planner", "omo:qa", "omo:critic"), ("omo:planner", "omo:qa", "omo:critic"), ("omo:qa",))[number % 3]
    for agent in agents:
        if agent == "omo:qa":
            walk.write("NOTES", walk.new("why"))
        walk.agent_ends(agent, "done")


def _ralph_works(walk: Walk, step: NextStep) -> None:
    if step.action == "round":
        round_done(walk, 0)
    elif step.action == "judge":
        omo("ralph brief")(walk, 1)


def _needs_notes(walk: Walk) -> list[str]:
    return [] if (walk.root / "NOTES").exists() else ["NOTES is not there"]


# Verify


def _verify_begins(walk: Walk, number: int) -> None:
    walk.facts["goal"] = number
    for verb in ("add --file FILE", "begin G1"):
        omo(f"verify {verb}")(walk, 1)


def answers_badly(walk: Walk, number: int) -> None:
    answer = (doubt(problem="it is broken"), {"failure_mode": ""}, doubt(statement="It is so because `nope.py` is."))
    walk.omo("verify", "answer", "G1", "--question", "q2", "--file", "-", stdin=json.dumps(answer[number % 3]))


def _verify_works(walk: Walk, step: NextStep) -> None:
    if step.action == "add":  # its checks have to fail before the work
        take_away(walk, 0)
    elif step.action == "checks" or "mend" in step.command or _needs_notes(walk):
        walk.write("NOTES", walk.new("why"))


def _of(kind: str, *lines: str) -> dict[str, Move]:
    return {f"{kind} {line}": omo(f"{kind} {line}") for line in lines}


_WHY = "--evidence TEXT --rationale TEXT"
_GATE = "--status complete --evidence TEXT --quality-gate-json FILE"
WORKFLOWS: dict[str, Workflow] = {
    "ultrawork": Workflow("ulw", _ultrawork_begins, {}, _ultrawork_works, _ultrawork_lacks),
    "ultragoal": Workflow(
        "ultragoal",
        _ultragoal_begins,
        {
            "begins again": lambda walk, number: walk.omo(
                "ultragoal", "create-goals", "--brief", BRIEFS[number % 2], *("--force",) * (number // 2 % 2)
            ),
            "reviewed": reviewed,
            "hand-back": omo("state ultragoal write --input", '{"current_phase": "active"}'),
            "hand-off": omo("state ultragoal write --input", '{"current_phase": "handoff"}'),
            "hand-on": omo("state ultragoal handoff --to ultraplan"),
            **_of("ultragoal", "complete-goals", "complete-goals --retry-failed", "complete-goals --retry-blocked"),
            **_of("ultragoal", f"checkpoint --goal-id {{goal}} {_GATE}"),
            **_of("ultragoal", "checkpoint --goal-id {goal} --status failed --evidence TEXT"),
            **_of("ultragoal", "checkpoint --goal-id {goal} --status blocked --evidence TEXT"),
            **_of("ultragoal", f"steer --kind add_subgoal --title TEXT --objective TEXT {_WHY}"),
            **_of("ultragoal", f"steer --kind mark_blocked_superseded --goal-id {{goal}} {_WHY}"),
            **_of("ultragoal", f"steer --kind revise_pending_wording --goal-id {{goal}} --objective TEXT {_WHY}"),
            **_of("ultragoal", "classify-blocker --classification human_blocked --evidence TEXT"),
            **_of("ultragoal", "classify-blocker --classification human_blocked --goal-id {goal} --evidence TEXT"),
            **_of("ultragoal", "record-review-blockers --goal-id {goal} --objective TEXT --evidence TEXT"),
            **_of("goal", "create", "create --objective TEXT", "pause", "resume", "drop", "complete"),
        },
        _ultragoal_works,
        _ultragoal_lacks,
    ),
    "ultraplan": Workflow(
        "ultraplan",
        _ultraplan_begins,
        {
            "step done": step_done,
            "step undone": step_undone,
            **_of("plan", "status", "finish", "finish --abandon TEXT", "finish --unverified TEXT", "recover"),
            **_of("plan", "finish --failed STEP --error TEXT --tried TEXT", "finish --handoff TEXT"),
            **_of("plan", "skip 2 --reason TEXT", "start plan.md", "start plan.md 2", "start plan.md 1"),
            **_of("plan", "start plan.md --unreviewed TEXT", "critique plan.md"),
        },
        _ultraplan_works,
        _ultraplan_lacks,
    ),
    "ralph": Workflow(
        "ralph",
        _ralph_begins,
        {
            "round": round_done,
            **_of("ralph", "artifacts", "brief", "judge", "judge --no-refine TEXT"),
            **_of("ralph", "abandon TEXT", "start --criteria FILE", "start", "status"),
        },
        _ralph_works,
        _needs_notes,
    ),
    "verify": Workflow(
        "verify",
        _verify_begins,
        {
            "answers badly": answers_badly,
            **_of("verify", "begin G1", "brief G1", "finish G1 --summary TEXT", "status", "add --file FILE"),
            **{f"answers {name}": omo(f"verify answer G1 --question {name} --file -") for name in ANSWERS},
            "user begins again": omo("verify begin G1 --again TEXT", by="user"),
        },
        _verify_works,
        _needs_notes,
    ),
}
