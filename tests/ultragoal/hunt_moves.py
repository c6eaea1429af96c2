"""What may happen to a plan: every command, well and badly used, the hooks, and damage of all kinds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from omo.state import paths
from omo.workflows.ultragoal.plan import STATUSES
from tests.ultragoal.hunt import Died, Hunt, Ran

Move = Callable[[Hunt, str, int], object]

SESSIONS = ("one", "two")
BRIEFS = (
    "Keep the API.\n@goal: Parse\nRead the file.\n@goal: Check\nCheck each row.",
    "@goal: Parse\nRead the file.",
    "@goal: Parse\nRead it.\n@goal: Check\nCheck it.\n@goal: Write\nWrite it.",
)
MODES = ("aggregate", "per-story")
LEDGERS = ("ultragoal/ledger.jsonl", "goal/ledger.jsonl", "events.jsonl", "evidence/ledger.jsonl")
KEPT = ("ultragoal/mark.json", "goal/mark.json", "ultragoal/goals.json", "runtime.local.json", "evidence/mark.json")
EVERYONES = ("runtime.local.json", "evidence/ledger.jsonl", "evidence/mark.json")
GARBLED = (b"{", b"", b"\xff\n", b"[1]\n", b'{"version": 1, "goals": []}\n', b"{}\n")
PHASES = ('{"current_phase":"handoff"}', '{"current_phase":"active"}')


def command(*argv: str, by: str = "agent") -> Move:
    """`{goal}` is some goal of the plan, `{new}` words nobody said, `{gate}` a gate that passes for that goal."""

    def move(hunt: Hunt, session: str, number: int) -> Ran:
        goal = hunt.goal(session, number)
        filled = [_fill(word, hunt, goal) for word in argv]
        named = ("--session", session) if by == "user" else ()
        return hunt.run(session, *filled, *named, by=by)

    return move


def _fill(word: str, hunt: Hunt, goal: str) -> str:
    if word == "{gate}":
        return hunt.gate(goal)
    return {"{goal}": goal, "{new}": hunt.new()}.get(word, word)


def create(*more: str) -> Move:
    def move(hunt: Hunt, session: str, number: int) -> Ran:
        mode = MODES[number % 4 // 2]
        brief = BRIEFS[number % len(BRIEFS)]
        return hunt.run(session, "ultragoal", "create-goals", "--brief", brief, "--goal-mode", mode, *more)

    return move


def ultragoal(*argv: str) -> Move:
    return command("ultragoal", *argv)


def steer(kind: str, *argv: str) -> Move:
    return ultragoal("steer", "--kind", kind, "--evidence", "{new}", "--rationale", "{new}", *argv)


def checkpoint(status: str, *argv: str) -> Move:
    return ultragoal("checkpoint", "--goal-id", "{goal}", "--status", status, "--evidence", "{new}", *argv)


def reorder(hunt: Hunt, session: str, number: int) -> Ran:
    shown = hunt.run(session, "ultragoal", "status").answer
    pending = [goal["id"] for goal in shown.get("goals", []) if goal["status"] == "pending"]
    order = json.dumps(pending[::-1])
    return hunt.run(session, *_STEER, "reorder_pending", "--order-json", order, *_WHY)


_STEER = ("ultragoal", "steer", "--kind")
_WHY = ("--evidence", "seen", "--rationale", "so")
_PARTS = '[{"title": "Left", "objective": "The left half."}, {"title": "Right", "objective": "The right half."}]'


def adopt(by: str) -> Move:
    def move(hunt: Hunt, session: str, number: int) -> Ran:
        other = SESSIONS[1 - SESSIONS.index(session)]
        named = ("--session", session) if by == "user" else ()
        return hunt.run(session, "adopt", "--from", other, *named, by=by)

    return move


def asks(hunt: Hunt, session: str, number: int) -> None:
    """The same question three times: then the run waits for an answer."""
    hunt.released.add(session)
    for _ in range(3):
        hunt.hook("PreToolUse", session, tool_name="AskUserQuestion", tool_input={"questions": [{"question": "?"}]})


def stops(hunt: Hunt, session: str, number: int) -> None:
    hunt.released.add(session)
    for _ in range(number + 1):
        hunt.hook("Stop", session, stop_hook_active=True, last_assistant_message=hunt.new())


def says(text: str) -> Move:
    def move(hunt: Hunt, session: str, number: int) -> None:
        hunt.released.add(session)
        hunt.hook("UserPromptSubmit", session, prompt=text)

    return move


def waits(seconds: float) -> Move:
    def move(hunt: Hunt, session: str, number: int) -> None:
        hunt.now += seconds
        hunt.log.append(f"{seconds} seconds pass")

    return move


def damages(name: str, spoil: Callable[[Path, int, Hunt], None]) -> Move:
    """Do something to a file of the session's plan, where it is there."""

    def move(hunt: Hunt, session: str, number: int) -> None:
        top = Path(hunt.state) if name in EVERYONES else Path(paths.session_dir(hunt.state, session))
        path = top / name
        if path.exists():
            hunt.released.update(SESSIONS if name == "runtime.local.json" else ())
            hunt.log.append(f"{spoil.__name__} {session}/{name} {number}")
            spoil(path, number, hunt)

    return move


def tears(path: Path, number: int, hunt: Hunt) -> None:
    """The last line was being written when its writer died."""
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - 5 * (number + 1)])


def restores(path: Path, number: int, hunt: Hunt) -> None:
    """The last command never came to write this file."""
    if path in hunt.before:
        path.write_bytes(hunt.before[path])


def unmakes(path: Path, number: int, hunt: Hunt) -> None:
    """The last command had not made this file yet, or it was deleted."""
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def rewrites(path: Path, number: int, hunt: Hunt) -> None:
    """By hand, and every goal is complete."""
    text = path.read_text(encoding="utf-8")
    for status in ("pending", "active", "blocked", "failed"):
        text = text.replace(f'"{status}"', '"complete"')
    path.write_text(text, encoding="utf-8")


def reworks(path: Path, number: int, hunt: Hunt) -> None:
    """A row in the middle says something else."""
    lines = path.read_bytes().split(b"\n")[:-1]
    at = number % len(lines) if lines else 0
    lines[at : at + 1] = [line.replace(b"number", b"NUMBER").replace(b"G001", b"G009") for line in lines[at : at + 1]]
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def drops_a_row(path: Path, number: int, hunt: Hunt) -> None:
    lines = path.read_bytes().split(b"\n")[:-1]
    at = number % len(lines) if lines else 0
    path.write_bytes(b"".join(line + b"\n" for line in lines[:at] + lines[at + 1 :]))


def garbles(path: Path, number: int, hunt: Hunt) -> None:
    path.write_bytes(GARBLED[number % (3 if path.name == "runtime.local.json" else len(GARBLED))])


def moves_the_project(hunt: Hunt, session: str, number: int) -> None:
    target = hunt.root.with_name(f"{hunt.root.name}-moved")
    hunt.root.rename(target)
    hunt.root = target
    hunt.log.append("the project is moved")


def dies(name: str) -> Move:
    """The command is killed at one of its writes."""

    def move(hunt: Hunt, session: str, number: int) -> None:
        hunt.dies_at = number
        try:
            COMMANDS[name](hunt, session, hunt.count)
        except Died:
            hunt.log.append(f"{name} died at write {number}")
        finally:
            hunt.dies_at = None

    return move


def finds_a_plan_without_a_ledger(hunt: Hunt, session: str, number: int) -> None:
    """A goals.json that omo did not write lies where ours would be."""
    goal = {"id": "G001", "title": "Parse", "objective": "Read.", "status": STATUSES[number % len(STATUSES)]}
    directory = hunt.directory(session)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "goals.json").write_text(json.dumps({"version": 1, "goals": [goal]}), encoding="utf-8")
    hunt.log.append(f"a goals.json lies in {directory}: {goal}")


def resumes_under_another_name(hunt: Hunt, session: str, number: int) -> None:
    """The host compacts a session and gives it a new id; the transcript tells the old one."""
    other = SESSIONS[1 - SESSIONS.index(session)]
    transcript = hunt.root / "transcript.jsonl"
    transcript.write_text(json.dumps({"sessionId": other}), encoding="utf-8")
    hunt.hook("SessionStart", session, source="resume", transcript_path=str(transcript))


COMMANDS: dict[str, Move] = {
    "create": create(),
    "create-force": create("--force"),
    "hand-out": ultragoal("complete-goals"),
    "retry-failed": ultragoal("complete-goals", "--retry-failed"),
    "retry-blocked": ultragoal("complete-goals", "--retry-blocked"),
    "complete": checkpoint("complete", "--quality-gate-json", "{gate}"),
    "complete-badly": checkpoint("complete", "--quality-gate-json", "{}"),
    "fail": checkpoint("failed"),
    "block": checkpoint("blocked"),
    "add": steer("add_subgoal", "--title", "{new}", "--objective", "{new}"),
    "split": steer("split_subgoal", "--goal-id", "{goal}", "--replacements-json", _PARTS),
    "reorder": reorder,
    "revise": steer("revise_pending_wording", "--goal-id", "{goal}", "--objective", "{new}"),
    "annotate": steer("annotate_ledger"),
    "supersede": steer("mark_blocked_superseded", "--goal-id", "{goal}"),
    "steer-badly": steer("add_subgoal"),
    "human": ultragoal("classify-blocker", "--classification", "human_blocked", "--evidence", "{new}"),
    "human-goal": ultragoal(
        *("classify-blocker", "--classification", "human_blocked", "--evidence", "{new}", "--goal-id", "{goal}")
    ),
    "resolvable": ultragoal("classify-blocker", "--classification", "resolvable", "--evidence", "{new}"),
    "review-blocks": ultragoal(
        *("record-review-blockers", "--goal-id", "{goal}", "--objective", "{new}", "--evidence", "{new}")
    ),
    "review-start": ultragoal("review", "--mode", "review-start"),
    "goal-get": command("goal", "get"),
    "goal-create": command("goal", "create"),
    "goal-create-own": command("goal", "create", "--objective", "something else"),
    "goal-pause": command("goal", "pause"),
    "goal-resume": command("goal", "resume"),
    "goal-drop": command("goal", "drop"),
    "goal-complete": command("goal", "complete"),
    "write-handoff": command("state", "ultragoal", "write", "--input", PHASES[0]),
    "write-active": command("state", "ultragoal", "write", "--input", PHASES[1]),
    "hand-off": command("state", "ultragoal", "handoff", "--to", "ultraplan"),
    "hand-back": command("state", "ultragoal", "write", "--input", '{"current_phase": "active"}'),
    "clear": command("state", "clear", "--mode", "ultragoal"),
    "clear-force": command("state", "clear", "--mode", "ultragoal", "--force"),
    "clear-user": command("state", "clear", "--mode", "ultragoal", "--force", by="user"),
    "adopt": adopt("agent"),
    "adopt-user": adopt("user"),
    "stop-continuation": command("stop-continuation", by="user"),
}
PEOPLE: dict[str, Move] = {
    "asks": asks,
    "stops": stops,
    "says-ulw": says("ulw go on"),
    "says-pause": says("pause"),
    "says-continue": says("continue"),
    "says-something": says("and the other thing?"),
    "says-stop": says("/omo:stop-continuation"),
    "an-hour": waits(3600.0),
    "resumes under another name": resumes_under_another_name,
    "a-month": waits(30 * 86400.0),
}
MORTAL = (
    *("create-force", "hand-out", "complete", "block", "review-blocks", "add", "human", "adopt-user"),
    *("clear-user", "clear-force", "goal-create", "goal-drop", "goal-complete", "hand-off"),
)
DAMAGE: dict[str, Move] = {
    **{f"tears {name}": damages(name, tears) for name in LEDGERS},
    **{f"restores {name}": damages(name, restores) for name in (*KEPT, *LEDGERS)},
    **{f"unmakes {name}": damages(name, unmakes) for name in (*KEPT, *LEDGERS, "ultragoal", "goal", "ultragoal/gates")},
    **{f"reworks {name}": damages(name, reworks) for name in LEDGERS},
    **{f"drops a row {name}": damages(name, drops_a_row) for name in LEDGERS},
    **{f"garbles {name}": damages(name, garbles) for name in (*KEPT, *LEDGERS)},
    **{f"dies in {name}": dies(name) for name in MORTAL},
    "rewrites goals.json": damages("ultragoal/goals.json", rewrites),
    "finds a plan without a ledger": finds_a_plan_without_a_ledger,
    "moves the project": moves_the_project,
}
MOVES = COMMANDS | PEOPLE | DAMAGE
# What most of a session consists of comes up more often.
OFTEN = ("hand-out", "complete", "complete", "block", "review-blocks", "add", "human", "goal-pause")
