"""How well a budget of tokens is counted and held, in the real client; and what a Stop costs at a long transcript.

    python3 bench/budget.py        exits 1 when a bound is missed; needs the client (./tests/run --clients)

What was really spent the scripted model knows: it adds up what it sends. Costs are ratios within one run.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from omo.clock import stamp  # noqa: E402
from omo.state import paths  # noqa: E402
from omo.work import spending  # noqa: E402
from tests.e2e.client import Client, find_binary  # noqa: E402
from tests.e2e.conftest import Stage, begin, make_ready  # noqa: E402
from tests.e2e.scripted_model import ScriptedModel, Turn, bash, call, fail, say, told  # noqa: E402

USAGE = {
    "input_tokens": 700,
    "cache_creation_input_tokens": 2_000,
    "cache_read_input_tokens": 90_000,
    "output_tokens": 1_300,
}
IN_A_CALL = sum(USAGE.values())
MARGIN = 0.01
SIZES = (1, 50)  # megabytes of transcript
STOPS = 15
NO_COOLDOWN = {"OMO_COOLDOWN_SECONDS": "0.001"}


class Row(NamedTuple):
    what: str
    value: str
    bound: str
    holds: bool


@contextmanager
def on_stage() -> Iterator[Stage]:
    binary = find_binary()
    if binary is None:
        sys.exit("the client is missing: ./tests/run --clients fetches it")
    with tempfile.TemporaryDirectory() as directory, ScriptedModel() as model:
        home, project = Path(directory) / "home", Path(directory) / "project"
        home.mkdir()
        project.mkdir()
        begin(project)
        stage = Stage(Client(binary), model, project, home, ROOT, dict(NO_COOLDOWN))
        make_ready(stage)
        yield stage


def agents() -> Turn:
    """Two at once."""
    first = call("Agent", description="one", prompt="look around", subagent_type="omo:explorer")
    return first + call("Agent", description="two", prompt="look there", subagent_type="general-purpose")


def counted(stage: Stage) -> Row:
    """One run with agents, a server that was overloaded, and a compaction."""
    model = stage.model
    model.usage = USAGE
    model.agent(told("look around"), bash("true"), say("I looked."))
    model.agent(told("look there"), say("I looked there."))
    busy = fail(529, "overloaded_error", "Overloaded", retry_after="0")
    waits = bash("omo ulw blocked --evidence 'it is looked at' --question 'and now?'")  # the run stays on
    model.script(bash("true") + bash("echo 1"), busy, agents(), say("They look."), waits, *[say("I wait.")] * 2)
    budget = {"OMO_BUDGET_TOKENS": "100M"}
    session = stage.prompt("ulw look at it", env=budget).session_id
    talk = stage.talk(resume=session, env=budget)
    talk.prompt("/compact")
    asked = len(model.turns)
    model.script(bash("true"), waits, say("I wait again."))
    talk.prompt("go on")
    talk.leave()
    assert len(model.agent_turns) == 3, "both agents ran"
    assert any("Conversation compacted" in path.read_text("utf-8") for path in stage.home.rglob("*.jsonl"))
    assert len(model.turns) > asked
    row = spending.Counter(str(stage.state), session, keeps=False).counted(stage.row(session), time.time())
    tokens = row["spent"].get("tokens", 0)
    deviation = abs(tokens - model.sent) / model.sent
    return Row(
        "counted, of what the model sent: agents, retries, a compaction",
        f"{tokens:,} of {model.sent:,}: {deviation:.2%} off",
        f"{MARGIN:.0%}",
        deviation <= MARGIN,
    )


def overshoot(stage: Stage) -> Row:
    """Turns of three calls each, and a budget that ends in the middle of the second."""
    stage.model.usage = USAGE
    turn = [bash("true"), bash("echo 1"), say("Done.")]
    stage.model.script(*turn * 4)
    ceiling = 4 * IN_A_CALL
    session = stage.prompt("ulw look at it", env={"OMO_BUDGET_TOKENS": str(ceiling)}).session_id
    over = stage.model.sent - ceiling
    ended = stage.work(session).get("endedBy")
    return Row(
        "spent beyond the budget, in turns",
        f"{over / (len(turn) * IN_A_CALL):.2f} (ended by {ended})",
        "1",
        ended == "budget" and over <= len(turn) * IN_A_CALL,
    )


def of_size(path: Path, megabytes: int) -> None:
    """A transcript of calls and of what tools said."""
    usage = dict.fromkeys(USAGE, 1)
    filler = json.dumps({"type": "user", "message": {"content": "x" * 4000}, "timestamp": stamp(0)}) + "\n"
    with path.open("w", encoding="utf-8") as file:
        number = 0
        while file.tell() < megabytes * 1_000_000:
            number += 1
            message = {"id": f"msg_{number}", "role": "assistant", "usage": usage}
            row = {"type": "assistant", "message": message, "requestId": "r", "timestamp": stamp(0)}
            file.write(json.dumps(row, separators=(",", ":")) + "\n" + filler)


def cost_of_a_stop() -> Row:
    """The median of the Stops of a run with a budget, after the first, each after one more call."""
    times = {}
    for megabytes in SIZES:
        with tempfile.TemporaryDirectory() as directory:
            times[megabytes] = _stop_in(Path(directory), megabytes)
    ratio = times[SIZES[1]] / times[SIZES[0]]
    return Row(
        f"a Stop at {SIZES[1]} MB of transcript, against {SIZES[0]} MB",
        f"{ratio:.2f} x ({times[SIZES[1]] * 1000:.0f} ms, {times[SIZES[0]] * 1000:.0f} ms)",
        "1.3 x",
        ratio <= 1.3,
    )


def _stop_in(room: Path, megabytes: int) -> float:
    project, transcript = room / "project", room / "transcript.jsonl"
    (project / ".git").mkdir(parents=True)
    begin(project)
    of_size(transcript, megabytes)
    event = {"session_id": "s1", "cwd": str(project), "transcript_path": str(transcript)}
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(room),
        "CLAUDE_PROJECT_DIR": str(project),
        "OMO_BUDGET_TOKENS": "100M",
        "OMO_MAX_STOP_BLOCKS": "99",
        **NO_COOLDOWN,
    }

    def send(script: str, **fields: object) -> float:
        before = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(ROOT / "hooks" / "event.py"), script],
            input=json.dumps({**event, **fields}).encode(),
            env=environ,
            cwd=project,
            capture_output=True,
            check=True,
        )
        assert done.stdout != b"omo: answered", done.stderr
        return time.perf_counter() - before

    send("user-prompt-submit", hook_event_name="UserPromptSubmit", prompt="ulw look at it")
    seen = []
    for number in range(STOPS + 1):
        message = {"id": f"msg_of_{number}", "role": "assistant", "usage": USAGE}
        row = {"type": "assistant", "message": message, "requestId": "r", "timestamp": stamp(time.time())}
        with transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, separators=(",", ":")) + "\n")
        seen.append(
            send("stop", hook_event_name="Stop", stop_hook_active=bool(number), last_assistant_message=str(number))
        )
    spent = json.loads(Path(paths.runtime_file(str(project / ".sisyphus" / "cc-omo"))).read_text())
    assert spent["sessions"]["s1"]["spent"]["tokens"] == (STOPS + 1) * IN_A_CALL
    return statistics.median(seen[1:])


def main() -> int:
    rows = []
    with on_stage() as stage:
        rows.append(counted(stage))
    with on_stage() as stage:
        rows.append(overshoot(stage))
    rows.append(cost_of_a_stop())
    width = max(len(row.what) for row in rows)
    for row in rows:
        print(f"{row.what:{width}}  {row.value:48}  at most {row.bound:6}  {'ok' if row.holds else 'MISSED'}")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
