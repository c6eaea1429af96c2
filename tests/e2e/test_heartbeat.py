"""A turn that ends without omo's hooks, in the real client: told once, where the user looks next."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from omo.clock import seconds, stamp
from omo.state import beats
from tests.e2e.conftest import Stage, wait_until
from tests.e2e.scripted_model import call, say
from tests.e2e.test_interactive import ask, only_session, shows

pytestmark = pytest.mark.client

HOUR = 3600.0
DID_NOT_RUN = "omo's hooks did not run since"
NO_HOOKS = ("--settings", json.dumps({"disableAllHooks": True}))


def move_an_hour_back(home: Path, session: str) -> None:
    """All that was so far: the heartbeat, and the transcript that it names."""
    (path,) = (home / ".local" / "state" / "omo" / "projects").glob(f"*.{session}.beat")
    record = str(path).removesuffix(f".{session}.beat")
    beat = beats.read(record, session)
    assert beat is not None
    beat.at -= HOUR
    beats.write(record, session, beat)
    transcript = Path(beat.transcript)
    rows = [json.loads(line) for line in transcript.read_text("utf-8").splitlines()]
    for row in rows:
        if "timestamp" in row:
            row["timestamp"] = stamp(seconds(row["timestamp"]) - HOUR)
    transcript.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows), "utf-8")


def begin(stage: Stage) -> str:
    """A session that is on, an hour ago, whose client has left."""
    stage.model.script(say("I have a plan."))
    stage.left_active().leave()
    session = only_session(stage)
    move_an_hour_back(stage.home, session)
    return session


def test_a_turn_with_all_hooks_disabled_is_told_once(stage: Stage) -> None:
    session = begin(stage)
    terminal = stage.open(*NO_HOOKS, resume=session)
    ask(stage, terminal, "and the docs", "I wrote them.")
    wait_until(lambda: '"turn_duration"' in stage.transcript())
    terminal.kill()
    terminal = stage.open(resume=session)
    shows(terminal, f"SessionStart:resume says: omo: {DID_NOT_RUN}")
    ask(stage, terminal, "wait, what did you do?", "I wrote the docs.")
    assert terminal.scrollback().count(DID_NOT_RUN) == 1
    assert stage.times_told(DID_NOT_RUN)[-1] == 0


def test_a_turn_that_esc_has_ended_with_all_hooks_disabled_is_no_fault(stage: Stage) -> None:
    session = begin(stage)
    terminal = stage.open(*NO_HOOKS, resume=session)
    held = threading.Event()
    stage.model.script(call("Bash", command="true"), say("Never heard.").held_by(held))
    asked = len(stage.model.turns)
    terminal.submit("and the docs")
    stage.model.wait_for_turns(asked + 2)
    terminal.key("Escape")
    terminal.wait_for("Interrupted")
    held.set()
    terminal.kill()
    terminal = stage.open(resume=session)
    ask(stage, terminal, "wait, what did you do?", "Nothing.")
    assert DID_NOT_RUN not in terminal.scrollback()
